"""The numbers of `geceval report` without the page: what the demo Space shows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from geceval.meta.papers import COLUMNS
from geceval.version import __version__
from geceval.workflows.report import RANKED_BY, Leaderboard, published_values

NAMES = {"seeda": "SEEDA", "gjg15": "GJG15"}
DIGITS = 6  # more than 391 sentences can tell


def numbers(boards: Sequence[Leaderboard]) -> str:
    """Leaderboards as JSON: metrics, correlations, the papers' values and signatures; no sentence of any corpus."""
    content = {"geceval": __version__, "boards": [as_json(board, DIGITS) for board in boards]}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_json(board: Leaderboard, digits: int | None = None) -> dict[str, Any]:
    """A leaderboard as plain values, `None` for what is not a number; measured values are rounded to `digits`."""

    def plain(value: float) -> float | None:
        return None if not math.isfinite(value) else value if digits is None else round(value, digits)

    human = board.human
    return {
        "data": human.name,
        "name": NAMES[human.name],
        "systems": list(board.systems),
        "sentences": len(human.sources),
        "judgments": sum(map(len, human.judgments.values())),
        "columns": {group: list(keys) for group, keys in COLUMNS[human.name].items()},
        "ranked_by": RANKED_BY[human.name],
        "rows": [
            {
                "metric": table.metric,
                "signature": table.signature,
                "values": {key: plain(value) for key, value in board.values[table.metric].items()},
                "published": {
                    key: {"value": value, "source": f"{row.paper}: {row.label}"}
                    for key, (value, row) in published_values(board.published, table.metric).items()
                },
            }
            for table in board.tables
        ],
        "not_scored": sorted(board.skipped),
    }
