"""ERRANT's alignment of two parsed sentences: the same result as ERRANT's own, faster."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from errant.edit import Edit as ErrantEdit
from rapidfuzz.distance import Indel, Levenshtein
from rapidfuzz.process import cdist
from spacy import attrs, parts_of_speech
from spacy.tokens import Doc

from geceval.edits.errant.dynamic_programme import Step, Table, common_ending

CELLS = 2**22
LONGEST_RUN = 256
"""More changed tokens in a row than this, and ERRANT's merging, which tries all their parts, takes seconds to hours."""

_OPEN = np.zeros(max(parts_of_speech.NAMES) + 1, dtype=bool)
_OPEN[[parts_of_speech.ADJ, parts_of_speech.ADV, parts_of_speech.NOUN, parts_of_speech.VERB]] = True
_KEY = "geceval_alignment"


class Alignment:
    """ERRANT's alignment of two texts, as its mergers take it; `table` leaves out the tokens of a common ending."""

    # Equal tokens are always matched along the diagonal and a cell depends only on cells before it, so a common ending
    # is matched token by token whatever comes before it. (A common beginning is not: with `a b` -> `a a b` the path
    # enters it off the diagonal.) Two spans can only be transpositions of each other if each has the last token of the
    # other, ignoring case.

    def __init__(self, orig: Doc, cor: Doc) -> None:
        self.orig, self.cor = orig, cor
        source, corrected = _features(orig), _features(cor)
        ending = common_ending(source.orth, corrected.orth)
        rows, columns = len(orig) - ending, len(cor) - ending
        costs = _substitution_costs(source, corrected)[:rows, :columns]
        folded = source.lower[:rows], corrected.lower[:columns]
        self.table = Table(source.orth[:rows], corrected.orth[:columns], costs, folded)
        matches = (Step("M", rows + k, rows + k + 1, columns + k, columns + k + 1) for k in range(ending))
        self.align_seq = [*next(self.table.paths(one=True)), *matches]


def tokens(doc: Doc) -> list[int]:
    """A number for each token of a text, the same for the same string."""
    return _features(doc).orth


def is_too_long(source: Sequence[Hashable], corrected: Sequence[Hashable]) -> bool:
    """Whether two lists of tokens need a table of more than `CELLS` cells (2,048 x 2,048 tokens)."""
    if len(source) * len(corrected) <= CELLS:
        return False
    ending = common_ending(source, corrected)
    return (len(source) - ending) * (len(corrected) - ending) > CELLS


def has_long_run(steps: Sequence[Step]) -> bool:
    """Whether more than `LONGEST_RUN` operations in a row are not matches."""
    runs = (sum(1 for _ in group) for matches, group in groupby(steps, lambda step: step[0] == "M") if not matches)
    return any(run > LONGEST_RUN for run in runs)


def coarse_edits(source: Doc, corrected: Doc) -> list[ErrantEdit]:
    """Untyped edits of two texts that are too long for ERRANT: Levenshtein alignment, adjacent changes merged."""
    left, right = ([token.orth for token in doc] for doc in (source, corrected))
    edits = []
    for equal, group in groupby(Levenshtein.opcodes(left, right), lambda block: block.tag == "equal"):
        if not equal:
            blocks = list(group)
            span = [blocks[0].src_start, blocks[-1].src_end, blocks[0].dest_start, blocks[-1].dest_end]
            edits.append(ErrantEdit(source, corrected, span))
    return edits


@dataclass(frozen=True, slots=True)
class _Features:
    """The token features that the alignment reads: lists and arrays as long as the text."""

    orth: list[int]
    lower: list[int]
    texts: list[str]
    array: np.ndarray
    is_open: np.ndarray


def _features(doc: Doc) -> _Features:
    """The features of a text; read once, then cached with it."""
    features = doc.user_data.get(_KEY)
    if features is None:
        array = doc.to_array([attrs.ORTH, attrs.LOWER, attrs.LEMMA, attrs.POS])
        orth, lower = array[:, 0].tolist(), array[:, 1].tolist()
        texts = [doc.vocab.strings[number] for number in orth]
        features = doc.user_data[_KEY] = _Features(orth, lower, texts, array, _OPEN[array[:, 3]])
    return features


def _substitution_costs(source: _Features, corrected: _Features) -> np.ndarray:
    """ERRANT's cost of replacing one token by another: lemma, part of speech, characters; 0 if only case differs."""
    _, lower, lemma, pos = source.array[:, None, :].transpose(2, 0, 1)
    _, other_lower, other_lemma, other_pos = corrected.array[None, :, :].transpose(2, 0, 1)
    is_open = source.is_open[:, None] & corrected.is_open[None, :]
    costs = np.where(lemma == other_lemma, 0.0, 0.499)
    costs += np.where(pos == other_pos, 0.0, np.where(is_open, 0.25, 0.5))
    if costs.size:
        costs += cdist(source.texts, corrected.texts, scorer=Indel.normalized_distance, dtype=np.float64)
    costs[lower == other_lower] = 0.0
    return costs
