"""UOT-ERRANT: ERRANT whose edits are matched by unbalanced optimal transport between their vectors."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.errors import named
from geceval.core.inputs import Columns, References
from geceval.core.options import FilePath, Language, ModelName, PipelineName, Positive
from geceval.core.result import Result
from geceval.core.signature import package_version
from geceval.models.checkpoints import resolve
from geceval.models.devices import network_facts
from geceval.models.encoder import Encoder
from geceval.scorers.base import TextOptions
from geceval.scorers.edit_based.edit_scorer import EditScorer, total
from geceval.scorers.edit_based.transport_plans import Behaviour, TransportPlan, edit_vectors, transport
from geceval.scorers.errant import errant_order
from geceval.scorers.references.annotator_choice import Average, Order
from geceval.scorers.references.gold import annotator_of, compared_edits, extraction_facts, extracts


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of UOT-ERRANT; each can change the score.

    Attributes:
        model: The encoder: `"bundled"`, a folder, or a Hub id, optionally with `@revision`; the published one is
            `google/electra-base-discriminator`.
        behaviour: `"normalised"`: no edit answers, or is answered, with more than its mass, and a set of edits answers
            itself completely. `"published"`: the authors' program, in which a perfect correction can score less or
            more than 1.
    """

    model: ModelName = "bundled"
    behaviour: Behaviour = "normalised"
    average: Average = "corpus"
    beta: Positive = 0.5
    gold_m2: FilePath | None = None
    predictions_m2: FilePath | None = None
    nlp: PipelineName = "bundled"
    language: Language = "en"


class UotErrant(EditScorer):
    """Precision, recall and F of mass that optimal transport moves from the system's edits to those of a reference."""

    name = "uot_errant"
    description = "ERRANT with edits matched by optimal transport between their vectors."
    extra = "edits,neural,uot"
    Settings = Settings

    def _load(self) -> None:
        if extracts(self.settings):
            annotator_of(self.settings)
        self._encoder()

    def plans(
        self, sources: Sequence[str], predictions: Sequence[str], references: References | None = None
    ) -> list[TransportPlan]:
        """The transport from the system's edits to those of the reference that is taken for the corpus score."""
        plans = self._plans(self.read(sources, predictions, references)[0])
        counts = [{annotator: total(plan.counts()) for annotator, plan in row.items()} for row in plans]
        chosen = self.choose(counts).annotators
        return [dataclasses.replace(row[each], annotator=each) for row, each in zip(plans, chosen, strict=True)]

    def order(self) -> Order:
        """ERRANT's own, by unrounded F."""
        return errant_order(self.settings.beta, rounds=False)

    def _score(self, columns: Columns) -> Result:
        compared = [{annotator: plan.counts() for annotator, plan in row.items()} for row in self._plans(columns)]
        encoder = self._encoder()
        facts = {
            "model": encoder.name,
            "pot": package_version("pot"),
            "max_length": encoder.max_length,
            **network_facts(self.runtime),
            **extraction_facts(self.settings),
        }
        return self.typed_result(compared, facts)

    def _plans(self, columns: Columns) -> list[dict[int, TransportPlan]]:
        """Annotator to plan, one mapping per sentence."""
        proposed, gold = compared_edits(self.name, self.settings, self.runtime, columns)
        rows = [
            (source, each)
            for source, edits, references in zip(columns.sources, proposed, gold, strict=True)
            for each in (edits, *references.values())
        ]
        with named(self.name):
            encoder = self._encoder()
            vectors = iter(edit_vectors(rows, lambda texts: encoder.embed(texts, self.runtime)))
        pairs = []
        for references in gold:
            system = next(vectors)
            pairs += [(system, next(vectors)) for _ in references]
        plans = iter(transport(pairs, self.settings.behaviour))
        return [{annotator: next(plans) for annotator in references} for references in gold]

    def _encoder(self) -> Encoder:
        return Encoder.load(resolve(self.settings.model), self.runtime)
