"""Set the guard's penalty of a faithfulness estimator, and write into its card whom it strikes.

    python training/evaluate_meaning.py CHECKPOINT --m2 dev.m2 --systems source.txt output.txt... --slope 2 \\
        --dead-zone 2 --floor 6 --length-factor 6 --shorter-knee 0.85 --longer-knee 0.65

What a correction loses is in `geceval.scorers.learned.guard.estimated`. The kinds of
texts are those it learnt from, made of sentences of the M2 file, and the attacks of `geceval attack`, in whose wording
it learnt none.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.files import read_json, read_lines, write_text
from geceval.edits.m2 import read_m2, references
from geceval.learning.runs import read_results, write_results
from geceval.meta.attacks import FAMILIES, FLIPS
from geceval.models.checkpoints import resolve
from geceval.models.regressors import load_regressor
from geceval.scorers.learned.guard import estimated, growth
from recipes.meaning import meaning_card
from recipes.negatives import KINDS, Corpus, make
from recipes.scripts import exit_code, script_parser

Pairs = list[tuple[str, str]]

CONSTANTS = ("slope", "dead_zone", "floor", "length_factor", "shorter_knee", "longer_knee")
UNSEEN = ("surface", "detokenised", "lower", "UPPER", "double spaces", "empty")
TITLES = {
    "honest": "Honest corrections",
    "learnt": "Kinds that it learnt from, in other sentences",
    "attacks": "Attacks and flips of `geceval attack`, in whose words it learnt none",
}


def kinds_of_texts(m2: Path, systems: Sequence[Path], sentences: int) -> dict[str, dict[str, Pairs]]:
    """Sources and texts by group and kind."""
    rows = [(sentence.source, references(sentence)[0]) for sentence in read_m2(m2)]
    corpus = Corpus(reference for _, reference in rows)
    rows = [(source, reference) for source, reference in rows if source != reference and len(source.split()) > 4]
    sample = random.Random(1).sample(rows, min(sentences, len(rows)))
    source, *outputs = (read_lines(path) for path in systems) if systems else [[]]
    changed = {
        path.stem: [row for row in zip(source, output, strict=True) if row[0] != row[1]]
        for path, output in zip(systems[1:], outputs, strict=True)
    }
    honest = {"references": sample}
    honest |= {name: random.Random(1).sample(rows, min(sentences, len(rows))) for name, rows in changed.items()}
    draw = random.Random(2)
    learnt = {kind: [(s, make(kind, draw.choice((s, r)), corpus, draw)) for s, r in sample] for kind in KINDS}
    attacks = {
        name: [(s, attack(s)) for s, _ in sample]
        for family in FAMILIES.values()
        for name, attack in family.items()
        if name not in UNSEEN
    }
    flips = {name: [(s, draw.choice(flip(r) or [None])) for s, r in sample] for name, flip in FLIPS.items()}
    groups = {"honest": honest, "learnt": learnt, "attacks": attacks | flips}
    return {
        group: {kind: [(s, text) for s, text in pairs if text and s != text] for kind, pairs in kinds.items()}
        for group, kinds in groups.items()
    }


def tables(folder: Path, groups: Mapping[str, Mapping[str, Pairs]], command: str) -> list[dict[str, Any]]:
    """For each group the shares with a probability under one half, of those that lose something, and the mean loss."""
    checkpoint = resolve(str(folder))
    regressor = load_regressor(checkpoint)
    found = []
    for group, kinds in groups.items():
        rows = []
        for kind, pairs in kinds.items():
            if pairs:
                logits = regressor.logits(pairs)[:, 0].astype(float)
                lost = -estimated(logits, np.array([growth(*pair) for pair in pairs]), checkpoint)
                shares = (float((logits < 0).mean()), float((lost > 0).mean()), float(lost.mean()))
                rows.append([kind.replace("_", " "), len(pairs), *shares])
        columns = ["texts", "pairs", "probability < .5", "penalised", "mean penalty"]
        found.append({"title": TITLES[group], "command": command, "columns": columns, "rows": rows})
    return found


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, measure and write; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("checkpoint", type=Path, help="folder written by train_meaning.py or bundle_adapter.py")
    parser.add_argument("--m2", type=Path, required=True, help="corrected sentences that it did not learn from")
    parser.add_argument("--systems", type=Path, nargs="+", default=[], help="sources, and outputs of honest systems")
    parser.add_argument("--sentences", type=int, default=300, help="at most so many of each kind")
    for name in CONSTANTS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, required=True, help="of the penalty")
    options = parser.parse_args(arguments)
    folder = options.checkpoint

    def write() -> None:
        constants = {f"geceval_guard_{name}": getattr(options, name) for name in CONSTANTS}
        config = read_json(folder / "config.json") | constants
        write_text(folder / "config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")
        groups = kinds_of_texts(options.m2, options.systems, options.sentences)
        command = f"training/evaluate_meaning.py {folder.name} --m2 {options.m2.name} --systems ..."
        results = read_results(folder) | {"evaluations": tables(folder, groups, command)}
        write_results(folder, results, meaning_card)
        print(json.dumps(results["evaluations"], indent=2))

    return exit_code("evaluate_meaning", write)


if __name__ == "__main__":
    sys.exit(main())
