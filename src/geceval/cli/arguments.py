"""What is made of a command line: options with several values, and `KEY=VALUE` options of metrics."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

from geceval import registry
from geceval.core.errors import InputError


class ManyValuesCommand(TyperCommand):
    """A command whose list options take several values after one flag: `-p a.txt b.txt` is `-p a.txt -p b.txt`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the flag before each of its values, which is what click reads."""
        flags = {flag for parameter in self.params if getattr(parameter, "multiple", False) for flag in parameter.opts}
        return super().parse_args(ctx, repeat_flags(args, flags))


def repeat_flags(arguments: Sequence[str], flags: Iterable[str]) -> list[str]:
    """Repeat each of the given flags before every further value that follows it.

    Values end at the next argument that starts with a dash; a dash alone (standard input) is a value.

    Raises:
        ValueError: If a flag has no value.
    """
    flags = set(flags)
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    out: list[str] = []
    flag, values = "", 0
    for argument in arguments[:end]:
        if argument.startswith("-") and argument != "-":
            _check_has_value(flag, values)
            name, equals, _ = argument.partition("=")
            flag, values = (name, len(equals)) if name in flags else ("", 0)
        elif flag:
            if values:
                out.append(flag)
            values += 1
        out.append(argument)
    _check_has_value(flag, values)
    return out + list(arguments[end:])


def _check_has_value(flag: str, values: int) -> None:
    if flag and not values:
        raise InputError(f"option {flag} needs at least one value")


def metric_options(
    metrics: Sequence[str], assignments: Iterable[str] | None, **named: Any
) -> dict[str, dict[str, Any]]:
    """Options of each metric, from `KEY=VALUE` (for every metric that has the option) and `METRIC.KEY=VALUE`.

    A later assignment wins over an earlier one, and any over `named`, options that the verb has a flag for; those that
    are `None` were not given.

    Raises:
        ValueError: If an assignment is malformed, names a metric that is not scored or an option that none of the
            metrics has, or its value is not of the option's type.
    """
    options: dict[str, dict[str, Any]] = {metric: {} for metric in metrics}
    fields = {metric: _fields(metric) for metric in metrics}
    flags = [f"{key}={value}" for key, value in named.items() if value is not None]
    for assignment in [*flags, *(assignments or [])]:
        target, equals, text = assignment.partition("=")
        metric, dot, key = target.rpartition(".")
        key = key.replace("-", "_")
        if not equals or not key:
            raise InputError(f"option {assignment!r} must be KEY=VALUE or METRIC.KEY=VALUE")
        if dot and metric not in options:
            raise InputError(f"option {assignment!r} is for {metric!r}, which is not among -m {' '.join(metrics)}")
        takers = [name for name in ([metric] if dot else metrics) if key in fields[name]]
        if not takers:
            names = [metric] if dot else metrics
            known = "; ".join(f"{name} has {', '.join(sorted(fields[name]))}" for name in names)
            raise InputError(f"unknown option {key!r}; {known}")
        for name in takers:
            options[name][key] = parse_value(key, text, fields[name][key])
    return options


def make_scorers(options: Mapping[str, dict[str, Any]], references: Sequence[str] | None) -> dict[str, Any]:
    """A scorer a metric, with its options.

    Raises:
        ValueError: If an option has a bad value, or a metric needs references and there are no files of them.
    """
    scorers = {name: registry.make_scorer(name, own) for name, own in options.items()}
    for name, scorer in scorers.items():
        if scorer.needs_references() and not references:
            gold = " or --gold-m2 FILE" if hasattr(scorer.Settings, "gold_m2") else ""
            raise InputError(f"{name} needs references: pass -r FILE...{gold}")
    return scorers


def _fields(metric: str) -> dict[str, str]:
    """Options of a metric with their annotated types, as text."""
    scorer = registry.scorer_class(metric)
    kinds = (scorer.RunTime, scorer.Settings)
    return {field.name: str(field.type) for kind in kinds for field in dataclasses.fields(kind)}


def parse_value(name: str, text: str, annotation: str) -> Any:
    """The value that a text stands for, e.g. `"0.5"` for `float`, `"none"` for `str | None`, `"1,2"` for `list[int]`;
    without a comma a text for `str | list[int]` is a string.

    Raises:
        ValueError: If the text is not of that type.
    """
    words = set(re.findall(r"\w+", annotation))
    if "None" in words and text.lower() == "none":
        return None
    if words & {"list", "tuple", "Sequence"}:
        alternatives = re.sub(r"\[.*?\]", "", annotation).replace(" ", "").split("|")
        if "str" in alternatives and "," not in text:  # a name that stands for a list
            return text
        inner = re.sub(r"\b(list|tuple|Sequence|None)\b", "", annotation)
        values = [parse_value(name, part.strip(), inner) for part in text.split(",") if part.strip()]
        return tuple(values) if "tuple" in words else values
    if "bool" in words and text.lower() in ("yes", "no", "true", "false"):
        return text.lower() in ("yes", "true")
    for word, kind in (("int", int), ("float", float)):
        if word in words:
            try:
                return kind(text)
            except ValueError:
                continue
    if words & {"bool", "int", "float"} and "str" not in words:
        wanted = "yes or no" if "bool" in words else "a whole number" if "float" not in words else "a number"
        raise InputError(f"option {name} must be {wanted}, got {text!r}")
    return text
