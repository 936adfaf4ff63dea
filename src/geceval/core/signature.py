"""One line that names everything a number depends on."""

import dataclasses
import re
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from geceval.core.cache import lru_cache
from geceval.version import __version__

_LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def signature(metric: str, settings: Any, /, **facts: Any) -> str:
    """Name what was computed: the metric, each setting, each further fact, the version of geceval last."""
    values = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
    values.update(facts)
    values["geceval"] = __version__
    return "|".join([_escape(metric), *(f"{_escape(k)}:{_escape(_text(v))}" for k, v in values.items())])


@lru_cache(64)
def package_version(package: str) -> str:
    """The installed version of a package, for the signature."""
    return metadata.version(package)


def number_range(numbers: Iterable[int]) -> str:
    """The number of something, e.g. references per sentence: `"2"`, or `"1-4"` if it varies."""
    distinct = set(numbers)
    low, high = min(distinct), max(distinct)
    return str(low) if low == high else f"{low}-{high}"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _escape(text: str) -> str:
    for character in "\\|:":
        text = text.replace(character, "\\" + character)
    return _LINE_BREAKS.sub(" ", text)
