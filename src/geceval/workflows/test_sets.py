"""A test set by name, scored as papers score it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval import registry
from geceval.core.result import Result
from geceval.corpora import test_sets


@dataclass(frozen=True)
class NamedTestSet:
    """A test set with its texts.

    Attributes:
        name: As `geceval data list` shows it.
        metric: The metric that papers report.
        citation: BibTeX of its paper.
        about: Title, terms, published scores and where it comes from.
        sources: What the learners wrote, one string per sentence.
        references: The annotators' texts, one list per sentence.
        gold_m2: The file of the gold edits, if there is one.
        ids: The ids of essays, which match them with those of a system.
    """

    name: str
    metric: str
    citation: str
    about: test_sets.Entry
    sources: list[str]
    references: list[list[str]]
    gold_m2: Path | None = None
    ids: list[str] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the metric of the papers is loaded with; without an M2 file there, it takes the references."""
        return self.options(self.metric)

    def options(self, metric: str) -> dict[str, Any]:
        """What any metric is loaded with on this test set."""
        scorer = registry.scorer_class(metric)
        takes_edits = self.about.gold == "edits" if metric == self.metric else scorer.reads_edits
        settings = {name: value for name, value in self.about.settings.items() if hasattr(scorer.Settings, name)}
        if scorer.form != "tokens":
            settings.pop("text", None)  # its network reads prose
        return settings | ({"gold_m2": str(self.gold_m2)} if takes_edits and self.gold_m2 else {})

    def score(self, predictions: Sequence[str], metric: str | None = None, **options: Any) -> Result:
        """Score a system as papers do, or with another metric on the same texts.

        Args:
            predictions: One string per sentence, in the order of `sources`.
            metric: One of `list_metrics()`.
            options: Settings and run-time options of the metric.

        Raises:
            ValueError: If the predictions are not as many as the sentences, or an option has a bad value.
        """
        name = metric or self.metric
        scorer = registry.make_scorer(name, {**self.options(name), **options})
        return scorer.score(self.sources, predictions, self.references if scorer.needs_references() else None)


def test_set(name: str) -> NamedTestSet:
    """A test set by name, with its texts, scored as papers score it.

    Args:
        name: One of `geceval data list`, e.g. `"conll14"`. Texts that may not be shipped are looked for below
            `GECEVAL_DATA`, below the folders told to `geceval data add`, and, if public, on the Hub.

    Raises:
        ValueError: If there is no such test set, or its files are not here; the message says where to get them.
    """
    about = test_sets.entry(name)
    return NamedTestSet(name, about.metric, "\n".join(about.data.citation), about, **test_sets.load(name))
