"""What attacks do to the metrics that read no references, written into cards, the demo's leaderboard and README.md.

OMP_NUM_THREADS=1 python benchmarks/resistance.py [METRIC ...] [--budget 80]

Without a budget the rows of searched attacks, which take long, stay as they are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from functools import partial
from pathlib import Path

import geceval
from geceval.cli.attack import HEADLINES, headlines
from geceval.cli.report import DIGITS
from geceval.cli.tables import Cell, records_text
from geceval.core.files import write_text
from geceval.workflows.attack import HONEST
from geceval.workflows.report import ATTACKS, attack_values

ROOT = Path(__file__).resolve().parents[1]
BOARD = ROOT / "spaces" / "demo" / "report.json"
README = ROOT / "README.md"
OFF, ON = {"guard": "off"}, {"guard": "faithful"}
SETTINGS = {  # of each row of a card; the first is what the leaderboard shows
    "impara_lm": ({}, OFF, {"model": "smollm2-impara"}),
    "impara": ({}, OFF),
    "impara_ged": ({}, OFF),
    "some": ({}, OFF, {"model": "smollm2-some"}),
    "fluency": ({}, OFF),
    "asano2017": ({}, ON),
    "scribendi": ({"model": "smollm2"}, {"model": "smollm2", **ON}),
    "ged": ({"task": "sentence"},),
}
COLUMNS = ["settings", *HEADLINES[1:]]


def rows_of(table: str) -> list[list[str]]:
    """The cells of the rows of a Markdown table, each with its settings."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    for before, row in itertools.pairwise(rows):
        row[0] = row[0] or before[0]
    return rows


def measure(name: str, budget: int) -> dict[str, float]:
    """Attack a metric with each of its settings, write the table of its card, and return the leaderboard's values."""
    card = ROOT / "metrics" / name / "README.md"
    text = card.read_text(encoding="utf-8")
    marks = re.search(r"(?<=<!-- attacks: )(.*? -->\n)(.*?)(?=\n<!-- end -->)", text, flags=re.DOTALL)
    if not marks:
        raise SystemExit(f"{card} has no place for the table: <!-- attacks: ... --> to <!-- end -->")
    kept = [] if budget else [row for row in rows_of(marks[2]) if row[1] == "searched"]
    lines, values = [], {}
    for settings in SETTINGS[name]:
        found = geceval.attack(name, options={name: settings}, budget=budget)[name]
        label = " ".join(f"`{key}={value}`" for key, value in settings.items()) or "default"
        lines += [[label if row[0] else "", *row[1:]] for row in headlines(found)]
        lines += [["", *map(partial(Cell, 0), row[1:])] for row in kept if row[0] == label]
        values = values or attack_values(found)
    table = records_text(COLUMNS, lines, "markdown").rstrip()
    write_text(card, text[: marks.start(2)] + table + text[marks.end(2) :])
    return values


def show_on_board(name: str, values: dict[str, float]) -> bool:
    """Put the values of a metric into the demo's leaderboard; whether it stands there."""
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    rows = [row for each in board["boards"] for row in each["rows"] if row["metric"] == name]
    for each in board["boards"]:
        each["columns"]["attacks by rule"] = list(ATTACKS)
    for row in rows:
        row["values"] |= {key: round(value, DIGITS) for key, value in values.items()}
    write_text(BOARD, json.dumps(board, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return bool(rows)


def show_in_readme(name: str, values: dict[str, float]) -> None:
    """Put the values of a metric into its row of the README."""
    beaten = round(len(HONEST) * values["attacks beats"])
    cell = f"{beaten} of {len(HONEST)}, {100 * values['attacks ceiling']:.0f}%"
    row = re.compile(rf"^(\| \[`{name}`\]\(.*?\)(?: \|[^|]*){{3}}) \|[^|]*", flags=re.MULTILINE)
    text, rows = row.subn(rf"\g<1> | {cell} ", README.read_text(encoding="utf-8"))
    assert rows == 1, name
    write_text(README, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metrics", nargs="*", default=list(SETTINGS), help=", ".join(SETTINGS))
    parser.add_argument("--budget", type=int, default=0, help="of searched attacks; 0: none")
    options = parser.parse_args()
    for name in options.metrics:
        values = measure(name, options.budget)
        if show_on_board(name, values):
            show_in_readme(name, values)


if __name__ == "__main__":
    main()
