"""What is read from the token states of a network: pooled vectors and the logits of a classification head.

There are three poolings. `"first"` means the head as the network's own class computes it, which is how published
checkpoints are scored by `AutoModelForSequenceClassification`: BERT reads the first token through its tanh pooler,
ModernBERT follows its own `classifier_pooling`. `"mean"` (IMPARA-GED, section 4.1) averages the states of all tokens
that are not padding, special tokens included, and hands the average to the class's classifier: the linear layer of BERT
and DeBERTa (their pooler is left out), the dense and the output layer of ELECTRA and RoBERTa. A ModernBERT checkpoint
needs no setting of ours for that: its `classifier_pooling` is `"mean"`. `"last"` hands the state of the last real token
to the classifier, as causal models do, whose first token sees no other; for them `"first"` means the same.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from geceval.models.checkpoints import Checkpoint, CheckpointError, read_json
from geceval.models.config_limits import read_config
from geceval.models.sources.adapters import merge
from geceval.models.sources.library_messages import first_line, quiet
from geceval.models.sources.quantised import is_quantised, read_weights

if TYPE_CHECKING:
    from torch import Tensor

POOLINGS = ("first", "mean", "last")

_SEQUENCE, _TOKENS, _CAUSAL = "ForSequenceClassification", "ForTokenClassification", "ForCausalLM"
_TASKS = {"SEQ_CLS": _SEQUENCE, "TOKEN_CLS": _TOKENS, "CAUSAL_LM": _CAUSAL, "FEATURE_EXTRACTION": ""}  # peft's words


def pooling_of(checkpoint: Checkpoint) -> str:
    """The pooling written in a checkpoint's `config.json`: `"first"` unless `geceval_pooling` says another."""
    pooling = checkpoint.setting("pooling", "first")
    if pooling not in POOLINGS:
        raise CheckpointError(
            f"{checkpoint.folder}: geceval_pooling must be 'first', 'mean' or 'last', got {pooling!r}"
        )
    return pooling


def mean_pool(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of the states of real tokens."""
    weights = mask.to(states.dtype).unsqueeze(-1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def last_pool(states: Tensor, mask: Tensor) -> Tensor:
    """The states of the last real tokens; shapes as for `mean_pool`, padding at the end."""
    import torch

    last = mask.sum(dim=1).clamp(min=1) - 1
    return states[torch.arange(len(states), device=states.device), last]


def is_causal(network: Any) -> bool:
    """Whether no token changes what the network says of those before it."""
    import torch

    with torch.inference_mode():
        first, second = network(input_ids=torch.tensor([[1, 2, 3], [1, 2, 4]]))[0][:, :2]
    return close(first, second)


def close(left: Tensor, right: Tensor, tolerance: float = 1e-3) -> bool:
    """Whether two outputs of a network differ by no more than rounding, which grows with the largest values."""
    return bool((left - right).abs().max() <= tolerance * left.abs().max())


def head_of(network: Any) -> Any:
    """The classification head of a `...ForSequenceClassification` or `...ForTokenClassification`."""
    return network.score if hasattr(network, "score") else network.classifier  # decoders call it so


def logits(model: Any, batch: Mapping[str, Tensor], pooling: str = "first") -> Tensor:
    """Logits of a sequence classifier, differentiable, so that training and scoring share one definition."""
    network = model.get_base_model() if hasattr(model, "get_base_model") else model
    if pooling == "first" and not hasattr(network, "score"):
        return model(**batch).logits
    pool = mean_pool if pooling == "mean" else last_pool  # decoders look for padding by its id, which a text may hold
    pooled = pool(network.base_model(**batch).last_hidden_state, batch["attention_mask"])
    classifier = head_of(network)
    if hasattr(classifier, "out_proj"):
        return classifier(pooled.unsqueeze(1))
    dropout = getattr(network, "dropout", None)
    return classifier(dropout(pooled) if dropout is not None else pooled)


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

    config = read_config(checkpoint)
    adapter = read_json(checkpoint.folder, "adapter_config.json") if checkpoint.base is not None else {}
    task = _TASKS.get(str(adapter.get("task_type")))
    if task is None:
        name = (config.architectures or [""])[0].replace("LMHeadModel", _CAUSAL)
        task = next(task for task in _TASKS.values() if name.endswith(task))
    return _load_with_head(getattr(transformers, f"AutoModel{task}"), checkpoint, config)


def load_classifier(checkpoint: Checkpoint, labels: int | None = 1) -> Any:
    """A sequence classifier, adapters merged, in float32 on the CPU, ready for inference."""
    import transformers

    config = read_config(checkpoint)
    if labels is not None and config.num_labels != labels:
        raise CheckpointError(
            f"{checkpoint.folder}: the head has {config.num_labels} outputs (num_labels), this metric needs {labels}"
        )
    return _load_with_head(transformers.AutoModelForSequenceClassification, checkpoint, config)


def load_token_classifier(checkpoint: Checkpoint) -> Any:
    """A token classifier, adapters merged, in float32 on the CPU, ready for inference."""
    import transformers

    config = read_config(checkpoint)
    # The weights do not tell: a classifier of whole texts has a head of the same name and shape.
    kinds = config.architectures or ["a network without a head"]
    if not any(kind.endswith("ForTokenClassification") for kind in kinds):
        raise CheckpointError(f"{checkpoint.folder}: this is {kinds[0]}; error detection needs a token classifier")
    return _load_with_head(transformers.AutoModelForTokenClassification, checkpoint, config)


def _load_with_head(model_class: Any, checkpoint: Checkpoint, config: Any) -> Any:
    import transformers

    # The base of an adapter may have a head of its own, of another size.
    model, missing = read_model(
        model_class, checkpoint.base or checkpoint, config, any_size=checkpoint.base is not None
    )
    if checkpoint.base is not None:
        model, brought = merge(model, checkpoint)
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
            f"{checkpoint.folder}: the weights cannot be loaded ({first_line(error)}); fetch or copy them again"
        ) from error
    return model.float(), sorted({*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])})


def _state(checkpoint: Checkpoint) -> dict[str, Tensor] | None:
    """The weights of a checkpoint that transformers cannot read: those of an adapter's network, and quantised ones."""
    if checkpoint.base is not None:
        return load_network(checkpoint).state_dict()
    weights = checkpoint.folder / "model.safetensors"
    return read_weights(weights) if weights.is_file() and is_quantised(weights) else None


def check_missing(checkpoint: Checkpoint, missing: list[str]) -> None:
    """Raise a `CheckpointError` that names the parameters that the checkpoint lacks."""
    if missing:
        head = any(word in name for name in missing for word in ("classifier", "score"))
        what = "no classification head" if head else "parameters are missing"
        raise CheckpointError(
            f"{checkpoint.folder}: {what} ({', '.join(missing[:3])}); train it first, or fetch it again"
        )


def ready(model: Any, checkpoint: Checkpoint) -> Any:
    """The model for inference: no gradients, no dropout."""
    import torch

    for name, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            raise CheckpointError(f"{checkpoint.folder}: {name} has values that are not finite; the training diverged")
    return model.requires_grad_(False).eval()
