"""What was measured, as values, and as the Markdown that people read."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNITS = {"peer": "x", "floor": " floors", "seconds": " s"}

Round = Mapping[str, Any]
"""An answer of `process.measure`."""


@dataclass(frozen=True)
class Row:
    """One metric on one work: the rounds of both sides, taken in turn.

    Attributes:
        metric: Its name.
        work: What was scored.
        ours: Rounds of geceval.
        peer: Rounds of the peer; none if there is no peer.
        floor: Rounds of the bare matrix products; none for metrics without a network.
        target: What should be reached, if anything.
        against: What the target is: `"peer"`, how many times faster than the peer; `"floor"`, the largest ratio to the
            floor; `"seconds"`, the longest time.
        difference: Largest difference of the systems' scores on both sides.
    """

    metric: str
    work: str
    ours: Sequence[Round]
    peer: Sequence[Round] = ()
    floor: Sequence[Round] = ()
    target: float | None = None
    against: str = "peer"
    difference: float | None = None

    @property
    def ratio(self) -> float | None:
        """Median wall time of the peer over that of geceval; `None` without a peer."""
        return median(self.peer) / median(self.ours) if self.peer else None

    @property
    def from_floor(self) -> float | None:
        """Median wall time of geceval over that of the floor; `None` without a network."""
        return median(self.ours) / median(self.floor) if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; `None` without one."""
        if self.target is None:
            return None
        return self.reached >= self.target if self.against == "peer" else self.reached <= self.target

    @property
    def reached(self) -> float | None:
        """What stands beside the target."""
        return {"peer": self.ratio, "floor": self.from_floor, "seconds": median(self.ours)}[self.against]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        derived = {name: getattr(self, name) for name in ("ratio", "from_floor", "met")}
        return dataclasses.asdict(self) | derived


def median(rounds: Sequence[Round], what: str = "wall") -> float:
    """Median over the rounds, in seconds."""
    return statistics.median(entry[what] for entry in rounds)


def peak(rounds: Sequence[Round]) -> float:
    """Peak memory in MiB."""
    return max(entry["peak"] for entry in rounds)


def comparison(rows: Sequence[Row]) -> str:
    """The table beside the peer."""
    head = ["metric", "work", "geceval", "gec-metrics", "ratio", "ratio (processor)", "target", "memory", "its memory"]
    lines = []
    for row in rows:
        theirs = ["", "", "", ""]
        if row.peer:
            processor = median(row.peer, "processor") / median(row.ours, "processor")
            theirs = [seconds(median(row.peer)), f"{row.ratio:.1f}", f"{processor:.1f}", mebibytes(peak(row.peer))]
        target = "" if row.target is None or row.against == "floor" else f"{row.target:g}{UNITS[row.against]}"
        ours = [row.metric, row.work, seconds(median(row.ours))]
        lines.append([*ours, *theirs[:3], target, mebibytes(peak(row.ours)), theirs[3]])
    return markdown(head, lines)


def floors(rows: Sequence[Row]) -> str:
    """The table beside the physical floor."""
    head = ["metric", "tokens", "GFLOP", "GFLOP/s", "floor", "geceval", "times the floor", "target"]
    lines = []
    for row in (row for row in rows if row.floor):
        gflop, tokens = row.floor[0]["scores"]
        least, target = median(row.floor), f"{row.target:g}" if row.against == "floor" else ""
        sizes = [f"{tokens:,}", f"{gflop:,.0f}", f"{gflop / least:,.0f}", seconds(least)]
        lines.append([row.metric, *sizes, seconds(median(row.ours)), f"{row.from_floor:.2f}", target])
    return markdown(head, lines)


def growth(steps: Mapping[str, Mapping[str, Round | None]]) -> str:
    """How time and peak memory grow: metric to steps, each with its round or `None` if it was left out."""
    sizes = list(dict.fromkeys(step for row in steps.values() for step in row))
    lines = []
    for name, row in steps.items():
        found = [row.get(size) for size in sizes]
        lines.append([name, *(f"{seconds(one['wall'])}, {mebibytes(one['peak'])}" if one else "" for one in found)])
    return markdown(["metric", *sizes], lines)


def widest(steps: Mapping[str, Mapping[str, Round | None]]) -> str:
    """For which metric peak memory grows most from the first step to the last that was taken."""
    found = {name: [one["peak"] for one in row.values() if one] for name, row in steps.items()}
    metric, peaks = max(found.items(), key=lambda item: item[1][-1] / item[1][0])
    return f"peak memory grows by at most {100 * (peaks[-1] / peaks[0] - 1):.0f} % ({metric})."


def verdicts(rows: Sequence[Row]) -> str:
    """Which targets are met and which are not."""
    parts = []
    for met, word in ((True, "Targets met"), (False, "Targets missed")):
        names = [
            f"{row.metric} {row.reached:.2g} ({row.target:g}{UNITS[row.against]})" for row in rows if row.met is met
        ]
        parts.append(f"{word}: {', '.join(names) or 'none'}.")
    return " ".join(parts)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    rule = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))


def seconds(value: float) -> str:
    """Three digits are enough."""
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def mebibytes(value: float) -> str:
    """Whole MiB; nothing for what is not a number."""
    return "" if math.isnan(value) else f"{value:,.0f} MiB"
