"""The metric of meaning against a plain loop, texts without words, and the bundled estimator."""

import numpy as np
import pytest
import torch
import transformers

from geceval.core.files import ASSETS, read_lines
from geceval.scorers.meaning import Meaning, Settings

EXAMPLE = ASSETS / "example"


@pytest.fixture(scope="module")
def bundled():
    scorer = Meaning()
    scorer.load()
    return scorer


def test_scores_equal_a_plain_loop(make_checkpoint):
    folder = make_checkpoint(5)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sources, predictions = ["the cat sit", "a dog run", "dogs"], ["the cat sat", "the dogs run home", "a dog"]
    expected = []
    for pair in zip(sources, predictions, strict=True):
        with torch.no_grad():
            expected.append(torch.sigmoid(network(**tokenizer(*pair, return_tensors="pt")).logits).item())
    result = Meaning(Settings(model=str(folder))).score(sources, predictions)
    assert result.scores == pytest.approx(expected, abs=1e-5)
    assert result.score == pytest.approx(np.mean(expected), abs=1e-5)


def test_equal_texts_and_texts_without_words(bundled):
    sources, predictions = ["He ran .", "He  ran .", "", "He ran .", " "], ["He ran .", "He ran .", "", "", "."]
    assert bundled.score(sources, predictions).scores == [1.0, 1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("source", "kept", "lost"),
    [
        ("He have two dog .", "He has two dogs .", "He has seven dogs ."),
        ("I did not liked the film .", "I did not like the film .", "I liked the film ."),
        ("We goed to the beach because it was hot .", "As it was hot , we went to the beach .", "It was hot ."),
        ("She live in Paris since 2010 .", "She has lived in Paris since 2010 .", "The weather is mild ."),
    ],
)
def test_a_correction_says_what_its_source_says(bundled, source, kept, lost):
    kept, lost = bundled.score([source] * 2, [kept, lost]).scores
    assert kept > 0.5 > lost


def test_imagined_systems_that_correct_are_above_the_one_that_says_something_else(bundled):
    # `overcorrect` is below all: so free a rewrite, of which it learnt from none, is beyond so small an encoder.
    sources = read_lines(EXAMPLE / "source.txt")
    means = {path.stem: bundled.score(sources, read_lines(path)).score for path in (EXAMPLE / "systems").iterdir()}
    assert means["unchanged"] == 1.0
    assert min(means["strong"], means["minimal"]) > 0.85 > means["meaning"]
