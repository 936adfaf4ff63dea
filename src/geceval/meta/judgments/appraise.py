"""Rankings of system outputs by people, in the XML that Appraise writes."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError

Groups = tuple[tuple[tuple[str, ...], int], ...]

LOWEST_RANK = 127
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Ranking:
    """One annotator's ranking of some systems' outputs for one sentence, with everything that the file records."""

    sentence: int
    source_id: int
    name: str
    annotator: str
    seconds: float | None
    skipped: bool
    groups: Groups


def read_rankings(path: str | Path, outputs: dict[str, list[str]], *, first_line: int) -> list[Ranking]:
    """Read rankings."""
    # Systems of one group must have written the same text. This catches files that count sentences from 0 where others
    # count from 1, an error that would otherwise go unnoticed.
    return [
        _to_ranking(f"{path}, ranking {number}", element, outputs, first_line)
        for number, element in enumerate(_elements(path))
    ]


class _Tree(ElementTree.TreeBuilder):
    """Refuses what rankings do not need: document types, whose entities may grow without limit, and deep nesting."""

    depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> ElementTree.Element:
        self.depth += 1
        if self.depth > _DEPTH:
            raise InputError(f"it nests more than {_DEPTH} elements, which rankings do not")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ElementTree.Element:
        self.depth -= 1
        return super().end(tag)

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("it has a document type (<!DOCTYPE ...>), which rankings have not")


def _elements(path: str | Path) -> Iterator[ElementTree.Element]:
    data = Path(path).read_bytes()
    try:
        parser = ElementTree.XMLParser(target=_Tree())
        parser.feed(data)
        root = parser.close()
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not valid XML ({error})") from error
    except (ValueError, LookupError) as error:  # a LookupError is an encoding that is none of texts
        raise InputError(f"{path}: {error}") from error
    return root.iter("ranking-item")


def _to_ranking(where: str, element: ElementTree.Element, outputs: dict[str, list[str]], first_line: int) -> Ranking:
    try:
        source_id = int(element.attrib["src-id"])
        groups = tuple((tuple(t.attrib["system"].split()), int(t.attrib["rank"])) for t in element.iter("translation"))
    except (KeyError, ValueError) as error:
        raise InputError(f"{where}: src-id, system or rank is missing or not a number ({_short(error)})") from error
    check_groups(where, groups, source_id - first_line, outputs)
    return Ranking(
        sentence=source_id - first_line,
        source_id=source_id,
        name=element.attrib.get("id", ""),
        annotator=element.attrib.get("user", ""),
        seconds=_seconds(where, element.attrib.get("duration")),
        skipped=element.attrib.get("skipped") == "true",
        groups=groups,
    )


def _seconds(where: str, duration: str | None) -> float | None:
    """Seconds of `HH:MM:SS.ffffff`."""
    if duration is None:
        return None
    try:
        hours, minutes, seconds = map(float, duration.split(":"))
    except ValueError:
        hours = minutes = seconds = math.nan
    if not all(0 <= part < math.inf for part in (hours, minutes, seconds)):
        raise InputError(f"{where}: duration must be HH:MM:SS, got {_short(duration)}")
    return hours * 3600 + minutes * 60 + seconds


def check_groups(where: str, groups: Groups, sentence: int, outputs: dict[str, list[str]]) -> None:
    """Raise a `ValueError` unless a ranking names each system once, counts ranks from 1, and groups equal texts."""
    for systems, rank in groups:
        if not 1 <= rank <= LOWEST_RANK:
            named = " and ".join(systems)[:60]
            raise InputError(f"{where}: rank {rank} of {named}; ranks count from 1, the best, to {LOWEST_RANK}")
        _check_group(where, systems, sentence, outputs)
    named = Counter(system for systems, _ in groups for system in systems)
    for system, times in named.items():
        if times > 1:
            raise InputError(f"{where}: {system} is ranked twice")


def _short(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_group(where: str, systems: tuple[str, ...], sentence: int, outputs: dict[str, list[str]]) -> None:
    for system in systems:
        if system not in outputs:
            raise InputError(f"{where}: unknown system {_short(system)}; the systems are {', '.join(outputs)}")
        if not 0 <= sentence < len(outputs[system]):
            raise InputError(
                f"{where}: there is no sentence {_short(sentence)}; {system} has {len(outputs[system])} outputs"
            )
    texts = {outputs[system][sentence] for system in systems}
    if len(texts) > 1:
        raise InputError(
            f"{where}: {' and '.join(systems)} share a rank but wrote different texts for sentence {sentence}; are the "
            "sentence ids counted from 0 instead of 1, or the other way round?"
        )
