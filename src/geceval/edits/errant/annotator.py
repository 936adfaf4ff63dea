"""ERRANT edits (Bryant et al., 2017): the corrections of a sentence as typed edits."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import errant
import numpy as np
from errant.edit import Edit as ErrantEdit
from spacy.tokens import Doc

from geceval.core.cache import LRUCache, lru_cache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.errors import InputError, counted
from geceval.core.progress import counting
from geceval.core.signature import package_version
from geceval.core.warnings import first_on_line
from geceval.edits.edit import Edit, apply, in_order
from geceval.edits.errant import alignment, pipeline
from geceval.edits.m2 import M2Sentence
from geceval.edits.workers import Pool

if TYPE_CHECKING:
    from spacy.language import Language

logger = logging.getLogger("geceval")

EDITS_CACHED = 131_072
DOCS_CACHED = 8_192
VERSION = 1  # change it when the edits of any pair change: edits that are kept on disk are then made anew

_CHUNK = 256
_BATCH = 64  # texts that spaCy reads at once: what its layers make of them fits into the caches of a processor
_NO_TENSOR = np.zeros((0,), dtype="float32")

Item = TypeVar("Item")
Pair = tuple[str, str]


def get_annotator(nlp: str | Path | Language = "bundled") -> Annotator:
    """The annotator of a pipeline; the same object, with its caches, for the same pipeline.

    Args:
        nlp: `"bundled"`, the pipeline that comes with geceval; `"official"`, the installed `en_core_web_sm`, under any
            of its package names; the name of another installed pipeline, a folder, or a loaded pipeline.

    Raises:
        TypeError: If `nlp` is neither a pipeline nor a name nor a path.
        ValueError: If the pipeline is missing, broken or unusable for ERRANT; the message says how to get one.
    """
    return _annotator(pipeline.resolve(nlp))


@lru_cache(maxsize=4)
def _annotator(nlp: str | Language) -> Annotator:
    if nlp == str(pipeline.BUNDLED) and (package := pipeline.official_package()):
        logger.info('ERRANT takes the bundled spaCy pipeline; %s is installed, too: nlp="official" takes it', package)
    return Annotator(*pipeline.load(nlp))


class Annotator:
    """Extracts ERRANT edits and remembers them."""

    # The edits of the last 131,072 distinct pairs are cached, and the parses of the last 8,192 distinct texts (in each
    # worker process, if there are any).

    def __init__(self, nlp: Language, name: str) -> None:
        pipeline.multiply_with_numpy(nlp)
        self.pipeline = name
        self._nlp = nlp
        self._errant = errant.load("en", nlp)
        self._edits: LRUCache[Pair, tuple[Edit, ...]] = LRUCache(EDITS_CACHED)
        self._docs: LRUCache[str, Doc] = LRUCache(DOCS_CACHED)
        self._pool = Pool()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._nlp.config, self._nlp.to_bytes(), self.pipeline)

    def edits(
        self, pairs: Sequence[Pair], workers: int = 1, progress: bool = False, cache: str | Path | None = None
    ) -> list[list[Edit]]:
        """The edits that turn each source into its corrected text."""
        # Texts with the same tokens are neither parsed nor aligned. Two texts that need an alignment of more than 2,048
        # x 2,048 tokens, a common ending not counted, or whose alignment changes more than 256 tokens in a row, are
        # aligned by plain Levenshtein distance with adjacent changes merged, and a warning says how many; their edits
        # have ERRANT's types but other boundaries.
        keys = [(" ".join(source.split()), " ".join(corrected.split())) for source, corrected in pairs]

        def compute(missing: list[Pair]) -> Iterator[tuple[Pair, tuple[Edit, ...]]]:
            with counting("ERRANT edits", len(missing), progress) as advance:
                for index, edits in self._pool.run(self.extract, missing, workers):
                    yield missing[index], edits
                    advance()

        facts = ["edits", VERSION, self.pipeline, *map(package_version, ("errant", "spacy", "rapidfuzz"))]
        changed = dict.fromkeys(key for key in keys if key[0] != key[1])
        new = [key for key in changed if key not in self._edits]
        edits_of = cached(changed, compute, self._edits, DiskCache(cache, facts, _pack, _unpack))
        coarse = [key for key in new if _is_coarse(key, edits_of[key])]
        if coarse:
            number, where = counted(len(coarse), "pair of texts", "pairs of texts"), first_on_line(coarse[0])
            logger.warning("too long for ERRANT's alignment and aligned coarsely: %s%s", number, where)
        return [list(edits_of.get(key, ())) for key in keys]

    def extract(self, pairs: Sequence[Pair]) -> Iterator[tuple[Edit, ...]]:
        """The edits of each pair, computed in this process, without looking at cached edits."""
        for chunk in _chunks(pairs, _CHUNK):
            docs = self._parse(text for pair in chunk for text in pair)
            for source, corrected in chunk:
                yield tuple(_to_edit(edit) for edit in self._annotate(docs[source], docs[corrected]))

    def classify(self, rows: Sequence[tuple[str, Sequence[Edit]]]) -> list[list[Edit]]:
        """Give manual edits the types of ERRANT; spans and corrections stay as they are."""
        pairs = [(" ".join(source.split()), apply(source, edits)) for source, edits in rows]
        typed = []
        for chunk in _chunks(list(zip(pairs, rows, strict=True)), _CHUNK):
            docs = self._parse(text for pair, _ in chunk for text in pair)
            for (source, corrected), (_, edits) in chunk:
                typed.append(self._classify_all(docs[source], docs[corrected], in_order(edits)))
        return typed

    def classify_sentences(self, sentences: Sequence[M2Sentence], workers: int = 1) -> list[M2Sentence]:
        """Give the manual edits of M2 sentences the types of ERRANT; see `classify`."""
        keys = [(index, number) for index, sentence in enumerate(sentences) for number in sentence.edits]
        rows = [(sentences[index].source, sentences[index].edits[number]) for index, number in keys]
        pool = Pool()
        typed = dict(pool.run(self.classify, rows, workers))
        pool.close()
        outcome = [M2Sentence(sentence.source, {}, sentence.line) for sentence in sentences]
        for row, (index, number) in enumerate(keys):
            outcome[index].edits[number] = [dataclasses.replace(edit, annotator=number) for edit in typed[row]]
        return outcome

    def close(self) -> None:
        """End the worker processes, if there are any; a later call may start new ones."""
        self._pool.close()

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


def _rebuild(config: dict[str, Any], data: bytes, name: str) -> Annotator:
    """An annotator in another process."""
    import spacy

    nlp = spacy.util.get_lang_class(config["nlp"]["lang"]).from_config(config)
    return Annotator(nlp.from_bytes(data), name)


def _to_edit(edit: ErrantEdit) -> Edit:
    return Edit(edit.o_start, edit.o_end, " ".join(token.text for token in edit.c_toks), edit.type)


def _pack(edits: Sequence[Edit]) -> bytes:
    return json.dumps([[edit.start, edit.end, edit.correction, edit.type] for edit in edits]).encode()


def _unpack(data: bytes) -> tuple[Edit, ...]:
    return tuple(Edit(*fields) for fields in json.loads(data))


def _is_coarse(pair: Pair, edits: Sequence[Edit]) -> bool:
    """Whether the edits are those of the coarse alignment, the only one that makes very long ones."""
    sizes = (max(edit.end - edit.start, len(edit.correction.split())) for edit in edits)
    return alignment.is_too_long(*(text.split() for text in pair)) or max(sizes, default=0) > alignment.LONGEST_RUN


def _chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
