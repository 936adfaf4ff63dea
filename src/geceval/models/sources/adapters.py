"""Adapters of peft, merged into the network that they change."""

from __future__ import annotations

from typing import Any

from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.sources.library_messages import first_line, quiet
from geceval.models.sources.quantised import read_weights


def merge(model: Any, checkpoint: Checkpoint) -> tuple[Any, set[str]]:
    """Merge an adapter into its base; also return the names of the parameters that the adapter replaces as a whole."""
    from peft import PeftConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
    from safetensors import SafetensorError

    try:
        state = read_weights(checkpoint.folder / "adapter_model.safetensors")
        with quiet():
            config = PeftConfig.from_pretrained(checkpoint.folder)
            config.base_model_name_or_path = model.name_or_path  # peft warns of another
            adapted = get_peft_model(model, config)
            strange = set_peft_model_state_dict(adapted, state).unexpected_keys
            missing = get_peft_model_state_dict(adapted, save_embedding_layers=False).keys() - state.keys()
        if strange:
            raise ValueError(f"there is no {strange[0]}")
        if missing:
            raise ValueError(f"it lacks {min(missing)}")
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{checkpoint.folder}: the adapter does not fit its base {checkpoint.base.model!r} ({first_line(error)})"
        ) from error
    return adapted.merge_and_unload(), {name.removeprefix("base_model.model.") for name in state}
