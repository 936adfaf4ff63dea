"""ERRANT edits (Bryant et al., 2017): the corrections of a sentence as typed edits."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import errant
import numpy as np
import spacy
from errant.edit import Edit as ErrantEdit
from errant.en import merger
from spacy.language import Language
from spacy.tokens import Doc

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import cached
from geceval.core.errors import InputError
from geceval.edits.edit import Edit, apply, in_order
from geceval.edits.errant import alignment, pipeline
from geceval.edits.errant.base import Annotator, Pair
from geceval.edits.errant.languages import german, merging, untagged

DOCS_CACHED = 8_192


class Rules(NamedTuple):
    """How the tokens of a language are tagged, and its edits merged and classified; ERRANT calls the latter two."""

    tagger: Callable[[], tuple[Language, str]]
    get_rule_edits: Callable[[Any], list[ErrantEdit]]
    classify: Callable[[ErrantEdit], ErrantEdit] = untagged.classify


RULES = {
    "any": Rules(untagged.tagger, merger.get_rule_edits),
    "de": Rules(german.tagger, partial(merging.merge, content=german.CONTENT)),
    "ru": Rules(untagged.tagger, partial(merging.merge, content=frozenset())),  # each word by itself, as in LORuGEC
}

_CHUNK = 256
_BATCH = 64  # texts that spaCy reads at once: what its layers make of them fits into the caches of a processor
_NO_TENSOR = np.zeros((0,), dtype="float32")

Item = TypeVar("Item")


class ParsedAnnotator(Annotator):
    """ERRANT over a spaCy pipeline; remembers the parses of the last 8,192 distinct texts, in each worker process."""

    packages = ("errant", "spacy", "rapidfuzz")

    def __init__(self, nlp: Language, name: str, language: str = "en") -> None:
        super().__init__(language, name)
        pipeline.multiply_with_numpy(nlp)
        self._nlp = nlp
        if language == "en":
            self._errant = errant.load("en", nlp)
        else:
            self._errant = errant.Annotator(language, nlp, RULES[language], RULES[language])
        self._docs: LRUCache[str, Doc] = LRUCache(DOCS_CACHED)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._nlp.config, self._nlp.to_bytes(), self.pipeline, self.language)

    def extract(self, pairs: Sequence[Pair]) -> Iterator[tuple[Edit, ...]]:
        """The edits of each pair, computed in this process, without looking at cached edits."""
        for chunk in _chunks(pairs, _CHUNK):
            docs = self._parse(text for pair in chunk for text in pair)
            for source, corrected in chunk:
                yield tuple(_to_edit(edit) for edit in self._annotate(docs[source], docs[corrected]))

    def is_coarse(self, pair: Pair, edits: Sequence[Edit]) -> bool:
        """Whether a text is too long for the alignment, or an edit for ERRANT's merging."""
        sizes = (max(edit.end - edit.start, len(edit.correction.split())) for edit in edits)
        return alignment.is_too_long(*(text.split() for text in pair)) or max(sizes, default=0) > alignment.LONGEST_RUN

    def classify(self, rows: Sequence[tuple[str, Sequence[Edit]]]) -> list[list[Edit]]:
        """Give manual edits the types of ERRANT; spans and corrections stay as they are."""
        pairs = [(" ".join(source.split()), apply(source, edits)) for source, edits in rows]
        typed = []
        for chunk in _chunks(list(zip(pairs, rows, strict=True)), _CHUNK):
            docs = self._parse(text for pair, _ in chunk for text in pair)
            for (source, corrected), (_, edits) in chunk:
                typed.append(self._classify_all(docs[source], docs[corrected], in_order(edits)))
        return typed

    def _annotate(self, source: Doc, corrected: Doc) -> list[ErrantEdit]:
        aligned = None
        if not alignment.is_too_long(alignment.tokens(source), alignment.tokens(corrected)):
            aligned = alignment.Alignment(source, corrected)
        if aligned is None or alignment.has_long_run(aligned.align_seq):
            edits = alignment.coarse_edits(source, corrected)
        else:
            edits = self._errant.merge(aligned)
        for edit in edits:
            self._classify(edit)
        return edits

    def _classify(self, edit: ErrantEdit) -> ErrantEdit:
        try:
            return self._errant.classify(edit)
        except KeyError as error:
            raise InputError(
                f"the spaCy pipeline {self.pipeline} gives the tag {error}, which ERRANT does not know; it needs the "
                "tags of the Penn Treebank"
            ) from error

    def _classify_all(self, source: Doc, corrected: Doc, edits: Sequence[Edit]) -> list[Edit]:
        typed, shift = [], 0
        for edit in edits:
            size = len(edit.correction.split())
            span = [edit.start, edit.end, edit.start + shift, edit.start + shift + size]
            kind = self._classify(ErrantEdit(source, corrected, span)).type
            typed.append(dataclasses.replace(edit, type=kind))
            shift += size - (edit.end - edit.start)
        return typed

    def _parse(self, texts: Iterable[str]) -> dict[str, Doc]:
        def compute(missing: list[str]) -> Iterator[tuple[str, Doc]]:
            unparsed = [Doc(self._nlp.vocab, words=text.split()) for text in missing]
            with pipeline.one_thread():
                for text, doc in zip(missing, self._nlp.pipe(unparsed, batch_size=_BATCH), strict=True):
                    doc.tensor = _NO_TENSOR  # the vectors of the tokens: most of the memory, and nobody reads them
                    yield text, doc

        return cached(texts, compute, self._docs)


def _rebuild(config: dict[str, Any], data: bytes, name: str, language: str) -> Annotator:
    """An annotator in another process."""
    nlp = spacy.util.get_lang_class(config["nlp"]["lang"]).from_config(config)
    return ParsedAnnotator(nlp.from_bytes(data), name, language)


def _to_edit(edit: ErrantEdit) -> Edit:
    return Edit(edit.o_start, edit.o_end, " ".join(token.text for token in edit.c_toks), edit.type)


def _chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
