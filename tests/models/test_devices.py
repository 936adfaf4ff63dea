"""Devices and number formats that can be asked for, and those that are refused."""

import pytest

from geceval import registry
from geceval.core.options import RunTime
from geceval.models import devices
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


@pytest.mark.parametrize(
    ("flags", "dtype"),
    [({"avx512f", "avx512_bf16"}, "bfloat16"), ({"amx_bf16"}, "bfloat16"), ({"avx512f"}, "float32"), ({}, "float32")],
)
def test_auto_takes_what_the_processor_computes_in(flags, dtype, make_checkpoint, monkeypatch):
    monkeypatch.setattr(devices, "_cpu_flags", lambda: frozenset(flags))
    options = {"model": str(make_checkpoint(3)), "threshold": -2.0, "device": "cpu"}
    scorers = [registry.make_scorer("impara", {**options, "dtype": name}) for name in ("auto", dtype)]
    auto, named = (scorer.score(["the cat sit"], ["the cat sat"]) for scorer in scorers)
    assert auto == named
    assert f"|dtype:{dtype}|" in auto.signature
    with pytest.raises(ValueError, match="dtype must be one of"):
        RunTime(dtype="half")
