"""Causal language models: likelihoods of texts, token states, and the value of a quality head."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geceval.core.cache import LRUCache
from geceval.core.errors import NotFiniteError
from geceval.core.options import RunTime
from geceval.models import bundled, prefix_trees
from geceval.models.batched_model import BatchedModel, Text
from geceval.models.batching import SENTENCE
from geceval.models.checkpoints import Checkpoint, CheckpointError
from geceval.models.library_messages import reason
from geceval.models.loading import load_with_head
from geceval.models.origins.hub import QUALITY_HEAD
from geceval.models.tokenizers import NOTHING_SPECIAL, load_tokenizer

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from typing_extensions import Self

START = "<|endoftext|>"
LARGEST_OUTPUT = 1 << 24  # logits that are held at once: 64 MiB of float32
# An attention sink is a token state over `SINK` times as long as the states of `PLAIN`; it says nothing of its token,
# e.g. a full stop at the start of a text (Sun et al. 2024, "Massive Activations in Large Language Models"). In ordinary
# texts only the start token is one.
PLAIN = "We walked to the school because the weather was fine"
SINK = 10.0
_READ = "log_probs"


class CausalModel(BatchedModel):
    """A causal language model; the token that starts a text counts towards `max_length`."""

    networks: ClassVar[LRUCache[tuple[Any, ...], Any]] = LRUCache(2)
    usual_length: ClassVar[int | None] = None
    cached_texts: ClassVar[int] = 200_000

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        max_length: int | None = None,
        name: str = "",
        start: str | None = None,
        head: QualityHead | None = None,
    ) -> None:
        super().__init__(model, tokenizer, max_length, name)
        self.start_token, self.start = start_of(tokenizer, start, name)
        end = tokenizer.get_vocab().get(START, tokenizer.eos_token_id)
        self.end = self.start if end is None else end
        self._head_alone = head_is_all(model)
        self._most_nodes = prefix_trees.most_nodes(model) if self._head_alone else 0
        self.head = head
        self._longest: dict[int, float] = {}  # number of layers to the limit of a norm

    @classmethod
    def _make(cls, checkpoint: Checkpoint, length: int | None) -> Self:
        if bundled.reads(checkpoint, "ForCausalLM"):
            model, tokenizer = bundled.load(checkpoint)
        else:
            import transformers

            tokenizer = load_tokenizer(checkpoint)
            model = load_with_head(transformers.AutoModelForCausalLM, checkpoint)
            if not is_causal(model):
                raise CheckpointError(
                    f"{checkpoint.folder}: no causal language model, its tokens see those that follow"
                )
        start, head = checkpoint.setting("start_token"), load_quality_head(checkpoint, model.config)
        return cls(model, tokenizer, length, checkpoint.identity, start, head)

    def token_log_probs(self, texts: Sequence[str], runtime: RunTime | None = None) -> list[np.ndarray]:
        """log P(token | the tokens before it) of every token of each text, after the token that starts the text."""
        return self.log_probs_and_heads(texts, runtime)[0]

    def log_probs_and_heads(
        self, texts: Sequence[str], runtime: RunTime | None = None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """The answers of `token_log_probs`, and the value of the checkpoint's quality head for each text."""
        rows = self._rows(_READ, self._read, texts, runtime, _head_first)
        for text, row in zip(texts, rows, strict=True):
            if np.isnan(row).any():
                raise NotFiniteError(f"{self.name}: the likelihood of {text!r} is not a number; use dtype='float32'")
        return [row[1:] for row in rows], np.array([row[0] for row in rows], np.float64)

    def mean_states(self, texts: Sequence[str], layer: int, runtime: RunTime | None = None) -> np.ndarray:
        """The mean of each text's token states after `layer` layers, the start and attention sinks left out."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            states = states_after(model, batch, layer)
            return states.masked_fill(self._sinks(states, layer)[..., None], float("inf"))

        return self._array(f"mean_states {layer}", read, texts, runtime, _mean)

    def head_values(self, texts: Sequence[str], runtime: RunTime | None = None) -> np.ndarray:
        """The value of the quality head, which the checkpoint must have, of each text."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return self.head_products(states_after(model, batch, self.head.layer))

        values = self._array("head_values", read, texts, runtime, _mean)
        bad = np.flatnonzero(np.isnan(values))
        if bad.size:
            raise NotFiniteError(f"{self.name}: the quality of {texts[bad[0]]!r} is not a number; use dtype='float32'")
        return values.flatten().astype(np.float64)

    def head_products(self, states: torch.Tensor) -> torch.Tensor:
        """Contributions of tokens to the quality head's value; infinite for attention sinks, which do not count."""
        products = states.float() @ self.head.weight.to(states.device)
        return products.masked_fill(self._sinks(states, self.head.layer), float("inf"))

    def _sinks(self, states: torch.Tensor, layer: int) -> torch.Tensor:
        """Which states are attention sinks: bool [..., tokens]."""
        import torch

        if layer not in self._longest:
            batch = {name: value.to(self.model.device) for name, value in self._pad(self._encode([PLAIN])).items()}
            with torch.inference_mode():
                usual = states_after(self.model, batch, layer)[0, 1:].float().norm(dim=-1).median()
            self._longest[layer] = SINK * usual.item()
        return states.float().norm(dim=-1) > self._longest[layer]

    def token_products(self, texts: Sequence[str], runtime: RunTime | None = None) -> list[np.ndarray]:
        """The id of each token of a text, the start included, and the product of its state and the quality head."""

        def read(model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return states_after(model, batch, self.head.layer).float() @ self.head.weight.to(model.device)

        def with_ids(row: np.ndarray, encoded: Mapping[str, list[int]]) -> np.ndarray:
            ids = encoded["input_ids"]
            return np.column_stack([ids, row[: len(ids)]])

        return self._rows("token_products", read, texts, runtime, with_ids)

    def perplexities(self, texts: Sequence[str], runtime: RunTime | None = None) -> np.ndarray:
        """exp of the mean negative log-likelihood of a text's tokens, see `token_log_probs`."""
        rows = self.token_log_probs(texts, runtime)
        surprise = [-row.mean(dtype=np.float64) if len(row) else np.inf for row in rows]
        with np.errstate(over="ignore"):
            return np.exp(np.array(surprise, np.float64))

    def end_log_prob(self) -> float:
        """log P(end | start) that a text ends at once: the end is `<|endoftext|>`, else the tokenizer's EOS."""
        import torch

        ids = torch.tensor([[self.start, self.end]], device=self.model.device)
        with torch.inference_mode():
            value = log_probs(self.model, ids, torch.ones_like(ids), self._head_alone)[0].item()
        if np.isnan(value):
            raise NotFiniteError(f"{self.name}: the likelihood of the empty text is not a number; use dtype='float32'")
        return value

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """The numbers of tokens of texts, the start not counted and nothing cut."""
        return [len(encoded["input_ids"]) - 1 for encoded in self._encode(list(texts))] if texts else []

    def _read(self, model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Log-probabilities of tokens and, if there is a head, its product with each state: [rows, tokens, 1 or 2]."""
        import torch

        layer = None if self.head is None else self.head.layer
        if "ends" in batch:
            size = max(1, LARGEST_OUTPUT // model.config.get_text_config().vocab_size)
            values, states = prefix_trees.log_probs(model, batch, size, layer)
        else:
            values, states = log_probs(model, batch["input_ids"], batch["attention_mask"], self._head_alone, layer)
            values = torch.nn.functional.pad(values, (1, 0))
        columns = [values] if states is None else [values, self.head_products(states)]
        return torch.stack(columns, dim=-1)

    def _run(
        self,
        read: Callable[[Any, Mapping[str, torch.Tensor]], torch.Tensor],
        encoded: Sequence[Mapping[str, list[int]]],
        runtime: RunTime,
        home: str | torch.device,
    ) -> Iterator[tuple[list[int], torch.Tensor]]:
        """The index of a text, and what `read` gives for its tokens; texts that begin alike are read in one row."""
        most = min(self._most_nodes, runtime.batch_size * SENTENCE)
        trees = prefix_trees.grow([text["input_ids"] for text in encoded], most)
        alone = [tree for tree in trees if "ends" not in tree.row]  # for plain batches
        for part in filter(None, ([tree for tree in trees if "ends" in tree.row], alone)):
            for indices, output in super()._run(read, [tree.row for tree in part], runtime, home):
                for index, row in zip(indices, output, strict=True):
                    for text, path in zip(part[index].texts, part[index].paths, strict=True):
                        yield [text], row[path][None]

    def _if_cut(self, what: str) -> str:
        likely = "what lies beyond is taken to be as probable as what was read"
        return likely if what == _READ else super()._if_cut(what)

    def _encode(self, texts: list[Text], limit: int | None = None) -> list[dict[str, list[int]]]:
        """Token ids of texts after the token that starts them, cut to at most `limit`."""
        output = self.tokenizer(texts, **NOTHING_SPECIAL, return_attention_mask=False)
        return [{"input_ids": [self.start, *ids][:limit]} for ids in output["input_ids"]]


def start_of(tokenizer: Any, start: str | None = None, name: str = "") -> tuple[str, int]:
    """The token that starts a text and its id: the given one, else the tokenizer's BOS, else `<|endoftext|>`."""
    token = start or tokenizer.bos_token or START
    token_id = tokenizer.get_vocab().get(token)
    if token_id is None:
        missing = f"no token {start!r}" if start else f"neither a BOS token nor {START}"
        raise CheckpointError(f"{name}: its tokenizer has {missing}; name one of its tokens, or take another model")
    return token, token_id


def _mean(row: np.ndarray, encoded: Mapping[str, list[int]]) -> np.ndarray:
    """The mean over the tokens after the start, without infinite ones."""
    sinks = np.isposinf(row[1:]).all(axis=tuple(range(1, row.ndim)))
    kept = row[1:][~sinks]
    return kept.sum(axis=0) / max(1, len(kept))


def _head_first(row: np.ndarray, encoded: Mapping[str, list[int]]) -> np.ndarray:
    """The value of the head, 0 without one, and the log-probabilities of the tokens after the start."""
    value = _mean(row[:, 1], encoded) if row.shape[1] > 1 else 0.0
    return np.array([value, *row[1:, 0]], np.float32)


def log_probs(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, head_alone: bool, layer: int | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """log P(token | the tokens before it) of every token but the first, differentiable, and states after `layer`."""
    import torch

    real, targets = mask[:, 1:].bool(), ids[:, 1:]
    vocabulary = model.config.get_text_config().vocab_size
    body = {"use_cache": False, "output_hidden_states": layer is not None}
    if head_alone:
        output = model.base_model(input_ids=ids, attention_mask=mask, **body)
        head, size = model.get_output_embeddings(), max(1, LARGEST_OUTPUT // vocabulary)
        parts = zip(output.last_hidden_state[:, :-1][real].split(size), targets[real].split(size), strict=True)
        values = [_gathered(head(states), targets) for states, targets in parts]
        states = output.hidden_states[layer] if layer is not None else None
    else:
        size = max(1, LARGEST_OUTPUT // (ids.shape[1] * vocabulary))
        values, states = [], None if layer is None else []
        for part in zip(*(each.split(size) for each in (ids, mask, real, targets)), strict=True):
            output = model(input_ids=part[0], attention_mask=part[1], **body)
            values.append(_gathered(output.logits[:, :-1][part[2]], part[3][part[2]]))
            if layer is not None:
                states.append(output.hidden_states[layer])
        states = None if layer is None else torch.cat(states)
    return torch.zeros(real.shape, device=ids.device).masked_scatter(real, torch.cat(values)), states


def _gathered(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the targets: [tokens, vocabulary] and [tokens] to [tokens]."""
    import torch

    return -torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")


def head_is_all(model: Any) -> bool:
    """Whether the output layer alone maps token states to logits: not if logits are scaled or capped."""
    import torch

    ids = torch.tensor([[1, 2, 3]], device=model.device)
    with torch.inference_mode():
        logits = model(input_ids=ids).logits
        alone = model.get_output_embeddings()(model.base_model(input_ids=ids).last_hidden_state)
    return prefix_trees.close(logits, alone)


class _Reached(Exception):
    """The input of the first layer that is not computed, raised to end the network's run."""


def states_after(model: Any, batch: Mapping[str, Tensor], layers: int) -> Tensor:
    """Token states after `layers` layers, as in the network's own `hidden_states[layers]`, without gradients."""
    import torch

    body = model.base_model
    inputs = prefix_trees.inputs(batch, model.dtype) if "ends" in batch else batch
    if isinstance(model, bundled.Llama):
        return body(**inputs, layers=layers).last_hidden_state
    total = body.config.get_text_config().num_hidden_layers
    lists = [(name, part) for name, part in body.named_children() if isinstance(part, torch.nn.ModuleList)]
    for name, stack in lists:
        if layers < len(stack) == total:
            stop, part = copy.copy(stack[layers]), copy.copy(body)  # copies that share all weights
            stop.forward = _reach
            part._modules = {**body._modules, name: torch.nn.ModuleList([*stack[:layers], stop])}
            try:
                part(**inputs, use_cache=False)
            except _Reached as reached:
                return reached.args[0]
    return body(**inputs, use_cache=False, output_hidden_states=True).hidden_states[layers]


def _reach(states: Tensor, *_: Any, **__: Any) -> None:
    raise _Reached(states)


@dataclass(frozen=True, eq=False, slots=True)
class QualityHead:
    """The value of a text: the product of `weight` and the mean state of its tokens."""

    layer: int
    weight: torch.Tensor


def load_quality_head(checkpoint: Checkpoint, config: Any) -> QualityHead | None:
    """The head of a checkpoint whose `config.json` names `geceval_head_layer`; `None` without one."""
    layer, text = checkpoint.setting("head_layer"), config.get_text_config()
    if layer is None:
        return None
    if layer > text.num_hidden_layers:
        raise CheckpointError(
            f"{checkpoint.folder}: geceval_head_layer is {layer}, but there are {text.num_hidden_layers} layers"
        )
    return QualityHead(layer, read_head(checkpoint, {"weight": (text.hidden_size,)})["weight"])


def read_head(checkpoint: Checkpoint, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
    """The tensors of a head by their names, each of a given shape, in float32."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(checkpoint.folder / QUALITY_HEAD)
        head = {name: tensors[name].float() for name in shapes}
    except (OSError, KeyError, SafetensorError) as error:
        raise CheckpointError(f"{checkpoint.folder}: {QUALITY_HEAD} cannot be read ({reason(error)})") from error
    for name, tensor in head.items():
        infinite = int((~torch.isfinite(tensor)).sum())
        if tuple(tensor.shape) != shapes[name] or infinite:
            raise CheckpointError(
                f"{checkpoint.folder}: {QUALITY_HEAD} must hold {math.prod(shapes[name])} finite numbers, got "
                f"{tuple(tensor.shape)}, of which {infinite} are not finite"
            )
    return head


def save_quality_head(head: QualityHead, folder: Path) -> None:
    """Write the weight of a head; the layer belongs into `config.json`."""
    from safetensors.torch import save_file

    save_file({"weight": head.weight.contiguous()}, folder / QUALITY_HEAD, {"format": "pt"})
    (folder / QUALITY_HEAD).chmod(0o644)


def is_causal(network: Any) -> bool:
    """Whether no token changes what the network says of those before it."""
    import torch

    with torch.inference_mode():
        first, second = network(input_ids=torch.tensor([[1, 2, 3], [1, 2, 4]]))[0][:, :2]
    return prefix_trees.close(first, second)
