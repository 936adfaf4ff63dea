"""Which extra of the package brings an optional dependency."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
        extra = EXTRAS[package]
        raise MissingExtraError(f"{user} needs {package}: pip install 'geceval[{extra}]'", name=error.name) from error
