"""Write a trained adapter as geceval bundles it: in 8 bits a weight, and over its base as that is now.

    python training/bundle_adapter.py impara src/geceval/assets/impara

A folder with several adapters below it (SOME) is written with all of them; heads over a base that stays as it is are
copied. With --mean-with, weights are the means of those of two runs, of which one went on from the other's end: both
skills often stay. The base may differ from the one that the adapter was trained over by the rounding of its weights
alone; measure what is written with evaluate_checkpoint.py.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import file_sha256, read_json, write_text
from geceval.learning.runs import read_results
from geceval.models.checkpoints import resolve, weights_sha256
from geceval.models.origins.hub import QUALITY_HEAD
from geceval.models.quantised import read_weights
from recipes.quantising import write_weights
from recipes.scripts import exit_code, script_parser

WEIGHTS = "adapter_model.safetensors"
KEPT = ("README.md", "results.json", "adapter_config.json", QUALITY_HEAD)


def bundle(source: Path, target: Path, other: Path | None = None) -> None:
    """Write the adapters in a folder and below it, or their means with another's, with their cards and results."""
    adapters, heads = (
        sorted(path.parent for path in source.rglob(name) if "run" not in path.relative_to(source).parts)
        for name in ("adapter_config.json", QUALITY_HEAD)
    )
    heads = [folder for folder in heads if folder not in adapters]
    if not adapters and not heads:
        raise InputError(f"{source}: no adapter there, which has an adapter_config.json")
    for folder in {source, *adapters, *heads}:
        written = target / folder.relative_to(source)
        written.mkdir(parents=True, exist_ok=True)
        for name in KEPT:
            if (folder / name).is_file():
                shutil.copy(folder / name, written / name)
    for folder in heads:
        shutil.copy(folder / "config.json", target / folder.relative_to(source) / "config.json")
    for folder in adapters:
        written = target / folder.relative_to(source)
        base = resolve(read_json(folder / "adapter_config.json")["base_model_name_or_path"])
        config = read_json(folder / "config.json") | {"geceval_base_sha256": weights_sha256(base)}
        write_text(written / "config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")
        weights = read_weights(folder / WEIGHTS)
        if other:
            others = read_weights(other / folder.relative_to(source) / WEIGHTS)
            weights = {name: (weight.float() + others[name].float()) / 2 for name, weight in weights.items()}
            results = read_results(folder) | {"mean_with": file_sha256(other / WEIGHTS)}
            write_text(written / "results.json", json.dumps(results, indent=2) + "\n")
        write_weights(weights, written / WEIGHTS)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and write; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("source", type=Path, help="folder written by a training script")
    parser.add_argument("target", type=Path, help="folder of the bundled adapter")
    parser.add_argument("--mean-with", type=Path, help="folder of another run, as that which it went on from")
    options = parser.parse_args(arguments)
    return exit_code("bundle_adapter", lambda: bundle(options.source, options.target, options.mean_with))


if __name__ == "__main__":
    sys.exit(main())
