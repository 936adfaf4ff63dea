"""Adapters of peft, merged into the network that they change."""

from __future__ import annotations

from typing import Any

from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.sources.library_messages import first_line, quiet
from geceval.models.sources.quantised import read_weights


def merge(model: Any, checkpoint: Checkpoint) -> tuple[Any, set[str]]:
    """Merge an adapter into its base; also return the names of the parameters that the adapter replaces as a whole."""
    from peft import PeftConfig, get_peft_model, set_peft_model_state_dict
    from safetensors import SafetensorError

    try:
        state = read_weights(checkpoint.folder / "adapter_model.safetensors")
        with quiet():
            config = PeftConfig.from_pretrained(checkpoint.folder)
            config.base_model_name_or_path = model.name_or_path  # peft warns of another
            adapted = get_peft_model(model, config)
            found = set_peft_model_state_dict(adapted, state)
        if found.unexpected_keys:
            raise ValueError(f"there is no {found.unexpected_keys[0]}")
        own = (adapted.base_model.prefix, ".modules_to_save.")  # all else is the base's
        if missing := [name for name in found.missing_keys if any(part in name for part in own)]:
            raise ValueError(f"it lacks {missing[0]}")
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{checkpoint.folder}: the adapter does not fit its base {checkpoint.base.model!r} ({first_line(error)})"
        ) from error
    return adapted.merge_and_unload(), {name.removeprefix("base_model.model.") for name in state}
