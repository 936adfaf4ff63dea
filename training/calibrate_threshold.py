"""Find the threshold of IMPARA's similarity estimator and write it into a checkpoint and its card.

    python training/calibrate_threshold.py CHECKPOINT --different official-2014.combined.m2 \\
        --corrections official-preprocessed.m2

`--different`: an M2 file whose corrected sentences mean different things; `--corrections`: one whose corrections keep
the meaning. The paper takes 0.9 for bert-base-cased because no two different sentences of its data are that similar
(Maeda et al. 2022, section 3.1.1). Other encoders have other scales.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geceval.core.errors import InputError
from geceval.core.files import read_json, write_text
from geceval.edits.m2 import M2Sentence, read_m2, references
from geceval.learning.cards import impara_card
from geceval.learning.runs import read_results, write_results
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from recipes.scripts import exit_code, script_parser

KEPT = 0.995

_ROWS = 512


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and the data it was derived from; cosines lie in [-1, 1]."""

    threshold: float
    rule: str
    different_sentences: int
    highest_different: float
    different_above: float
    corrections: int
    corrections_kept: float
    kept_at_highest: float


def calibrate(
    different: Sequence[str], corrections: Sequence[tuple[str, str]], embed: Callable[[list[str]], np.ndarray]
) -> Calibration:
    """Find the threshold: above all different sentences if 99.5 % of genuine corrections pass there, else below."""
    sentences = list(dict.fromkeys(different))
    changed = [
        (source, corrected)
        for source, corrected in corrections
        if source != corrected and 2 * len(corrected.split()) >= len(source.split())
    ]
    if len(sentences) < 2 or not changed:
        raise InputError("calibration needs at least two different sentences and one genuine correction")
    vectors = _unit(embed(sentences))
    same = (_unit(embed([s for s, _ in changed])) * _unit(embed([t for _, t in changed]))).sum(axis=1)
    highest = max(float(block.max()) for block in _pairs(vectors))
    kept_at_highest = float((same > highest).mean())
    rule = "different" if kept_at_highest >= KEPT else "corrections"
    bound = highest if rule == "different" else float(np.quantile(same, 1 - KEPT, method="lower"))
    # Rounded towards the side that keeps the promise of the rule; "must exceed" lets equality fail.
    threshold = math.ceil(bound * 1000) / 1000 if rule == "different" else math.ceil(bound * 1000 - 1) / 1000
    above = sum(int((block > threshold).sum()) for block in _pairs(vectors))
    return Calibration(
        threshold=threshold,
        rule=rule,
        different_sentences=len(sentences),
        highest_different=highest,
        different_above=above / (len(sentences) * (len(sentences) - 1) / 2),
        corrections=len(changed),
        corrections_kept=float((same > threshold).mean()),
        kept_at_highest=kept_at_highest,
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _pairs(vectors: np.ndarray) -> Iterator[np.ndarray]:
    """Cosines of all pairs i < j, some rows of the upper triangle at a time."""
    for start in range(0, len(vectors), _ROWS):
        block = vectors[start : start + _ROWS] @ vectors[start:].T
        rows, columns = np.triu_indices(n=block.shape[0], k=1, m=block.shape[1])
        if rows.size:
            yield block[rows, columns]


def run(checkpoint: Path, different: list[M2Sentence], corrections: list[M2Sentence]) -> Calibration:
    """Calibrate for the similarity estimator that the checkpoint names, and write the outcome into its files."""
    config = read_json(checkpoint / "config.json")
    results = read_results(checkpoint)
    estimator = resolve(resolve(checkpoint).setting("se_model"))
    encoder = Encoder.load(estimator, max_length=config["geceval_max_length"])
    first = [next(iter(references(sentence).values())) for sentence in different]
    pairs = [(sentence.source, text) for sentence in corrections for text in references(sentence).values()]
    calibration = calibrate([text for text in first if text], pairs, encoder.embed)
    config["geceval_threshold"] = calibration.threshold
    write_text(checkpoint / "config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")
    write_results(checkpoint, {**results, "calibration": dataclasses.asdict(calibration)}, impara_card)
    return calibration


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
