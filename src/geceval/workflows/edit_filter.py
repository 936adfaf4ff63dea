"""Corrections without their doubtful edits; public as `geceval.filter_edits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TypeAlias, get_args

from geceval.core.errors import naming_the_extra
from geceval.core.inputs import check_columns
from geceval.core.options import PipelineName, Range, RunTime, check_choice, runtime_or_default
from geceval.edits.edit import Edit
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.verdict import DOUBTFUL
from geceval.scorers.edit_based.valid_edits import edit_judge
from geceval.text.columns import TextSetting, clean_answers, kind, read, warn_of_answers
from geceval.text.languages import warn_unless_english
from geceval.text.projection import borders
from geceval.text.tokenisers import detokenise

_Token: TypeAlias = tuple[int | None, int | None]
"""A token of a filtered text by its numbers in the source and in the prediction, each from 1."""


@dataclass(frozen=True, slots=True)
class JudgedCorrection:
    """A correction whose edits were judged."""

    source: str  # its tokens, joined by one space; edits count them
    edits: tuple[Edit, ...]
    probabilities: tuple[float, ...]  # how likely each edit is right
    texts: tuple[str, str]  # source and correction as they came, in one form
    tokens: tuple[list[str], list[str]]

    def kept(self, least: float) -> list[Edit]:
        """The edits that are at least so likely right."""
        return [edit for edit, chance in zip(self.edits, self.probabilities, strict=True) if chance >= least]

    def filtered(self, least: float) -> str:
        """The correction with all other edits undone.

        A correction that keeps all of its edits, or none, is the prediction, or the source, to the last character.
        """
        kept = self.kept(least)
        if len(kept) == len(self.edits) or not kept:
            return self.texts[len(kept) == len(self.edits)]
        spans = [_spans(*pair) for pair in zip(self.texts, self.tokens, strict=True)]
        return "".join(self._pieces(self._tokens(least), *spans))

    def _tokens(self, least: float) -> list[_Token]:
        """The tokens of the filtered text, between a token at the start and one at the end that are empty."""
        tokens: list[_Token] = []
        done = shift = 0
        ends = [len(side) + 2 for side in self.tokens]
        for edit, chance in zip(self.edits, self.probabilities, strict=True):
            start, end = edit.start + 1, edit.end + 1
            new = range(start + shift, start + shift + len(edit.correction.split()))
            tokens += [(number, number + shift) for number in range(done, start)]
            tokens += [(None, number) for number in new] if chance >= least else [(n, None) for n in range(start, end)]
            done, shift = end, shift + len(new) - (end - start)
        return [*tokens, *zip(range(done, ends[0]), range(done + shift, ends[1]), strict=True)]

    def _pieces(self, tokens: Sequence[_Token], *spans: Sequence[tuple[int, int]]) -> list[str]:
        """Tokens and what stands between them: white space of the prediction, or of the source."""
        pieces = []
        for left, right in pairwise(tokens):
            side = 1 if right[1] is not None else 0
            both = [s for s in (1, 0) if None not in (left[s], right[s]) and right[s] - left[s] == 1]
            near = both[0] if both else side
            place = right[near]
            gap = self.texts[near][spans[near][place - 1][1] : spans[near][place][0]]
            if not both and left == (0, 0):
                gap = ""
            elif not both and place == 1:
                gap = " "
            start, end = spans[side][right[side]]
            pieces += [gap, self.texts[side][start:end]]
        return pieces


def judge_edits(
    sources: Sequence[str],
    predictions: Sequence[str],
    *,
    text: TextSetting = "auto",
    nlp: PipelineName = "bundled",
    runtime: RunTime | None = None,
) -> list[JudgedCorrection]:
    """Judge each edit that ERRANT finds in each correction; arguments as for `filter_edits`."""
    runtime = runtime_or_default("filter", runtime)
    check_choice("text", text, get_args(TextSetting))
    columns = check_columns("filter", sources, predictions)
    warn_unless_english(columns.sources, "and the judge of edits reads English only")
    words, reading = read(columns, text, tokeniser="spacy-en")
    warn_of_answers("filter", reading)
    if text == "answers":
        columns = replace(columns, predictions=clean_answers(columns.predictions, columns.sources)[0])
    pairs = list(zip(words.sources, words.predictions, strict=True))
    edits = get_annotator(nlp).edits(pairs, runtime.workers, runtime.progress, runtime.cache)
    chances = edit_judge(runtime).judge(words.sources, edits)
    raw = columns.sources
    if words.sources == raw and words.predictions != columns.predictions:
        raw = list(map(detokenise, raw))
    elif words.sources != raw and kind(columns.predictions) == "tokens":
        raw = words.sources
    return [
        JudgedCorrection(pair[0], tuple(row), tuple(chance.tolist()), (source, prediction), tuple(map(str.split, pair)))
        for pair, row, chance, source, prediction in zip(pairs, edits, chances, raw, columns.predictions, strict=True)
    ]


@naming_the_extra("filter_edits")
def filter_edits(
    sources: Sequence[str],
    predictions: Sequence[str],
    *,
    least: float = DOUBTFUL,
    text: TextSetting = "auto",
    nlp: PipelineName = "bundled",
    runtime: RunTime | None = None,
) -> list[str]:
    """Undo the edits that the judge of `edit_quality` doubts.

    Where an edit is undone stand the words of the source. Edits are judged and undone each by itself, also those that
    depend on one another. A correction that keeps all of its edits is the prediction to the last character, and one
    that keeps none the source; where these differ in form, tokens and prose, the result has that of the predictions.

    Args:
        sources: What the learner wrote, one string per sentence.
        predictions: What the system made of it, one string per sentence.
        least: The least probability, in [0, 1], of an edit that is kept.
        text: What the texts hold, see `geceval.scorers.base.TextOptions`.
        nlp: spaCy pipeline for ERRANT, which finds the edits.
        runtime: Batch size, device, dtype, progress, workers, cache.

    Returns:
        One text per sentence.

    Raises:
        TypeError: If a column or a row has the wrong type.
        ValueError: If columns are empty or of unequal length, or `least` is out of range.
    """
    Range(0, 1).check("least", least)
    return [each.filtered(least) for each in judge_edits(sources, predictions, text=text, nlp=nlp, runtime=runtime)]


def _spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Where each token stands in a text, whose marks may have other forms; first and last the ends of the text."""
    places = [*(place for place, letter in enumerate(text) if not letter.isspace()), len(text)]
    joined, letters = "".join(tokens), "".join(text.split())
    place_of = borders(joined, letters)
    ends = [place_of[end] for end in accumulate(map(len, tokens), initial=0)]
    spans = [(places[a], places[b - 1] + 1 if b > a else places[a]) for a, b in pairwise(ends)]
    return [(0, 0), *spans, (len(text), len(text))]
