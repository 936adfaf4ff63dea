"""Divide a trained error detector into two adapters over the bundled encoder: its encoder, and over that its head.

    python training/bundle_detector.py DETECTOR src/geceval/assets/ged_encoder src/geceval/assets/ged --m2 TEXTS.m2

`DETECTOR` is a folder of train_ged.py in which all weights were tuned. The first adapter makes of the bundled encoder
nearly its encoder, see `recipes/encoder_adapter.py`, from the sources of the M2 files. The second (LoRA of rank
1 that changes nothing) carries the head, so that other adapters, of further label schemes or of quality estimators, can
stand over the same encoder.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file

from geceval.core.files import file_sha256, read_json, write_text
from geceval.edits.ged_labels import LABELS
from geceval.edits.m2 import read_m2
from geceval.learning.network import new_network, portable_name, save
from geceval.learning.recipe import Recipe
from geceval.learning.runs import read_results, write_results
from geceval.models import loading
from geceval.models.checkpoints import resolve, weights_sha256
from geceval.models.detector import Detector
from geceval.models.tokenizers import load_tokenizer
from recipes import encoder_adapter
from recipes.ged import ged_card
from recipes.scripts import exit_code, script_parser

HELD_OUT = 500
CARD = """---
license: apache-2.0
language: en
library_name: peft
base_model: sentence-transformers/all-MiniLM-L6-v2
tags: [grammatical-error-correction, grammatical-error-detection]
---

# The encoder for error detection bundled with geceval

What fine-tuning on grammatical error detection with {classes} classes made of `assets/encoder`, without its head, as an
adapter of 8 bits a weight: the change of linear layers at rank {linear}, that of word embeddings at rank {embeddings},
biases, normalisations and the small embeddings as a whole. SHA-256 of `adapter_model.safetensors`: `{sha256}`.

- **Used for**: the base of the bundled detectors (`ged`, `ged_25`), IMPARA-GED and SOME, which name it by its hash.
- **How it was trained, and what it finds**: see the card of `assets/ged`, which holds its head.
- **Made by**: `python training/bundle_detector.py DETECTOR src/geceval/assets/ged_encoder src/geceval/assets/ged --m2
  FILES` with {texts} sentences of {files}. On {held_out} others the mean squared error of its token
  states, 8 bits included, is {error:.3f} of their variance ({start:.1f} without the adapter).
- **Licence**: Apache-2.0, as of the model it started from. Its training corpora (see the card of `assets/ged`) are for
  research that is not commercial; none of their text is in here, but ask their owners before other uses.
- **Limits**: cannot tell upper from lower case; texts beyond 512 word pieces are cut.
"""


def write_encoder(detector: Path, over: str, files: list[Path], options: dict, target: Path, classes: int) -> None:
    """The encoder as an adapter over another one, and its card."""
    checkpoint, base = resolve(str(detector)), resolve(over)
    goal = loading.load_token_classifier(checkpoint).base_model
    texts = sorted({sentence.source for path in files for sentence in read_m2(path) if sentence.source})
    random.Random(1).shuffle(texts)
    apart = min(HELD_OUT, len(texts) // 10)
    texts = texts[: options["sentences"] + apart]
    ids = load_tokenizer(checkpoint)(texts, truncation=True, max_length=checkpoint.setting("max_length"))["input_ids"]
    ranks = tuple(options["ranks"])
    target.mkdir(parents=True, exist_ok=True)
    adapted = encoder_adapter.fit(goal, loading.load_encoder(base), ids[apart:], ranks, options["lr"])
    encoder_adapter.save(adapted, portable_name(over, target), target)
    config = {name: value for name, value in base.config.items() if not name.startswith(("geceval_", "_"))}
    config |= {
        "architectures": [type(goal).__name__],
        "dtype": "float32",
        "geceval_base_sha256": weights_sha256(base),
    }
    write_text(target / "config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")
    errors = [
        encoder_adapter.state_error(loading.load_encoder(each), goal, ids[:apart]) for each in (base, resolve(target))
    ]
    digest = file_sha256(target / "adapter_model.safetensors")
    facts = {"texts": len(texts) - apart, "files": ", ".join(path.name for path in files), "held_out": apart}
    facts |= dict(zip(("linear", "embeddings", "start", "error"), (*ranks, *errors), strict=True))
    write_text(target / "README.md", CARD.format(classes=classes, sha256=digest, **facts))
    for path in target.iterdir():
        path.chmod(0o644)


def write_adapter(detector: Path, base: str, target: Path, labels: tuple[str, ...]) -> None:
    """An adapter over `base` that has the detector's head."""
    head = loading.load_token_classifier(resolve(str(detector))).classifier.state_dict()
    config = read_json(detector / "config.json")
    recipe = Recipe(base=base, lora_rank=1, max_length=config["geceval_max_length"])
    state = new_network(recipe, resolve(base), labels).state_dict()
    for name in state:
        kind = name.rpartition(".")[2]
        if "classifier" in name.split(".") and "lora" not in name and kind in head:
            state[name] = head[kind].clone()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        save_file(state, Path(scratch) / "network.safetensors")
        save(recipe, Path(scratch) / "network.safetensors", target, {}, labels)


def divide(detector: Path, encoder: Path, adapter: Path, base: str, files: list[Path], options: dict) -> None:
    """Write both adapters, and say how far they are from the whole."""
    results = read_results(detector)
    labels = LABELS[results["settings"]["classes"]]
    write_encoder(detector, options["over"], files, options, encoder, len(labels))
    write_adapter(detector, base, adapter, labels)
    write_results(adapter, results, ged_card)
    text = ["This are a sentence with with many error .", "This is one without any ."]
    whole, parts = (Detector.load(resolve(str(f))).log_probabilities(text) for f in (detector, adapter))
    apart = max(float(abs(torch.tensor(w - p)).max()) for w, p in zip(whole, parts, strict=True))
    print(f"largest difference of a log-probability: {apart:.1e}")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and divide; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("detector", type=Path, help="folder written by train_ged.py")
    parser.add_argument("encoder", type=Path, help="folder of the encoder")
    parser.add_argument("adapter", type=Path, help="folder of the adapter")
    parser.add_argument("--base", default="bundled:ged_encoder", help="what the adapter calls the encoder")
    parser.add_argument("--over", default="bundled", help="the encoder that the detector was made from")
    parser.add_argument("--m2", type=Path, nargs="+", required=True, help="M2 files with the texts to learn from")
    parser.add_argument("--sentences", type=int, default=16_000, help="how many of them")
    parser.add_argument(
        "--ranks", type=int, nargs=2, default=encoder_adapter.RANKS, help="of linear layers, of embeddings"
    )
    parser.add_argument("--lr", type=float, default=3e-4, help="learning rate")
    options = vars(parser.parse_args(arguments))
    paths = (options.pop(name) for name in ("detector", "encoder", "adapter", "base", "m2"))
    return exit_code("bundle_detector", lambda: divide(*paths, options))


if __name__ == "__main__":
    sys.exit(main())
