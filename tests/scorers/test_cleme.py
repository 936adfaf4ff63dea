"""CLEME: the cases worked out by hand, the choice of references, the authors' defects, odd input."""

import math
import subprocess
import sys
from pathlib import Path

import cleme_cases as cases
import pytest

import geceval
from geceval.core.result import Result
from geceval.registry import make_scorer

UNWEIGHTED = {"weights": "none"}
SENTENCE = {"average": "sentence"}
INDEPENDENT = {"assumption": "independent"}


@pytest.mark.parametrize(  # worked out by hand, and confirmed by the authors' program
    ("case", "options", "expected"),
    [
        ("boundary insert", UNWEIGHTED, {"tp": 1, "fp": 0, "fn": 0, "tn": 2, "f": 1}),
        ("boundary insert", {}, {"tp": 1.25}),
        ("boundary insert", SENTENCE, {"tp": 10 / (1 + 9 * math.exp(-2 / 3))}),
        ("boundary insert", SENTENCE | INDEPENDENT, {"tp": 2.5}),
        ("edges", UNWEIGHTED, {"tp": 1, "fp": 0, "fn": 1, "tn": 1, "f": 0.8333}),
        ("edges", {}, {"tp": 1, "fp": 0, "fn": 0.75, "tn": 1, "f": 0.8696, "accuracy": 0.7273}),
        ("edges", SENTENCE, {"f": 0.8333}),
        ("edges", SENTENCE | INDEPENDENT, {"tp": 2.5, "fn": 1, "recall": 0.7143, "f": 0.9259}),
        ("chain", UNWEIGHTED, {"tp": 0, "fp": 1, "fn": 0, "tn": 2, "f": 0}),
        ("split", UNWEIGHTED, {"tp": 1, "fp": 0, "fn": 0, "tn": 2, "f": 1}),
        ("identity", UNWEIGHTED, {"tp": 2, "fp": 1, "fn": 0, "tn": 7, "f": 0.7143}),
        ("identity", UNWEIGHTED | INDEPENDENT, {"tp": 3, "fp": 0, "fn": 1, "tn": 6, "f": 0.9375}),
        ("weights", UNWEIGHTED, {"tp": 1, "fp": 1, "fn": 1, "tn": 5, "f": 0.5}),
        ("weights", {}, {"tp": 0.75, "fp": 1.25, "fn": 0.75, "tn": 5, "f": 0.3947, "accuracy": 0.7419}),
        ("weights", SENTENCE, {"f": 0.2778}),
        ("weights", SENTENCE | INDEPENDENT, {"f": 0.3788, "precision": (1 + 0.7143) / 2}),
        ("greedy", UNWEIGHTED, {"tp": 2, "fp": 1, "fn": 1, "tn": 8, "f": 0.6667}),
        ("greedy", UNWEIGHTED | SENTENCE, {"f": 0.7963}),
        ("greedy", UNWEIGHTED | INDEPENDENT, {"tp": 3, "fp": 0, "fn": 0, "tn": 9, "f": 1}),
        ("empty", UNWEIGHTED, {"tp": 1, "fp": 1, "fn": 0, "tn": 1, "f": 0.5556}),
        ("empty", {}, {"tp": 0.75, "fp": 0.8349, "fn": 0, "tn": 1, "precision": 0.4732, "f": 0.529}),
        ("no reference edits", UNWEIGHTED, {"tp": 0, "fp": 1, "fn": 0, "tn": 2, "precision": 0, "recall": 1, "f": 0}),
        ("no reference edits", UNWEIGHTED, {"accuracy": 0.6667}),
        ("COM prefers a miss", UNWEIGHTED, {"tp": 0, "fp": 1, "fn": 0, "tn": 4, "f": 0}),
        # The program of 2025 weighs sentences as it weighs corpora.
        ("boundary insert", {"behaviour": "head"} | SENTENCE, {"tp": 1.25}),
        # Here beta counts for sentences, too.
        ("edges", {"beta": 2.0} | UNWEIGHTED | SENTENCE, {"f": 5 * 0.5 / (4 * 1 + 0.5)}),
    ],
)
def test_cases_worked_out_by_hand(case, options, expected, tmp_path):
    found = cases.score_case("cleme", case, tmp_path, **options).to_dict()
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=5.1e-5)


def test_without_a_mean_length_every_chunk_weighs_one(tmp_path, caplog):
    weighted = cases.score_case("cleme", "no reference edits", tmp_path).to_dict()
    assert "cleme: no reference changes anything, so every chunk weighs 1" in caplog.text
    assert (weighted["fp"], weighted["tn"], weighted["f"], weighted["accuracy"]) == (1.0, 2.0, 0.0, 0.6667)


def slow_f(counts: dict[str, int]) -> float:
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    p, r = tp / (tp + fp) if tp + fp else 1.0, tp / (tp + fn) if tp + fn else 1.0
    return round(1.25 * p * r / (0.25 * p + r), 4) if p + r else 0.0


@pytest.mark.parametrize("assumption", ["dependent", "independent"])
@pytest.mark.parametrize("level", ["correction", "detection"])
def test_as_by_a_slow_version(assumption, level, tmp_path):
    for seed in range(12):
        rows = cases.draw_sentences(seed)
        total = cases.slow_total(rows, assumption, level, slow_f)
        options = UNWEIGHTED | {"assumption": assumption, "level": level}
        result = cases.score_edits("cleme", rows, tmp_path, **options)
        found = result.to_dict()
        assert [found[key] for key in ("tp", "fp", "fn", "tn")] == [total[key] for key in ("tp", "fp", "fn", "tn")]
        assert result.score == slow_f(total)
        best = [max(map(slow_f, cases.slow_options(row, assumption, level))) for row in rows]
        assert result.scores == best
        mean = cases.score_edits("cleme", rows, tmp_path, average="sentence", **options)
        assert mean.score == pytest.approx(sum(best) / len(best), abs=1e-12)


def test_resampling_with_weights_by_length_takes_the_mean_of_the_whole(tmp_path):
    result = cases.score_edits("cleme", cases.draw_sentences(4), tmp_path, **INDEPENDENT)
    scorer = make_scorer("cleme", INDEPENDENT)
    rows = result.rows()
    assert scorer.aggregate(rows[None]).tolist() == [result.score]
    sample = rows[5:, 0].sum(axis=0)  # with independence all references have the same counts
    p, r = sample[0] / (sample[0] + sample[1]), sample[0] / (sample[0] + sample[2])
    assert scorer.aggregate(rows[None, 5:])[0] == pytest.approx(1.25 * p * r / (0.25 * p + r), abs=1e-4)
    with pytest.raises(ValueError, match="cleme: .* cannot be scored in parts"):
        geceval.BatchScorer("cleme")


GOLD = "S a b c\nA 0 1|||R|||X|||REQUIRED|||-NONE-|||0\n\nS d e\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"
OWN = "S a b c\nA 1 2|||R|||Y|||REQUIRED|||-NONE-|||0\n\nS d e\n"


def score_texts(folder: Path, gold: str, own: str, predictions=("a Y c", "d e"), **options) -> Result:
    (folder / "gold.m2").write_text(gold)
    (folder / "own.m2").write_text(own)
    files = {"gold_m2": str(folder / "gold.m2"), "predictions_m2": str(folder / "own.m2")}
    return make_scorer("cleme", {**files, **UNWEIGHTED, **options}).score(["a b c", "d e"], list(predictions))


LINE = "A {}|||R|||{}|||REQUIRED|||-NONE-|||{}\n"


@pytest.mark.parametrize(
    ("gold", "own", "predictions", "message"),
    [
        (GOLD.replace("0 1|||R|||X", "0 2|||R|||X", 1).replace("c\n", "c\n" + LINE.format("1 3", "Z", 0), 1), OWN, None,
         r"cleme: sources\[0\]: edits .* overlap"),
        (GOLD, OWN.replace("c\n", "c\n" + LINE.format("0 2", "Z", 0), 1), None, "own.m2, line 1: edits .* overlap"),
        (GOLD.replace("S d e", "S d f"), OWN, None, r"cleme: sources\[1\] is not the sentence of .*gold.m2, line 4"),
        (GOLD, OWN.replace("S d e", "S d f"), None, r"cleme: sources\[1\] is not the sentence of .*own.m2, line 4"),
        (GOLD, "S a b c\n", None, "cleme: .*own.m2 has 1 sentence for 2 sources; pass the M2 file of"),
        (GOLD, OWN, ("a b c", "d e"), r"own.m2, line 1, do not make predictions\[0\]: 'a Y c' and 'a b c'"),
        (GOLD, OWN.replace("c\n", "c\n" + LINE.format("0 1", "Z", 1), 1), None, "own.m2, line 1: one annotator"),
        (GOLD.replace("c\n", "c\n" + LINE.format("0 1", "Z", 2), 1), OWN, None,
         r"cleme: sources\[0\]: the annotators of this sentence are 0, 2; number them 0, 1"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(gold, own, predictions, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        score_texts(tmp_path, gold, own, predictions or ("a Y c", "d e"))


def test_odd_files_that_are_read(tmp_path):
    plain = score_texts(tmp_path, GOLD, OWN).to_dict()
    twice = score_texts(tmp_path, GOLD, OWN.replace("c\n", "c\n" + LINE.format("1 2", "Y", 0), 1)).to_dict()
    assert twice | {"signature": ""} == plain | {"signature": ""}
    assert (plain["tp"], plain["fp"], plain["fn"]) == (0.0, 1.0, 0.0)  # touching edits are one chunk
    bars = GOLD.replace("0 1|||R|||X", "1 2|||R|||Y || Z"), OWN.replace("|||Y|", "|||Y || Z|")
    assert score_texts(tmp_path, *bars, ("a Y || Z c", "d e")).score == 1.0  # no alternatives


def test_with_both_files_nothing_is_parsed(tmp_path):
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "own.m2").write_text(OWN)
    program = f"""
import sys
from geceval.registry import make_scorer
more = {{"cleme": {{"weights": "none"}}, "cleme2": {{"weights": "length"}}}}
more["gotoscorer"] = {{"difficulty": "uniform"}}
for name in ("cleme", "cleme2", "errant", "gotoscorer"):
    files = {{"gold_m2": r"{tmp_path / "gold.m2"}", "predictions_m2": r"{tmp_path / "own.m2"}"}}
    scorer = make_scorer(name, files | more.get(name, {{}}))
    scorer.load()
    result = scorer.score(["a b c", "d e"], ["a Y c", "d e"])
    assert "|nlp:none|" in result.signature and "|errant:" not in result.signature, result.signature
print([name for name in ("spacy", "errant", "torch") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
