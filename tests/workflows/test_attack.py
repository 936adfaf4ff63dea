"""Attacks on metrics whose every score is known, and on metrics of the registry."""

import dataclasses

import pytest

import geceval
from geceval import registry
from geceval.core.result import Result
from geceval.meta.attacks import FAMILIES, FLIPS
from geceval.scorers.base import Scorer, TextOptions
from geceval.workflows.attack import Estimate

SOURCES = ["He go to two school .", "They is good and not bad .", "I saw Anna in Rome ."]
GOOD = ["He goes to two schools .", "They are good and not bad .", "I saw Anna in Rome ."]
FREE = ["Each day he goes to two schools .", "They are all good , not bad .", "I saw Anna in Rome ."]
REFERENCES = [list(row) for row in zip(GOOD, FREE, strict=True)]


class Words(Scorer):
    """The number of words: likes whatever is longer."""

    name, description, Settings, reads_references = "words", "Number of words.", TextOptions, False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.calls = []

    def _score(self, columns):
        self.calls.append(list(zip(columns.sources, columns.predictions, strict=True)))
        scores = [float(len(text.split())) for text in columns.predictions]
        return Result(sum(scores) / len(scores), scores, "words|geceval:0")


@pytest.fixture
def words(monkeypatch):
    """Attack the number of words; `words.scorer` is what was attacked."""

    def attack(*columns, **settings):
        attack.scorer = Words()
        monkeypatch.setattr(registry, "make_scorers", lambda *_: {"words": attack.scorer})
        return geceval.attack("words", *columns, resamples=20, **settings)["words"]

    return attack


def rows(resistance):
    return {(row.family, row.name): row for row in resistance.rows}


def shares(row):
    return (row.above_source.value, row.above_reference.value, row.beaten.value)


def test_every_number_of_a_row(words):
    found = words(SOURCES, {"good": GOOD, "free": FREE}, REFERENCES)
    table = rows(found)
    # Words of the sources: 6, 7, 6; of GOOD the same; of FREE: 8, 8, 6.
    source, good, free = (table["control", name] for name in ("source", "good", "free"))
    assert (source.score.value, source.above_source, source.beaten.value) == (19 / 3, None, 0)
    assert (good.score.value, *shares(good), good.changed) == (19 / 3, 0.0, 0.0, 0, 2)
    assert (free.score.value, *shares(free), free.changed) == (22 / 3, 2 / 3, 0.0, 1, 2)
    one, two = (table["control", f"reference {number}"] for number in (1, 2))
    assert (shares(one), shares(two)) == ((0.0, 0.0, 0), (2 / 3, 2 / 3, 1))
    twice, half = table["add", "source twice"], table["drop", "first half"]
    assert (twice.score.value, *shares(twice), twice.fails) == (38 / 3, 1.0, 1.0, 2, True)
    assert (half.score.value, *shares(half), half.fails) == (13 / 3, 0.0, 0.0, 0, False)
    assert twice.example == f"{SOURCES[0]} {SOURCES[0]}"
    constant = table["ignore", "constant"]  # eight words
    assert (constant.score, *shares(constant)) == (Estimate(8.0, 8.0, 8.0), 1.0, 1 / 3, 2)
    assert table["ignore", "next row"].example == GOOD[1]
    assert not table["control", "free"].fails  # no attack
    for row in found.rows:
        for each in (row.score, row.above_source, row.above_reference, row.beaten):
            assert each is None or each.low <= each.value <= each.high


def test_headlines(words):
    found = words(SOURCES, {"good": GOOD, "free": FREE}, REFERENCES)
    (static,) = found.headlines
    assert (static.kind, static.worst.name) == ("static", "order to the judge")
    assert static.ceiling.above_reference.value == 1.0
    assert (found.control.name, found.systems, found.sentences) == ("free", 2, 3)
    assert [family for family in dict.fromkeys(row.family for row in found.rows)] == ["control", *FAMILIES]


def test_flips_that_do_not_apply_leave_the_row_out(words):
    found = {flip.name: flip for flip in words(SOURCES, {"good": GOOD}, REFERENCES).flips}
    # Of GOOD: numbers in the first, names in the last. A word more or as many words: missed.
    assert {name: flip.flips for name, flip in found.items()} == {
        **{"not": 1, "numbers": 1, "names": 1, "antonyms": 1, "pronouns": 3, "tense": 3, "two words swapped": 3},
        "all": 13,
    }
    assert found["numbers"].share == Estimate(1.0, 1.0, 1.0)
    missed = sum(flip.flips * flip.share.value for name, flip in found.items() if name != "all")
    assert found["all"].share.value == pytest.approx(missed / 13)


def test_searches_find_what_the_metric_likes(words):
    found = words(SOURCES, {"good": GOOD}, REFERENCES, budget=30)
    searched = {row.name: row for row in found.rows if row.kind == "searched"}
    assert list(searched) == ["best reference", "best prefix", "deletion climb", "best concatenation", "beam search"]
    assert [row.family for row in searched.values()] == ["ignore", "drop", "drop", "add", "mixed"]
    # The longest of the others' first references has 7 words, of the second's 6; a prefix lacks a word; a deletion is
    # never longer; the longest ending has nine words, and a second one is put behind it when the budget allows.
    assert searched["best reference"].score.value == pytest.approx((7 + 6 + 7) / 3)
    assert searched["best prefix"].score.value == pytest.approx(19 / 3 - 1)
    assert searched["best prefix"].example == "He go to two ."
    assert searched["deletion climb"].changed == 0
    assert searched["best concatenation"].score.value >= 19 / 3 + 9
    assert searched["beam search"].score.value > 19 / 3
    static, worst = found.headlines
    assert (static.kind, worst.kind, worst.worst.name) == ("static", "searched", "best concatenation")


def test_a_step_of_a_search_is_one_call_and_keeps_to_the_budget(words):
    static = len({pair for call in words(SOURCES, budget=0) and words.scorer.calls for pair in call})
    calls = len(words.scorer.calls)
    words(SOURCES, budget=16)
    every = [pair for call in words.scorer.calls for pair in call]
    assert len(every) == len(set(every))  # no text twice
    assert len(every) - static <= 5 * 16 * len(SOURCES)
    assert len(words.scorer.calls) - calls <= 2 + 2 + 2 + 5  # choices, two climbs of 8 a step, a beam of 4 and 8


def test_seeds(words):
    def numbers(**settings):
        found = dataclasses.asdict(words(SOURCES, {"good": GOOD}, REFERENCES, budget=8, **settings))
        return {key: value for key, value in found.items() if key != "test"}

    assert numbers(seed=3) == numbers(seed=3) != numbers(seed=4)
    assert [each.sentences for each in (words(SOURCES, sentences=2), words(SOURCES, sentences=9))] == [2, 3]


def test_without_systems_and_references_their_columns_are_left_out(words):
    found = words(SOURCES)
    assert all(row.beaten is None and row.above_reference is None and not row.fails for row in found.rows)
    assert (found.flips, found.control, found.systems) == ([], None, 0)
    assert rows(found)["ignore", "next row"].example == SOURCES[1]
    (static,) = found.headlines
    assert static.ceiling is None and static.worst.name == "order to the judge"


def test_one_reference_is_compared_with_no_other(words):
    table = rows(words(SOURCES, {"good": GOOD}, FREE))
    assert table["control", "reference 1"].above_reference is None
    assert table["add", "source twice"].above_reference.value == 1.0


def test_missing_references_and_blank_sources(words):
    references = [[GOOD[0], None], [None, FREE[1]], ["x"], [GOOD[2], FREE[2], FREE[0]]]
    found = words([*SOURCES[:2], " ", SOURCES[2]], {"good": [*GOOD[:2], "", GOOD[2]]}, references)
    table = rows(found)
    assert (found.sentences, found.systems) == (3, 1)
    one, two, three = (table["control", f"reference {number}"] for number in (1, 2, 3))
    assert (one.score.value, shares(one)) == (20 / 3, (1 / 3, 0.0, 1))  # 6, 8 and 6 words; good has 6, 7 and 6
    assert (two.score.value, shares(two)) == (20 / 3, (1 / 3, 0.0, 1))  # the first where there is no second
    assert (three.score.value, shares(three)) == (22 / 3, (2 / 3, 1 / 3, 1))
    assert table["ignore", "next row"].example == FREE[1]


def test_attacks_of_your_own(words):
    found = words(SOURCES, {"good": GOOD}, REFERENCES, attacks={"mine": ["x " * 40] * 3})
    mine = rows(found)["yours", "mine"]
    assert (mine.kind, *shares(mine), mine.fails) == ("yours", 1.0, 1.0, 1, True)
    assert [line.kind for line in found.headlines] == ["static", "yours"]


def test_names_of_systems_and_attacks_may_be_those_of_other_rows(words):
    found = words(SOURCES, {"source": GOOD, "reference 1": FREE}, REFERENCES, attacks={"source": ["x " * 40] * 3})
    kinds = [(row.kind, row.name, row.beaten.value) for row in found.rows if row.family in ("control", "yours")]
    assert kinds == [
        *(("source", "source", 0), ("reference", "reference 1", 0), ("reference", "reference 2", 1)),
        *(("system", "source", 0), ("system", "reference 1", 1), ("yours", "source", 2)),
    ]
    assert found.systems == 2 and found.rows[3].above_source is not None


def test_a_metric_with_references_reads_all_of_them():
    found = geceval.attack("green", SOURCES, {"good": GOOD}, REFERENCES, resamples=20)["green"]
    table = rows(found)
    scorer = registry.make_scorer("green")
    texts = {("control", "good"): GOOD, ("control", "reference 2"): FREE, ("ignore", "empty"): [""] * 3}
    for names, outputs in texts.items():
        assert table[names].score.value == scorer.score(SOURCES, outputs, REFERENCES).score, names
    flips = {flip.name: flip.share.value for flip in found.flips}
    assert flips["numbers"] == flips["names"] == 0.0  # each costs a reference some of its agreement with itself


def test_a_judge_that_gives_no_grade_for_a_text(chat):
    """Here for a mere full stop, which it is asked about with its first source."""

    def behave(request, number):
        texts = [output["text"] for output in chat.material(request)["outputs"]]
        return "no" if texts == ["."] else chat.honest(request)

    options = {"model": "stand-in", "base_url": chat.start(behave).url, "api_key_env": None, "on_failure": "skip"}
    with pytest.raises(ValueError, match=r"attack: llm_judge gives nan for '\.', sentence 1"):
        geceval.attack("llm_judge", SOURCES, options={"llm_judge": options})


def test_texts_of_an_attack_are_no_reason_to_warn(make_checkpoint, caplog):
    """Neither that they are cut nor that a guard would strike: a warning would name lines of no file."""
    options = {"model": str(make_checkpoint(3)), "max_length": 8}
    assert geceval.attack("impara_ged", SOURCES, options={"impara_ged": options}, resamples=2)["impara_ged"].rows
    assert caplog.messages == []


def test_the_example_corpus():
    found = geceval.attack("green", resamples=20)["green"]
    assert (found.sentences, found.systems, len(found.flips)) == (44, 2, len(FLIPS) + 1)
    assert [row.name for row in found.rows[:5]] == ["source", "reference 1", "reference 2", "strong", "minimal"]
    assert found.headlines[0].worst.beaten.value == 0
    assert found.signature.startswith("green|") and "|budget:0|sentences:none|resamples:20|" in found.test


def test_several_metrics_and_their_options():
    found = geceval.attack(["green", "i_measure"], options={"green": {"unit": "char"}}, resamples=2)
    assert list(found) == ["green", "i_measure"] and "|unit:char|" in found["green"].signature


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geceval.attack("gleu", SOURCES), "attack: gleu needs references"),
        (lambda: geceval.attack("green", None, {"a": GOOD}), "attack: systems, references and attacks need their"),
        (lambda: geceval.attack("green", SOURCES, {"a": GOOD[1:]}, GOOD), "attack: a: 3 sources but 2 predictions"),
        (lambda: geceval.attack("green", SOURCES, None, GOOD[1:]), "attack: 2 references but 3 sources"),
        (lambda: geceval.attack("green", ["", " "], None, ["a", "b"]), "attack: all sources are blank"),
        (lambda: geceval.attack("green", budget=-1), "attack: budget must be at least 0, got -1"),
        (lambda: geceval.attack("green", bugdet=3), "attack: unknown option 'bugdet'"),
        (lambda: geceval.attack("gotoscorer"), "attack: gotoscorer scores whole corpora with these settings"),
        (lambda: geceval.attack("grene"), "unknown metric 'grene'; did you mean 'green'?"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert str(error.value).startswith(message)
