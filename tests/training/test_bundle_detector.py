"""A detector is divided into an encoder and an adapter with its head, which together say what the whole said."""

import json

import pytest
import torch
from safetensors.torch import load_file

from geceval.learning.ged.job import Job
from geceval.learning.ged.train import train_ged
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector

TEXTS = ["the cat sit on the mat", "dogs runs to school", "a"]


def test_encoder_and_adapter_give_what_the_detector_gave(load_script, corpus, base, tmp_path):
    whole, encoder, adapter = tmp_path / "whole", tmp_path / "encoder", tmp_path / "adapter"
    recipe = Recipe(base=str(base), epochs=2, learning_rate=1e-2, batch_size=8)
    results = train_ged(Job(m2=(corpus,), classes=4, recipe=recipe), whole)
    load_script("bundle_detector").main([*map(str, (whole, encoder, adapter)), "--base", str(encoder)])
    weights = load_file(encoder / "model.safetensors")
    assert {w.dtype for w in weights.values()} == {torch.float16}
    assert not any("classifier" in name for name in weights)
    assert json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"] == str(encoder)
    assert (adapter / "adapter_model.safetensors").stat().st_size < (encoder / "model.safetensors").stat().st_size / 2
    expected = Detector.load(resolve(str(whole)))
    found = Detector.load(resolve(str(adapter)))
    assert found.labels == expected.labels == ("CORRECT", "M", "R", "U")
    for left, right in zip(expected.log_probabilities(TEXTS), found.log_probabilities(TEXTS), strict=True):
        assert right == pytest.approx(left, abs=5e-3)  # 16 bits
    assert json.loads((adapter / "results.json").read_text()) == results
    assert "4 classes" in (encoder / "README.md").read_text()
    # The adapter belongs to this encoder alone.
    (encoder / "model.safetensors").write_bytes((encoder / "model.safetensors").read_bytes()[:-8] + b"\0" * 7 + b"1")
    with pytest.raises(ValueError, match="was trained over weights with SHA-256"):
        resolve(str(adapter))
