"""Devices and number formats that can be asked for, and those that are refused."""

import pytest

from geceval import registry
from geceval.core.options import RunTime
from geceval.models.devices import pick_device, pick_devices


def test_impossible_devices_are_named():
    for device in ("cuda:99", "abacus"):
        with pytest.raises(ValueError, match=f"device '{device}' cannot be used here"):
            pick_device(device)
    assert pick_device("cpu").type == "cpu"
    with pytest.raises(TypeError, match=r"device must be a string, got list"):
        RunTime(device=["cpu", "cpu"])


@pytest.mark.parametrize("device", ["cpu,", "cpu,cpuu", ",", "cpu,meta"])
def test_devices_that_cannot_be_used_together(device):
    with pytest.raises(ValueError, match="device"):
        pick_devices(device)


def test_the_signature_names_the_dtype(make_checkpoint):
    folder = str(make_checkpoint(3))
    options = {"model": folder, "se_model": folder, "device": "cpu", "dtype": "bfloat16"}
    assert "|dtype:bfloat16|" in registry.make_scorer("impara", options).score(["the cat sit"], ["a cat"]).signature
    with pytest.raises(ValueError, match="dtype must be one of"):
        registry.make_scorer("impara", {"dtype": "auto"})
