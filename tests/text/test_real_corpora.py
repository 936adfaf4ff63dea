"""Corpora and outputs of systems: tokens are left alone, and prose scores as the tokens that it was made of."""

import pytest

from geceval import registry
from geceval.core.files import read_lines
from geceval.text.columns import kind
from geceval.text.tokenisers import detokenise

FILES = ["pillars/*.conll14.txt", "pillars/*.bea19-dev.txt", "seeda/outputs/all/*.txt", "gmeg/*/source", "gmeg/*/ref?"]
FILES += ["jfleg/*.src", "jfleg/*.ref?", "languages/german/fm-dev.src", "languages/ukrainian/*.tok"]


def test_tokens_are_never_taken_for_prose_nor_prose_for_tokens(shared_data):
    files = [file for pattern in FILES for file in shared_data.glob(pattern)]
    assert len(files) > 40
    for texts in map(read_lines, files):
        assert kind(texts) == "tokens"
        assert {kind(texts[row : row + 5]) for row in range(0, len(texts) - 5, 97)} == {"tokens"}
        assert kind([detokenise(text) for text in texts]) == "prose"


def test_chinese_is_neither(shared_data):
    rows = [line.split("\t")[1] for line in read_lines(shared_data / "mucgec" / "MuCGEC_dev.txt")]
    assert {kind(rows), *map(kind, zip(rows, strict=True))} == {""}


@pytest.mark.parametrize(
    ("corpus", "system", "metric", "most"),
    [
        ("conll14", "T5-11B", "m2", 0.002),
        ("conll14", "GECToR-2024", "m2", 0.002),
        ("bea19-dev", "T5-11B", "gleu", 0.003),
        ("bea19-dev", "CTC-Copy", "green", 0.003),
        pytest.param("bea19-dev", "T5-11B", "errant", 0.002, marks=pytest.mark.slow),
        pytest.param("bea19-dev", "T5-11B", "cleme", 0.003, marks=pytest.mark.slow),
    ],
)
def test_prose_scores_as_its_tokens(shared_data, corpus, system, metric, most):
    folder = shared_data / "pillars"
    sources, predictions = (read_lines(folder / f"{name}.{corpus}.txt") for name in ("source", system))
    scorer = registry.make_scorer(metric, {"gold_m2": folder / f"gold.{corpus}.m2"})
    tokens = scorer.score(sources, predictions)
    prose = scorer.score(sources, [detokenise(text) for text in predictions])
    assert prose.score == pytest.approx(tokens.score, abs=most)
    assert "text" not in tokens.details
    assert prose.details["text"]["converted"]["predictions"] > 0.9 * len(sources)
