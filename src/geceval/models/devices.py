"""The torch devices and the number format of a network, and what the signature says of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.core.signature import package_version

if TYPE_CHECKING:
    import torch


def pick_device(name: str) -> torch.device:
    """The torch device of that name; `"auto"` takes CUDA, then MPS, then the CPU."""
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # which the device "meta" cannot
    except (RuntimeError, AssertionError) as error:  # torch without CUDA answers with an AssertionError
        raise InputError(f"device {name!r} cannot be used here; try 'auto' or 'cpu'") from error
    return device


def pick_devices(names: str) -> list[torch.device]:
    """The torch devices of names separated by commas, see `pick_device`; all must be of one kind."""
    devices = [pick_device(name.strip()) for name in names.split(",")]
    if len({device.type for device in devices}) > 1:
        raise InputError(f"device {names!r}: several devices must be of one kind, e.g. 'cuda:0,cuda:1'")
    return devices


def pick_dtype(runtime: RunTime) -> str:
    """The name of the dtype; for `"auto"`, bfloat16 where the device has instructions for it, else float32."""
    if runtime.dtype != "auto":
        return runtime.dtype
    return "bfloat16" if all(map(_computes_in_bfloat16, pick_devices(runtime.device))) else "float32"


def network_facts(runtime: RunTime, network: Any = None) -> dict[str, Any]:
    """Facts for the signature: which network it is, if it has a name and a length, and how networks compute."""
    facts = {} if network is None else {"model": network.name, "max_length": network.max_length}
    return {**facts, "dtype": pick_dtype(runtime), "transformers": package_version("transformers")}


def copies(model: Any, devices: Sequence[torch.device], dtype: str) -> list[Any]:
    """The network on the first of the devices and a copy of it on each further one."""
    import torch

    model = model.to(getattr(torch, dtype))
    further = [copy.deepcopy(model).to(device) for device in devices[1:]]
    return [model.to(devices[0]), *further]


def _computes_in_bfloat16(device: torch.device) -> bool:
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and bool(_cpu_flags() & {"avx512_bf16", "amx_bf16"})


@lru_cache()
def _cpu_flags() -> frozenset[str]:
    """The instruction sets that Linux reports for the processor; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
