"""`geceval.reward`: metrics as reward functions of TRL's form and as filters of datasets."""

import math
import pickle

import pytest
from datasets.fingerprint import Hasher

import geceval
from geceval.registry import make_scorer

SOURCES = ["He go to school .", "They sleeps .", "A cat sat ."]
PREDICTIONS = ["He goes to school .", "", "A cat sat ."]


@pytest.fixture(scope="module")
def checkpoint(make_checkpoint):
    """A quality estimator with random weights."""
    return str(make_checkpoint(3))


@pytest.fixture(scope="module")
def impara(checkpoint):
    return geceval.reward("impara", model=checkpoint, threshold=-2)


@pytest.fixture(scope="module")
def scores(checkpoint):
    """Those of the strict guard, which a reward has by default."""
    options = {"model": checkpoint, "threshold": -2, "guard": "strict"}
    return make_scorer("impara", options).score(SOURCES, PREDICTIONS).scores


def test_it_gives_the_sentence_scores(impara, scores):
    assert impara(SOURCES, PREDICTIONS) == scores
    assert impara(sources=SOURCES, predictions=PREDICTIONS) == scores
    assert all(type(value) is float for value in scores)
    assert len(set(scores)) == 3
    assert impara([], []) == []


def test_as_trl_calls_it(impara, checkpoint, scores):
    """A reward function of TRL is called by keywords, with prompts, completions and whatever columns there are."""
    assert impara.__name__ == "geceval_impara_strict"
    reward = geceval.reward("impara", prefix="Correct this:\n", suffix="\nCorrection:", model=checkpoint, threshold=-2)
    prompts = [f"Correct this:\n{source}\nCorrection:" for source in SOURCES]
    completions = [f" {prediction}\n" for prediction in PREDICTIONS]
    rest = {"completion_ids": [[1], [2], [3]], "trainer_state": None, "level": ["A", "B", "C"]}
    assert reward(prompts=prompts, completions=completions, **rest) == scores
    chats = [[{"role": "system", "content": "You correct."}, {"role": "user", "content": prompt}] for prompt in prompts]
    answers = [[{"role": "assistant", "content": completion}] for completion in completions]
    assert reward(prompts=chats, completions=answers, **rest) == scores
    assert reward(prompts=["other"] * 3, completions=completions, sources=SOURCES) == scores


def test_sources_come_from_the_prompts():
    """GLEU reads the source, so that a prompt left in it would show."""
    reward = geceval.reward("gleu", prefix="Correct: ")
    prompts = [f"Correct: {source}" for source in SOURCES]
    references = [["He goes to school ."], ["They sleep ."], ["A cat sat ."]]
    expected = make_scorer("gleu").score(SOURCES, PREDICTIONS, references).scores
    assert reward(prompts=prompts, completions=PREDICTIONS, references=references) == expected
    assert expected[0] == expected[2] == 1.0 > expected[1]


def test_use_does_not_change_its_fingerprint(checkpoint, scores):
    fresh = geceval.reward("impara", threshold=-2, model=checkpoint)
    before = Hasher.hash(fresh)
    assert fresh(SOURCES, PREDICTIONS) == scores
    assert Hasher.hash(fresh) == before
    assert Hasher.hash(geceval.reward("impara", model=checkpoint, threshold=-2)) == before
    assert Hasher.hash(geceval.reward("impara", model=checkpoint, threshold=-3)) != before
    again = pickle.loads(pickle.dumps(fresh))
    assert (again(SOURCES, PREDICTIONS), again.__name__) == (scores, "geceval_impara_strict")


def test_mistakes(impara):
    with pytest.raises(TypeError, match="impara: unknown option 'frob'"):
        geceval.reward("impara", frob=1)
    strict, answer = "geceval_impara_strict: ", {"role": "assistant", "content": "a"}
    for columns, message in (
        ({"sources": SOURCES}, strict + r"predictions \(or completions\) are missing"),
        ({"completions": PREDICTIONS}, strict + r"sources \(or prompts\) are missing"),
        ({"source": SOURCES, "predictions": PREDICTIONS}, strict + "unknown column 'source'"),
        ({"prompts": ["a"], "completions": [3]}, r"completions\[0\] must be a text or a list of messages .*, got 3"),
        ({"prompts": [[answer]], "completions": ["a"]}, r"prompts\[0\] must be a text or a list of messages"),
    ):
        with pytest.raises(TypeError, match=message):
            impara(**columns)
    with pytest.raises(ValueError, match="impara: 3 sources but 1 prediction"):
        impara(SOURCES, PREDICTIONS[:1])
    reward = geceval.reward("impara", prefix="Fix:", suffix="->")
    with pytest.raises(ValueError, match=r"prompts\[1\] does not start with the prefix 'Fix:', got 'He'"):
        reward(prompts=["Fix: He ->", "He"], completions=["a", "b"])
    with pytest.raises(ValueError, match=r"prompts\[0\] does not end with the suffix '->', got 'He'"):
        reward(prompts=["Fix: He"], completions=["a"])


CONSTANT = "The weather is mild ."


def test_the_guard_is_in_the_name_and_another_can_be_named(checkpoint):
    assert geceval.reward("impara_lm").__name__ == "geceval_impara_lm_strict"
    assert geceval.reward("impara_lm", guard="surface").__name__ == "geceval_impara_lm_surface"
    assert geceval.reward("gleu").__name__ == "geceval_gleu"
    plain = geceval.reward("impara", model=checkpoint, threshold=-2, guard="off")
    scorer = make_scorer("impara", {"model": checkpoint, "threshold": -2, "guard": "off"})
    assert plain(SOURCES, PREDICTIONS) == scorer.score(SOURCES, PREDICTIONS).scores


def test_components_are_logged_as_trl_has_it():
    reward = geceval.reward("impara_lm")
    logged, extra = {}, {}
    predictions = ["He goes to school .", CONSTANT, "A cat sat ."]
    options = {"log_metric": logged.__setitem__, "log_extra": extra.__setitem__, "trainer_state": None}
    values = reward(prompts=SOURCES, completions=predictions, **options)
    parts = reward.components(SOURCES, predictions)
    strict = make_scorer("impara_lm", {"guard": "strict"}).score(SOURCES, predictions)
    assert parts["reward"] == values
    assert parts["quality"] == make_scorer("impara_lm", {"guard": "off"}).score(SOURCES, predictions).scores
    # 8 ln .05, the most that the rule takes from a text with words, and what the estimator takes
    assert parts["guard"] == pytest.approx(strict.details["penalties"])
    faithful = make_scorer("impara_lm", {"guard": "faithful"}).score(SOURCES, predictions).details["penalties"]
    assert parts["guard"][1:] == pytest.approx([8 * math.log(0.05) + faithful[1], 0.0])
    assert faithful[1] < -4
    assert parts["reason"] == strict.details["guard_reasons"]
    assert logged["geceval_impara_lm_strict/quality"] == pytest.approx(sum(parts["quality"]) / 3)
    assert logged["geceval_impara_lm_strict/guard"] == pytest.approx(sum(parts["guard"]) / 3)
    assert extra == {"geceval_impara_lm_strict/reason": parts["reason"]}
    assert reward.components([], []) == {"reward": [], "quality": [], "guard": [], "reason": []}


def test_no_outlier_rules_a_group():
    predictions = ["He goes to school .", "", CONSTANT]
    values = geceval.reward("impara_lm")(SOURCES, predictions)
    assert values[1:] == [-12.0, -12.0] and values[0] > -4
    assert geceval.reward("impara_lm", clip=(-3, 0.5))(SOURCES, predictions)[1:] == [-3.0, -3.0]
    for clip in ((1, 0), (1,), "ab", (0.0, math.nan)):
        with pytest.raises(ValueError, match="clip must be a lower and a higher number"):
            geceval.reward("impara_lm", clip=clip)


def test_a_policy_that_games_the_reward_is_reported_once(caplog):
    reward = geceval.reward("impara_lm")
    source, honest = SOURCES[0], SOURCES[0]
    # Of the first 256 an eighth; then of the latest 256 a growing share, at last more than .2 above that.
    reward([source] * 256, [honest] * 224 + [CONSTANT] * 32)
    reward([source] * 50, [CONSTANT] * 50)  # 82 of 256
    assert not [record for record in caplog.records if "latest" in record.getMessage()]
    for _ in range(2):
        reward([source] * 30, [CONSTANT] * 30)  # 112 of 256: .4375 - .125 > .2
    (record,) = [each for each in caplog.records if "latest" in each.getMessage()]
    told = "geceval_impara_lm_strict: the guard penalises 44 % of the latest 256 completions and 12 % of the first 256;"
    assert record.getMessage().startswith(told)


def test_an_honest_policy_is_not_reported(caplog):
    reward = geceval.reward("impara_lm")
    reward([SOURCES[0]] * 256, [CONSTANT] * 256)  # before it learnt anything
    reward([SOURCES[0]] * 256, [SOURCES[0]] * 256)
    assert not [record for record in caplog.records if "latest" in record.getMessage()]
