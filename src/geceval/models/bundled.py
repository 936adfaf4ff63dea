"""Bundled networks in plain torch, since importing transformers takes longer than scoring a page of text.

The classes mimic the part of transformers' interface that geceval uses. Networks from elsewhere, and all networks in
training, are loaded by `models/loading.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from geceval.core.cache import lru_cache
from geceval.models.checkpoints import Checkpoint, CheckpointError, is_bundled, read_json
from geceval.models.library_messages import reason
from geceval.models.quantised import read_weights

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from typing_extensions import Self


def reads(checkpoint: Checkpoint, architecture: str = "") -> bool:
    """Whether a checkpoint comes with geceval, its bases too, and its architecture's name ends in `architecture`."""
    whole = is_bundled(checkpoint.model) and (checkpoint.base is None or reads(checkpoint.base))
    return whole and any(name.endswith(architecture) for name in checkpoint.config.get("architectures", ()))


def load(checkpoint: Checkpoint, layers: int | None = None) -> tuple[Network, Tokenizer]:
    """The network, or its first `layers` layers, in float32 on the CPU, and its tokenizer."""
    config = SimpleNamespace(**checkpoint.config)
    config.num_hidden_layers = layers or config.num_hidden_layers
    weights = _encoder_weights(checkpoint) if reads(checkpoint, "BertModel") else _weights(checkpoint)
    network = {"bert": Bert, "llama": Llama}[config.model_type](config, weights)
    while checkpoint.base is not None:
        checkpoint = checkpoint.base
    return network, Tokenizer(checkpoint)


@lru_cache(maxsize=2)
def _encoder_weights(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The weights of an encoder, cached, so that adapters over it share the tensors that they do not change."""
    return _weights(checkpoint)


def _weights(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The weights of a network by name, the adapter merged, in float32."""
    kind = "model" if checkpoint.base is None else "adapter_model"
    try:
        stored = read_weights(checkpoint.folder / f"{kind}.safetensors")
    except Exception as error:  # safetensors raises its own
        raise CheckpointError(
            f"{checkpoint.folder}: the weights cannot be read ({reason(error)}); install geceval again"
        ) from error
    stored = {name.removeprefix("base_model.model.").removeprefix("bert."): part for name, part in stored.items()}
    stored = {name: part.float() for name, part in stored.items() if ".original_module." not in name}
    return stored if checkpoint.base is None else _merge(_encoder_weights(checkpoint.base), stored, checkpoint)


def _merge(base: Mapping[str, Tensor], stored: Mapping[str, Tensor], checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The weights of a base with an adapter: each LoRA product B·A is added, scaled; tensors stored whole replace."""
    settings = read_json(checkpoint.folder, "adapter_config.json")
    merged = dict(base)
    for name, values in stored.items():
        module, _, matrix = name.partition(".lora_")
        if not matrix:
            merged[name.replace(".base_layer.", ".")] = values
        elif matrix.startswith(("A", "embedding_A")):
            product, rank = stored[name.replace("_A", "_B")] @ values, len(values)
            scale = settings["alpha_pattern"].get(module.rpartition(".")[2], settings["lora_alpha"]) / rank
            weight = base[f"{module}.weight"]
            merged[f"{module}.weight"] = weight + scale * (product.T if "embedding" in matrix else product)
    return merged


@dataclass(frozen=True, slots=True)
class Output:
    """The last token states [rows, tokens, dimensions]; those of the embeddings and of each layer; logits."""

    last_hidden_state: Tensor
    hidden_states: list[Tensor] | None = None
    logits: Tensor | None = None


class Network:
    """Weights by name, and the configuration that says how they are used."""

    def __init__(self, config: SimpleNamespace, weights: dict[str, Tensor]) -> None:
        self.config, self.weights = config, weights
        config.get_text_config = lambda: config
        if hasattr(config, "id2label"):
            config.id2label = {int(number): label for number, label in config.id2label.items()}
            config.num_labels = len(config.id2label)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(iter(self.weights.values())).device

    @property
    def dtype(self) -> torch.dtype:
        """The number format of the weights."""
        return next(iter(self.weights.values())).dtype

    def to(self, target: torch.device | torch.dtype) -> Self:
        """Move the weights to a device or number format; returns this network."""
        self.weights = {name: values.to(target) for name, values in self.weights.items()}
        return self

    def _linear(self, name: str, states: Tensor) -> Tensor:
        from torch.nn.functional import linear

        return linear(states, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def _heads(self, name: str, states: Tensor, heads: int) -> Tensor:
        """Queries, keys or values: [rows, tokens, dimensions] to [rows, heads, tokens, dimensions of a head]."""
        return self._linear(name, states).unflatten(-1, (heads, -1)).transpose(1, 2)


class Bert(Network):
    """A BERT encoder (Devlin et al. 2019), with a head or without."""

    def base_model(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> Output:
        """The token states."""
        word, position, kind = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        states = word[input_ids] + (kind[0] if token_type_ids is None else kind[token_type_ids])
        states = self._norm("embeddings.LayerNorm", states + position[: input_ids.shape[1]])
        mask = None if attention_mask is None or attention_mask.all() else attention_mask[:, None, None].bool()
        layers = [states]
        for layer in range(self.config.num_hidden_layers):
            layers.append(self._layer(f"encoder.layer.{layer}", layers[-1], mask))
            if not output_hidden_states:
                del layers[0]
        return Output(layers[-1], layers if output_hidden_states else None)

    def _layer(self, layer: str, states: Tensor, mask: Tensor | None) -> Tensor:
        from torch.nn.functional import gelu, scaled_dot_product_attention

        parts = (f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))
        heads = (self._heads(part, states, self.config.num_attention_heads) for part in parts)
        attended = scaled_dot_product_attention(*heads, mask).transpose(1, 2).flatten(2)
        output = f"{layer}.attention.output"
        states = self._norm(f"{output}.LayerNorm", states + self._linear(f"{output}.dense", attended))
        inner = gelu(self._linear(f"{layer}.intermediate.dense", states))
        return self._norm(f"{layer}.output.LayerNorm", states + self._linear(f"{layer}.output.dense", inner))

    def _norm(self, name: str, states: Tensor) -> Tensor:
        from torch.nn.functional import layer_norm

        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return layer_norm(states, weight.shape, weight, bias, self.config.layer_norm_eps)

    def classifier(self, states: Tensor) -> Tensor:
        """The logits of the head."""
        return self._linear("classifier", states)

    def __call__(self, **batch: Tensor) -> Output:
        """The token states, and the logits of texts or of tokens."""
        states = self.base_model(**batch).last_hidden_state
        classifies_texts = self.config.architectures[0].endswith("ForSequenceClassification")
        pooled = self._linear("pooler.dense", states[:, 0]).tanh() if classifies_texts else states
        return Output(states, logits=self.classifier(pooled))


class Llama(Network):
    """A causal language model (Touvron et al. 2023), whose output layer is that of its word embeddings."""

    def base_model(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        output_hidden_states: bool = False,
        use_cache: bool = False,
        layers: int | None = None,
    ) -> Output:
        """The states after all layers, or the first `layers`; texts are padded on the right, where no token looks."""
        import torch

        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        size = self.config.head_dim
        powers = torch.arange(0, size, 2, device=input_ids.device) / size
        angles = position_ids[:, None, :, None] * (1 / self.config.rope_parameters["rope_theta"] ** powers)
        cos_sin = angles.cos().to(self.dtype), angles.sin().to(self.dtype)
        mask = attention_mask if attention_mask is not None and attention_mask.dim() == 4 else None
        states = [self.weights["model.embed_tokens.weight"][input_ids]]
        for layer in range(self.config.num_hidden_layers if layers is None else layers):
            states.append(self._layer(f"model.layers.{layer}", states[-1], cos_sin, mask))
            if not output_hidden_states:
                del states[0]
        if layers in (None, self.config.num_hidden_layers):
            states[-1] = self._norm("model.norm", states[-1])
        return Output(states[-1], states if output_hidden_states else None)

    def _layer(self, layer: str, states: Tensor, cos_sin: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        from torch.nn.functional import scaled_dot_product_attention, silu

        attention, mlp = f"{layer}.self_attn", f"{layer}.mlp"
        inner = self._norm(f"{layer}.input_layernorm", states)
        heads, kv_heads = self.config.num_attention_heads, self.config.num_key_value_heads
        query = _rotate(self._heads(f"{attention}.q_proj", inner, heads), *cos_sin)
        key = _rotate(self._heads(f"{attention}.k_proj", inner, kv_heads), *cos_sin)
        value = self._heads(f"{attention}.v_proj", inner, kv_heads)
        key, value = (part.repeat_interleave(heads // kv_heads, dim=1) for part in (key, value))
        attended = scaled_dot_product_attention(query, key, value, mask, is_causal=mask is None)
        states = states + self._linear(f"{attention}.o_proj", attended.transpose(1, 2).flatten(2))
        inner = self._norm(f"{layer}.post_attention_layernorm", states)
        gated = silu(self._linear(f"{mlp}.gate_proj", inner)) * self._linear(f"{mlp}.up_proj", inner)
        return states + self._linear(f"{mlp}.down_proj", gated)

    def _norm(self, name: str, states: Tensor) -> Tensor:
        from torch.nn.functional import rms_norm

        weight = self.weights[f"{name}.weight"]
        return rms_norm(states, weight.shape, weight, self.config.rms_norm_eps)

    def get_output_embeddings(self) -> Any:
        """The output layer, from states to logits."""
        return lambda states: self._linear("model.embed_tokens", states)

    def __call__(self, **batch: Any) -> Output:
        """The token states, and the logits of the next tokens."""
        output = self.base_model(**batch)
        logits = self._linear("model.embed_tokens", output.last_hidden_state)
        return Output(output.last_hidden_state, output.hidden_states, logits)


def _rotate(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embeddings (Su et al. 2021): the halves of a head's dimensions are turned by angles."""
    import torch

    left, right = states.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


class Tokenizer:
    """The tokenizer of a network, with the methods that geceval calls."""

    is_fast = True

    def __init__(self, checkpoint: Checkpoint) -> None:
        import tokenizers

        settings = read_json(checkpoint.folder, "tokenizer_config.json")
        self.backend_tokenizer = tokenizers.Tokenizer.from_file(str(checkpoint.folder / "tokenizer.json"))
        self.get_vocab = self.backend_tokenizer.get_vocab
        self._variants: dict[tuple[bool, int | None], Any] = {}
        for name in ("bos_token", "eos_token", "pad_token", "cls_token", "sep_token"):
            token = settings.get(name)
            setattr(self, name, token)
            setattr(self, f"{name}_id", None if token is None else self.backend_tokenizer.token_to_id(token))

    def __call__(
        self,
        *columns: Sequence[Any],
        is_split_into_words: bool = False,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_attention_mask: bool = False,
        verbose: bool = False,
    ) -> Tokens:
        """The tokens of texts, or of pairs of them; in a pair the longer text is cut first. There are no masks."""
        backend = self._variant(split_special_tokens, max_length if truncation else None)
        rows = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        encode = backend.encode_batch if is_split_into_words else backend.encode_batch_fast  # without word ids
        return Tokens(encode(list(rows), is_split_into_words, add_special_tokens))

    def _variant(self, split_special_tokens: bool, limit: int | None) -> Any:
        """A copy with these settings: they cannot be changed while another thread reads texts."""
        key = split_special_tokens, limit
        if key not in self._variants:
            backend = copy.deepcopy(self.backend_tokenizer)
            backend.encode_special_tokens = split_special_tokens
            if limit is not None:
                backend.enable_truncation(limit)
            self._variants[key] = backend
        return self._variants[key]


class Tokens(dict[str, list[list[int]]]):
    """Ids and types of the tokens of texts."""

    def __init__(self, rows: list[Any]) -> None:
        super().__init__(input_ids=[row.ids for row in rows], token_type_ids=[row.type_ids for row in rows])
        self._rows = rows

    def word_ids(self, row: int) -> list[int | None]:
        """The word of each token of a text, `None` for special ones."""
        return self._rows[row].word_ids
