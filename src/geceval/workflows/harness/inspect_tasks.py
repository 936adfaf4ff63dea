"""Any metric as a scorer of Inspect: `from geceval.workflows.harness.inspect_tasks import corpus, inspect_scorer`.

Inspect knows them as `geceval/corpus` and `geceval/inspect_scorer`.
"""

# Inspect reads annotations as types, so they are no strings here.

from typing import Any

import numpy as np

from geceval.core.errors import naming_the_extra
from geceval.core.result import stacked
from geceval.workflows.batches import part_scorer

with naming_the_extra("inspect_scorer"):
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
    from inspect_ai.solver import TaskState


@metric
def corpus() -> Metric:
    """The corpus score of samples that `inspect_scorer` has scored; `grouped(corpus(), KEY)` has one a group."""

    def score(scores: list[SampleScore]) -> float:
        kept = [sample.score.metadata for sample in scores]
        if not kept:
            return float("nan")
        judge = part_scorer(kept[0]["metric"], kept[0]["options"])
        rows = [np.array(each["row"], dtype=float) for each in kept]
        return float(judge.aggregate(stacked(rows, judge.missing_reference)[None])[0])

    return score


@scorer(metrics=[corpus()])
def inspect_scorer(metric: str = "errant", **options: Any) -> Scorer:
    """Score what a model answered: each sample with its sentence score, the task with the corpus score.

    The source is the sample's metadata `source`, or else its input; the targets are references. What models write
    around a correction is taken away unless `text=` says otherwise.

    Args:
        metric: One of `geceval.list_metrics()`.
        options: Settings and run-time options of the metric.
    """
    options = {"text": "answers", **options}
    judge = part_scorer(metric, options)

    async def score(state: TaskState, target: Target) -> Score:
        source, answer = state.metadata.get("source", state.input_text), state.output.completion
        result = judge.score([source], [answer], [list(target)] if judge.needs_references() else None)
        kept = {"metric": metric, "options": options, "row": result.rows().tolist()}
        return Score(value=result.scores[0], answer=answer, explanation=result.signature, metadata=kept)

    return score
