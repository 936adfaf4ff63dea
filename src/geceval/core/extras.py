"""Which extra of the package brings an optional dependency."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geceval.core.errors import MissingExtraError

EXTRAS = {
    "torch": "neural",
    "transformers": "neural",
    "safetensors": "neural",
    "peft": "neural",
    "gguf": "lm",
    "snowballstemmer": "meteor",
    "errant": "edits",
    "spacy": "edits",
    "openai": "llm",
    "accelerate": "train",
    "matplotlib": "plots",
    "gradio": "space",
    "ray": "ray",
}


def install_command(extra: str) -> str:
    """The command that installs an extra: from the clone that this package lies in, else from the package index."""
    clone = Path(__file__).resolve().parents[3]
    if (clone / "setup.py").is_file():
        return f"pip install -e {shlex.quote(f'{clone}[{extra}]')}"
    return f"pip install 'geceval[{extra}]'"


@contextmanager
def naming_the_extra(user: str) -> Iterator[None]:
    """Turn the ModuleNotFoundError of an optional dependency into an ImportError that says what to install.

    Args:
        user: What needs the dependency, e.g. the name of a metric.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtraError(
            f"{user} needs {package}: {install_command(EXTRAS[package])}", name=error.name
        ) from error
