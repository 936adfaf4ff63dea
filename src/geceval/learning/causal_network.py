"""The causal language model that is fine-tuned: its base with a LoRA adapter on every linear layer but the output."""

from __future__ import annotations

from typing import Any

import transformers

from geceval.core.errors import InputError
from geceval.learning.recipe import Recipe
from geceval.models import loading
from geceval.models.checkpoints import Checkpoint
from geceval.models.devices import pick_device


def new_causal_network(recipe: Recipe, base: Checkpoint) -> Any:
    """The language model of `base` in float32, with an adapter that changes nothing yet."""
    from peft import LoraConfig, TaskType, get_peft_model

    if recipe.lora_rank < 1:
        raise InputError("a language model is tuned by an adapter: lora_rank must be at least 1")
    config = loading.read_config(base)
    if pick_device("auto").type == "cpu":
        config._attn_implementation = "eager"
    network, missing = loading.read_model(transformers.AutoModelForCausalLM, base, config)
    loading.check_missing(base, missing)
    for name in [name for name in vars(network.config) if name.startswith("geceval_")]:
        delattr(network.config, name)
    # A third more time for a fifth of the memory: 32 pairs of 100 tokens take 18 GB without, in 30 layers.
    network.gradient_checkpointing_enable({"use_reentrant": False})
    transformers.set_seed(recipe.seed)
    settings = LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=recipe.lora_rank,
        lora_alpha=2 * recipe.lora_rank,
        lora_dropout=recipe.dropout or 0.0,
        target_modules="all-linear",  # which leaves the output layer out
    )
    return get_peft_model(network, settings)
