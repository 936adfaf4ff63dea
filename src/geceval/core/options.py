"""Options of a metric: settings change the number, run-time options only how fast it comes."""

from __future__ import annotations

import dataclasses
import os
import reprlib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, Union, runtime_checkable

from geceval.core.checks import check_choice, check_count
from geceval.core.errors import InputError, InputTypeError, named
from geceval.core.messages import did_you_mean

DTYPES = ("float32", "bfloat16", "float16")

CACHE_VARIABLE = "GECEVAL_CACHE"

SettingsT = TypeVar("SettingsT")
RunTimeT = TypeVar("RunTimeT", bound="RunTime")

PATH = "path"
MODEL = "string (name or folder of a model)"
PIPELINE = "string (name or folder of a spaCy pipeline)"

FilePath: TypeAlias = Annotated[str | Path, PATH]
"""An option that is a file or folder."""

ModelName: TypeAlias = Annotated[str, MODEL]
"""An option that is a checkpoint: `"bundled"`, a folder, where there is one, or else a Hub id."""


@runtime_checkable
class LoadedPipeline(Protocol):
    """A spaCy pipeline in memory, for which spaCy need not be imported here."""

    def pipe(self, texts: Any) -> Any:
        """Parse texts."""


PipelineName: TypeAlias = Annotated[str | Path | LoadedPipeline, PIPELINE]
"""An option that is a spaCy pipeline: `"bundled"`, the name of an installed one, a folder, or one in memory."""


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
    cache: FilePath | None = field(default_factory=lambda: os.environ.get(CACHE_VARIABLE) or None)

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("batch_size", "workers"):
            check_count(name, getattr(self, name))
        check_choice("dtype", self.dtype, (*DTYPES, "auto"))


def runtime_or_default(name: str, runtime: RunTime | None) -> RunTime:
    """The run-time options that a function was given, or the default ones.

    Args:
        name: Name of the function, for the message.
        runtime: What it was given.

    Raises:
        TypeError: If they are something else.
    """
    if runtime is None:
        return RunTime()
    if not isinstance(runtime, RunTime):
        raise InputTypeError(f"{name}: runtime must be a geceval.core.options.RunTime, got {_typed(runtime)}")
    return runtime


def check_types(options: Any) -> None:
    """Check each field of a dataclass against its type annotation; its `__post_init__` calls this first.

    A bool is no int, an int will do for a float, and a list for a tuple of any length.

    Raises:
        TypeError: If a value is of another type.
        ValueError: If it is none of the choices of a `Literal`, or an empty path or name of a checkpoint.
    """
    for name, hint in typing.get_type_hints(type(options), include_extras=True).items():
        value = getattr(options, name)
        if typing.get_origin(hint) is Literal and isinstance(value, str):
            check_choice(name, value, typing.get_args(hint))
        if not _fits(value, hint):
            raise InputTypeError(f"{name} must be {_describe(hint)}, got {_typed(value)}")
        if value == "" and name in path_options(type(options)):  # which would be the folder one is in
            raise InputError(f"{name} must not be empty")


def path_options(options: type) -> dict[str, str]:
    """The fields of a dataclass that hold paths, each with its kind: `PATH`, `MODEL` or `PIPELINE`."""
    found = {}
    for name, hint in typing.get_type_hints(options, include_extras=True).items():
        for part in (hint, *typing.get_args(hint)):
            if typing.get_origin(part) is Annotated:
                found[name] = part.__metadata__[0]
    return found


def _fits(value: Any, hint: Any) -> bool:
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if kind is Annotated:
        return _fits(value, inner[0])
    if kind is Literal:
        return value in inner
    if inner:  # a sequence of one type
        is_sequence = isinstance(value, (list, tuple) if kind is tuple else kind) and not isinstance(value, str)
        return is_sequence and all(_fits(each, inner[0]) for each in value)
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return isinstance(value, hint)


def _typed(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {reprlib.repr(value)}"


_WORDS = {bool: "a bool", int: "an int", float: "a number", str: "a string"}


def _describe(hint: Any) -> str:
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(_describe(each) for each in inner if each is not NoneType)
    if kind is Annotated:
        return f"a {inner[1]}"
    if kind is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if inner:
        _, noun, *rest = _describe(inner[0]).split(" ")
        return " ".join(["a list of", f"{noun}s", *rest])
    return _WORDS.get(hint, f"a {hint.__name__}")


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
    _check_known(metric, options, sorted(of_settings) + sorted(of_runtime))
    with named(metric):
        new_settings = dataclasses.replace(settings, **{k: v for k, v in options.items() if k in of_settings})  # type: ignore[type-var]
        return new_settings, dataclasses.replace(runtime, **{k: v for k, v in options.items() if k in of_runtime})


def make_settings(name: str, kind: type[SettingsT], options: Mapping[str, Any]) -> SettingsT:
    """The settings of something that is no metric, such as `compare`, from options by name; see `replace_options`."""
    _check_known(name, options, [field.name for field in dataclasses.fields(kind)])  # type: ignore[arg-type]
    with named(name):
        return kind(**options)


def check_mapping(name: str, options: Any) -> None:
    """Refuse options that are not given by name.

    Raises:
        TypeError: If they are no mapping.
    """
    if not isinstance(options, Mapping):
        raise InputTypeError(f"{name}: options must be a dict of names and values, got {_typed(options)}")


def _check_known(name: str, options: Mapping[str, Any], known: list[str]) -> None:
    check_mapping(name, options)
    unknown = [option for option in options if option not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise InputTypeError(f"{name}: unknown option {unknown[0]!r}; the options are: {', '.join(known)}{near}")
