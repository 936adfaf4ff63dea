"""PT-ERRANT (Gong et al., 2022): ERRANT with edits weighted by a pre-trained model."""

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.inputs import Columns
from geceval.core.options import Language, PipelineName
from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.references.gold import annotator_of, compared_edits


@dataclass(frozen=True, slots=True)
class Settings(pt.Settings):
    """Settings of PT-ERRANT: those of `geceval.scorers.edit_based.pretrained_weights.Settings`, and two more."""

    nlp: PipelineName = "bundled"
    language: Language = "en"


class PtErrant(pt.WeightedEdits):
    """Edits match if span and correction are equal; those without a type (`UNK`) are left out, as in ERRANT itself."""

    name = "pt_errant"
    description = "ERRANT with edits weighted by BERTScore or BARTScore."
    extra = "edits,neural"
    Settings = Settings

    def _load(self) -> None:
        annotator_of(self.settings)
        super()._load()

    def comparisons(self, columns: Columns) -> tuple[list[dict[int, pt.EditComparison]], dict[str, object]]:
        """ERRANT's edits compared with those of each annotator."""
        settings = self.settings
        proposed, gold = compared_edits(self.name, settings, self.runtime, columns)
        rows = []
        for source, edits, options in zip(columns.sources, proposed, gold, strict=True):
            rows.append({annotator: _compare(source, edits, annotated) for annotator, annotated in options.items()})
        return rows, annotator_of(settings).facts()


def _compare(source: str, edits: Sequence[Edit], gold: Sequence[Edit]) -> pt.EditComparison:
    typed = [edit for edit in edits if edit.type != "UNK"]
    typed_gold = [edit for edit in gold if edit.type != "UNK"]
    matches = [
        (index, number)
        for index, edit in enumerate(typed)
        for number, other in enumerate(typed_gold)
        if (edit.start, edit.end) == (other.start, other.end) and edit.correction in other.corrections
    ]
    return pt.EditComparison(source, apply(source, without_overlaps(gold)), typed, typed_gold, matches)
