"""A detector is divided into adapters, its encoder and its head, which together say what the whole said."""

import json

import pytest

import bundle_detector
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector
from recipes.ged import Job, train_ged

TEXTS = ["the cat sit on the mat", "dogs runs to school", "a"]


def test_two_adapters_give_nearly_what_the_detector_gave(corpus, base, tmp_path):
    whole, encoder, adapter = tmp_path / "whole", tmp_path / "encoder", tmp_path / "adapter"
    recipe = Recipe(base=str(base), epochs=2, learning_rate=1e-2, batch_size=8)
    results = train_ged(Job(m2=(corpus,), classes=4, recipe=recipe), whole)
    low_rank = ["--over", str(base), "--m2", str(corpus), "--ranks", "16", "16", "--lr", "1e-5"]
    arguments = [*map(str, (whole, encoder, adapter)), "--base", str(encoder), *low_rank]
    assert bundle_detector.main(arguments) == 0
    assert json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"] == str(encoder)
    checkpoint = resolve(str(adapter))
    assert (checkpoint.base.folder, checkpoint.base.base.folder) == (encoder, base)
    expected, found = Detector.load(resolve(str(whole))), Detector.load(checkpoint)
    assert found.labels == expected.labels == ("CORRECT", "M", "R", "U")
    for left, right in zip(expected.log_probabilities(TEXTS), found.log_probabilities(TEXTS), strict=True):
        assert right == pytest.approx(left, abs=0.05)  # at full rank nothing is lost but bits
    assert json.loads((adapter / "results.json").read_text()) == results
    assert "4 classes" in (encoder / "README.md").read_text()
    # The adapter belongs to this encoder alone.
    weights = encoder / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"1")
    with pytest.raises(ValueError, match="was trained over weights with SHA-256"):
        resolve(str(adapter))
