"""The configuration of a checkpoint: what it may ask for, and the longest text its network can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from geceval.core.cache import lru_cache
from geceval.models.checkpoints import Checkpoint, CheckpointError, read_json
from geceval.models.sources.library_messages import first_line

LAYERS = 1000
"""Layers that a network may have. A configuration of a few bytes that asks for more would keep a machine busy for hours
before its weights are found missing."""

RANK = 8192
"""Rank that an adapter may have: its matrices are made before its weights are read."""

ADAPTERS = ("LORA", "ADALORA", "IA3", "LOHA", "LOKR")
"""Kinds of peft adapters that are loaded: those that only change weights. Others may fetch further models."""

_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_PADDED_POSITIONS = ("roberta", "xlm-roberta", "camembert")  # their positions are counted from behind the padding id


def read_config(checkpoint: Checkpoint) -> Any:
    """The configuration of a checkpoint as transformers reads it."""
    import transformers

    check_limits(checkpoint)
    try:
        return transformers.AutoConfig.from_pretrained(
            checkpoint.folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # transformers trusts the types of what stands there
        raise CheckpointError(f"{checkpoint.folder}: config.json cannot be used ({first_line(error)})") from error


@lru_cache(maxsize=64)
def position_limit(checkpoint: Checkpoint) -> int | None:
    """The longest input that the network can read, in tokens; `None` if its configuration sets no limit."""
    config = read_config(checkpoint).get_text_config()
    positions = getattr(config, "max_position_embeddings", None) or 0
    if config.model_type in _PADDED_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    return positions if positions > 0 else None  # XLNet says -1


def readable_length(checkpoint: Checkpoint, wanted: int) -> int:
    """The wanted number of tokens, or as many as the network can read if that is less."""
    return min(wanted, position_limit(checkpoint) or wanted)


def check_limits(checkpoint: Checkpoint) -> None:
    """Refuse configurations that no honest checkpoint needs."""
    for name, value in _counts_of_layers(checkpoint.config):
        if value > LAYERS:
            raise CheckpointError(f"{checkpoint.folder}: {name} in config.json is {value}, more than {LAYERS} layers")
    for name in _INDEXES:
        if (checkpoint.folder / name).is_file():
            _check_index(checkpoint, name)
    if checkpoint.base is not None:
        _check_adapter(checkpoint)
        check_limits(checkpoint.base)


def _counts_of_layers(config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """`num_hidden_layers`, GPT-2's `n_layer` and the like, including those of nested configurations."""
    waiting = [config]
    while waiting:
        for name, value in waiting.pop().items():
            if isinstance(value, Mapping):
                waiting.append(value)
            elif isinstance(value, int) and ("layers" in name or name.endswith("layer")):
                yield name, value


def _check_index(checkpoint: Checkpoint, name: str) -> None:
    weights = read_json(checkpoint.folder, name).get("weight_map")
    if not isinstance(weights, dict):
        raise CheckpointError(f"{checkpoint.folder / name}: no weight_map from parameters to files")
    for file in weights.values():
        if not isinstance(file, str) or "/" in file or "\\" in file:
            raise CheckpointError(f"{checkpoint.folder / name}: {file!r} is not the name of a file beside it")


def _check_adapter(checkpoint: Checkpoint) -> None:
    adapter = read_json(checkpoint.folder, "adapter_config.json")
    if adapter.get("peft_type") not in ADAPTERS:
        raise CheckpointError(
            f"{checkpoint.folder}: adapters of the type {adapter.get('peft_type')!r} are not loaded, only "
            f"{', '.join(ADAPTERS)}"
        )
    rank = adapter.get("r")
    if isinstance(rank, int) and rank > RANK:
        raise CheckpointError(f"{checkpoint.folder}: r in adapter_config.json is {rank}, more than {RANK}")
    if adapter.get("megatron_config"):  # peft imports the module that stands beside it
        raise CheckpointError(f"{checkpoint.folder}: adapter_config.json asks for a module of Megatron; remove that")
