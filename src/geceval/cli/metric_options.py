"""Options of metrics, as typed in a terminal: `-o KEY=VALUE`, and the scorers that have them."""

from __future__ import annotations

import collections.abc
import logging
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from geceval import registry
from geceval.core.errors import InputError, counted, did_you_mean

logger = logging.getLogger("geceval")


def metric_options(
    metrics: Sequence[str], assignments: Iterable[str] | None, **flags: Any
) -> dict[str, dict[str, Any]]:
    """Options of each metric, from `KEY=VALUE` (for every metric that has the option) and `METRIC.KEY=VALUE`."""
    annotations = {metric: _annotations(metric) for metric in metrics}
    options: dict[str, dict[str, Any]] = {
        metric: {key: value for key, value in flags.items() if value is not None and key in annotations[metric]}
        for metric in metrics
    }
    for key, value in flags.items():
        if value is not None and not any(key in values for values in options.values()):
            raise _no_taker(key, metrics)
    for assignment in assignments or []:
        target, equals, text = assignment.partition("=")
        metric, dot, key = target.rpartition(".")
        key = key.replace("-", "_")
        if not equals or not key:
            raise InputError(f"option {assignment!r} must be KEY=VALUE or METRIC.KEY=VALUE")
        if dot and metric not in options:
            raise InputError(f"option {assignment!r} is for {metric!r}, which is not among -m {' '.join(metrics)}")
        names = [metric] if dot else metrics
        takers = [name for name in names if key in annotations[name]]
        if not takers:
            known = "; ".join(f"{name} has {', '.join(sorted(annotations[name]))}" for name in names)
            near = did_you_mean(key, sorted({option for name in names for option in annotations[name]}))
            raise InputError(f"unknown option {key!r}; {known}{near}")
        for name in takers:
            options[name][key] = parse_value(key, text, annotations[name][key])
    return options


def _no_taker(key: str, metrics: Sequence[str]) -> InputError:
    takers = [name for name in registry.list_metrics() if key in _annotations(name)]
    reads = f"{', '.join(metrics)} {'reads' if len(metrics) == 1 else 'read'} no M2 file; "
    why = reads if key == "gold_m2" else ""
    flag = key.replace("_", "-")
    return InputError(f"{why}--{flag} is for {', '.join(takers)}; none of them is among -m {' '.join(metrics)}")


def make_scorers(options: Mapping[str, dict[str, Any]], references: Sequence[str] | None) -> dict[str, Any]:
    """One scorer per metric, with its options."""
    # Where some metrics take the references of an M2 file and others those of reference files, a warning says which,
    # and another one that none takes them.
    scorers = {name: registry.make_scorer(name, values) for name, values in options.items()}
    for name, scorer in scorers.items():
        if scorer.needs_references() and not references:
            gold = " or --gold-m2 FILE" if hasattr(scorer.Settings, "gold_m2") else ""
            raise InputError(f"{name} needs references: pass -r FILE...{gold} (metrics that need none: geceval list)")
    from_m2 = [name for name, scorer in scorers.items() if getattr(scorer.settings, "gold_m2", None) is not None]
    from_files = [name for name, scorer in scorers.items() if scorer.needs_references()]
    if from_m2 and references and not from_files:
        raise InputError(f"{', '.join(from_m2)} would take --gold-m2 and leave out -r: pass one of them")
    if references and not from_files and not from_m2:
        logger.warning("-r is left out: no references are needed by %s", ", ".join(scorers))
    if from_m2 and from_files:
        logger.warning("references are those of --gold-m2 for %s, of -r for %s", *map(", ".join, (from_m2, from_files)))
    return scorers


def m2_of_systems(metrics: Sequence[str], systems: Iterable[str], files: Sequence[str] | None) -> dict[str, str] | None:
    """Name of each system to the file of its edits; `None` without files."""
    if not files:
        return None
    if not any(map(registry.takes_predictions_m2, metrics)):
        takers = ", ".join(filter(registry.takes_predictions_m2, registry.list_metrics()))
        raise InputError(f"--predictions-m2 is for {takers}; none of them is among -m {' '.join(metrics)}")
    names = list(systems)
    if len(files) != len(names):
        raise InputError(
            f"{counted(len(names), 'system')} but {len(files)} --predictions-m2; pass one for each, in the order of -p"
        )
    return dict(zip(names, files, strict=True))


def _annotations(metric: str) -> dict[str, Any]:
    """The type of each option of a metric."""
    scorer = registry.scorer_class(metric)
    return typing.get_type_hints(scorer.RunTime) | typing.get_type_hints(scorer.Settings)


def parse_value(name: str, text: str, annotation: Any) -> Any:
    """The value that the text of an option stands for: `"2"` is 2 for an `int`."""
    united = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    kinds: list[Any] = []
    for kind in typing.get_args(annotation) if united else (annotation,):
        kinds += map(type, typing.get_args(kind)) if typing.get_origin(kind) is Literal else [kind]
    if types.NoneType in kinds and text.lower() == "none":
        return None
    for kind in kinds:
        origin = typing.get_origin(kind)
        if origin in (list, tuple, collections.abc.Sequence) and ("," in text or str not in kinds):
            inner = typing.get_args(kind)[0]
            values = [parse_value(name, part.strip(), inner) for part in text.split(",") if part.strip()]
            return tuple(values) if origin is tuple else values
    if bool in kinds and text.lower() in ("yes", "no", "true", "false"):
        return text.lower() in ("yes", "true")
    for number in (int, float):
        if number in kinds:
            try:
                return number(text)
            except ValueError:
                continue
    if str in kinds or Path in kinds:
        return text
    expected = "yes or no" if bool in kinds else "a whole number" if float not in kinds else "a number"
    raise InputError(f"option {name} must be {expected}, got {text!r}")
