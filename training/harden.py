"""Teach a finished IMPARA or IMPARA-GED adapter what texts are worth that were made to please it.

    python training/harden.py src/geceval/assets/impara --m2 mine.m2 --output harder

Then `bundle_adapter.py` and `evaluate_checkpoint.py`, as after training.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from geceval.core.files import read_json
from geceval.learning.cards import impara_card
from geceval.learning.network import new_network, write_network
from geceval.learning.ranked_pairs import read_rows
from geceval.learning.recipe import Recipe
from geceval.learning.runs import read_results, write_results
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.models.pooling import logits
from geceval.models.tokenizers import load_tokenizer
from recipes.distillation.groups import make_groups
from recipes.hardening import WEIGHTS, Hardening, add_negatives, learn, load_adapter
from recipes.scripts import exit_code, script_parser

HELD = 100  # groups that nothing is learnt from
LONGEST = 22  # words of a source; longer ones teach no more and cost more
TEXTS = 4  # versions of a sentence, the source among them

logger = logging.getLogger("geceval")


def read_groups(paths: Sequence[Path], count: int) -> list[tuple[str, ...]]:
    """Sources with corrections and partial corrections."""
    rows = [row for path in paths for row in read_rows(path)]
    groups = [group.texts[:TEXTS] for group in make_groups(rows, [], 10**9, errors=0) if len(group.texts) > 1]
    groups = [texts for texts in groups if len(texts[0].split()) <= LONGEST]
    random.Random(1).shuffle(groups)
    return groups[: count + HELD]


def shares(encoder: Encoder, rows: Sequence[Hardening]) -> dict[str, float]:
    """Share of negatives worth at least as much as their text, and of pairs of versions ordered as before, in parts."""
    texts = [text for row in rows for text in (*row.texts, *row.negatives)]
    values = iter(encoder.logits(texts)[:, 0].tolist())
    above, ordered = [], []
    for row in rows:
        now = np.array([next(values) for _ in row.texts])
        above += [next(values) >= now[index] for index in row.of]
        left, right = np.triu_indices(len(now), 1)
        ordered += ((now[left] - now[right]) * (row.values[left] - row.values[right]) > 0).tolist()
    return {"negatives_above": float(np.mean(above)), "ordered_as_before": float(np.mean(ordered))}


def harden(checkpoint: Path, m2: Sequence[Path], output: Path, count: int, rate: float, dtype: str) -> dict[str, Any]:
    """Write the adapter that has learnt on, with card and results."""
    results = read_results(checkpoint)
    names = {field.name for field in dataclasses.fields(Recipe)}
    recipe = Recipe(**{name: value for name, value in results["settings"].items() if name in names})
    before = Encoder.load(resolve(str(checkpoint)), head=True)
    groups = read_groups(m2, count)
    values = before.logits([text for group in groups for text in group])[:, 0]
    own = np.split(values, np.cumsum([len(group) for group in groups])[:-1])
    rows = [dataclasses.replace(row, values=each) for row, each in zip(add_negatives(groups, 3), own, strict=True)]
    held, rows = rows[:HELD], rows[HELD:]
    base = resolve(recipe.base)
    network = load_adapter(new_network(recipe, base), checkpoint / "adapter_model.safetensors")
    tokenizer = load_tokenizer(base)
    network.eval()  # no dropout
    pooling = before.pooling

    def quality(texts: Sequence[str]) -> torch.Tensor:
        batch = tokenizer(list(texts), truncation=True, max_length=recipe.max_length, padding=True, return_tensors="pt")
        inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
            return logits(network, inputs, pooling)[:, 0].float()

    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    for line in learn(quality, parameters, rows, rate, batch=8):
        logger.info("%s", json.dumps(line))
    output.mkdir(parents=True)
    config = read_json(checkpoint / "config.json").items()
    settings = {name.removeprefix("geceval_"): value for name, value in config if name.startswith("geceval_")}
    write_network(recipe, base, network, output, settings)
    after = Encoder.load(resolve(str(output)), head=True)
    measured = {"before": shares(before, held), "after": shares(after, held)}
    results["hardened"] = {"groups": len(rows), "learning_rate": rate, "kinds": list(WEIGHTS), **measured}
    write_results(output, results, impara_card)
    return results["hardened"]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and train; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("checkpoint", type=Path, help="adapter of IMPARA or IMPARA-GED with its results.json")
    parser.add_argument("--m2", type=Path, nargs="+", required=True, help="M2 files: what the estimator keeps")
    parser.add_argument("--output", type=Path, required=True, help="new folder")
    parser.add_argument("--groups", type=int, default=1200, help="sentences to learn from")
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="bfloat16")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    def run() -> None:
        settings = (options.output, options.groups, options.lr, options.dtype)
        print(json.dumps(harden(options.checkpoint, options.m2, *settings)))

    return exit_code("harden", run)


if __name__ == "__main__":
    sys.exit(main())
