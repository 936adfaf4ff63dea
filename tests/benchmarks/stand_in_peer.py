"""A peer for tests: GLEU, asked for as another library is; with `--wrong` its scores are too high."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from side_by_side.process import serve

from geceval.scorers.gleu import Gleu


class StandIn:
    """Scores system by system."""

    versions = {"stand-in": "1.0"}

    def __init__(self, question):
        assert question["metric"] == "gleu"

    def score(self, columns):
        """The corpus score of each system, and something on standard output as libraries have it."""
        print("a note of the library")
        scorer = Gleu()
        added = 0.1 if "--wrong" in sys.argv else 0.0
        inputs = columns["sources"], columns["references"]
        return [scorer.score(inputs[0], system, inputs[1]).score + added for system in columns["systems"]]

    def forget(self):
        """Nothing."""


serve(StandIn)
