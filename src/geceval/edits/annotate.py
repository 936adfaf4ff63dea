"""ERRANT edits: what a corrector did to a sentence, in typed edits, each distinct text parsed once.

ERRANT (Bryant et al. 2017, "Automatic Annotation and Evaluation of Error Types for Grammatical Error Correction") reads
tags, lemmas and dependencies, so its edits depend on the spaCy pipeline: `Annotator.pipeline` names it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import errant
from spacy.tokens import Doc

from geceval.edits import pipeline
from geceval.edits.edit import Edit, apply, in_order

if TYPE_CHECKING:
    from spacy.language import Language

EDITS_CACHED = 131_072
DOCS_CACHED = 16_384

_CHUNK = 256

Key = TypeVar("Key")
Value = TypeVar("Value")


def get_annotator(nlp: str | Path | Language | None = None) -> Annotator:
    """The annotator of a pipeline; the same object, with its caches, for the same pipeline.

    Args:
        nlp: See `geceval.edits.pipeline.resolve`.

    Raises:
        TypeError: If `nlp` is neither a pipeline nor a name nor a path.
        ValueError: If the pipeline is missing, broken or of no use to ERRANT; the message says how to get one.
    """
    return _annotator(pipeline.resolve(nlp))


@functools.lru_cache(maxsize=4)
def _annotator(nlp: str | Language) -> Annotator:
    return Annotator(*pipeline.load(nlp))


class Annotator:
    """Extracts ERRANT edits and remembers them.

    The edits of the last 131,072 distinct pairs and the parses of the last 16,384 distinct texts are kept.

    Attributes:
        pipeline: Name and version of the spaCy pipeline, for the signature.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        self.pipeline = name
        self._nlp = nlp
        self._errant = errant.load("en", nlp)
        self._edits: _Recent[tuple[str, str], tuple[Edit, ...]] = _Recent(EDITS_CACHED)
        self._docs: _Recent[str, Doc] = _Recent(DOCS_CACHED)

    def edits(self, pairs: Sequence[tuple[str, str]], workers: int = 1, progress: bool = False) -> list[list[Edit]]:
        """The edits that turn each source into its corrected text.

        Args:
            pairs: (source, corrected) texts; tokens are `split()`. Texts with the same tokens have no edits.
            workers: Processes that parse and align; 1 works in this process. The result is the same.
            progress: Show a progress bar on standard error.

        Returns:
            One list a pair, in input order; edits in the order of the sentence, `apply(source, edits)` gives the
            corrected text with single spaces.
        """
        keys = [(" ".join(source.split()), " ".join(corrected.split())) for source, corrected in pairs]
        found: dict[tuple[str, str], tuple[Edit, ...]] = {}
        missing: dict[tuple[str, str], None] = {}
        for key in dict.fromkeys(keys):
            cached = () if key[0] == key[1] else self._edits.get(key)
            if cached is None:
                missing[key] = None
            else:
                found[key] = cached
        for key, edits in zip(missing, self._extract(list(missing)), strict=True):
            found[key] = edits
            self._edits.put(key, edits)
        return [list(found[key]) for key in keys]

    def classify(self, rows: Sequence[tuple[str, Sequence[Edit]]]) -> list[list[Edit]]:
        """Give edits that were made by hand the types of ERRANT; spans and corrections stay as they are.

        Args:
            rows: A source and its edits, which must not overlap.

        Returns:
            One list a row, edits in the order of the sentence, without noops.

        Raises:
            ValueError: If two edits overlap or lie beyond the sentence.
        """
        ordered = [in_order(edits) for _, edits in rows]
        texts = [apply(source, edits) for (source, _), edits in zip(rows, ordered, strict=True)]
        typed = []
        for (source, _), corrected, edits in zip(rows, texts, ordered, strict=True):
            before, after = " ".join(source.split()), corrected
            docs = self._parse([before, after])
            typed.append(self._types(docs[before], docs[after], edits))
        return typed

    def _types(self, source: Doc, corrected: Doc, edits: Sequence[Edit]) -> list[Edit]:
        typed, shift = [], 0
        for edit in edits:
            size = len(edit.correction.split())
            start = edit.start + shift
            span = [edit.start, edit.end, start, start + size]
            kind = self._errant.import_edit(source, corrected, span, min=False).type
            typed.append(dataclasses.replace(edit, type=kind))
            shift += size - (edit.end - edit.start)
        return typed

    def _extract(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Edit, ...]]:
        for chunk in _chunks(pairs, _CHUNK):
            docs = self._parse(text for pair in chunk for text in pair)
            for source, corrected in chunk:
                yield tuple(map(_to_edit, self._errant.annotate(docs[source], docs[corrected])))

    def _parse(self, texts: Iterable[str]) -> dict[str, Doc]:
        docs: dict[str, Doc] = {}
        missing = []
        for text in dict.fromkeys(texts):
            cached = self._docs.get(text)
            if cached is None:
                missing.append(text)
            else:
                docs[text] = cached
        unparsed = [Doc(self._nlp.vocab, words=text.split()) for text in missing]
        for text, doc in zip(missing, self._nlp.pipe(unparsed, batch_size=_CHUNK), strict=True):
            docs[text] = doc
            self._docs.put(text, doc)
        return docs


class _Recent(Generic[Key, Value]):
    """The values that were used last, at most `size` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)


def _to_edit(edit: errant.edit.Edit) -> Edit:
    return Edit(edit.o_start, edit.o_end, " ".join(token.text for token in edit.c_toks), edit.type)


def _chunks(items: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
