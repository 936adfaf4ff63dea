"""Metrics by name: list them, make a scorer, score systems. Knows nothing of `evaluate` or the Hub."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from geceval.core.errors import InputError
from geceval.core.inputs import References
from geceval.core.options import replace_options
from geceval.core.result import Result
from geceval.scorers.base import Scorer


@dataclass(frozen=True, slots=True)
class Entry:
    """One metric, as `geceval list` and the README show it.

    Attributes:
        name: What `load` takes.
        description: One line.
        extra: The extra of the package that it needs (`"edits"`, `"neural"`), or `""`.
        references: Whether it needs references by default.
        higher_is_better: Its direction.
        bounds: Lowest and highest value of `score`; `None` for an open end.
    """

    name: str
    description: str
    extra: str
    references: bool
    higher_is_better: bool
    bounds: tuple[float | None, float | None]


def list_metrics() -> list[str]:
    """Names of all metrics, sorted: the files of `geceval.scorers`, one a metric."""
    files = pkgutil.iter_modules([str(Path(__file__).with_name("scorers"))])
    return sorted(file.name for file in files if not file.ispkg and file.name != "base")


def check_name(name: str) -> None:
    """Refuse a name that is no metric's.

    Raises:
        ValueError: If there is no such metric; the message lists those that exist.
    """
    if name not in list_metrics():
        raise InputError(f"unknown metric {name!r}; the metrics are: {', '.join(list_metrics())}")


def scorer_module(name: str) -> ModuleType:
    """The module of `geceval.scorers` behind a metric.

    Raises:
        ValueError: If there is no such metric.
    """
    check_name(name)
    return importlib.import_module(f"geceval.scorers.{name}")


def scorer_class(name: str) -> type[Scorer]:
    """The class behind a metric: `scorers/pt_m2.py` holds `PtM2`.

    Raises:
        ValueError: If there is no such metric.
    """
    return getattr(scorer_module(name), "".join(part.capitalize() for part in name.split("_")))


def make_scorer(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """A scorer with the given settings and run-time options, without `evaluate`; it gives the same numbers.

    Raises:
        ValueError: If there is no such metric or an option has a bad value.
        TypeError: If an option does not exist.
    """
    cls = scorer_class(name)
    return cls(*replace_options(name, cls.Settings(), cls.RunTime(), options or {}))


def score_systems(
    scorer: Scorer, sources: list[str], systems: Mapping[str, list[str]], references: References | None = None
) -> dict[str, Result]:
    """Score several systems on the same sentences.

    Args:
        scorer: From `make_scorer`. It is told of all systems first: for gotoscorer they define together how hard each
            correction is.
        sources: One string a sentence.
        systems: Name of each system to its predictions.
        references: One list of references a sentence, for scorers that need them.

    Returns:
        Name of each system to its result, in the order given.
    """
    scorer = scorer.with_systems(list(systems.values()))
    return {name: scorer.score(sources, predictions, references) for name, predictions in systems.items()}


def entry(name: str) -> Entry:
    """What there is to know about a metric; loads no model.

    Raises:
        ValueError: If there is no such metric.
    """
    cls = scorer_class(name)
    return Entry(
        name=name,
        description=cls.description,
        extra=cls.extra,
        references=cls().needs_references(),
        higher_is_better=cls.higher_is_better,
        bounds=cls.bounds,
    )


def offline_metrics() -> tuple[list[str], dict[str, str]]:
    """Metrics that run on what ships with geceval, and the others with what they need."""
    chosen, left = [], {}
    for name in list_metrics():
        model = getattr(scorer_class(name).Settings(), "model", None)
        if "llm" in entry(name).extra.split(","):
            left[name] = "asks a language model of your choice"
        elif model is not None and str(model).partition(":")[0] != "bundled":
            left[name] = f"its default model, {model}, is not bundled"
        else:
            chosen.append(name)
    return chosen, left
