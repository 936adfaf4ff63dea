"""Options of a metric: settings change the number, run-time options only how fast it comes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from geceval.core.checks import check_choice, check_count
from geceval.core.errors import InputTypeError

DTYPES = ("float32", "bfloat16", "float16")

CACHE_VARIABLE = "GECEVAL_CACHE"

SettingsT = TypeVar("SettingsT")
RunTimeT = TypeVar("RunTimeT", bound="RunTime")


@dataclass(frozen=True, slots=True)
class RunTime:
    """How to compute. Every metric takes all of these and ignores what it has no use for.

    Attributes:
        batch_size: Sentences in a batch of a neural model, at least 1; 64 by default. A sentence of more than 32 tokens
            counts as several: a batch never holds more than 32 times as many tokens, padding included, unless it is
            a single text.
        device: `"auto"` (the default: CUDA, then MPS, then CPU), or a torch device such as `"cpu"` or `"cuda:1"`.
            Several of one kind, `"cuda:0,cuda:1"`, share the batches; each holds a copy of the network.
        dtype: `"float32"` (the default), `"bfloat16"`, `"float16"`, or `"auto"`: bfloat16 where the device computes in
            it, else float32. Only float32 gives the same number for any batch size and device to 1e-5; the signature of
            a neural metric therefore names the dtype that was taken.
        progress: Whether to show a progress bar on standard error; `False` by default.
        workers: Processes that parse and align sentences for the edit metrics. 1, the default, works in this process.
        cache: A folder that stores edits and, in float32, what networks say of texts, for later calls and other
            processes; see `geceval.core.cache.disk`. By default that of the environment variable `GECEVAL_CACHE`, if
            it is set; `None` stores nothing.
    """

    batch_size: int = 64
    device: str = "auto"
    dtype: str = "float32"
    progress: bool = False
    workers: int = 1
    cache: str | Path | None = field(default_factory=lambda: os.environ.get(CACHE_VARIABLE) or None)

    def __post_init__(self) -> None:
        for name in ("batch_size", "workers"):
            check_count(name, getattr(self, name))
        check_choice("dtype", self.dtype, (*DTYPES, "auto"))
        if not isinstance(self.device, str):
            raise InputTypeError(f"device must be a string such as 'cuda:0,cuda:1', got {type(self.device).__name__}")
        if not isinstance(self.cache, (str, Path, type(None))):
            raise InputTypeError(f"cache must be a folder or None, got {type(self.cache).__name__}")


def replace_options(
    metric: str, settings: SettingsT, runtime: RunTimeT, options: Mapping[str, Any]
) -> tuple[SettingsT, RunTimeT]:
    """Copies of `settings` and `runtime` with the given options changed.

    Args:
        metric: Name of the metric, for the message.
        settings: A frozen dataclass: what may change the number.
        runtime: The run-time options.
        options: Names and values of either kind.

    Raises:
        TypeError: If an option is neither; the message lists the options that exist.
        ValueError: If an option has a bad value (or a TypeError, if it is of the wrong type).
    """
    of_settings = {f.name for f in dataclasses.fields(settings)}  # type: ignore[arg-type]
    of_runtime = {f.name for f in dataclasses.fields(runtime)}
    unknown = [name for name in options if name not in of_settings | of_runtime]
    if unknown:
        known = ", ".join(sorted(of_settings) + sorted(of_runtime))
        raise InputTypeError(f"{metric}: unknown option {unknown[0]!r}; the options are: {known}")
    try:
        new_settings = dataclasses.replace(settings, **{k: v for k, v in options.items() if k in of_settings})  # type: ignore[type-var]
        return new_settings, dataclasses.replace(runtime, **{k: v for k, v in options.items() if k in of_runtime})
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"{metric}: "):
            raise
        raise type(error)(f"{metric}: {error}") from error
