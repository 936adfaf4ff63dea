"""Networks from the files of their checkpoints: configurations checked, weights read, adapters merged."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from geceval.core.cache import lru_cache
from geceval.models import bundled
from geceval.models.checkpoints import Checkpoint, CheckpointError, read_json
from geceval.models.library_messages import quiet, reason
from geceval.models.pooling import pooling_of
from geceval.models.quantised import is_quantised, read_weights

if TYPE_CHECKING:
    from torch import Tensor

LAYERS = 1000  # of a network; a configuration that asks for more keeps a machine busy long before its weights are read
RANK = 8192  # of an adapter, whose matrices are made before its weights are read
ADAPTERS = ("LORA", "ADALORA", "IA3", "LOHA", "LOKR")  # peft's that only change weights; others may fetch more models

_SEQUENCE, _TOKENS, _CAUSAL = "ForSequenceClassification", "ForTokenClassification", "ForCausalLM"
_TASKS = {"SEQ_CLS": _SEQUENCE, "TOKEN_CLS": _TOKENS, "CAUSAL_LM": _CAUSAL, "FEATURE_EXTRACTION": ""}  # peft's words
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_PADDED_POSITIONS = ("roberta", "xlm-roberta", "camembert")  # their positions are counted from behind the padding id


def load_encoder(checkpoint: Checkpoint, layers: int | None = None) -> Any:
    """The network without its head, in float32 on the CPU, ready for inference."""
    import transformers

    if checkpoint.base is not None:
        if layers is not None:
            raise CheckpointError(f"{checkpoint.folder}: an adapter changes all layers; pass a whole network")
        return load_network(checkpoint).base_model
    config = read_config(checkpoint)
    if layers is not None:
        config.num_hidden_layers = layers
    model, missing = read_model(transformers.AutoModel, checkpoint, config)
    check_missing(checkpoint, [name for name in missing if not name.startswith("pooler.")])
    return ready(model, checkpoint)


def load_network(checkpoint: Checkpoint) -> Any:
    """The network with the head that it was made with, adapters merged, in float32 on the CPU, ready for inference."""
    # That is what the `task_type` of an adapter says, else the `architectures` of the checkpoint.
    import transformers

    adapter = read_json(checkpoint.folder, "adapter_config.json") if checkpoint.base is not None else {}
    task = _TASKS.get(str(adapter.get("task_type")))
    if task is None:
        name = (read_config(checkpoint).architectures or [""])[0].replace("LMHeadModel", _CAUSAL)
        task = next(task for task in _TASKS.values() if name.endswith(task))
    return load_with_head(getattr(transformers, f"AutoModel{task}"), checkpoint)


def load_classifier(checkpoint: Checkpoint) -> Any:
    """A sequence classifier of one output, adapters merged, in float32 on the CPU, ready for inference."""
    import transformers

    config = read_config(checkpoint)
    if config.num_labels != 1:
        raise CheckpointError(f"{checkpoint.folder}: the head has {config.num_labels} outputs (num_labels), not 1")
    return load_with_head(transformers.AutoModelForSequenceClassification, checkpoint)


def load_token_classifier(checkpoint: Checkpoint) -> Any:
    """A token classifier, adapters merged, in float32 on the CPU, ready for inference."""
    import transformers

    # The weights do not tell: a classifier of whole texts has a head of the same name and shape.
    kinds = read_config(checkpoint).architectures or ["a network without a head"]
    if not any(kind.endswith("ForTokenClassification") for kind in kinds):
        raise CheckpointError(f"{checkpoint.folder}: this is {kinds[0]}; error detection needs a token classifier")
    return load_with_head(transformers.AutoModelForTokenClassification, checkpoint)


def load_with_head(model_class: Any, checkpoint: Checkpoint) -> Any:
    """A network of one of transformers' Auto classes, adapters merged, in float32 on the CPU, ready for inference."""
    import transformers

    # The base of an adapter may have a head of its own, of another size.
    base, any_size = checkpoint.base or checkpoint, checkpoint.base is not None
    model, missing = read_model(model_class, base, read_config(checkpoint), any_size)
    if checkpoint.base is not None:
        model, brought = _merge(model, checkpoint)
        missing = [name for name in missing if name not in brought]
    if pooling_of(checkpoint) != "first" or model_class is transformers.AutoModel:
        missing = [name for name in missing if "pooler" not in name.split(".")]  # not part of the computation
    check_missing(checkpoint, missing)
    return ready(model, checkpoint)


def read_model(
    model_class: Any, checkpoint: Checkpoint, config: Any = None, any_size: bool = False
) -> tuple[Any, list[str]]:
    """Load a network in float32 on the CPU, without remote code and without unpickling anything but tensors."""
    import torch

    options = {"local_files_only": True, "trust_remote_code": False, "weights_only": True, "output_loading_info": True}
    options |= {"config": config or read_config(checkpoint), "ignore_mismatched_sizes": any_size}
    try:
        state = _state(checkpoint)
        with quiet():
            if state is not None:
                with torch.device("meta"):
                    model_class = type(model_class.from_config(options["config"]))  # an Auto class wants a folder
            folder = checkpoint.folder if state is None else None
            model, report = model_class.from_pretrained(folder, state_dict=state, **options)
    except CheckpointError:
        raise
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{checkpoint.folder}: the weights cannot be loaded: they are pickled and hold more than tensors, which is "
            "never unpickled; ask for model.safetensors"
        ) from error
    except Exception as error:  # transformers and safetensors each raise their own
        raise CheckpointError(
            f"{checkpoint.folder}: the weights cannot be loaded ({reason(error)}); fetch or copy them again"
        ) from error
    return model.float(), sorted({*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])})


def _state(checkpoint: Checkpoint) -> dict[str, Tensor] | None:
    """The weights of a checkpoint that transformers cannot read: those of an adapter's network, and quantised ones."""
    if checkpoint.base is not None:
        return load_network(checkpoint).state_dict()
    weights = checkpoint.folder / "model.safetensors"
    return read_weights(weights) if weights.is_file() and is_quantised(weights) else None


def _merge(model: Any, checkpoint: Checkpoint) -> tuple[Any, set[str]]:
    """Merge an adapter into its base; also return the names of the parameters that the adapter replaces as a whole."""
    from peft import PeftConfig, get_peft_model, set_peft_model_state_dict
    from safetensors import SafetensorError

    try:
        state = read_weights(checkpoint.folder / "adapter_model.safetensors")
        with quiet():
            config = PeftConfig.from_pretrained(checkpoint.folder)
            config.base_model_name_or_path = model.name_or_path  # peft warns of another
            adapted = get_peft_model(model, config)
            report = set_peft_model_state_dict(adapted, state)
        if report.unexpected_keys:
            raise ValueError(f"there is no {report.unexpected_keys[0]}")
        of_adapter = (adapted.base_model.prefix, ".modules_to_save.")  # all else is the base's
        if missing := [name for name in report.missing_keys if any(part in name for part in of_adapter)]:
            raise ValueError(f"it lacks {missing[0]}")
    except (OSError, SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{checkpoint.folder}: the adapter does not fit its base {checkpoint.base.model!r} ({reason(error)})"
        ) from error
    return adapted.merge_and_unload(), {name.removeprefix("base_model.model.") for name in state}


def check_missing(checkpoint: Checkpoint, missing: list[str]) -> None:
    """Raise a `CheckpointError` that names the parameters that the checkpoint lacks."""
    if missing:
        head = any(word in name for name in missing for word in ("classifier", "score"))
        what = "no classification head" if head else "parameters are missing"
        raise CheckpointError(f"{checkpoint.folder}: {what} ({', '.join(missing[:3])}); train it, or fetch it again")


def ready(model: Any, checkpoint: Checkpoint) -> Any:
    """The model for inference: no gradients, no dropout."""
    import torch

    for name, parameter in model.named_parameters():
        # A sum that is finite says it of all, without a copy of each.
        if not torch.isfinite(parameter.sum()) and not torch.isfinite(parameter).all():
            raise CheckpointError(f"{checkpoint.folder}: {name} has values that are not finite; the training diverged")
    return model.requires_grad_(False).eval()


def read_config(checkpoint: Checkpoint) -> Any:
    """The configuration of a checkpoint as transformers reads it."""
    import transformers

    check_limits(checkpoint)
    try:
        return transformers.AutoConfig.from_pretrained(
            checkpoint.folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # transformers trusts the types of what stands there
        raise CheckpointError(f"{checkpoint.folder}: config.json cannot be used ({reason(error)})") from error


@lru_cache(maxsize=64)
def position_limit(checkpoint: Checkpoint) -> int | None:
    """The longest input that the network can read, in tokens; `None` if its configuration sets no limit."""
    if bundled.reads(checkpoint):
        return checkpoint.config["max_position_embeddings"]
    config = read_config(checkpoint).get_text_config()
    positions = getattr(config, "max_position_embeddings", None) or 0
    if config.model_type in _PADDED_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    return positions if positions > 0 else None  # XLNet says -1


def readable_length(checkpoint: Checkpoint, length: int) -> int:
    """`length` tokens, or as many as the network can read if that is less."""
    return min(length, position_limit(checkpoint) or length)


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
