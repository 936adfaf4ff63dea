"""Find the threshold of IMPARA's similarity estimator and write it into a checkpoint and its card.

    python training/calibrate_threshold.py CHECKPOINT --different official-2014.combined.m2 \\
        --corrections official-preprocessed.m2

`--different`: an M2 file whose corrected sentences mean different things; `--corrections`: one whose corrections keep
the meaning. See `geceval.learning.impara.threshold` for the rule.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from geceval.core.files import write_text
from geceval.edits.m2 import M2Sentence, read_m2, references
from geceval.learning.impara.card import impara_card
from geceval.learning.impara.threshold import Calibration, calibrate
from geceval.learning.runs import read_results, write_results
from geceval.learning.scripts import exit_code, script_parser
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder


def run(checkpoint: Path, different: list[M2Sentence], corrections: list[M2Sentence]) -> Calibration:
    """Calibrate for the similarity estimator that the checkpoint names, and write the outcome into its files."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    results = read_results(checkpoint)
    estimator = resolve(resolve(checkpoint).setting("se_model"))
    encoder = Encoder.load(estimator, max_length=config["geceval_max_length"])
    first = [next(iter(references(sentence).values())) for sentence in different]
    pairs = [(sentence.source, text) for sentence in corrections for text in references(sentence).values()]
    found = calibrate([text for text in first if text], pairs, encoder.embed)
    write_text(
        checkpoint / "config.json",
        json.dumps({**config, "geceval_threshold": found.threshold}, indent=2, sort_keys=True) + "\n",
    )
    write_results(checkpoint, {**results, "calibration": dataclasses.asdict(found)}, impara_card)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and calibrate; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("checkpoint", type=Path, help="folder written by train_impara.py")
    parser.add_argument("--different", type=Path, required=True, help="M2 file; its first annotator's corrections")
    parser.add_argument("--corrections", type=Path, required=True, help="M2 file")
    options = parser.parse_args(arguments)

    def calibrate_and_print() -> None:
        found = run(options.checkpoint, read_m2(options.different), read_m2(options.corrections))
        print(json.dumps(dataclasses.asdict(found), indent=2))

    return exit_code("calibrate_threshold", calibrate_and_print)


if __name__ == "__main__":
    sys.exit(main())
