"""Every metric gives a sample of scored sentences the very score that scoring the sample would give."""

import random

import numpy as np
import pytest

from geceval import registry
from geceval.core.f_score import Counts
from geceval.scorers.errant import errant_order
from geceval.scorers.references.annotator_choice import choose, choose_annotators, counts_array, m2_order

WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "dog", "dogs", "run", "runs", "likes", "school"]
SIZE = 24
# Settings with which the numbers of a sentence do not depend on the whole corpus.
IN_PARTS = {"cleme": {"weights": "none"}, "cleme2": {"weights": "none"}, "gotoscorer": {"difficulty": "uniform"}}


def invented(seed: int) -> dict[str, list]:
    """Sentences with one to three references each; predictions lie between source and first reference."""
    draw = random.Random(seed)

    def change(words: list[str], share: float) -> list[str]:
        changed = [draw.choice(WORDS) if draw.random() < share else word for word in words]
        return changed + ([draw.choice(WORDS)] if draw.random() < share else [])

    sources, predictions, references = [], [], []
    for _ in range(SIZE):
        words = [draw.choice(WORDS) for _ in range(draw.randint(4, 9))]
        options = [change(words, 0.3) for _ in range(draw.randint(1, 3))]
        mixed = [new if draw.random() < 0.7 else old for old, new in zip(words, options[0], strict=False)]
        sources.append(" ".join(words))
        predictions.append(" ".join(change(mixed, 0.1)))
        references.append([" ".join(option) for option in options])
    return {"sources": sources, "predictions": predictions, "references": references}


def check(name: str, options: dict, samples: int = 3) -> None:
    """The sample of all sentences first, then samples with replacement, in corpus order and in any order."""
    scorer = registry.make_scorer(name, options)
    scorer.load()
    columns = invented(seed=5)
    result = scorer.score(**columns)
    rows = result.rows()
    assert len(rows) == SIZE
    assert scorer.aggregate(rows[None]).tolist() == [result.score]
    draw = np.random.default_rng(7)
    chosen = [np.sort(draw.integers(SIZE, size=SIZE)), *(draw.integers(SIZE, size=SIZE) for _ in range(samples - 1))]
    found = scorer.aggregate(rows[np.array(chosen)])
    assert found.shape == (samples,)
    for sample, score in zip(chosen, found.tolist(), strict=True):
        again = scorer.score(**{name: [column[row] for row in sample] for name, column in columns.items()})
        assert score == pytest.approx(again.score, abs=1e-6 if again.statistics is None else 1e-14)
    assert len(set(found.tolist())) > 1


@pytest.mark.parametrize("name", sorted(set(registry.list_metrics()) - {"llm_judge"}))  # no judge is bundled
def test_a_sample_has_the_score_of_scoring_it(name, needed):
    check(name, {**needed.get(name, {}), **IN_PARTS.get(name, {})})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gleu", {"sampler": "expectation", "counting": "paper"}),
        ("errant", {"average": "sentence"}),
        ("errant", {"counting": "gec-metrics", "beta": 2.0}),
        ("m2", {"average": "sentence"}),
        ("m2", {"beta": 1.0}),
        ("pt_m2", {"average": "corpus", "weight": "self"}),
        ("pt_errant", {"average": "corpus"}),
        ("uot_errant", {"behaviour": "published"}),
        ("cleme", {"weights": "none", "assumption": "independent", "level": "detection"}),
        ("cleme", {"weights": "none", "average": "sentence"}),
        ("cleme2", {"weights": "none", "average": "sentence"}),
        ("cleme2", {"weights": "similarity", "average": "sentence", "assumption": "independent"}),
        ("green", {"beta": 0.5, "zero_recall": "gec-metrics"}),
        ("i_measure", {"change_weight": 3.0}),
    ],
)
def test_also_with_other_settings(name, options):
    check(name, options, samples=2)


def m2_rank(before: Counts, option: Counts) -> tuple:
    """What m2scorer compares: F so far from whole numbers, matches, edits (with beta² = 1/4)."""
    total = before + option
    size = (total.tp + total.fp) + 0.25 * (total.tp + total.fn)
    return (1.25 * total.tp / size if size else 1.0, total.tp, -size)


def errant_rank(rounds: bool):
    """What ERRANT compares: F so far, at four places if it rounds, then the sentence's own counts."""

    def rank(before: Counts, option: Counts) -> tuple:
        f = (before + option).f()
        return round(f, 4) if rounds else f, option.tp, -option.fp, -option.fn

    return rank


@pytest.mark.parametrize(
    ("order", "rank"),
    [(m2_order(0.5), m2_rank), *((errant_order(0.5, rounds), errant_rank(rounds)) for rounds in (True, False))],
)
def test_all_sentences_choose_as_if_one_after_the_other(order, rank):
    draw = random.Random(3)
    people = [draw.sample(range(5), draw.randint(1, 3)) for _ in range(60)]
    rows = [{who: Counts(*(draw.choice([0, 0, 1, 2]) for _ in range(3))) for who in row} for row in people]
    samples = np.array([[draw.randrange(60) for _ in range(40)] for _ in range(5)])
    chosen, totals = choose(counts_array(rows)[samples], order)
    for sample, found, total in zip(samples, chosen.tolist(), totals.tolist(), strict=True):
        corpus = [rows[row] for row in sample]
        before, annotators = Counts(), []
        for options in corpus:
            ranks = {who: rank(before, counts) for who, counts in options.items()}
            annotators.append(max(ranks, key=ranks.get))
            before += options[annotators[-1]]
        one = choose_annotators(corpus, 0.5, order)
        assert one.annotators == annotators and one.counts == before
        assert found == [list(options).index(each) for options, each in zip(corpus, annotators, strict=True)]
        assert total == [before.tp, before.fp, before.fn]


@pytest.mark.parametrize(
    ("counts", "rounded"),
    [
        (Counts(107, 53, 53), 0.6687),  # F is 0.66875, a little less in floating point; NumPy says 0.6688
        (Counts(109, 49, 59), 0.6813),  # 0.68125, a little more; NumPy says 0.6812
        (Counts(1, 1, 1), 0.5),
    ],
)
def test_f_is_rounded_as_python_rounds(counts, rounded):
    f, *_ = errant_order(0.5, rounds=True)(Counts(), Counts.of(counts_array([{0: counts}])))
    assert f.tolist() == [[rounded]] == [[round(counts.f(), 4)]]
