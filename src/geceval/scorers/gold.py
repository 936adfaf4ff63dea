"""Gold from an M2 file, for the metrics that compare texts."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from geceval.core.files import read_text
from geceval.edits.m2 import M2Sentence, parse_m2, references


def m2_sentences(metric: str, path: str, sources: Sequence[str]) -> list[M2Sentence]:
    """Read the sentences of an M2 file and check that they are those of the sources, token by token.

    Args:
        metric: Name of the metric, for the messages.
        path: The M2 file.
        sources: One string a sentence.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not M2, or does not hold the same sentences as `sources`.
    """
    sentences = _parse(path, read_text(path))
    if len(sentences) != len(sources):
        raise ValueError(f"{metric}: {path} has {len(sentences)} sentences but there are {len(sources)} sources")
    for row, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
        if sentence.source.split() != source.split():
            raise ValueError(
                f"{metric}: sources[{row}] is not the sentence of {path}, line {sentence.line}: "
                f"{source!r} and {sentence.source!r}"
            )
    return sentences


def m2_references(metric: str, path: str, sources: Sequence[str]) -> list[list[str]]:
    """The text of each annotator, one list a sentence; see `m2_sentences`.

    An annotator who has no line in a block has not annotated that sentence; a block without any edit is its own
    reference.
    """
    return [list(references(sentence).values()) for sentence in m2_sentences(metric, path, sources)]


def gold_facts(path: str | None) -> dict[str, str]:
    """What the signature says of the M2 file: its name and the start of the SHA-256 of its text, never its folder."""
    if path is None:
        return {}
    digest = hashlib.sha256(read_text(path).encode()).hexdigest()
    return {"gold_m2": f"{Path(path).name}@{digest[:8]}"}


@functools.lru_cache(maxsize=4)
def _parse(path: str, text: str) -> list[M2Sentence]:
    return parse_m2(text, name=path)
