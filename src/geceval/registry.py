"""Metrics by name: list them, make a scorer, score systems. Knows nothing of `evaluate` or the Hub."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.core.errors import InputError, InputTypeError, NotFiniteError, did_you_mean, named
from geceval.core.inputs import References
from geceval.core.options import check_mapping, replace_options
from geceval.core.progress import parts
from geceval.core.warnings import gathered

if TYPE_CHECKING:  # a name alone costs neither numpy nor a scorer
    from geceval.core.result import Result
    from geceval.models.origins.named import ModelStatus
    from geceval.scorers.base import Scorer

LARGE_MODEL = "smollm2"  # what metrics of the extra `lm` read by default, as it is or with a bundled adapter


def list_metrics() -> list[str]:
    """Names of all metrics, sorted: the files of `geceval.scorers`, one per metric."""
    files = pkgutil.iter_modules([str(Path(__file__).with_name("scorers"))])
    return sorted(file.name for file in files if not file.ispkg and file.name != "base")


def check_name(name: str) -> None:
    """Refuse the name of a metric that does not exist."""
    known = list_metrics()
    if name not in known:
        several = isinstance(name, str) and "," in name and {part.strip() for part in name.split(",")} <= set(known)
        hint = "; several are separate words, not one with commas" if several else did_you_mean(name, known)
        raise InputError(f"unknown metric {name!r}{hint or '; the metrics are: ' + ', '.join(known)}")


def scorer_class(name: str) -> type[Scorer]:
    """The class of a metric, which states its inputs and outputs: `scorers/pt_m2.py` holds `PtM2`."""
    check_name(name)
    module = importlib.import_module(f"geceval.scorers.{name}")
    cls: type[Scorer] = getattr(module, "".join(part.capitalize() for part in name.split("_")))
    return cls


def make_scorer(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """A scorer with the given settings and run-time options; the same numbers as with `evaluate`, without it."""
    cls = scorer_class(name)
    return cls(*replace_options(name, cls.Settings(), cls.RunTime(), {} if options is None else options))


def make_scorers(
    name: str, metrics: str | Iterable[str], options: Mapping[str, Mapping[str, Any]] | None
) -> dict[str, Scorer]:
    """A scorer for each of several metrics."""
    if not isinstance(metrics, Iterable):
        raise InputTypeError(f"{name}: metrics must be names of metrics, got {metrics!r}")
    names = [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    options = {} if options is None else options
    check_mapping(name, options)
    unused = [metric for metric in options if metric not in names]
    if unused:
        raise InputError(f"{name}: options for {unused[0]!r}, which is not among {names}")
    if not names:
        raise InputError(f"{name}: name at least one metric")
    return {each: make_scorer(each, options.get(each)) for each in names}


def score_systems(
    scorer: Scorer,
    sources: list[str],
    systems: Mapping[str, list[str]],
    references: References | None = None,
    predictions_m2: Mapping[str, str | Path] | None = None,
) -> dict[str, Result]:
    """Score several systems on the same sentences; `predictions_m2` is for metrics that have a setting of this name."""
    # A metric hears of all systems first: for gotoscorer, they jointly define how hard each correction is.
    if predictions_m2 is not None and (not isinstance(predictions_m2, Mapping) or set(predictions_m2) != set(systems)):
        raise InputError(f"{scorer.name}: predictions_m2 must have one M2 file per system, under its name")
    scorer = scorer.with_systems(list(systems.values()))
    scorers = dict.fromkeys(systems, scorer)
    if predictions_m2 is not None and takes_predictions_m2(scorer.name):
        with named(scorer.name):
            for name in systems:
                settings = dataclasses.replace(scorer.settings, predictions_m2=predictions_m2[name])
                scorers[name] = type(scorer)(settings, scorer.runtime)
    results = {}
    with gathered() as begin:
        for name in parts(systems, lambda system: f"{scorer.name}, {system}"):
            begin(name)
            try:
                results[name] = scorers[name].score(sources, systems[name], references)
            except NotFiniteError as error:
                raise NotFiniteError(f"{error} (system {name})" if len(systems) > 1 else str(error)) from error
    return results


def takes_predictions_m2(name: str) -> bool:
    """Whether a metric takes the edits of a system from an M2 file."""
    return hasattr(scorer_class(name).Settings, "predictions_m2")


def offline_metrics() -> tuple[list[str], dict[str, str]]:
    """The metrics that run on what ships with geceval; and the others, each with what it needs."""
    needs = {name: _need(name) for name in list_metrics()}
    return [name for name in needs if not needs[name]], {name: need for name, need in needs.items() if need}


def _need(name: str) -> str:
    scorer = make_scorer(name)
    if "llm" in _extras(name):
        return "asks a language model of your choice"
    model = LARGE_MODEL if "lm" in _extras(name) else getattr(scorer.settings, "model", None)
    bundled = model is None or model.partition(":")[0] == "bundled"
    return "" if bundled else f"its default model, {model}, is not bundled"


def large_metrics() -> tuple[list[str], ModelStatus]:
    """The metrics that read a large model by default; and where this model is. Nothing is fetched or loaded."""
    from geceval.models.origins.named import status

    return [name for name in list_metrics() if "lm" in _extras(name)], status(LARGE_MODEL)


def metrics_at_hand() -> tuple[list[str], dict[str, str]]:
    """The metrics that run here with nothing fetched: on what ships with geceval, and on a large model that is here."""
    chosen, needs = offline_metrics()
    names, model = large_metrics()
    if model.obstacle:
        return chosen, {**needs, **dict.fromkeys(names, model.obstacle)}
    return sorted({*chosen, *names}), {name: need for name, need in needs.items() if name not in names}


def _extras(name: str) -> list[str]:
    return scorer_class(name).extra.split(",")
