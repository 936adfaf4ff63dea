"""Speed of M2: the systems of CoNLL-2014, unrelated sentences, peak memory.

    OMP_NUM_THREADS=1 python benchmarks/m2.py [--data FOLDER] [--repeats N]

FOLDER holds conll2014/official-2014.combined.m2 and gjg15/data/original/official_submissions/. The official scorer is
not in the package index, so nothing stands beside these times. They are seconds of one core (process time).
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from timing import peak_memory

import geceval
from geceval.edits.edit import Edit
from geceval.edits.m2 import read_m2, references
from geceval.edits.maxmatch.extraction import Lattice
from geceval.scorers.m2 import M2, Settings

FUNCTION_WORDS = ["the", "a", "of", "to", "in", "and", "is", "that", ",", "."]


def seconds(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def extract(source, prediction, golds):
    lattice = Lattice(source, prediction)
    for gold in golds:
        lattice.extract(gold)


def score(scorer, *columns):
    """Without what was extracted before."""
    geceval.clear_caches()
    return scorer.score(*columns)


def together(scorer, sources, outputs, references):
    """All systems one after the other, what they share searched once."""
    geceval.clear_caches()
    for predictions in outputs:
        scorer.score(sources, predictions, references)


def systems(data, repeats, table):
    gold = data / "conll2014" / "official-2014.combined.m2"
    sentences = read_m2(gold)
    sources = [sentence.source for sentence in sentences]
    golds = [list(sentence.edits.values()) for sentence in sentences]
    scorer = M2(Settings(gold_m2=str(gold)))
    total, pairs, submissions = [0.0] * repeats, [], []
    for path in sorted((data / "gjg15" / "data" / "original" / "official_submissions").iterdir()):
        outputs = path.read_text(encoding="utf-8").split("\n")[: len(sources)]
        times = [seconds(score, scorer, sources, outputs)[0] for _ in range(repeats)]
        total = [a + b for a, b in zip(total, times, strict=True)]
        found = scorer.score(sources, outputs).score
        submissions.append(outputs)
        pairs += zip(sources, outputs, golds, strict=True)
        table.add_row(f"{path.name}: F0.5 {100 * found:.2f}", str(len(sources)), f"{statistics.median(times):.3f}", "")
    table.add_row("all systems", str(len(pairs)), f"{statistics.median(total):.3f}", "")
    texts = [list(references(sentence).values()) for sentence in sentences]
    plain = M2(Settings())
    alone = [sum(seconds(score, plain, sources, some, texts)[0] for some in submissions) for _ in range(repeats)]
    table.add_row("all, references as texts, each alone", str(len(pairs)), f"{statistics.median(alone):.3f}", "")
    shared = [seconds(together, plain, sources, submissions, texts)[0] for _ in range(repeats)]
    table.add_row("the same, one after the other", str(len(pairs)), f"{statistics.median(shared):.3f}", "")
    each = [seconds(extract, *pair)[0] for pair in pairs]
    changed = [t for t, (source, output, _) in zip(each, pairs, strict=True) if source.split() != output.split()]
    note = f"changed ones only: median {1e3 * statistics.median(changed):.2f} ms, longest {1e3 * max(changed):.0f} ms"
    table.add_row("one sentence, all annotators", str(len(each)), f"{statistics.median(each):.6f}", note)


def unrelated(length, repeats, table, share=0.0):
    """Two sentences without a common word, or with some share of function words."""
    draw = random.Random(length)
    times = []
    for number in range(repeats):
        texts = []
        for side in "sp":
            words = [f"{side}{number}-{i}" for i in range(length)]
            texts.append(" ".join(draw.choice(FUNCTION_WORDS) if draw.random() < share else w for w in words))
        gold = [Edit(3, 4, texts[1].split()[3]), Edit(7, 7, "x")]
        times.append(seconds(extract, *texts, [gold, []])[0])
    what = "without a common word" if not share else f"with {share:.0%} function words"
    table.add_row(f"{length} against {length} words, {what}", "1", f"{statistics.median(times):.4f}", "two annotators")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    table = Table("what", "sentences", "seconds (median)", "")
    for length in (20, 40, 53):
        unrelated(length, options.repeats, table)
    for length in (40, 100, 300):
        unrelated(length, options.repeats, table, share=0.35)
    memory = peak_memory()
    if (options.data / "conll2014").is_dir():
        systems(options.data, options.repeats, table)
    Console(width=150).print(table)
    print(f"peak memory: {memory:.0f} MiB after the unrelated pairs, {peak_memory():.0f} MiB at the end")


if __name__ == "__main__":
    main()
