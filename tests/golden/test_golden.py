"""Metrics against the values of other people's programs, stored beside this file; `make.py` writes them anew."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from geceval import registry
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.m2 import read_m2
from geceval.scorers.gleu import draw_references, gleu

HERE = Path(__file__).parent
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*.json"))}
CORPUS = FILES.pop("corpus")
SOURCES, REFERENCES, SYSTEMS = CORPUS["sources"], CORPUS["references"], CORPUS["systems"]
FULL = [row for row, source in enumerate(SOURCES) if source]
PIPELINES = ["bundled", "official"]
EDITS = ["tp", "fp", "fn", "precision", "recall", "f"]


def golden(name):
    return FILES[name]["values"]


def score(name, system, rows=FULL, **options):
    """One system of the corpus, by our metric; without the rows that the other program cannot read."""
    scorer = registry.make_scorer(name, options)
    predictions = SYSTEMS[system]
    references = [REFERENCES[row] for row in rows] if scorer.needs_references() else None
    return scorer.score([SOURCES[row] for row in rows], [predictions[row] for row in rows], references)


@pytest.mark.parametrize("name", FILES)
def test_every_file_says_where_its_values_come_from(name):
    assert all(FILES[name][key] for key in ("tool", "version", "command", "values"))


@pytest.mark.parametrize("text", ["references", *SYSTEMS])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_edits_are_those_of_errant_parallel(pipeline, text, tmp_path):
    (tmp_path / "official.m2").write_text("\n".join(golden(f"errant_{pipeline}")["m2"][text]), encoding="utf-8")
    official = read_m2(tmp_path / "official.m2")
    texts = REFERENCES if text == "references" else [[prediction] for prediction in SYSTEMS[text]]
    assert [sentence.source for sentence in official] == [SOURCES[row] for row in FULL]  # it skips empty sources
    pairs = [(SOURCES[row], corrected) for row in FULL for corrected in texts[row]]
    found = get_annotator(pipeline).edits(pairs)
    found = [[(edit.start, edit.end, edit.correction, edit.type) for edit in edits] for edits in found]
    assert found == [
        [(edit.start, edit.end, edit.correction, edit.type) for edit in sentence.edits[number]]
        for sentence in official
        for number in range(len(texts[0]))
    ]


@pytest.mark.parametrize("level", ["correction", "correction_with_type", "detection_span", "detection_token"])
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_counts_are_those_of_errant_compare(pipeline, system, level):
    """It prints four decimal places."""
    details = score("errant", system, range(len(SOURCES)), nlp=pipeline, level=level).details
    expected = golden(f"errant_{pipeline}")["compare"][system]
    assert [details[key] for key in EDITS] == pytest.approx(expected[level], abs=5e-5)
    if level == "correction":
        found = {name: [counts[key] for key in EDITS] for name, counts in details["by_type"]["full"].items()}
        assert found == {name: pytest.approx(values, abs=5e-5) for name, values in expected["types"].items()}


@pytest.mark.parametrize("case", golden("m2"), ids=[case["why"] for case in golden("m2")])
def test_m2_follows_the_rules_of_the_official_scorer(case, tmp_path):
    gold = tmp_path / "gold.m2"
    gold.write_text(f"S {case['source']}\n" + "".join(f"A {line}\n" for line in case["gold"]) + "\n", encoding="utf-8")
    scorer = registry.make_scorer(case.get("metric", "m2"), {"gold_m2": gold, **case.get("options", {})})
    details = scorer.score([case["source"]], [case["prediction"]]).details
    assert [details[key] for key in ("precision", "recall", "f")] == pytest.approx(case["prf"], abs=1e-12)
    if "counts" in case:
        assert [details[key] for key in ("tp", "fp", "fn")] == case["counts"]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("counting", ["released", "paper"])
def test_gleu_is_that_of_gec_metrics(counting, system):
    """It draws as Python 3 does and takes an order without n-grams for right, so short predictions are left out."""
    expected = golden("gleu")[counting][system]
    found = score("gleu", system, counting=counting, smoothing=False)
    long = [number for number, row in enumerate(FULL) if len(SYSTEMS[system][row].split()) >= 4]
    assert len(long) > 15
    assert [found.scores[number] for number in long] == pytest.approx(
        [expected["scores"][number] for number in long], abs=1e-12
    )
    if all(SYSTEMS[system][row] for row in FULL):  # to it, an empty prediction is one token long
        draws = []
        for seed in range(0, 500 * 101, 101):
            generator = random.Random(seed)
            drawn = [generator.randint(0, 1) for _ in FULL]
            draws.append(gleu(found.statistics[range(len(FULL)), drawn, :-1].sum(axis=0)))
        assert np.mean(draws) == pytest.approx(expected["score"], abs=1e-12)


@pytest.mark.parametrize("references", golden("python2_draws"))
def test_gleu_draws_references_as_python_2_did(references):
    expected = np.array(golden("python2_draws")[references])
    assert (draw_references(len(expected), int(references), expected.shape[1]) == expected).all()


@pytest.mark.parametrize("references", golden("multigec")["scores"])
def test_gleu_of_essays_is_that_of_multigec(references):
    essays = golden("multigec")["essays"]
    columns = [essays[f"ref{number}"] for number in range(1, int(references) + 1)]
    for system, expected in golden("multigec")["scores"][references].items():
        scorer = registry.make_scorer("gleu", {"text": "syntok"})
        result = scorer.score(essays["orig"], essays[system], list(map(list, zip(*columns, strict=True))))
        assert round(100 * result.score, 4) == expected
        assert result.signature.startswith("gleu|text:syntok|")


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("settings", golden("green"))
def test_green_is_that_of_gec_metrics(settings, system):
    beta, unit = settings.split()
    expected = golden("green")[settings][system]
    found = score("green", system, beta=float(beta), unit=unit, zero_recall="gec-metrics")
    assert found.score == pytest.approx(expected["score"], abs=1e-12)
    assert found.scores == pytest.approx(expected["scores"], abs=1e-12)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("weights", ["uniform", "weighted"])
def test_gotoscorer_is_that_of_gec_metrics(weights, system):
    """Whose 0/0 is 1, and which forgives a missed insertion inside a longer edit: neither occurs here."""
    expected = golden("gotoscorer")[weights][system]
    systems = [[predictions[row] for row in FULL] for predictions in SYSTEMS.values()]
    difficulty = {"difficulty": "uniform"} if weights == "uniform" else {"systems": systems}
    found = score("gotoscorer", system, **difficulty, ref_id=0, nlp="bundled")
    assert found.score == pytest.approx(expected["score"], abs=1e-9)
    assert [found.details[key] for key in ("tp", "fp", "fn", "tn")] == pytest.approx(expected["counts"], abs=1e-9)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("layer", golden("bertscore"))
def test_bertscore_is_that_of_the_bert_score_package(layer, system):
    """In float32, whose last digits depend on the order of the sums."""
    rows = [row for row in FULL if all(predictions[row] for predictions in SYSTEMS.values())]
    found = score("bertscore", system, rows, model="bundled", layer=int(layer))
    precisions, recalls, scores = golden("bertscore")[layer][system]
    assert found.scores == pytest.approx(scores, abs=1e-4)
    assert found.details["precisions"] == pytest.approx(precisions, abs=1e-4)
    assert found.details["recalls"] == pytest.approx(recalls, abs=1e-4)
