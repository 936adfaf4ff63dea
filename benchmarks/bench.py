"""geceval beside gec-metrics, beside the physical floor, and with ever more systems and sentences, in one run.

    python benchmarks/bench.py --peer PEER [--quick] [--only impara gleu] [--output FILE]

PEER is the Python of an environment with gec-metrics; `make bench` makes one. Both sides run in processes of their own,
over the same networks, and take turns; each round starts with nothing remembered but with the models loaded. Where the
scores of a system differ, no times are given. Printed is Markdown, the medians of the rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from side_by_side import corpora, growth, models, table
from side_by_side.machine import load_average, machine_line
from side_by_side.plans import PLANS, Bench, compare, time_version
from side_by_side.process import Failed

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BEGIN, END = "<!-- bench.py writes from here -->", "<!-- to here -->"
NAMES = [*PLANS, "version", "growth"]


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    started, load = time.perf_counter(), load_average()
    rows, steps, failures = [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(
            works={
                "seeda": corpora.read_seeda(options.data),
                "gjg15": corpora.read_gjg15(options.data),
                "cleme": corpora.read_cleme(options.data),
            },
            models=models.export(Path(folder), any(name in PLANS and PLANS[name].causal for name in options.only)),
            folder=Path(folder),
            peer=[str(options.peer.absolute()), "-m", "side_by_side.gec_metrics_side"] if options.peer else [],
            rounds=options.rounds or (2 if options.quick else 5),
            quick=options.quick,
        )
        for name in options.only:
            print(f"{name} (after {time.perf_counter() - started:.0f} s)", file=sys.stderr, flush=True)
            try:
                if name == "growth":
                    steps = growth.measure(bench, options.growth, options.patience)
                else:
                    rows.append(compare(bench, name) if name in PLANS else time_version(bench.rounds))
            except Failed as error:
                failures.append(str(error))
    line = machine_line(bench.versions, load)
    minutes = (time.perf_counter() - started) / 60
    text = "\n\n".join([to_markdown(line, rows, steps, bench, minutes), *failures])
    print(text)
    if options.output:
        write(options.output, text, {"machine": line, "rows": [row.to_dict() for row in rows], "growth": steps})
    if failures:
        raise SystemExit(1)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, help="Python of an environment with gec-metrics; none is no comparison")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of seeda, gjg15, conll2014, cleme")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="parts of the run")
    parser.add_argument("--growth", nargs="+", choices=growth.METRICS, default=growth.METRICS, help="metrics that grow")
    parser.add_argument("--rounds", type=int, help="5 by default, 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="few sentences and rounds, to try the run itself")
    parser.add_argument("--patience", type=float, default=15, help="seconds a step of growth may take; else left out")
    parser.add_argument("--output", type=Path, help="*.json, or Markdown: written between the two marks if it has them")
    return parser.parse_args(arguments)


def to_markdown(line: str, rows: Sequence[table.Row], steps: growth.Steps, bench: Bench, minutes: float) -> str:
    """All tables, with the command and the machine."""
    rounds, quick = bench.rounds, bench.quick
    trial = " --quick, a trial of the run and no measurement" if quick else ""
    parts = [f"`make bench`{trial}: medians of {rounds} rounds in turn, {minutes:.0f} minutes in all. {line}."]
    if rows:
        parts += [table.comparison(rows), table.verdicts(rows)]
    if any(row.floor for row in rows):
        parts += ["The floor: matrix products of the distinct texts' tokens, nothing else.", table.floors(rows)]
    for title, step in steps.items():
        parts += [f"{title} (seconds, peak memory):", table.growth(step)]
    if steps:
        parts.append(f"From one system to all: {table.widest(next(iter(steps.values())))}")
    return "\n\n".join(parts)


def write(path: Path, text: str, values: object) -> None:
    """Write JSON, or Markdown: as the whole file, or between the two marks of a file that has them."""
    if path.suffix == ".json":
        path.write_text(json.dumps(values, indent=2), encoding="utf-8")
        return
    before = after = ""
    if path.is_file():
        old = path.read_text(encoding="utf-8")
        if BEGIN not in old or END not in old:
            raise SystemExit(f"{path}: it has no lines {BEGIN!r} and {END!r} to write between; nothing was written")
        before, after = old.split(BEGIN)[0], old.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after or chr(10)}", encoding="utf-8")


if __name__ == "__main__":
    main()
