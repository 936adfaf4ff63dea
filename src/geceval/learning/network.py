"""The network that is fine-tuned, under a new head or as a language model, and how it is saved as a checkpoint."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file

from geceval.core.errors import InputError
from geceval.learning.recipe import Recipe
from geceval.models.causal import is_causal
from geceval.models.checkpoints import Checkpoint, CheckpointError, is_bundled, is_folder, resolve, weights_sha256
from geceval.models.devices import pick_device
from geceval.models.library_messages import quiet
from geceval.models.loading import check_missing, load_encoder, read_config, read_model
from geceval.models.origins.named import NAMED_MODELS
from geceval.models.tokenizers import load_tokenizer


def new_network(recipe: Recipe, base: Checkpoint, labels: Sequence[str] = ()) -> Any:
    """The encoder of `base` under a new head, in float32, with adapters if the recipe asks for them."""
    encoder = load_encoder(base)
    if is_causal(encoder):
        raise CheckpointError(
            f"{base.folder}: a causal language model, whose tokens do not see what follows; `geceval train impara-lm` "
            "learns from one"
        )
    transformers.set_seed(recipe.seed)
    config = _new_config(recipe, base, labels)
    # The backward pass of the fused attention takes a third of the time on a CPU.
    attention = {"attn_implementation": "eager"} if pick_device("auto").type == "cpu" else {}
    kind = transformers.AutoModelForTokenClassification if labels else transformers.AutoModelForSequenceClassification
    network = kind.from_config(config, dtype=torch.float32, **attention)
    network.name_or_path = network.config.name_or_path = str(base.folder)  # where peft looks for its configuration
    missing, _ = network.base_model.load_state_dict(encoder.state_dict(), strict=False)
    if any(not name.startswith("pooler.") for name in missing):
        raise CheckpointError(f"{base.folder}: the encoder lacks {missing[0]}")
    if recipe.pooler == "identity" and not labels:
        _reset_pooler(network)
    if recipe.head_deviation is not None:
        last = [module for module in network.classifier.modules() if isinstance(module, torch.nn.Linear)][-1]
        torch.nn.init.normal_(last.weight, std=recipe.head_deviation)
    if recipe.dropout is not None:
        for module in network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = recipe.dropout
    if recipe.freeze_embeddings:
        getattr(network.base_model, "embeddings", network.get_input_embeddings()).requires_grad_(False)
    if recipe.lora_rank:
        learnt = ["classifier", *(["pooler"] if not labels and recipe.pooling == "first" else [])]
        options = {"exclude_modules": ".*pooler.*", "modules_to_save": learnt}
        task = "TOKEN_CLS" if labels else "SEQ_CLS"
        network = _with_adapter(network, recipe, task, lora_alpha=recipe.lora_rank, lora_dropout=0.0, **options)
    if head_pooling(recipe, config) != "first":
        for name, parameter in network.named_parameters():
            if "pooler" in name.split("."):  # not part of the computation
                parameter.requires_grad_(False)
    return network


def _new_config(recipe: Recipe, base: Checkpoint, labels: Sequence[str]) -> Any:
    """The configuration of `base` for a new head, without the settings of an old one."""
    names = dict(enumerate(labels or ["LABEL_0"]))
    config = transformers.AutoConfig.from_pretrained(
        base.folder, id2label=names, label2id={name: number for number, name in names.items()}
    )
    forget_settings(config)
    if hasattr(config, "classifier_pooling"):  # ModernBERT pools by itself
        config.classifier_pooling = {"first": "cls", "mean": "mean"}[recipe.pooling]
    return config


def forget_settings(config: Any) -> None:
    """Remove what geceval wrote into the configuration of another checkpoint."""
    for name in [name for name in vars(config) if name.startswith("geceval_")]:
        delattr(config, name)


def head_pooling(recipe: Recipe, config: Any) -> str:
    """The value of `geceval_pooling` for the checkpoint; ModernBERT's own class does either kind of pooling."""
    return "first" if hasattr(config, "classifier_pooling") else recipe.pooling


def _reset_pooler(network: Any) -> None:
    pooler = getattr(network.base_model, "pooler", None)
    if pooler is None:
        raise InputError(f"{type(network).__name__} has no pooler between encoder and head; use pooler='base'")
    with torch.no_grad():
        pooler.dense.weight.copy_(torch.eye(pooler.dense.weight.shape[0]))
        pooler.dense.bias.zero_()


def _with_adapter(network: Any, recipe: Recipe, task: str, **settings: Any) -> Any:
    from peft import LoraConfig, TaskType, get_peft_model

    rank, layers = recipe.lora_rank, "all-linear"  # which leaves the output layer of a language model out
    return get_peft_model(network, LoraConfig(task_type=TaskType[task], r=rank, target_modules=layers, **settings))


def causal_network(base: Checkpoint) -> Any:
    """The language model of `base` in float32, all of whose weights can learn."""
    config = read_config(base)
    if pick_device("auto").type == "cpu":
        config._attn_implementation = "eager"  # several times faster backward
    network, missing = read_model(transformers.AutoModelForCausalLM, base, config)
    check_missing(base, missing)
    forget_settings(network.config)
    return network


def new_causal_network(recipe: Recipe, base: Checkpoint) -> Any:
    """The language model of `base` in float32, with an adapter that changes nothing yet."""
    if recipe.lora_rank < 1:
        raise InputError("a language model is tuned by an adapter: lora_rank must be at least 1")
    network = causal_network(base)
    # A third more time for a fifth of the memory: 32 pairs of 100 tokens take 18 GB without, in 30 layers.
    network.gradient_checkpointing_enable({"use_reentrant": False})
    transformers.set_seed(recipe.seed)
    alpha = 2 * recipe.lora_rank
    return _with_adapter(network, recipe, "CAUSAL_LM", lora_alpha=alpha, lora_dropout=recipe.dropout or 0.0)


def save(recipe: Recipe, weights: Path, folder: Path, settings: Mapping[str, Any], labels: Sequence[str] = ()) -> None:
    """Write a trained network as a checkpoint that geceval can load, and plain transformers too if its class allows."""
    base = resolve(recipe.base)
    network = new_network(recipe, base, labels)
    load_trained(network, weights)
    facts = {"max_length": recipe.max_length, **settings}
    if not labels:
        facts["pooling"] = head_pooling(recipe, network.config)
    write_network(recipe, base, network, folder, facts)


def trained_state(network: Any) -> dict[str, torch.Tensor]:
    """The weights of a network that training changes: what `new_network` with the same recipe does not give."""
    return {name: value.detach().contiguous() for name, value in network.named_parameters() if value.requires_grad}


def load_trained(network: Any, weights: Path) -> None:
    """Load what `trained_state` gave into a new network of the same recipe."""
    unexpected = network.load_state_dict(load_file(weights), strict=False).unexpected_keys
    if unexpected:
        raise InputError(f"{weights}: of another network, it has {unexpected[0]}")


def write_network(recipe: Recipe, base: Checkpoint, network: Any, folder: Path, settings: Mapping[str, Any]) -> None:
    """Write a trained network and its settings, see `save`."""
    config = (network.get_base_model() if recipe.lora_rank else network).config
    facts = dict(settings)
    if recipe.lora_rank:
        facts["base_sha256"] = weights_sha256(base)
    config.update({f"geceval_{name}": value for name, value in facts.items()})
    with tempfile.TemporaryDirectory(dir=folder) as scratch, quiet():
        if recipe.lora_rank:
            network.peft_config["default"].base_model_name_or_path = portable_name(recipe.base, folder)
            network.save_pretrained(scratch, save_embedding_layers=False)  # "auto" would ask the Hub for the base
            config.architectures = [type(network.get_base_model()).__name__]
        else:
            network.save_pretrained(scratch)
        config.save_pretrained(scratch)
        if not (recipe.lora_rank and (is_bundled(recipe.base) or recipe.base in NAMED_MODELS)):
            load_tokenizer(base).save_pretrained(scratch)
        written = Path(scratch)
        (written / "README.md").unlink(missing_ok=True)  # peft writes one of its own
        if recipe.lora_rank:
            adapter = written / "adapter_model.safetensors"
            save_file({k: v.to(torch.float16) for k, v in load_file(adapter).items()}, adapter, {"format": "pt"})
        for path in written.iterdir():
            path.chmod(0o644)  # safetensors writes for the owner alone
            path.replace(folder / path.name)


def portable_name(model: str, folder: Path) -> str:
    """The name by which the files of a checkpoint can refer to another one, from any working directory."""
    # A folder relative to the working directory becomes a path relative to `folder`, beginning with `./` or `../`, so
    # that the two can be moved together. All other names (bundled ones, Hub ids, absolute paths, `~`) stay as they are.
    path = Path(model)
    if path.is_absolute() or model.startswith("~") or not is_folder(model):
        return model
    try:
        relative = Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return str(path.absolute())
    return relative if relative.startswith("../") else f"./{relative}"
