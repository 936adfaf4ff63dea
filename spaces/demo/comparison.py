"""A comparison as a page, and as files to keep."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import geceval
import render
import scoring
from geceval.cli.pages import (
    guarded,
    leaderboard_legend,
    leaderboard_page,
    leaderboard_summary,
    ordered,
    plots,
    systems_table,
)
from geceval.core.errors import p_bound
from geceval.workflows.compare import Comparison

RESAMPLES, CONFIDENCE = 1_000, 0.95
COLUMNS = ("metric", "system", "score", "low", "high", "difference", "p_bootstrap", "p_randomisation", "signature")


def rows(found: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    """A row for each metric and system."""
    return [
        {
            "metric": name,
            **{key: getattr(each, key) for key in ("system", "score", "low", "high", "difference")},
            **{f"p_{test}": each.p[test] for test in ("bootstrap", "randomisation")},
            "signature": comparison.signature,
        }
        for name, comparison in found.items()
        for each in comparison.standings
    ]


def page(
    found: Mapping[str, Comparison], missing: Mapping[str, str], sentences: int, baseline: str, warned: Sequence[str]
) -> str:
    """The leaderboard, its plots, and the differences from the baseline."""
    parts = [
        render.warnings(warned),
        render.heading("Leaderboard"),
        "".join(f"<p>{render.escape(line)}</p>" for line in leaderboard_summary(found)),
        render.literal(systems_table(found)),
        render.note(leaderboard_legend(CONFIDENCE)),
        render.heading("Scores and their intervals"),
        render.literal(plots(found)),
        *([render.heading("Penalised by the guard"), render.literal(guarded(found))] if guarded(found) else []),
        render.heading(f"Differences from the {baseline}"),
        *(_differences(name, comparison, sentences) for name, comparison in found.items()),
    ]
    if missing:
        parts.append(render.note(f"Not scored: {render.unscored(missing)}."))
    parts.append(render.note(f"p-values are two-sided; {RESAMPLES:,} resamples of sentences."))
    return render.block(*parts)


def _differences(name: str, comparison: Comparison, sentences: int) -> str:
    rows = [
        [
            render.escape(each.system),
            f"<strong>{render.number(each.score)}</strong>",
            render.number(each.difference),
            "baseline" if _is_baseline(each) else _p(each.p["bootstrap"]),
            "" if _is_baseline(each) else _p(each.p["randomisation"]),
        ]
        for each in ordered(name, comparison.standings)
    ]
    columns = ["system", name, "difference", "p bootstrap", "p randomised"]
    return render.table(columns, rows, f"{scoring.description(name)}; {sentences:,} sentences")


def _is_baseline(standing: Any) -> bool:
    return standing.difference == 0 and set(standing.p.values()) == {1.0}


def _p(value: float) -> str:
    shown = render.escape(p_bound(value, RESAMPLES) or render.number(value, 3))
    return f"<strong>{shown}</strong>" if value < 0.05 else shown


def files(found: Mapping[str, Comparison], sentences: int, test_set: str) -> list[str]:
    """Paths of the leaderboard as CSV, JSON and one page; in CSV, what a spreadsheet takes for a formula is quoted."""
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows(found))
    values = {"geceval": geceval.__version__, "test_set": test_set or None, "sentences": sentences, "rows": rows(found)}
    title = f"Leaderboard: {test_set}" if test_set else "Leaderboard"
    return [
        _file("comparison.csv", table.getvalue()),
        _file("leaderboard.json", json.dumps(values, ensure_ascii=False, indent=1)),
        _file("leaderboard.html", leaderboard_page(found, sentences, CONFIDENCE, title)),
    ]


def _file(name: str, content: str) -> str:
    """A file in a folder of its own."""
    path = Path(tempfile.mkdtemp(prefix="geceval-")) / f"geceval-{name}"
    path.write_text(content, encoding="utf-8", newline="")
    return str(path)


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
