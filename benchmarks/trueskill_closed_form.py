"""Time TrueSkill ratings of systems by a metric beside the `trueskill` package, which must give the same numbers.

    python benchmarks/trueskill_closed_form.py SEEDA [--runs 3]

SEEDA is the folder of the data set. The games are those of the published protocol: its 12 base systems play each other
on each of the 391 sentences, here by the length of their outputs in characters, which has wins and draws. The peer
calls `rate_1vs1` for every game.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
import trueskill
from timing import interleaved, print_medians

from geceval.corpora.judgments import read_human
from geceval.meta.judgments import system_set
from geceval.meta.trueskill import rate_scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeda")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    data = read_human(arguments.seeda)
    systems = system_set(data, "base")
    scores = np.array([[len(text) for text in data.outputs[system]] for system in systems], dtype=float)
    ours, theirs = rate_scores(scores), rate_with_package(scores)
    games = len(systems) * (len(systems) - 1) // 2 * scores.shape[1]
    print(f"{games} games of {len(systems)} systems, medians of {arguments.runs} runs")
    difference = float(np.abs(ours - theirs).max())
    if difference > 1e-6:
        raise SystemExit(f"the ratings differ by {difference}")
    print(f"ratings differ by at most {difference:.1e}")
    sides = {"geceval": lambda: rate_scores(scores), "trueskill": lambda: rate_with_package(scores)}
    print_medians(interleaved(sides, arguments.runs))


def rate_with_package(scores: np.ndarray) -> np.ndarray:
    environment = trueskill.TrueSkill(mu=0.0, sigma=0.5, beta=0.25, tau=0.0, draw_probability=0.25)
    ratings = [environment.create_rating() for _ in scores]
    for column in scores.T.tolist():
        for i, j in itertools.combinations(range(len(column)), 2):
            drawn = column[i] == column[j]
            if column[i] >= column[j]:
                ratings[i], ratings[j] = environment.rate_1vs1(ratings[i], ratings[j], drawn=drawn)
            else:
                ratings[j], ratings[i] = environment.rate_1vs1(ratings[j], ratings[i])
    return np.array([rating.mu for rating in ratings])


if __name__ == "__main__":
    main()
