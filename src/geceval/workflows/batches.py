"""Scores as an additional column of a table, for mapping a function over batches of rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geceval import registry
from geceval.core.errors import InputError, naming_the_extra
from geceval.core.files import expanded
from geceval.core.options import PATH, path_options
from geceval.core.warnings import Kind, once
from geceval.models.checkpoints import is_bundled, is_folder
from geceval.scorers.base import Scorer
from geceval.scorers.difficulty.chunk_difficulty import UNIFORM

COLUMNS = ("sources", "predictions", "references")


class BatchScorer:
    """A function that adds a column of sentence scores, named after the metric, to a batch of rows.

    For `datasets.Dataset.map(BatchScorer("errant"), batched=True)` and `ray.data.Dataset.map_batches`. The models are
    loaded at the first batch of each process; only the name and the options are pickled and hashed.

    Args:
        metric: One of `geceval.list_metrics()`.
        columns: The names of the columns `sources`, `predictions` and `references` in the table, where they differ.
        options: Settings and run-time options of the metric.

    Raises:
        ValueError: If there is no such metric, an option has a bad value, or the metric cannot score a corpus in parts.
        TypeError: If an option does not exist.
    """

    def __init__(self, metric: str, columns: Mapping[str, str] | None = None, **options: Any) -> None:
        self.metric, self.columns, self.options = metric, column_names(columns), options
        self._scorer: Scorer | None = part_scorer(metric, options)
        self._warned: set[Kind] = set()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The batch and its scores.

        Args:
            batch: Column to values: lists or numpy arrays.

        Raises:
            ValueError: If a column is missing; see also `Scorer.score`.
        """
        if self._scorer is None:
            self._scorer = part_scorer(self.metric, self.options)
        columns = {name: plain(batch[self.columns[name]]) for name in needed(self._scorer, self.columns, batch)}
        with naming_the_extra(self.metric), once(self._warned):
            return {**batch, self.metric: self._scorer.score(**columns).scores if columns["sources"] else []}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scorer": None, "_warned": set()}


def part_scorer(metric: str, options: Mapping[str, Any]) -> Scorer:
    """A scorer that gives each sentence of a part of a corpus the score that it has in the whole."""
    scorer = registry.make_scorer(metric, options)
    if not scorer.scores_sentences_alone():
        raise InputError(f"{metric}: with these options the score of a sentence depends on others, or on a file that "
                         "goes with the whole corpus; it cannot be scored in parts")  # fmt: skip
    scorer.row_by_row = True
    return scorer


def absolute_paths(metric: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a metric, with absolute paths, since workers may run in another folder."""
    paths = {}
    scorer = registry.scorer_class(metric)
    kinds = path_options(scorer.Settings) | path_options(scorer.RunTime)
    for name, kind in kinds.items():
        value = options.get(name)
        if not isinstance(value, (str, Path)) or value == UNIFORM or is_bundled(str(value)):
            continue
        if kind == PATH or is_folder(str(value)):
            paths[name] = str(expanded(value).absolute())
    return {**options, **paths}


def column_names(columns: Mapping[str, str] | None) -> dict[str, str]:
    """The names of all three columns in a table."""
    unknown = [name for name in columns or {} if name not in COLUMNS]
    if unknown:
        raise InputError(f"columns: {unknown[0]!r} is none of {', '.join(COLUMNS)}")
    return {name: (columns or {}).get(name, name) for name in COLUMNS}


def needed(scorer: Scorer, names: Mapping[str, str], header: Any) -> list[str]:
    """The names of those of the three columns that a scorer reads."""
    columns = COLUMNS if scorer.needs_references() else COLUMNS[:2]
    for name in columns:
        if names[name] not in header:
            raise InputError(f"{scorer.name}: the table has no column {names[name]!r}; pass columns={{{name!r}: NAME}}")
    return list(columns)


def plain(values: Any) -> list[Any]:
    """A column as a list of strings, or of lists of strings, whatever its type."""
    rows = values.tolist() if hasattr(values, "tolist") else list(values)
    return [row.tolist() if hasattr(row, "tolist") else row for row in rows]
