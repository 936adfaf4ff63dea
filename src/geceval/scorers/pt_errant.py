"""PT-ERRANT (Gong et al., 2022): ERRANT whose edits weigh as much as a pre-trained model sees them change things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geceval.core.inputs import Columns, check_columns
from geceval.core.options import RunTime
from geceval.core.result import Result
from geceval.core.signature import package_version
from geceval.edits.edit import Edit, apply, without_overlaps
from geceval.scorers import pt
from geceval.scorers.gold import gold_facts, m2_sentences


@dataclass(frozen=True, slots=True)
class Settings(pt.Settings):
    """See `geceval.scorers.pt.Settings`.

    Attributes:
        nlp: spaCy pipeline of ERRANT: a name, a folder, `"bundled"`, or `None` for `en_core_web_sm` where that is
            installed and the bundled one elsewhere.
    """

    nlp: str | None = None


class PtErrant:
    """Weighted precision, recall and F of ERRANT edits; weights are |PTScore(S + u, R) - PTScore(S, R)|.

    Edits match if span and correction are equal. Edits that ERRANT cannot type (`UNK`) are left out, as in ERRANT's
    own comparison.
    """

    name = "pt_errant"
    Settings = Settings
    higher_is_better = True
    bounds = (0.0, 1.0)

    def __init__(self, settings: Settings | None = None, runtime: RunTime | None = None) -> None:
        self.settings = settings or Settings()
        self.runtime = runtime or RunTime()

    def needs_references(self) -> bool:
        """Not if the gold edits come from an M2 file."""
        return self.settings.gold_m2 is None

    def load(self) -> None:
        """Load the spaCy pipeline and the model behind the weights, or take them from the cache of this process."""
        from geceval.edits.annotate import get_annotator

        get_annotator(self.settings.nlp)
        pt.load_pair_scorer(self.settings, self.runtime)

    def score(self, sources: Sequence[str], predictions: Sequence[str], references: Sequence | None = None) -> Result:
        """Score one system.

        Args:
            sources: One tokenised string a sentence.
            predictions: One tokenised string a sentence.
            references: One list of references a sentence; not used if the settings name an M2 file.

        Returns:
            See `geceval.scorers.pt.score_comparisons`; score and scores lie in [0, 1], higher is better.

        Raises:
            TypeError: See `check_columns`.
            ValueError: See `check_columns`, or if the gold edits do not fit the sources or a model fails.
        """
        from geceval.edits.annotate import get_annotator

        settings, runtime = self.settings, self.runtime
        needs = self.needs_references()
        columns = check_columns(self.name, sources, predictions, references, needs_references=needs)
        annotator = get_annotator(settings.nlp)
        pairs = list(zip(columns.sources, columns.predictions, strict=True))
        proposed = annotator.edits(pairs, runtime.workers, runtime.progress)
        rows = []
        for source, edits, gold in zip(columns.sources, proposed, self._gold(columns), strict=True):
            known = [edit for edit in edits if edit.type != "UNK"]
            rows.append({who: _compare(source, text, known, golds) for who, (text, golds) in gold.items()})
        facts = {"nlp": annotator.pipeline, "errant": package_version("errant"), **gold_facts(settings.gold_m2)}
        return pt.score_comparisons(self.name, settings, runtime, rows, **facts)

    def _gold(self, columns: Columns) -> list[Mapping[int, tuple[str, list[Edit]]]]:
        """Annotator to corrected text and gold edits, one mapping a sentence."""
        from geceval.edits.annotate import get_annotator

        if self.settings.gold_m2 is not None:
            sentences = m2_sentences(self.name, self.settings.gold_m2, columns.sources)
            return [
                {who: (apply(s.source, without_overlaps(edits)), edits) for who, edits in s.edits.items()}
                for s in sentences
            ]
        references = columns.references or []
        pairs = [(s, text) for s, row in zip(columns.sources, references, strict=True) for text in row]
        edits = iter(get_annotator(self.settings.nlp).edits(pairs, self.runtime.workers, self.runtime.progress))
        return [{number: (text, next(edits)) for number, text in enumerate(row)} for row in references]


def _compare(source: str, reference: str, edits: Sequence[Edit], gold: Sequence[Edit]) -> pt.Comparison:
    kept = [edit for edit in gold if edit.type != "UNK"]
    matches = [
        (place, number)
        for place, edit in enumerate(edits)
        for number, other in enumerate(kept)
        if (edit.start, edit.end) == (other.start, other.end) and edit.correction in other.corrections
    ]
    return pt.Comparison(source, " ".join(reference.split()), edits, kept, matches)
