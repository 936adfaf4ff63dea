"""GoToScorer on CoNLL-2014: difficulty by ERRANT type beside the authors' poster, and the time that counting takes.

    python benchmarks/gotoscorer.py ../shared/data/conll2014/official-2014.combined.m2 \
        ../shared/data/gotoscorer/weight_files/conll14_8sys.txt

The poster gives mean and standard deviation for seven types. Spans and weights are the published ones; only the types
are ours, put on the NUCLE spans by ERRANT's classifier. They depend on ERRANT's version and on its spaCy pipeline,
which was another one in 2020: types told by a word list or by the words themselves (SPELL, DET) hardly move, those
told by tags do, the rare ones most. ADJ has so few edits that the four that weigh least make most of the difference.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import cut, cut_annotations, judge
from geceval.edits.m2 import read_m2
from geceval.scorers.difficulty.chunk_difficulty import count_correct, read_difficulty, type_table
from geceval.scorers.gotoscorer import Gotoscorer, Settings

POSTER = {
    "ADJ": (0.982, 0.074),
    "VERB": (0.891, 0.254),
    "VERB:TENSE": (0.876, 0.213),
    "DET": (0.747, 0.292),
    "VERB:FORM": (0.590, 0.393),
    "NOUN:NUM": (0.539, 0.340),
    "SPELL": (0.533, 0.342),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("m2", help="CoNLL-2014 with NUCLE spans; annotator 0 is used")
    parser.add_argument("difficulty", help="conll14_8sys.txt")
    arguments = parser.parse_args()
    show_types(arguments.m2, arguments.difficulty)
    show_times(arguments.m2, arguments.difficulty)


def show_types(m2: str, difficulty: str) -> None:
    sources = [sentence.source for sentence in read_m2(m2)]
    scorer = Gotoscorer(Settings(gold_m2=m2, difficulty=difficulty, ref_id=0))
    reference = scorer.reference_difficulty(sources, errant_types=True)
    rows = {row.type: row for row in type_table(reference)}
    print(f"{len(sources)} sentences, {sum(map(len, reference.chunks))} chunks, {reference.difficulty.systems} systems")
    print(f"{'type':<12}{'mean':>7}{'SD':>7}{'n':>6}   poster mean, SD   difference")
    for kind, (mean, sd) in POSTER.items():
        row = rows[kind]
        print(
            f"{kind:<12}{row.mean:>7.3f}{row.sd:>7.3f}{row.frequency:>6}   {mean:>11.3f}{sd:>7.3f}"
            f"{row.mean - mean:>+10.3f}{row.sd - sd:>+7.3f}"
        )
    order = sorted(POSTER, key=lambda kind: -rows[kind].mean)
    print(f"order of the seven types: {' > '.join(order)}")
    adjectives = [
        (weight, chunk)
        for chunks, numbers in zip(reference.chunks, reference.difficulty.of_chunks(), strict=True)
        for chunk, weight in zip(chunks, numbers, strict=True)
        if chunk.type[2:] == "ADJ"
    ]
    adjectives.sort(key=lambda pair: pair[0])
    print("\nthe four ADJ edits that weigh least:")
    for weight, chunk in adjectives[:4]:
        print(f"  {weight:.3f}  {chunk.type}  {chunk.source!r} -> {chunk.correction!r}")
    rest = [weight for weight, _ in adjectives[4:]]
    print(f"ADJ without them: {statistics.fmean(rest):.3f} {statistics.stdev(rest):.3f}, n={len(rest)}")


def show_times(m2: str, difficulty: str) -> None:
    sentences = read_m2(m2)
    gold = [row[0] for row in cut_annotations(sentences, 0)]
    other = [row[0] for row in cut_annotations(sentences, 1)]
    print(f"\nread the difficulty file   {median(lambda: read_difficulty(difficulty)) * 1000:8.1f} ms")
    print(f"cut the reference          {median(lambda: cut_annotations(sentences, 0)) * 1000:8.1f} ms")
    print(f"judge one system's chunks  {median(lambda: count_correct(gold, [other])) * 1000:8.1f} ms")
    draw = random.Random(0)
    for length in (25, 100, 400, 1600):
        source = " ".join("w" for _ in range(length))
        left, right = (cut(source, _edits(draw, length)) for _ in range(2))
        print(f"judge one sentence of {length:>4} tokens {median(lambda a=left, b=right: judge(a, b)) * 1000:8.3f} ms")


def _edits(draw: random.Random, length: int) -> list[Edit]:
    return [Edit(start, start + draw.choice([0, 1, 2]), "x") for start in range(0, length - 2, 5)]


def median(function: Callable[[], object], runs: int = 7) -> float:
    """Median of the processor seconds that a call takes."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
