"""Scoring on many machines with Ray Data: `pip install 'geceval[ray]'`, then `geceval.ray.score(...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.core.errors import InputError, UserError, naming_the_extra
from geceval.workflows.batches import BatchScorer, absolute_paths, part_scorer
from geceval.workflows.file_scores import File, Plan, corpus_score, make_plan, score_file

if TYPE_CHECKING:
    import ray.data

__all__ = ["Scored", "score"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A finished run."""

    folder: Path
    rows: int
    files: int
    computed: int
    signatures: list[str]
    plan: Plan

    def corpus_score(self) -> float:
        """The metric's score of the whole corpus in one call; see `geceval.workflows.file_scores.corpus_score`."""
        return corpus_score(self.plan)


def score(
    data: ray.data.Dataset | str | Path | Sequence[str | Path],
    metric: str,
    output: str | Path | None = None,
    *,
    workers: int = 2,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    num_cpus: float = 1,
    num_gpus: float = 0,
    **options: Any,
) -> Scored | ray.data.Dataset:
    """Score any number of sentences with a pool of workers.

    From files to files: each file of the input becomes one file of `output` that appears whole or not at all. Each
    worker loads the model once and scores one file after another; if it dies, Ray restarts it and its file is scored
    again. The same call again computes what is missing, whatever the number of workers. All machines must see the same
    paths; one call at a time may write to a folder. Within Ray Data: a data set lazily gets a column named after the
    metric, and nothing is written.

    Args:
        data: Parquet files, folders of them, or a Ray data set.
        metric: One of `geceval.list_metrics()`.
        output: Folder of the scores; required for files, not allowed for a data set.
        workers: Actors, each with the model.
        columns: The names of `sources`, `predictions` and `references` in the data, where they differ.
        keep: Columns of the files to copy along with the scores, e.g. ids.
        num_cpus: CPUs of each worker, for Ray.
        num_gpus: GPUs of each worker, for Ray.
        options: Settings and run-time options of the metric.

    Raises:
        ImportError: If Ray is not installed.
        ValueError: If an argument is wrong, the metric cannot score a corpus in parts, a row cannot be scored, or
            `output` holds scores from other input or settings.
        TypeError: If an option does not exist.
        OSError: If a file cannot be read or written.
    """
    with naming_the_extra("geceval.ray"):
        import ray.data
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")

    def pool(size: int) -> dict[str, Any]:
        return {"compute": ray.data.ActorPoolStrategy(size=size), "num_cpus": num_cpus, "num_gpus": num_gpus}

    if isinstance(data, ray.data.Dataset):
        if output is not None or keep:
            raise InputError("a Ray data set keeps its columns and is written by its own methods; leave out output")
        BatchScorer(metric, columns, **options)
        arguments = {"fn_constructor_args": (metric, columns), "fn_constructor_kwargs": absolute_paths(metric, options)}
        return data.map_batches(BatchScorer, batch_format="numpy", **arguments, **pool(workers))
    if output is None:
        raise InputError("pass output, the folder of the scores")
    plan = make_plan(data, metric, output, absolute_paths(metric, options), columns, keep)
    pending = plan.pending()
    if pending:
        rows = ray.data.from_items([{"file": number} for number in pending], override_num_blocks=len(pending))
        actors = pool(min(workers, len(pending)))
        done = rows.map_batches(_FileScorer, batch_size=1, fn_constructor_args=(plan,), **actors)
        for row in done.iter_rows():
            if row["error"]:
                raise InputError(row["error"])
    for leftover in plan.folder.glob(".part-*"):  # of workers that were killed
        leftover.unlink(missing_ok=True)
    signatures = dict.fromkeys(map(plan.signature, plan.files))
    return Scored(
        plan.folder, sum(file.rows for file in plan.files), len(plan.files), len(pending), list(signatures), plan
    )


class _FileScorer:
    """An actor: it holds the scorer and gets indices of files."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._scorer = part_scorer(plan.metric, plan.options)
        self._scorer.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"error": [self._score(self._plan.files[number]) for number in batch["file"].tolist()]}

    def _score(self, file: File) -> str:
        """The error in the rows of the file, if any, as text; Ray would bury it in tracebacks."""
        try:
            score_file(self._plan, file, self._scorer)
        except UserError as error:
            return str(error)
        return ""
