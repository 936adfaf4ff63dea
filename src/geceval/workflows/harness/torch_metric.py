"""Any metric as a `torchmetrics.Metric`: `from geceval.workflows.harness.torch_metric import GecMetric`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from geceval.core.errors import naming_the_extra
from geceval.core.inputs import References
from geceval.core.result import stacked
from geceval.workflows.batches import part_scorer

with naming_the_extra("GecMetric"):
    import torch
    import torchmetrics
    from torchmetrics.utilities import dim_zero_cat


class GecMetric(torchmetrics.Metric):
    """The corpus score of all that `update` has seen, on all processes; no sentence is scored twice.

    `update` scores sentences and keeps what a corpus score is made of (`Result.rows`), one row per sentence, as
    double precision on the metric's device; processes gather rows, in the order of their ranks.

    Args:
        metric: One of `geceval.list_metrics()`.
        options: Settings and run-time options of the metric.

    Raises:
        ValueError: If there is no such metric, an option has a bad value, or it cannot score a corpus in parts.
        TypeError: If an option does not exist.
    """

    full_state_update = False

    def __init__(self, metric: str, **options: Any) -> None:
        super().__init__()
        self.scorer = part_scorer(metric, options)
        # Flat, since rows of batches with more references are larger, and processes gather what can be joined.
        self.add_state("values", default=[], dist_reduce_fx="cat")
        self.add_state("shapes", default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better."""
        return self.scorer.higher_is_better

    def update(self, sources: Sequence[str], predictions: Sequence[str], references: References | None = None) -> None:
        """Score a batch; the columns are those of `compute` of the module."""
        rows = np.asarray(self.scorer.score(sources, predictions, references).rows(), dtype=float)
        self.values.append(torch.tensor(rows.ravel(), dtype=torch.float64, device=self.device))
        self.shapes.append(torch.tensor([rows.shape], device=self.device))

    def compute(self) -> torch.Tensor:
        """The score, a double."""
        values, shapes = (dim_zero_cat(part).cpu().numpy() for part in (self.values, self.shapes))
        parts = np.split(values, np.cumsum(shapes.prod(axis=1))[:-1])
        rows = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        score = self.scorer.aggregate(stacked(rows, self.scorer.missing_reference)[None])[0]
        return torch.tensor(score, dtype=torch.float64, device=self.device)
