"""`geceval.reward`: metrics as reward functions of TRL's form."""

import pickle

import datasets
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
    return make_scorer("impara", {"model": checkpoint, "threshold": -2}).score(SOURCES, PREDICTIONS).scores


def test_it_gives_the_sentence_scores(impara, scores):
    assert impara(SOURCES, PREDICTIONS) == scores
    assert impara(sources=SOURCES, predictions=PREDICTIONS) == scores
    assert all(type(value) is float for value in scores)
    assert len(set(scores)) == 3
    assert impara([], []) == []


def test_as_trl_calls_it(impara, checkpoint, scores):
    """A reward function of TRL is called by keywords, with prompts, completions and whatever columns there are."""
    assert impara.__name__ == "geceval_impara"
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
    assert (again(SOURCES, PREDICTIONS), again.__name__) == (scores, "geceval_impara")


def test_mistakes(impara):
    with pytest.raises(TypeError, match="impara: unknown option 'frob'"):
        geceval.reward("impara", frob=1)
    with pytest.raises(TypeError, match=r"geceval_impara: predictions \(or completions\) are missing"):
        impara(SOURCES)
    with pytest.raises(TypeError, match=r"geceval_impara: sources \(or prompts\) are missing"):
        impara(completions=PREDICTIONS)
    with pytest.raises(TypeError, match="geceval_impara: unknown column 'source'"):
        impara(source=SOURCES, predictions=PREDICTIONS)
    with pytest.raises(ValueError, match="impara: 3 sources but 1 prediction"):
        impara(SOURCES, PREDICTIONS[:1])
    with pytest.raises(TypeError, match=r"completions\[0\] must be a text or a list of messages with texts, got 3"):
        impara(prompts=["a"], completions=[3])
    with pytest.raises(TypeError, match=r"prompts\[0\] must be a text or a list of messages"):
        impara(prompts=[[{"role": "assistant", "content": "a"}]], completions=["a"])
    reward = geceval.reward("impara", prefix="Fix:", suffix="->")
    with pytest.raises(ValueError, match=r"prompts\[1\] does not start with the prefix 'Fix:', got 'He'"):
        reward(prompts=["Fix: He ->", "He"], completions=["a", "b"])
    with pytest.raises(ValueError, match=r"prompts\[0\] does not end with the suffix '->', got 'He'"):
        reward(prompts=["Fix: He"], completions=["a"])


def test_filtering_a_data_set(impara, checkpoint, scores):
    data = datasets.Dataset.from_dict({"source": SOURCES, "prediction": PREDICTIONS})
    middle = sum(sorted(scores)[:2]) / 2
    kept = data.filter(
        lambda sources, predictions: [value >= middle for value in impara(sources, predictions)],
        batched=True,
        batch_size=2,
        input_columns=["source", "prediction"],
    )
    assert kept["source"] == [source for source, score in zip(SOURCES, scores, strict=True) if score >= middle]
    mapped = data.map(lambda batch: {"reward": impara(batch["source"], batch["prediction"])}, batched=True)
    assert list(mapped["reward"]) == pytest.approx(scores)
