"""The bundled checkpoints as plain folders of transformers, which any library can load."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geceval.edits.errant.pipeline import BUNDLED as PIPELINE
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.greedy_matching import default_layer
from geceval.models.library_messages import quiet
from geceval.models.loading import load_classifier, load_encoder, load_network, read_config
from geceval.models.origins.named import status
from geceval.models.tokenizers import load_tokenizer
from geceval.scorers.some import PARTS

CAUSAL = "smollm2"
PEER_NAMES = {"grammaticality": "model_g", "fluency": "model_f", "meaning": "model_m"}


def export(folder: Path, causal: bool = True) -> dict[str, Any]:
    """Write the networks of IMPARA and SOME and the bundled encoder, adapters merged, in float32.

    The poolers are kept or, where a checkpoint averages its tokens and so has none, random: libraries that know nothing
    of geceval's settings read the first token. Scores are then of no use, but equal on all sides and as fast.

    Args:
        folder: Where to.
        causal: Whether the causal language model is wanted, too.

    Returns:
        Folders `quality`, `similarity`, `some`, `causal` and `pipeline` (spaCy), the `threshold` of IMPARA, the `layer`
        of BERTScore, `parts`, what SOME's sub-folders are called in the options of gec-metrics, and `obstacle`, why the
        causal language model is not there, `""` if it is.
    """
    import torch

    torch.manual_seed(0)
    names = {"quality": ("impara", ""), **{f"some/{part}": ("some", part) for part in PARTS.values()}}
    for name, (bundled, part) in names.items():
        save(load_classifier, resolve("bundled", bundled=bundled, part=part), folder / name)
    encoder = resolve("bundled")
    save(load_encoder, encoder, folder / "similarity")
    obstacle = status(CAUSAL).obstacle
    if causal and not obstacle:
        save(load_network, resolve(CAUSAL), folder / "causal")
    return {
        **{name: str(folder / name) for name in ("quality", "similarity", "some", "causal")},
        "obstacle": obstacle,
        "pipeline": str(PIPELINE),
        "threshold": resolve("bundled", bundled="impara").setting("threshold"),
        "layer": default_layer("", read_config(encoder).num_hidden_layers),
        "parts": {PEER_NAMES[part]: name for part, name in PARTS.items()},
    }


def save(load: Callable[[Checkpoint], Any], checkpoint: Checkpoint, folder: Path) -> None:
    """Write a network and its tokenizer, without the settings that only geceval knows."""
    with quiet():
        load(checkpoint).save_pretrained(folder)
        load_tokenizer(checkpoint).save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps({key: config[key] for key in config if not key.startswith("geceval_")}), encoding="utf-8"
    )
