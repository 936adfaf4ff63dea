"""Weights in 8 and 4 bits are within half a unit of their scale of what they were, in files and in networks."""

import shutil

import pytest
import torch
from safetensors.torch import load_file

from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.quantised import dequantise, is_quantised, read_weights
from recipes.quantising import quantise, rounded, write_weights


def test_values_and_scales_by_hand():
    weights = torch.tensor([[1.27, -0.64, 0.0, 0.006], [0.0, 0.0, 0.0, 0.0]])
    parts = quantise(weights)
    assert parts["values"].tolist() == [[127, -64, 0, 1], [0, 0, 0, 0]]
    assert parts["values"].dtype == torch.int8 and parts["scales"].dtype == torch.float16
    assert parts["scales"].flatten().tolist() == pytest.approx([0.01, 0], rel=1e-3)
    assert dequantise(**parts)[1].tolist() == [0, 0, 0, 0]


def test_two_values_of_4_bits_share_a_byte():
    weights = [[0.7, -0.7, 0.1, 0.0], [14.0, 2.0, -14.0, 8.0]]
    parts = quantise(torch.tensor(weights), bits=4)
    assert parts["values"].dtype == torch.uint8
    assert parts["values"].tolist() == [[7 + 8 | (-7 + 8) << 4, 1 + 8 | 8 << 4], [15 | 9 << 4, 1 | 12 << 4]]
    assert parts["scales"].tolist() == [[pytest.approx(0.1, rel=1e-3)], [2]]
    assert torch.allclose(dequantise(**parts), torch.tensor(weights), atol=1e-3)
    assert torch.equal(rounded(torch.tensor(weights), bits=4), dequantise(**parts))


@pytest.fixture
def network(make_checkpoint, tmp_path):
    """A checkpoint whose matrices are large enough to be quantised, and the same in 8 bits."""
    whole = make_checkpoint(3, hidden_size=64, intermediate_size=128)
    folder = tmp_path / "quantised"
    shutil.copytree(whole, folder)
    write_weights(load_file(whole / "model.safetensors"), folder / "model.safetensors")
    return whole, folder


def test_a_network_in_8_bits_computes_nearly_the_same(network):
    whole, folder = network
    small, large = (path / "model.safetensors" for path in (folder, whole))
    assert is_quantised(small) and not is_quantised(large)
    assert small.stat().st_size < 0.5 * large.stat().st_size
    read, expected = read_weights(small), read_weights(large)
    assert read.keys() == expected.keys()
    for name, weights in expected.items():
        assert read[name].float() == pytest.approx(weights, abs=float(weights.abs().max()) / 127)
    texts = ["the cat sat on the mat", "a dog runs"]
    found, wanted = (Encoder.load(resolve(path)).embed(texts) for path in (folder, whole))
    assert found == pytest.approx(wanted, abs=0.1) and abs(found - wanted).max() > 0
    assert resolve(folder).identity != resolve(whole).identity


@pytest.mark.parametrize("change", ["cut", "shape", "no scales", "no integers"])
def test_a_damaged_file_is_one_message(change, network):
    path = network[1] / "model.safetensors"
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        from safetensors.torch import save_file

        stored = load_file(path)
        name = next(name for name in stored if name.endswith(":scales"))
        if change == "shape":
            stored[name] = stored[name][:-1]
        else:
            del stored[name if change == "no scales" else name.removesuffix(":scales")]
        save_file(stored, path)
    with pytest.raises(CheckpointError, match="the weights cannot be loaded"):
        Encoder.load(resolve(network[1]))
