"""An annotator of any language: edits of pairs of texts, remembered and made in several processes."""

import abc
import dataclasses
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import DiskCache, cached
from geceval.core.errors import counted
from geceval.core.progress import counting
from geceval.core.signature import package_version
from geceval.core.warnings import first_on_line
from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence
from geceval.edits.workers import Pool

logger = logging.getLogger("geceval")

EDITS_CACHED = 131_072
VERSION = 1  # change it when the edits of any pair change: edits that are kept on disk are then made anew

Pair = tuple[str, str]


class Annotator(abc.ABC):
    """Extracts edits and remembers those of the last 131,072 distinct pairs."""

    packages: ClassVar[tuple[str, ...]]  # whose versions can change the edits; the first is named in signatures
    skips_equal_texts: ClassVar[bool] = True  # a text that is equal to its source has no edits, whatever the rules

    def __init__(self, language: str, pipeline: str) -> None:
        self.language, self.pipeline = language, pipeline
        self._edits: LRUCache[Pair, tuple[Edit, ...]] = LRUCache(EDITS_CACHED)
        self._pool = Pool()

    @abc.abstractmethod
    def extract(self, pairs: Sequence[Pair]) -> Iterator[tuple[Edit, ...]]:
        """The edits of each pair, computed in this process, without looking at cached edits."""

    @abc.abstractmethod
    def is_coarse(self, pair: Pair, edits: Sequence[Edit]) -> bool:
        """Whether these edits of a pair are those of a coarse alignment, as texts get that are too long."""

    @abc.abstractmethod
    def classify(self, rows: Sequence[tuple[str, Sequence[Edit]]]) -> list[list[Edit]]:
        """Give manual edits the types of this language; spans and corrections stay as they are."""

    def facts(self) -> dict[str, str]:
        """What the edits depend on, for the signature."""
        return {"nlp": self.pipeline, self.packages[0]: package_version(self.packages[0])}

    def edits(
        self,
        pairs: Sequence[Pair],
        workers: int = 1,
        progress: bool = False,
        cache: str | Path | None = None,
        pooled: bool = False,
    ) -> list[list[Edit]]:
        """The edits that turn each source into its corrected text; see `geceval.core.options.RunTime`."""
        # `pooled` adds those of all other cheapest alignments, of which only Chinese has any; their `annotator` is the
        # number of the alignment.
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

        facts = ["edits", VERSION, self.pipeline, *map(package_version, self.packages)]
        facts += [self.language] if self.language != "en" else []
        changed = dict.fromkeys(key for key in keys if key[0] != key[1] or not self.skips_equal_texts)
        new = [key for key in changed if key not in self._edits]
        edits_of = cached(changed, compute, self._edits, DiskCache(cache, facts, _pack, _unpack))
        coarse = [key for key in new if self.is_coarse(key, edits_of[key])]
        if coarse:
            number, where = counted(len(coarse), "pair of texts", "pairs of texts"), first_on_line(coarse[0])
            logger.warning("too long for ERRANT's alignment and aligned coarsely: %s%s", number, where)
        rows = (edits_of.get(key, ()) for key in keys)
        return [list(row) if pooled else [edit for edit in row if not edit.annotator] for row in rows]

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


def _pack(edits: Sequence[Edit]) -> bytes:
    rows = [[edit.start, edit.end, edit.correction, edit.type, edit.annotator] for edit in edits]
    return json.dumps([row if row[-1] else row[:-1] for row in rows]).encode()


def _unpack(data: bytes) -> tuple[Edit, ...]:
    return tuple(Edit(*fields) for fields in json.loads(data))
