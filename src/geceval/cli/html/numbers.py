"""The numbers of `geceval report` without the page: what the demo Space shows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from geceval.cli.html.page import NAMES
from geceval.meta.papers import COLUMNS
from geceval.version import __version__
from geceval.workflows.leaderboard import RANKED_BY, Leaderboard, published_values


def numbers(boards: Sequence[Leaderboard]) -> str:
    """Leaderboards as JSON: metrics, correlations, the papers' values and signatures; no sentence of any corpus."""
    content = {"geceval": __version__, "boards": [_board(board) for board in boards]}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _board(board: Leaderboard) -> dict[str, Any]:
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
                "values": {key: _finite(value) for key, value in board.values[table.metric].items()},
                "published": {
                    key: {"value": value, "source": f"{row.paper}: {row.label}"}
                    for key, (value, row) in published_values(board.published, table.metric).items()
                },
            }
            for table in board.tables
        ],
        "not_scored": sorted(board.skipped),
    }


def _finite(value: float) -> float | None:
    """What JSON, which has no NaN, says instead; six digits are more than 391 sentences can tell."""
    return round(value, 6) if math.isfinite(value) else None
