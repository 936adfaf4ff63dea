"""PT-M2 (Gong et al., 2022): M2 with edits weighted by a pre-trained model."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.core.inputs import Columns
from geceval.edits.edit import apply, without_overlaps
from geceval.edits.maxmatch.extraction import Rules
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.m2 import extract_edits, read_gold, warn_of_single_paths


@dataclass(frozen=True, slots=True)
class Settings(pt.Settings):
    """See `geceval.scorers.edit_based.pretrained_weights.Settings`; and, with the meaning they have in
    `geceval.scorers.m2.Settings`:

    Attributes:
        max_unchanged_words: Unchanged words that an edit of the system may contain in order to match a gold edit.
        insertions: `"v3.2"` as in PT-M2's program, or `"head"` as in the latest M2 scorer.
        matching: `"official"` or `"repaired"`.
    """

    max_unchanged_words: int = 2
    insertions: str = "v3.2"
    matching: str = "official"

    def __post_init__(self) -> None:
        pt.Settings.__post_init__(self)
        self.rules()

    def rules(self) -> Rules:
        """How edits are cut and matched."""
        return Rules(self.max_unchanged_words, False, self.insertions, self.matching)


class PtM2(pt.WeightedEdits):
    """Weighted precision, recall and F of MaxMatch edits; weights are |PTScore(S + u, R) - PTScore(S, R)|."""

    name = "pt_m2"
    description = "M2 with edits weighted by BERTScore or BARTScore."
    extra = "neural"
    Settings = Settings
    reads_edits = True

    def load(self) -> None:
        """Load the model behind the weights, or take it from the cache of this process."""
        pt.load_pair_scorer(self.settings, self.runtime)

    def comparisons(self, columns: Columns) -> tuple[list[dict[int, pt.EditComparison]], dict[str, object]]:
        """MaxMatch edits compared with those of each annotator."""
        settings = self.settings
        gold, large = read_gold(self.name, columns, settings.gold_m2, self.runtime)
        found, single = extract_edits(columns, gold, settings.rules(), self.runtime)
        warn_of_single_paths(self.name, large | single)
        rows = []
        for source, edits, options in zip(columns.sources, gold, found, strict=True):
            row = {}
            for annotator, seen in options.items():
                reference = apply(source, without_overlaps(edits[annotator]))
                row[annotator] = pt.EditComparison(source, reference, seen.edits, seen.gold, seen.matches)
            rows.append(row)
        return rows, {}
