"""The line that says what the figures were measured on."""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
from collections.abc import Mapping
from pathlib import Path

PACKAGES = ("geceval", "torch", "transformers", "spacy", "errant")


def machine_line(peer: Mapping[str, str], load: float) -> str:
    """Processor, cores, load, versions on both sides.

    Args:
        peer: Package to version in the peer's environment.
        load: From `load_average`, before the run.
    """
    ours = {name: importlib.metadata.version(name) for name in PACKAGES}
    theirs = {name: version for name, version in peer.items() if ours.get(name) != version}
    threads = os.environ.get("OMP_NUM_THREADS")
    parts = [
        f"{processor()}, {cores()} cores" + (f", OMP_NUM_THREADS={threads}" if threads else ""),
        f"{platform.system()}, Python {platform.python_version()}",
        ", ".join(f"{name} {version}" for name, version in ours.items()),
    ]
    if theirs:
        parts.append("beside it " + ", ".join(f"{name} {version}" for name, version in theirs.items()))
    return "; ".join([*parts, f"load before the run {load:.1f}"])


def load_average() -> float:
    """Processes that wanted to run in the last minute; not a number where the platform does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The name of the processor, with the widest vectors that Linux says it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = facts.get("flags", "").split()
    wide = next((flag for flag in ("amx_bf16", "avx512_bf16", "avx512f", "avx2") if flag in flags), "")
    return " ".join(filter(None, (facts.get("model name", platform.machine()), wide and f"({wide})")))
