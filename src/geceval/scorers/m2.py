"""M2: edits of a system compared with gold edits, cut so that as many as possible match (Dahlmeier and Ng, 2012)."""

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated

from geceval.core.errors import counted
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Positive, Range, RunTime, Share
from geceval.core.result import Result
from geceval.core.signature import number_range
from geceval.edits.edit import Edit, in_order
from geceval.edits.maxmatch.extraction import EXTRACTING, Extraction, Rules, extract_all
from geceval.edits.verdict import DOUBTFUL
from geceval.scorers.base import TextOptions
from geceval.scorers.edit_based.edit_scorer import EditScorer
from geceval.scorers.edit_based.valid_edits import ValidEdits, judge_facts, valid_edits
from geceval.scorers.references.annotator_choice import Average
from geceval.scorers.references.gold import Gold, gold_from_m2

logger = logging.getLogger("geceval")


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of M2; each can change the score.

    Attributes:
        max_unchanged_words: Unchanged words that an edit of the system may contain in order to match a gold edit.
    """

    beta: Positive = 0.5
    average: Average = "corpus"
    gold_m2: FilePath | None = None
    max_unchanged_words: Annotated[int, Range(0)] = 2
    valid_edits: ValidEdits = "references"
    judge_threshold: Share = DOUBTFUL


class M2(EditScorer):
    """Precision, recall and F of edits; all lie in [0, 1] unless a gold edit is given twice.

    With several annotators, each sentence takes the one that gives the best F of all sentences up to it (the sentence
    score: of this sentence alone); if equal, more matches, then fewer proposed + beta² · gold edits, then the annotator
    that comes first. The corpus score therefore depends, very little, on the order of the sentences.
    """

    name = "m2"
    description = "Precision, recall and F of edits, cut so that as many as possible match the gold edits."
    Settings = Settings
    reads_edits = True

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        rules = Rules(settings.max_unchanged_words)
        gold, cuts, single_path = gold_and_cuts(self.name, columns, settings.gold_m2, rules, self.runtime)
        chosen = self.choose(self._counts(columns, cuts))
        self._warn_of_irregular(gold)
        facts = {"refs": number_range(map(len, gold)), **judge_facts(self.settings, self.runtime)}
        return self.result(chosen, facts, annotators=chosen.annotators, single_path=single_path)

    def _counts(self, columns: Columns, rows: Sequence[Mapping[int, Extraction]]) -> list[dict[int, Counts]]:
        """Counts beside each annotator, whose cut of the edits the judge reads."""
        cuts = [(source, cut) for source, row in zip(columns.sources, rows, strict=True) for cut in row.values()]
        edits = [cut.edits for _, cut in cuts]
        valid = iter(valid_edits(self.settings, self.runtime, [source for source, _ in cuts], edits))
        return [{annotator: _count(cut, next(valid)) for annotator, cut in row.items()} for row in rows]

    def _warn_of_irregular(self, gold: Sequence[Gold]) -> None:
        rows = [row for row, options in enumerate(gold) if any(map(_is_irregular, options.values()))]
        if rows:
            logger.warning(
                "%s: %s with gold edits that are out of order, some of which are lost, or given twice, which count "
                "twice, as in the official scorer (first: sentence %d); sort them and leave out repeats",
                self.name,
                counted(len(rows), "sentence"),
                rows[0] + 1,
            )


def gold_and_cuts(
    metric: str, columns: Columns, gold_m2: FilePath | None, rules: Rules, runtime: RunTime
) -> tuple[list[Gold], list[Mapping[int, Extraction]], list[int]]:
    """Gold edits, the system's edits cut to suit each annotator, and the sentences too different for a full search."""
    gold, large = _gold(metric, columns, gold_m2, runtime)
    rows = extract_all(columns.sources, columns.predictions, gold, rules, runtime.workers, runtime.cache)
    single_path = sorted(large | {row for row, extracted in enumerate(rows) if extracted.single_path})
    if single_path:
        logger.warning(
            "%s: %s too different for a full search (first: sentence %d); of all ways to cut the edits only one was "
            "tried",
            metric,
            counted(len(single_path), "sentence"),
            single_path[0] + 1,
        )
    return gold, [extracted.by_annotator for extracted in rows], single_path


def _gold(metric: str, columns: Columns, gold_m2: FilePath | None, runtime: RunTime) -> tuple[list[Gold], set[int]]:
    """The gold edits of each sentence, from an M2 file or else extracted from the references."""
    from_file = gold_from_m2(metric, columns, gold_m2)
    if from_file is not None:
        return from_file, set()
    references = columns.references or []
    keys = [(row, number) for row, texts in enumerate(references) for number in range(len(texts))]
    sources, texts = [columns.sources[row] for row, _ in keys], [text for row in references for text in row]
    rows = extract_all(sources, texts, [{0: ()}] * len(texts), EXTRACTING, runtime.workers, runtime.cache)
    gold: list[dict[int, Sequence[Edit]]] = [{} for _ in references]
    for (row, number), extracted in zip(keys, rows, strict=True):
        gold[row][number] = extracted.by_annotator[0].edits
    return gold, {row for (row, _), extracted in zip(keys, rows, strict=True) if extracted.single_path}


def _count(extraction: Extraction, valid: Set[Edit]) -> Counts:
    correct = len(extraction.matches)
    matched = {number for number, _ in extraction.matches}
    unmatched = [edit for number, edit in enumerate(extraction.edits) if number not in matched]
    no_alarms = sum(edit in valid for edit in unmatched)
    return Counts(correct, len(extraction.edits) - correct - no_alarms, len(extraction.gold) - correct)


def _is_irregular(edits: Sequence[Edit]) -> bool:
    spans = [(edit.start, edit.end, edit.corrections) for edit in edits if not edit.is_noop]
    return len(set(spans)) < len(spans) or in_order(edits) != [edit for edit in edits if not edit.is_noop]
