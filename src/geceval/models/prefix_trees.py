"""Texts that begin alike, read by a causal language model in one row, so that each prefix is computed once."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# The output of such a network at a token depends on no later token. So texts form a tree of prefixes, whose nodes are
# laid out in a row: a node attends to itself and its ancestors, and its position is its depth. In sorted texts, common
# prefixes are neighbours, so nobody needs to say which texts are variants of one sentence.
#
# A row holds one tree, since attention reads all pairs of a row: for SmolLM2 on one thread attention takes .07 of the
# time of the matrix products in float32 with 128 nodes a row, .43 with a whole batch of 1,024. Keeping keys and values
# of each node would take a pass per level of branches. BART's and T5's decoders take no positions and get no trees.

SHARED = 5  # tokens; a shorter common prefix costs more attention in one row than it saves
NODES = 128  # of a tree, or twice the tokens of its first text if that is more
WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")  # in configurations: how far a token looks back


@dataclass(frozen=True, slots=True)
class Tree:
    """The distinct prefixes of some texts, one per node; a node's descendants follow right after it."""

    texts: list[int]
    paths: list[list[int]]
    row: dict[str, list[int]]


def grow(texts: Sequence[Sequence[int]], most: int) -> list[Tree]:
    """Share texts out among trees."""
    groups: list[list[tuple[int, int]]] = []  # see `tree_of`
    nodes = limit = 0
    last: Sequence[int] = ()
    for index in sorted(range(len(texts)), key=texts.__getitem__):  # neighbours share the longest prefixes
        text = texts[index]
        shared = common_prefix(last, text)
        if shared < min(SHARED, len(text)) or nodes + len(text) - shared > limit:
            groups.append([])
            nodes = shared = 0
            limit = min(most, max(NODES, 2 * len(text)))
        groups[-1].append((index, shared))
        nodes += len(text) - shared
        last = text
    return [tree_of(group, texts) for group in groups]


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """The number of tokens that two texts share at their start."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((depth for depth, (one, other) in pairs if one != other), min(len(left), len(right)))


def tree_of(group: Sequence[tuple[int, int]], texts: Sequence[Sequence[int]]) -> Tree:
    """The tree of sorted texts, given for each its index and how many tokens it shares with the text before."""
    tokens, depths, parents, paths = [], [], [], []
    path: list[int] = []
    for index, shared in group:
        path = path[:shared]
        for token in texts[index][shared:]:
            parents.append(path[-1] if path else 0)
            depths.append(len(path))
            path.append(len(tokens))
            tokens.append(token)
        paths.append(path)
    indices = [index for index, _ in group]
    if len(path) == len(tokens):
        return Tree(indices, paths, {"input_ids": tokens})
    sizes = [1] * len(tokens)
    for node in range(len(tokens) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    ends = [node + size for node, size in enumerate(sizes)]
    row = {"input_ids": tokens, "position_ids": depths, "parents": parents, "ends": ends}
    return Tree(indices, paths, row)


def inputs(batch: Mapping[str, torch.Tensor], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The arguments of a network for rows of nodes."""
    import torch

    nodes = torch.arange(batch["ends"].shape[1], device=batch["ends"].device)
    ends = batch["ends"].maximum(nodes + 1)[:, None]  # padding sees itself, for seeing nothing gives NaN
    seen = (nodes <= nodes[:, None]) & (nodes[:, None] < ends)
    mask = torch.zeros(seen.shape, dtype=dtype, device=nodes.device).masked_fill(~seen, torch.finfo(dtype).min)
    return {**{name: batch[name] for name in ("input_ids", "position_ids")}, "attention_mask": mask[:, None]}


def log_probs(
    model: Any, batch: Mapping[str, torch.Tensor], size: int, layer: int | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """log P(token of a node | its ancestors)."""
    import torch

    options = {"use_cache": False, "output_hidden_states": layer is not None}
    output = model.base_model(**inputs(batch, model.dtype), **options)
    rows, nodes = batch["position_ids"].nonzero(as_tuple=True)
    above = rows * batch["parents"].shape[1] + batch["parents"][rows, nodes]
    inner, numbers = above.unique(return_inverse=True)  # the logits at a node serve all of its children
    values = torch.zeros(batch["input_ids"].shape, device=above.device)
    for number, states in enumerate(output.last_hidden_state.flatten(0, 1)[inner].split(size)):
        here = numbers // size == number
        where, chosen = (rows[here], nodes[here]), numbers[here] - number * size
        logits = model.get_output_embeddings()(states).float()
        values[where] = logits[chosen, batch["input_ids"][where]] - logits.logsumexp(dim=-1)[chosen]
    return values, None if layer is None else output.hidden_states[layer]


def most_nodes(model: Any) -> int:
    """The most nodes that a network reads in a row: 0 if a tree gives other states than its texts one by one."""
    # Some networks take no such mask or no positions. If attention has a window, the nodes of a row must fit into it.
    import torch

    body = model.base_model
    if "position_ids" not in inspect.signature(getattr(body, "forward", body)).parameters:
        return 0
    texts = [[1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 3, 2]]
    tree = tree_of([(0, 0), (1, 4)], texts)
    batch = {name: torch.tensor([values], device=model.device) for name, values in tree.row.items()}
    with torch.inference_mode():
        one_by_one = body(input_ids=torch.tensor(texts, device=model.device), use_cache=False).last_hidden_state
        try:
            together = body(**inputs(batch, model.dtype), use_cache=False).last_hidden_state
        except (RuntimeError, AssertionError):  # the first GPT and XLM take no mask of four dimensions
            return 0
    if not close(together[0, tree.paths], one_by_one, 1e-4):
        return 0
    config = model.config.get_text_config()
    return min(getattr(config, name, None) or sys.maxsize for name in WINDOWS)


def close(left: torch.Tensor, right: torch.Tensor, tolerance: float = 1e-3) -> bool:
    """Whether two outputs of a network differ by no more than rounding, which grows with the largest values."""
    return bool((left - right).abs().max() <= tolerance * left.abs().max())
