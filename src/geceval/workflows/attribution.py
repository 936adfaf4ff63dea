"""How much each edit of a correction contributes to its score under any metric; public as `geceval.attribute`.

The encoder-based impact of an edit, which needs no metric, is in `geceval.workflows.impacts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from geceval import registry
from geceval.core.errors import naming_the_extra
from geceval.core.inputs import References
from geceval.core.options import make_settings
from geceval.scorers.attribution import attribute as attribution


def attribute(
    metric: str,
    sources: Sequence[str],
    predictions: Sequence[attribution.Correction],
    references: References | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    nlp: Any = "bundled",
    **settings: Any,
) -> list[attribution.Attribution]:
    """Divide the gain of a correction in a metric's sentence score, over the source, among its edits.

    Args:
        metric: One of `geceval.list_metrics()`.
        sources: One string per sentence.
        predictions: For each sentence its corrected text, a list of `geceval.edits.edit.Edit`, or a list of lists of
            them, each of which is one player.
        references: One list of references per sentence, for metrics that need them.
        options: Settings and run-time options of the metric.
        nlp: spaCy pipeline for ERRANT, see `geceval.edits.errant.annotator.get_annotator`.
        settings: Fields of `geceval.scorers.attribution.attribute.Settings`: `method` (`"shapley"`,
            `"shapley_sampling"`, `"add"` or `"sub"`), `rescale`, `permutations`, `max_edits`, `seed`.

    Returns:
        One `geceval.scorers.attribution.attribute.Attribution` per sentence: `groups`, `edits`, `scores` (they sum to
        `total`), `source_score`, `total`, `method`, `note`.

    Raises:
        TypeError: If an option does not exist or a column or row has the wrong type.
        ValueError: See `geceval.scorers.attribution.attribute.attribute`, or if there is no such metric.
    """
    chosen = make_settings("attribute", attribution.Settings, settings)
    scorer = registry.make_scorer(metric, options)
    with naming_the_extra(metric):
        return attribution.attribute(scorer, sources, predictions, references, settings=chosen, nlp=nlp)
