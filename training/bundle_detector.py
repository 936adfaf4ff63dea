"""Divide a trained error detector into the bundled encoder for error detection and a small adapter with its head.

    python training/bundle_detector.py DETECTOR src/geceval/assets/ged_encoder src/geceval/assets/ged

`DETECTOR` is a folder of train_ged.py in which all weights were tuned. The encoder keeps them in 16 bits; the adapter
(LoRA of rank 1 that changes nothing) carries the head, so that other adapters, of further label schemes or of quality
estimators, can stand over the same encoder.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file

from geceval.core.files import write_text
from geceval.edits.ged_labels import LABELS
from geceval.learning.ged.card import ged_card
from geceval.learning.network import new_network, save
from geceval.learning.recipe import Recipe
from geceval.learning.runs import read_results, write_results
from geceval.learning.scripts import script_parser
from geceval.models import heads
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector
from geceval.models.tokenizers import load_tokenizer

CARD = """---
license: apache-2.0
language: en
library_name: transformers
base_model: sentence-transformers/all-MiniLM-L6-v2
tags: [grammatical-error-correction, grammatical-error-detection]
---

# The encoder for error detection bundled with geceval

`assets/encoder` (all-MiniLM-L6-v2) after fine-tuning on grammatical error detection with {classes} classes, without its
head, weights in 16 bits (the largest rounding error is {error:.1e}; SHA-256 of `model.safetensors`: `{sha256}`).

- **Used for**: the base of the bundled detectors (`ged`, `ged_25`), IMPARA-GED and SOME, which name it by its hash.
- **How it was trained, and what it finds**: see the card of `assets/ged`, which holds its head.
- **Made by**: `python training/bundle_detector.py DETECTOR src/geceval/assets/ged_encoder src/geceval/assets/ged`.
- **Licence**: Apache-2.0, as of the model it started from. Its training corpora (see the card of `assets/ged`) are for
  research that is not commercial; none of their text is in here, but ask their owners before other uses.
- **Limits**: cannot tell upper from lower case; texts beyond 512 word pieces are cut.
"""


def write_encoder(detector: Path, target: Path, classes: int) -> None:
    """The encoder alone in 16 bits, its tokenizer and card."""
    checkpoint = resolve(str(detector))
    model = heads.load_token_classifier(checkpoint).base_model
    weights = model.state_dict()
    error = max(float((w - w.half().float()).abs().max()) for w in weights.values() if w.is_floating_point())
    target.mkdir(parents=True, exist_ok=True)
    load_tokenizer(checkpoint).save_pretrained(target)
    save_file(
        {name: w.half() if w.is_floating_point() else w for name, w in weights.items()},
        target / "model.safetensors",
        {"format": "pt"},
    )
    config = json.loads((detector / "config.json").read_text(encoding="utf-8"))
    for name in ("id2label", "label2id", "geceval_max_length", "_name_or_path"):
        config.pop(name, None)
    config |= {"architectures": [type(model).__name__], "dtype": "float16"}
    write_text(target / "config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")
    digest = hashlib.sha256((target / "model.safetensors").read_bytes()).hexdigest()
    write_text(target / "README.md", CARD.format(classes=classes, error=error, sha256=digest))
    for path in target.iterdir():
        path.chmod(0o644)


def write_adapter(detector: Path, base: str, target: Path, labels: tuple[str, ...]) -> None:
    """An adapter over `base` that has the detector's head."""
    head = heads.load_token_classifier(resolve(str(detector))).classifier.state_dict()
    config = json.loads((detector / "config.json").read_text(encoding="utf-8"))
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


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, divide, and say how far the parts are from the whole."""
    parser = script_parser(__doc__)
    parser.add_argument("detector", type=Path, help="folder written by train_ged.py")
    parser.add_argument("encoder", type=Path, help="folder of the encoder")
    parser.add_argument("adapter", type=Path, help="folder of the adapter")
    parser.add_argument("--base", default="bundled:ged_encoder", help="what the adapter calls the encoder")
    options = parser.parse_args(arguments)
    results = read_results(options.detector)
    labels = LABELS[results["settings"]["classes"]]
    write_encoder(options.detector, options.encoder, len(labels))
    write_adapter(options.detector, options.base, options.adapter, labels)
    write_results(options.adapter, results, ged_card)
    text = ["This are a sentence with with many error .", "This is one without any ."]
    whole, parts = (Detector.load(resolve(str(f))).log_probabilities(text) for f in (options.detector, options.adapter))
    apart = max(float(abs(torch.tensor(w - p)).max()) for w, p in zip(whole, parts, strict=True))
    print(f"largest difference of a log-probability: {apart:.1e}")


if __name__ == "__main__":
    main()
