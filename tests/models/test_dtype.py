"""dtype="auto": 16 bits where the device computes in them, and a signature that says what was taken."""

import pytest

from geceval import registry
from geceval.core.options import RunTime
from geceval.models import devices


@pytest.mark.parametrize(
    ("flags", "dtype"),
    [({"avx512f", "avx512_bf16"}, "bfloat16"), ({"amx_bf16"}, "bfloat16"), ({"avx512f"}, "float32"), ({}, "float32")],
)
def test_auto_on_a_cpu(flags, dtype, monkeypatch):
    monkeypatch.setattr(devices, "_cpu_flags", lambda: frozenset(flags))
    assert devices.pick_dtype(RunTime(device="cpu", dtype="auto")) == dtype
    assert devices.pick_dtype(RunTime(device="cpu")) == "float32"
    assert devices.pick_dtype(RunTime(device="cpu", dtype="float16")) == "float16"


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="dtype must be one of"):
        RunTime(dtype="half")


def test_the_signature_says_what_was_taken(make_checkpoint, monkeypatch):
    folder = str(make_checkpoint(3))
    results = {}
    for flags in ((), ("avx512_bf16",)):
        monkeypatch.setattr(devices, "_cpu_flags", lambda flags=flags: frozenset(flags))
        for dtype in ("auto", "float32", "bfloat16"):
            options = {"model": folder, "se_model": folder, "device": "cpu", "dtype": dtype}
            results[flags, dtype] = registry.make_scorer("impara", options).score(["the cat sit"], ["the cat sat"])
    assert results[(), "auto"] == results[(), "float32"]
    assert results[("avx512_bf16",), "auto"] == results[(), "bfloat16"]
    assert "|dtype:bfloat16|" in results[(), "bfloat16"].signature
