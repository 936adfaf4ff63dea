"""PT-M2 (Gong et al., 2022): M2 with edits weighted by a pre-trained model."""

from geceval.core.inputs import Columns
from geceval.edits.edit import apply, without_overlaps
from geceval.edits.maxmatch.extraction import Rules
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.m2 import gold_and_cuts


class PtM2(pt.WeightedEdits):
    """MaxMatch edits, as version 3.2 of the official scorer cuts them."""

    name = "pt_m2"
    description = "M2 with edits weighted by BERTScore or BARTScore."
    extra = "neural"
    reads_edits = True

    def comparisons(self, columns: Columns) -> tuple[list[dict[int, pt.EditComparison]], dict[str, object]]:
        """MaxMatch edits compared with those of each annotator."""
        rules = Rules(version="v3.2")  # that is inside PT-M2
        gold, cuts, _ = gold_and_cuts(self.name, columns, self.settings.gold_m2, rules, self.runtime)
        rows = []
        for source, edits, options in zip(columns.sources, gold, cuts, strict=True):
            texts = {annotator: apply(source, without_overlaps(edits[annotator])) for annotator in options}
            rows.append(
                {
                    each: pt.EditComparison(source, texts[each], cut.edits, cut.gold, cut.matches)
                    for each, cut in options.items()
                }
            )
        return rows, {}
