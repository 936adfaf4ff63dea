"""Time tests of significance: metrics on judged sentences, and systems under a metric.

    python benchmarks/significance.py SEEDA [--resamples 10000] [--runs 3] [--gold GOLD.m2]

SEEDA is the folder of the data set; two text metrics that need no references, the lengths of the outputs in characters
and in words, are compared by accuracy over the pairs that people ordered. The plain loop draws the same kind of samples
of sentences one by one; its time is that of 100 of them, scaled up. With an M2 file of CoNLL-2014, two systems are also
compared under GLEU, GREEN and M2; the time to score them once is not part of it.
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import interleaved, print_medians

from geceval.corpora.judgments import read_human
from geceval.meta.agreement import Pairs, judged_pairs
from geceval.meta.judgments import HumanData, system_set
from geceval.meta.significance.metrics import compare_agreement, outcomes
from geceval.meta.significance.systems import Settings, compare_rows

LOOPS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeda")
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--gold")
    arguments = parser.parse_args()
    data = read_human(arguments.seeda)
    systems = system_set(data, "base")
    pairs = judged_pairs(data.judgments["sent"], systems)
    chars = np.array([[len(text) for text in data.outputs[system]] for system in systems], dtype=float)
    words = np.array([[len(text.split()) for text in data.outputs[system]] for system in systems], dtype=float)
    ordered = int((pairs.human != 0).sum())
    print(f"{ordered} pairs on {len(data.sources)} sentences, {arguments.resamples} resamples of sentences")
    sides = {
        method: lambda method=method: compare_agreement(
            pairs, chars, words, method=method, resamples=arguments.resamples
        )
        for method in ("bootstrap", "randomisation")
    }
    print_medians(interleaved(sides, arguments.runs, warm_up=1))
    loop = interleaved({"loop": lambda: plain_loop(pairs, chars, words, LOOPS)}, arguments.runs)["loop"]
    scale = arguments.resamples / LOOPS
    print(
        f"plain loop, sentences: {loop[0] * scale:.1f} s wall, {loop[1] * scale:.1f} s cpu ({LOOPS} samples scaled up)"
    )
    if arguments.gold:
        time_systems(data, arguments.gold, arguments.runs)


def plain_loop(pairs: Pairs, first: np.ndarray, second: np.ndarray, resamples: int) -> list[float]:
    """Differences of accuracy of bootstrap samples, sentence by sentence."""
    draw = np.random.default_rng(1)
    tables = [outcomes(pairs, scores, "accuracy", "order") for scores in (first, second)]
    owners = {sentence: np.flatnonzero(pairs.sentence == sentence) for sentence in np.unique(pairs.sentence).tolist()}
    sentences = list(owners)
    differences = []
    for _ in range(resamples):
        rows = np.concatenate([owners[sentence] for sentence in draw.choice(sentences, len(sentences)).tolist()])
        one, two = (table[rows].sum(axis=0) for table in tables)
        differences.append(two[0] / two[1] - one[0] / one[1])
    return differences


def time_systems(data: HumanData, gold: str, runs: int) -> None:
    from geceval.edits.m2 import read_m2, references
    from geceval.registry import make_scorer

    sentences = read_m2(gold)
    texts = [list(references(sentences[line]).values()) for line in data.lines]
    sides = {}
    for metric in ("green", "gleu", "m2"):
        scorer = make_scorer(metric)
        rows = {name: scorer.score(data.sources, data.outputs[name], texts).rows() for name in ("T5", "BART")}
        for method in ("bootstrap", "randomisation"):
            settings = Settings(methods=(method,), resamples=1000)
            sides[f"{metric}, {method}"] = lambda rows=rows, scorer=scorer, settings=settings: compare_rows(
                rows, scorer.aggregate, settings
            )
    print("two systems, 1000 resamples; randomisation includes the bootstrap of the intervals")
    print_medians(interleaved(sides, runs, warm_up=1))


if __name__ == "__main__":
    main()
