"""Options of a metric: settings change the number, run-time options only how fast it comes."""

import dataclasses
import math
import numbers
import os
import reprlib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, Union, runtime_checkable

from geceval.core.errors import InputError, InputTypeError, did_you_mean, named

CACHE_VARIABLE = "GECEVAL_CACHE"

SettingsT = TypeVar("SettingsT")
RunTimeT = TypeVar("RunTimeT", bound="RunTime")


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that an option may be, both ends included; not a number is never one of them."""

    least: float
    most: float = math.inf

    def check(self, name: str, value: float) -> None:
        """Raise a `TypeError` unless `value` is a number, a `ValueError` unless it lies in the range."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise InputTypeError(f"{name} must be a number, got {_typed(value)}")
        if self.least <= value <= self.most and value < math.inf:
            return
        if value < self.least and self.most == math.inf:
            raise InputError(f"{name} must be at least {self.least:g}, got {value!r}")
        raise InputError(f"{name} must lie between {self.least:g} and {self.most:g}, got {value!r}")


# Beyond 1e6 the square of a number, which most formulas need, leaves the range of floating point or outweighs all else.
Count: TypeAlias = Annotated[int, Range(1)]
Seed: TypeAlias = Annotated[int, Range(0)]
Positive: TypeAlias = Annotated[float, Range(1e-6, 1e6)]
Moderate: TypeAlias = Annotated[float, Range(-1e6, 1e6)]
Share: TypeAlias = Annotated[float, Range(0, 1)]

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


Language: TypeAlias = Literal["en", "any", "de", "ru", "zh"]
"""Whose edits are extracted: English ones by ERRANT; `"any"`: by ERRANT's alignment and merging without a tagger, with
the types PUNCT, SPELL, ORTH, WO and OTHER, or those of universal parts of speech where `nlp` names a pipeline; `"de"`:
merged as in the gold of Falko-MERLIN, over HanTa's tags; `"ru"`: as `"any"`, but each changed word by itself; `"zh"`:
those of ChERRANT over characters, where `nlp` is the folder of its data, if there is one."""
LANGUAGES: tuple[str, ...] = typing.get_args(Language)


@dataclass(frozen=True, slots=True)
class Options:
    """The base of dataclasses whose fields are options: each is checked against its annotation."""

    def __post_init__(self) -> None:
        # A bool is no int, an int will do for a float, and a list for a tuple of any length.
        for name, hint in typing.get_type_hints(type(self), include_extras=True).items():
            value, parts = getattr(self, name), _parts(hint)
            if not any(_fits(value, part) for part in parts):
                choices = [
                    choice for part in parts if typing.get_origin(part) is Literal for choice in typing.get_args(part)
                ]
                if type(value) in map(type, choices):
                    check_choice(name, value, choices)
                raise InputTypeError(f"{name} must be {_describe(hint)}, got {_typed(value)}")
            for mark in _marks(parts):
                if isinstance(mark, Range) and value is not None:
                    mark.check(name, value)
                elif isinstance(value, (str, Path)):
                    _check_path(name, value)


@dataclass(frozen=True, slots=True)
class RunTime(Options):
    """How to compute. Every metric takes all of these and ignores what it has no use for.

    Attributes:
        batch_size: Sentences in a batch of a neural model. A sentence of more than 32 tokens counts as several: a batch
            never holds more than 32 times as many tokens, padding included, unless it is a single text.
        device: `"auto"` (CUDA, then MPS, then CPU), or a torch device such as `"cpu"` or `"cuda:1"`. Several of one
            kind, `"cuda:0,cuda:1"`, share the batches; each holds a copy of the network.
        dtype: Number format of networks; `"auto"` is bfloat16 where the device computes in it, else float32. Only
            float32 gives the same number for any batch size and device to 1e-5; the signature of a neural metric
            therefore names the dtype that was taken.
        progress: Whether to show a progress bar on standard error.
        workers: Processes that parse and align sentences for the edit metrics; 1 works in this process, as does any
            number in a child process of multiprocessing.
        cache: A folder that stores edits and, in float32, what networks say of texts, for later calls and other
            processes; see `geceval.core.disk_cache`. By default that of the environment variable `GECEVAL_CACHE`, if
            it is set; `None` stores nothing.
    """

    batch_size: Count = 64
    device: str = "auto"
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"
    progress: bool = False
    workers: Count = 1
    cache: FilePath | None = field(default_factory=lambda: os.environ.get(CACHE_VARIABLE) or None)


def runtime_or_default(name: str, runtime: RunTime | None) -> RunTime:
    """The run-time options that a function was given, or the default ones."""
    if runtime is None:
        return RunTime()
    if not isinstance(runtime, RunTime):
        raise InputTypeError(f"{name}: runtime must be a geceval.core.options.RunTime, got {_typed(runtime)}")
    return runtime


def path_options(options: type) -> dict[str, str]:
    """The fields of a dataclass that hold paths, each with its kind: `PATH`, `MODEL` or `PIPELINE`."""
    hints = typing.get_type_hints(options, include_extras=True)
    return {name: mark for name, hint in hints.items() for mark in _marks(_parts(hint)) if isinstance(mark, str)}


def _check_path(name: str, value: str | Path) -> None:
    if value == "":  # which would be the folder one is in
        raise InputError(f"{name} must not be empty")
    try:
        possible = b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:  # half a surrogate pair
        possible = False
    if not possible:
        raise InputError(f"{name} must be a name that a file can have, got {value!r}")


def _marks(parts: Sequence[Any]) -> list[Any]:
    """What annotated types are marked with: a `Range`, `PATH`, `MODEL` or `PIPELINE`."""
    return [part.__metadata__[0] for part in parts if typing.get_origin(part) is Annotated]


def _parts(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: Any, hint: Any) -> bool:
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind is Annotated:
        return any(_fits(value, part) for part in _parts(inner[0]))
    if kind is Literal:
        return any(value == choice and type(value) is type(choice) for choice in inner)
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
        return _describe(inner[0]) if isinstance(inner[1], Range) else f"a {inner[1]}"
    if kind is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if inner:
        _, noun, *rest = _describe(inner[0]).split(" ")
        return " ".join(["a list of", f"{noun}s", *rest])
    return _WORDS.get(hint, f"a {hint.__name__}")


def replace_options(
    metric: str, settings: SettingsT, runtime: RunTimeT, options: Mapping[str, Any]
) -> tuple[SettingsT, RunTimeT]:
    """Copies of `settings` and `runtime` with the given options changed."""
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
    """Refuse options that are not given by name."""
    if not isinstance(options, Mapping):
        raise InputTypeError(f"{name}: options must be a dict of names and values, got {_typed(options)}")


def _check_known(name: str, options: Mapping[str, Any], known: list[str]) -> None:
    check_mapping(name, options)
    unknown = [option for option in options if option not in known]
    if unknown:
        near = did_you_mean(unknown[0], known)
        raise InputTypeError(f"{name}: unknown option {unknown[0]!r}; the options are: {', '.join(known)}{near}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {listed}, got {value!r}")


def check_count(name: str, value: object, least: int = 1, most: float = math.inf) -> None:
    """Raise a `TypeError` unless `value` is an int, a `ValueError` unless it lies in [`least`, `most`]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputTypeError(f"{name} must be an int, got {type(value).__name__}")
    Range(least, most).check(name, value)
