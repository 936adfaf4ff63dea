"""CLEME2.0: hits, wrong, under- and over-corrections; and both metrics beside the authors' programs."""

import json
from collections import Counter
from pathlib import Path

import cleme_cases as cases
import numpy as np
import pytest

import geceval
from geceval.core.inputs import Columns
from geceval.edits.edit import apply
from geceval.edits.m2 import read_m2
from geceval.registry import make_scorer
from geceval.scorers.edit_based.chunk_classes import classify, count, similarity_weights
from geceval.scorers.edit_based.chunk_scorer import JointChunkScorer

DATA = Path(__file__).parents[3] / "shared" / "data" / "cleme"
ASSUMPTIONS = ("dependent", "independent")
UNWEIGHTED, LENGTH = {"weights": "none"}, {"weights": "length"}
SENTENCE, INDEPENDENT = {"average": "sentence"}, {"assumption": "independent"}


@pytest.mark.parametrize(  # worked out by hand, and confirmed by the authors' program
    ("case", "options", "expected"),
    [
        ("boundary insert", UNWEIGHTED, {"score": 1, "hit": 1, "wrong": 0, "under": 0, "over": 0}),
        ("edges", UNWEIGHTED, {"score": 0.7, "hit": 0.5, "under": 0.5}),
        ("edges", LENGTH, {"score": 0.7429, "fn": 0.75}),
        ("chain", UNWEIGHTED, {"score": 0.2, "fp_ne": 1, "fp_un": 0, "wrong": 1}),
        ("chain", UNWEIGHTED | SENTENCE, {"score": 0.4}),
        ("split", UNWEIGHTED, {"score": 1, "tp": 1}),
        ("identity", UNWEIGHTED, {"score": 0.9833, "tp": 2, "fp_ne": 0, "fp_un": 1, "fn": 0}),
        ("identity", UNWEIGHTED | INDEPENDENT, {"score": 0.85, "tp": 3, "fn": 1}),
        ("weights", UNWEIGHTED, {"fp_un": 1, "fn": 1}),
        ("weights", LENGTH, {"score": 0.6687, "fp_un": 1.25, "fn": 0.75}),
        ("greedy", UNWEIGHTED, {"score": 0.7833, "fp_un": 1}),
        ("greedy", UNWEIGHTED | SENTENCE, {"score": 0.7583}),
        ("greedy", UNWEIGHTED | SENTENCE | INDEPENDENT, {"score": 0.8833}),
        ("empty", UNWEIGHTED, {"tp": 1, "fp_ne": 1, "fp_un": 0}),
        ("no reference edits", UNWEIGHTED, {"score": 0.5, "fp_un": 1, "over": 1}),
        ("COM prefers a miss", UNWEIGHTED, {"score": 0.3, "fn": 1}),
        ("COM prefers a miss", UNWEIGHTED | SENTENCE, {"score": 0.425}),
        ("COM prefers a miss", UNWEIGHTED | INDEPENDENT, {"score": 0.2, "fn": 0}),
        ("COM prefers a miss", UNWEIGHTED | INDEPENDENT | SENTENCE, {"score": 0.4}),
    ],
)
def test_cases_worked_out_by_hand(case, options, expected, tmp_path):
    found = cases.score_case("cleme2", case, tmp_path, **options).to_dict()
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=5.1e-5)


def slow_com(counts: dict[str, float]) -> float:
    tp, wrong, unneeded, fn = (counts[key] for key in ("tp", "fp_ne", "fp_un", "fn"))
    needed, changed = tp + wrong + fn, tp + wrong + unneeded
    shares = [part / needed if needed else 0.0 for part in (tp, wrong, fn)] + [unneeded / changed if changed else 0.0]
    return 0.45 * shares[0] + 0.35 * (1 - shares[1]) + 0.15 * (1 - shares[2]) + 0.05 * (1 - shares[3])


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_as_by_a_slow_version(assumption, tmp_path):
    for seed in range(12):
        rows = cases.draw_sentences(seed)
        total = cases.slow_total(rows, assumption, "correction", slow_com)
        found = cases.score_edits("cleme2", rows, tmp_path, weights="none", assumption=assumption).to_dict()
        assert {key: found[key] for key in total if key != "fp"} == {key: total[key] for key in total if key != "fp"}
        assert found["score"] == pytest.approx(slow_com(total), abs=1e-12)


def unigram_f1(candidates: list[str], references: list[str]) -> list[float]:
    """F1 of the multisets of tokens: in the place of an encoder, here and in the values of the authors' program."""
    found = []
    for candidate, reference in zip(candidates, references, strict=True):
        one, other = Counter(candidate.split()), Counter(reference.split())
        shared = (one & other).total()
        p, r = (shared / counts.total() if shared else 0.0 for counts in (one, other))
        found.append(2 * p * r / (p + r) if shared else 0.0)
    return found


def weigh_by_similarity(scorer, columns: Columns) -> np.ndarray:
    corpus = scorer.chunks(columns)
    classes = [classify(chunks, scorer.settings.assumption) for chunks in corpus]
    weigh = similarity_weights(corpus, classes, unigram_f1)
    rows = [count(chunks, kinds, weigh) for chunks, kinds in zip(corpus, classes, strict=True)]
    found = np.full((len(rows), max(map(len, rows)), 6), np.nan)
    for index, row in enumerate(rows):
        found[index, : len(row)] = row
    return found


@pytest.mark.parametrize(
    ("source", "own", "reference", "prediction", "weights"),
    [
        # The source has 3 of the 5 tokens of the reference, X b Y d e; with X alone 4, with Z alone 2, with Y alone 4.
        ("a b c d e", "0 1 X; 4 5 Z", "0 1 X; 2 3 Y", "X b c d Z", [0.2, 0.2, 0.2, 2.0, 0.0, 0.2]),
        ("a", "0 1", "0 1 X", "", [0.0] * 6),  # a chunk that leaves no text weighs nothing
    ],
)
def test_weights_by_similarity(source, own, reference, prediction, weights, tmp_path):
    row = (source, cases.edits(own), [cases.edits(reference)])
    cases.score_edits("cleme2", [row], tmp_path, **UNWEIGHTED)
    files = {"gold_m2": tmp_path / "references.m2", "predictions_m2": tmp_path / "hypothesis.m2"}
    counts = weigh_by_similarity(make_scorer("cleme2", files), Columns([source], [prediction], None))
    assert counts[0, 0].tolist() == pytest.approx(weights)


def test_the_bundled_encoder_weighs_by_default():
    columns = {
        "sources": ["He go to school every days .", "I has a cat ."],
        "predictions": ["He goes to school every days .", "I had a dog ."],
        "references": [["He goes to school every day ."], ["I have a cat .", "I have one cat ."]],
    }
    plain, weighted = (make_scorer("cleme2", options).score(**columns) for options in (UNWEIGHTED, {}))
    assert plain.details["tp"] == 1.0 and 0 < weighted.details["tp"] < 1
    assert "|model:none|" in plain.signature and "|model:none|" not in weighted.signature
    scorer = make_scorer("cleme2")
    alone = [scorer.score(*([column[row]] for column in columns.values())).scores[0] for row in range(2)]
    assert weighted.scores == pytest.approx(alone, abs=1e-6)


def test_attribution():
    source, reference = "He go to school every days .", "He goes to school every day ."
    (found,) = geceval.attribute("cleme2", [source], [reference], [[reference]], options=UNWEIGHTED)
    assert [edit.correction for edit in found.edits] == ["goes", "day"]
    assert found.scores == pytest.approx([0.3, 0.3]) and found.total == pytest.approx(0.6)  # from .4 to 1
    with pytest.raises(ValueError, match="predictions_m2 has one entry a sentence .* pass the edits as predictions"):
        geceval.attribute("cleme2", [source], [reference], [[reference]], options={"predictions_m2": "own.m2"})


NAMES = {"p": "precision", "r": "recall", "acc": "accuracy", "com": "score", "err": "wrong", "und": "under"}
NAMES["ove"] = "over"
NAMES |= {"P": "precision", "R": "recall", "F": "f", "Acc": "accuracy"}
SYSTEMS = sorted(json.loads((DATA / "head_api.json").read_text())) if DATA.is_dir() else ["AMU"]


def stored(name: str) -> dict:
    if not DATA.is_dir():
        pytest.skip("the values of the authors' programs (../shared/data/cleme) are not on this machine")
    return json.loads((DATA / name).read_text())


def read_system(system: str) -> tuple[dict, tuple[list[str], list[str]]]:
    files = {"gold_m2": DATA / "conll14.errant", "predictions_m2": DATA / f"conll14-{system}.errant"}
    sentences = read_m2(files["predictions_m2"])
    texts = [apply(sentence.source, next(iter(sentence.edits.values()))) for sentence in sentences]
    return files, ([sentence.source for sentence in sentences], texts)


def differences(found: dict, values: dict, tolerance: float) -> dict:
    expected = {key: pytest.approx(value, abs=tolerance) for key, value in values.items()}
    pairs = {key: (found.get(NAMES.get(key, key)), value) for key, value in expected.items()}
    return {key: pair for key, pair in pairs.items() if pair[0] is not None and pair[0] != pair[1]}


def options_of(key: str, row: str) -> tuple[str, dict]:
    """The metric and its options for a row such as `prf_corpus_weighted` of `cleme/sentence/dependent`."""
    kind, _, assumption = key.split("/")
    weights = "none" if row.endswith("unweighted") else "similarity" if kind == "cleme2-simstub" else "length"
    options = {"assumption": assumption, "weights": weights, "average": row.split("_")[1]}
    if kind == "cleme-headcli":
        return "cleme", {**options, "behaviour": "head"}
    return kind.partition("-")[0], options


def of_its_level(key: str, row: str) -> bool:
    """Whether the row takes the length weights and coefficients of its own level, as the program prints them."""
    kind, preset, _ = key.split("/")
    return kind == "cleme-headcli" or row.split("_")[1] == preset


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_program_of_2025(system, monkeypatch):
    """Each system has an eighth of the rows: all kinds, assumptions, weights and averages, some by each."""
    values = stored("head_api.json")[system]
    files, texts = read_system(system)
    monkeypatch.setattr(JointChunkScorer, "_similarity", lambda self, *columns: np.array(unigram_f1(*columns)))
    rows = sorted((key, row) for key, found in values.items() for row in found if of_its_level(key, row))
    for key, row in rows[SYSTEMS.index(system) :: len(SYSTEMS)]:
        name, options = options_of(key, row)
        found = make_scorer(name, {**files, **options}).score(*texts).to_dict()
        assert differences(found, values[key][row], 1e-6) == {}, (key, row)
