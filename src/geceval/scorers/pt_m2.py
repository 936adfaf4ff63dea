"""PT-M2 (Gong et al., 2022): M2 with edits weighted by a pre-trained model."""

from geceval.core.inputs import Columns
from geceval.edits.edit import apply, without_overlaps
from geceval.edits.maxmatch.extraction import Rules
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.m2 import extract_edits, read_gold, warn_of_single_paths


class PtM2(pt.WeightedEdits):
    """MaxMatch edits, as version 3.2 of the official scorer cuts them."""

    name = "pt_m2"
    description = "M2 with edits weighted by BERTScore or BARTScore."
    extra = "neural"
    reads_edits = True

    def _load(self) -> None:
        pt.load_pair_scorer(self.settings, self.runtime)

    def comparisons(self, columns: Columns) -> tuple[list[dict[int, pt.EditComparison]], dict[str, object]]:
        """MaxMatch edits compared with those of each annotator."""
        gold, large = read_gold(self.name, columns, self.settings.gold_m2, self.runtime)
        extractions, single = extract_edits(columns, gold, Rules(version="v3.2"), self.runtime)  # that is inside PT-M2
        warn_of_single_paths(self.name, large | single)
        rows = []
        for source, edits, options in zip(columns.sources, gold, extractions, strict=True):
            row = {}
            for annotator, extraction in options.items():
                reference = apply(source, without_overlaps(edits[annotator]))
                row[annotator] = pt.EditComparison(
                    source, reference, extraction.edits, extraction.gold, extraction.matches
                )
            rows.append(row)
        return rows, {}
