"""Errors of the caller, apart from bugs of geceval, and what their messages are made of."""

import difflib
import math
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """Something that the user can fix: a bad option, input or file. The message says what was expected and how."""


class InputError(UserError, ValueError):
    """A value, a file or a combination of options that cannot be used."""


class NotFiniteError(InputError):
    """An answer of a network for a text that is not a finite number."""


class InputTypeError(UserError, TypeError):
    """A value of the wrong type, or an option that does not exist."""


class MissingExtraError(UserError, ImportError):
    """An optional dependency that is not installed; the message names the extra of the package that brings it."""


class Interrupted(Exception):
    """The user stopped the work; the message says what can be done with what there is."""


@contextmanager
def named(metric: str) -> Iterator[None]:
    """Within the block, messages of user errors begin with the name of the metric."""
    try:
        yield
    except UserError as error:
        if str(error).startswith(f"{metric}: "):
            raise
        raise type(error)(f"{metric}: {error}") from error


_PACKAGES = {
    "neural": "torch transformers safetensors peft",
    "lm": "gguf",
    "meteor": "snowballstemmer",
    "edits": "errant spacy",
    "llm": "openai",
    "train": "accelerate",
    "plots": "matplotlib",
    "space": "gradio",
    "ray": "ray",
    "stats": "scipy",
    "uot": "ot",
    "harness": "torchmetrics inspect_ai",
    "zh": "opencc pypinyin",
    "languages": "HanTa syntok",
}
EXTRAS = {package: extra for extra, packages in _PACKAGES.items() for package in packages.split()}


def install_command(extra: str) -> str:
    """The command that installs an extra: from the clone that this package lies in, else from the package index."""
    clone = Path(__file__).resolve().parents[3]
    if (clone / "setup.py").is_file():
        return f"pip install -e {shlex.quote(f'{clone}[{extra}]')}"
    return f"pip install 'geceval[{extra}]'"


@contextmanager
def naming_the_extra(user: str) -> Iterator[None]:
    """Turn the ModuleNotFoundError of an optional dependency into an ImportError that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtraError(
            f"{user} needs the package {package}: {install_command(EXTRAS[package])}", name=error.name
        ) from error


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 sentence`, `1,312 sentences`; the noun takes an s where no plural is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """`; did you mean 'gleu'?` for a name that is nearly, or in other case, or begins one of those known, else `""`."""
    names = {each.lower(): each for each in known}
    lowered = str(name).lower()
    begun = [each for each in names if len(lowered) > 1 and each.startswith(lowered)]
    near = difflib.get_close_matches(lowered, names, n=1) or (begun if len(begun) == 1 else [])
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def p_bound(value: float, resamples: int) -> str:
    """A p-value that is the least which so many resamples can show, as a bound: `< .001`; `""` for others."""
    if value * (resamples + 1) > 1.5:
        return ""
    digits = -math.floor(math.log10(value))
    bound = (math.floor(value * 10**digits) + 1) / 10**digits
    return f"< {bound:.{digits}f}".rstrip("0").replace("0.", ".", 1)
