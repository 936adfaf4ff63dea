"""A linear head over the mean token state of a causal language model, after any of its layers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.sources.library_messages import first_line
from geceval.models.sources.snapshots import HEAD as FILE

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False, slots=True)
class QualityHead:
    """The value of a text: the product of `weight` and the mean state of its tokens."""

    layer: int
    weight: torch.Tensor


def load_quality_head(checkpoint: Checkpoint, config: Any) -> QualityHead | None:
    """The head of a checkpoint whose `config.json` names `geceval_head_layer`; `None` without one."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    layer = checkpoint.setting("head_layer")
    if layer is None:
        return None
    text = config.get_text_config()
    if layer > text.num_hidden_layers:
        raise CheckpointError(
            f"{checkpoint.folder}: geceval_head_layer is {layer}, but there are {text.num_hidden_layers} layers"
        )
    try:
        weight = load_file(checkpoint.folder / FILE)["weight"].float()
    except (OSError, KeyError, SafetensorError) as error:
        raise CheckpointError(f"{checkpoint.folder}: {FILE} cannot be read ({first_line(error)})") from error
    infinite = int((~torch.isfinite(weight)).sum())
    if tuple(weight.shape) != (text.hidden_size,) or infinite:
        raise CheckpointError(
            f"{checkpoint.folder}: {FILE} must hold {text.hidden_size} finite numbers, got {tuple(weight.shape)}, of "
            f"which {infinite} are not finite"
        )
    return QualityHead(layer, weight)


def save_quality_head(head: QualityHead, folder: Path) -> None:
    """Write `FILE`; the layer belongs into `config.json`."""
    from safetensors.torch import save_file

    save_file({"weight": head.weight.contiguous()}, folder / FILE, {"format": "pt"})
    (folder / FILE).chmod(0o644)
