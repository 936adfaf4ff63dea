"""The least time that a network can take: the bare matrix products of each distinct text's tokens, without padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from side_by_side.process import Contestant

from geceval.models.encoder import Encoder

ROWS = 2048

Shape = tuple[int, int, int]
"""Hidden size, size of the feed-forward layer, number of layers."""


class Floor:
    """Multiplies matrices of the shapes, and for the tokens, that another contestant needs.

    The first time it looks on while the other one scores. What counts are the linear layers of the network (query, key,
    value, output; feed-forward): no attention, no normalisation, no embedding.
    """

    workers = 1

    def __init__(self, contestant: Contestant) -> None:
        self.contestant = contestant
        self.tokens: dict[Shape, int] = {}

    def score(self, columns: Mapping[str, Any]) -> list[float]:
        """GFLOP of the products, and the number of tokens."""
        if not self.tokens:
            with watched() as seen:
                self.contestant.score(columns)
            self.tokens = count(seen)
        for shape, tokens in self.tokens.items():
            multiply(*shape, tokens)
        return [sum(flops(*shape, tokens) for shape, tokens in self.tokens.items()) / 1e9, sum(self.tokens.values())]

    def forget(self) -> None:
        """Nothing is remembered but the tokens."""
        self.contestant.forget()


@contextmanager
def watched() -> Iterator[dict[Encoder, set[Any]]]:
    """Within the block, which texts each network is asked to read."""
    seen: dict[Encoder, set[Any]] = {}
    with ExitStack() as stack:
        for name in ("embed", "logits", "states"):
            original = getattr(Encoder, name)

            def method(self: Encoder, texts: Sequence[Any], *rest: Any, _original: Any = original, **named: Any) -> Any:
                seen.setdefault(self, set()).update(texts)
                return _original(self, texts, *rest, **named)

            stack.enter_context(patch.object(Encoder, name, method))
        yield seen


def count(seen: Mapping[Encoder, set[Any]]) -> dict[Shape, int]:
    """Tokens of the distinct texts, by the shape of the network."""
    tokens: dict[Shape, int] = {}
    for encoder, texts in seen.items():
        config = encoder.model.config
        shape = (config.hidden_size, config.intermediate_size, config.num_hidden_layers)
        pairs = [text for text in texts if not isinstance(text, str)]
        single = [text for text in texts if isinstance(text, str)]
        for columns in ([single] if single else [], [list(column) for column in zip(*pairs, strict=True)]):
            if columns:
                rows = encoder.tokenizer(*columns, truncation=True, max_length=encoder.max_length)["input_ids"]
                tokens[shape] = tokens.get(shape, 0) + sum(map(len, rows))
    return tokens


def flops(narrow: int, wide: int, layers: int, tokens: int) -> int:
    """Additions and multiplications of the linear layers."""
    return 2 * tokens * layers * (4 * narrow * narrow + 2 * narrow * wide)


@torch.inference_mode()
def multiply(narrow: int, wide: int, layers: int, tokens: int) -> None:
    """The products of every layer, `ROWS` tokens at a time."""
    square, up, down = torch.randn(narrow, narrow), torch.randn(narrow, wide), torch.randn(wide, narrow)
    for start in range(0, tokens, ROWS):
        states = torch.randn(min(ROWS, tokens - start), narrow)
        for _ in range(layers):
            for _ in range(4):
                torch.mm(states, square)
            torch.mm(torch.mm(states, up), down)
