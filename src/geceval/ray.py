"""Scoring on many machines with Ray Data: `pip install 'geceval[ray]'`, then `geceval.ray.score(...)`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError, UserError, naming_the_extra
from geceval.workflows.batches import absolute_paths, part_scorer
from geceval.workflows.file_scores import Part, Run, make_run, score_part

__all__ = ["score"]


def score(
    data: str | Path | Sequence[str | Path],
    metric: str,
    output: str | Path,
    *,
    workers: int = 2,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    num_cpus: float = 1,
    num_gpus: float = 0,
    **options: Any,
) -> Run:
    """Score any number of sentences with a pool of workers.

    Each part of the input, 8,192 rows of a file, becomes one file of `output` that appears whole or not at all. Each
    worker loads the model once and scores one part after another; if it dies, Ray restarts it and its part is scored
    again. The same call again computes what is missing, whatever the number of workers. All machines must see the same
    paths; one call at a time may write to a folder.

    Args:
        data: Parquet files, or folders of them.
        metric: One of `geceval.list_metrics()`.
        output: Folder of the scores.
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
    run = make_run(data, metric, output, absolute_paths(metric, options), columns, keep)
    pending = run.pending()
    if pending:
        pool = ray.data.ActorPoolStrategy(size=min(workers, len(pending)))
        resources = {"compute": pool, "num_cpus": num_cpus, "num_gpus": num_gpus}
        rows = ray.data.from_items([{"part": number} for number in pending], override_num_blocks=len(pending))
        done = rows.map_batches(_PartScorer, batch_size=1, fn_constructor_args=(run,), **resources)
        for row in done.iter_rows():
            if row["error"]:
                raise InputError(row["error"])
    for leftover in run.folder.glob(".part-*"):  # of workers that were killed
        leftover.unlink(missing_ok=True)
    return run


class _PartScorer:
    """An actor: it holds the scorer and gets indices of parts."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._scorer = part_scorer(run.metric, run.options)
        self._scorer.load()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"error": [self._score(self._run.parts[number]) for number in batch["part"].tolist()]}

    def _score(self, part: Part) -> str:
        """The error in the rows of the part, if any, as text; Ray would bury it in tracebacks."""
        try:
            score_part(self._run, part, self._scorer)
        except UserError as error:
            return str(error)
        return ""
