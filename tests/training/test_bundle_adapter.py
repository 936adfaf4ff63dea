"""An adapter in 8 bits over its base scores as it did, and names the base as it is now."""

import json
import re
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import bundle_adapter
from geceval.core.files import file_sha256, read_json
from geceval.learning.impara import Job, train_impara
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.quantised import is_quantised, read_weights
from recipes.quantising import SMALL, is_quantisable, rounded

TEXTS = ["the cat sit on the mat", "dogs runs to school", "a"]


@pytest.fixture
def adapter(corpus, base, tmp_path):
    shutil.copytree(base, tmp_path / "base")
    recipe = Recipe(base=str(tmp_path / "base"), epochs=1, batch_size=16, max_length=32, lora_rank=SMALL // 16)
    train_impara(Job(m2=(corpus,), recipe=recipe, pairs=40, threshold=-2), tmp_path / "run")
    return tmp_path / "run"


def test_it_scores_nearly_as_before(adapter, tmp_path):
    expected = Encoder.load(resolve(adapter), head=True).logits(TEXTS)
    weights = adapter.parent / "base" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"0")
    assert bundle_adapter.main([str(adapter), str(tmp_path / "bundled")]) == 0
    assert is_quantised(tmp_path / "bundled" / "adapter_model.safetensors")
    assert Encoder.load(resolve(tmp_path / "bundled"), head=True).logits(TEXTS) == pytest.approx(expected, abs=0.05)
    names = {"README.md", "results.json", "adapter_config.json", "adapter_model.safetensors", "config.json"}
    assert {path.name for path in (tmp_path / "bundled").iterdir()} == names
    assert json.loads((tmp_path / "bundled" / "results.json").read_text())["settings"]["pairs"] == 40


def test_the_mean_with_another_run(adapter, tmp_path):
    """Whole numbers, whose means float16 holds exactly; matrices of 8 bits are those of the mean."""
    weights = adapter / "adapter_model.safetensors"
    other = shutil.copytree(adapter, tmp_path / "other") / weights.name
    drawn = torch.Generator().manual_seed(1)
    first, second = (
        {name: torch.randint(-99, 100, values.shape, generator=drawn).float() for name, values in state.items()}
        for state in map(load_file, (weights, other))
    )
    save_file(first, weights)
    save_file(second, other)
    assert bundle_adapter.main([str(adapter), str(tmp_path / "mean"), "--mean-with", str(other.parent)]) == 0
    mean = read_weights(tmp_path / "mean" / weights.name)
    expected = {name: (values + second[name]) / 2 for name, values in first.items()}
    in_8_bits = {name: rounded(values) for name, values in expected.items() if is_quantisable(values)}
    assert mean.keys() == expected.keys() > in_8_bits.keys() > set()
    assert all(torch.equal(mean[name].float(), values) for name, values in (expected | in_8_bits).items())
    results = read_json(tmp_path / "mean" / "results.json")
    assert results == read_json(adapter / "results.json") | {"mean_with": file_sha256(other)}


@pytest.mark.parametrize("part", ["layer.0.attention.self.query.lora_A", "classifier"])
def test_an_adapter_without_some_of_its_weights_is_refused(adapter, part):
    path = adapter / "adapter_model.safetensors"
    state = load_file(path)
    less = {name: values for name, values in state.items() if part not in name}
    save_file(less, path)
    with pytest.raises(CheckpointError, match=f"does not fit its base .*{re.escape(part)}"):
        Encoder.load(resolve(adapter), head=True)
