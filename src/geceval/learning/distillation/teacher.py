"""What a teacher says of groups of texts, once and for all students: values, token log-probabilities, distributions.

The folder of scores holds `settings.json` and shards of 256 groups, each written at once: killed and started again,
scoring goes on with the first shard that is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from geceval.core.errors import InputError
from geceval.core.files import read_json, write_bytes, write_text
from geceval.core.options import RunTime
from geceval.core.progress import counting
from geceval.learning.distillation.groups import SHARD, Group
from geceval.learning.distillation.trees import PrefixTree, pad, prefix_tree
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import Checkpoint
from geceval.models.prefix_trees import inputs
from geceval.models.tokenizers import NOTHING_SPECIAL, detokenize
from geceval.scorers.learned.likelihoods import word_counts

NODES = 1536
"""Nodes of the trees that are read at once."""


class Scored(NamedTuple):
    """What the teacher says of a group."""

    group: Group
    tree: PrefixTree
    values: np.ndarray
    log_probs: np.ndarray
    top_ids: np.ndarray
    top_log_probs: np.ndarray


class Teacher:
    """IMPARA-LM's language model, reading trees of texts."""

    def __init__(self, checkpoint: Checkpoint, runtime: RunTime, top: int, max_length: int) -> None:
        self.reader = CausalModel.load(checkpoint, runtime)
        self.scale = float(checkpoint.setting("scale", 1.0))
        self.top, self.max_length = top, max_length
        size = self.reader.model.get_output_embeddings().out_features
        if top > size:
            raise InputError(f"top must be at most {size}, the size of the teacher's vocabulary, got {top}")

    def score(self, groups: Sequence[Group]) -> Iterator[Scored]:
        """What it says of each group, largest trees first; texts that are too long are left out."""
        trees = [(group, prefix_tree(rows)) for group, rows in map(self._readable, groups) if len(rows) > 1]
        trees.sort(key=lambda pair: -len(pair[1].ids))
        while trees:
            size = max(1, NODES // len(trees[0][1].ids))
            yield from self._score(trees[:size])
            trees = trees[size:]

    def _readable(self, group: Group) -> tuple[Group, list[list[int]]]:
        rows = token_rows(self.reader.tokenizer, self.reader.start, group.texts)
        kept = [(text, row) for text, row in zip(group.texts, rows, strict=True) if len(row) <= self.max_length]
        return Group(tuple(text for text, _ in kept)), [row for _, row in kept]

    @torch.inference_mode()
    def _score(self, some: Sequence[tuple[Group, PrefixTree]]) -> Iterator[Scored]:
        model, head = self.reader.model, self.reader.head
        batch = {name: value.to(model.device) for name, value in pad([tree for _, tree in some]).items()}
        wanted = {"use_cache": False, "output_hidden_states": head is not None}
        output = model.base_model(**inputs(batch, model.dtype), **wanted)
        for row, (group, tree) in enumerate(some):
            states = output.last_hidden_state[row, : len(tree.ids)]
            log_probs, top, top_ids = self._next(states, tree)
            path = torch.from_numpy(tree.paths()).float()
            values = self.scale * (path @ log_probs) / torch.from_numpy(word_counts(group.texts)).sqrt()
            if head is not None:
                products = self.reader.head_products(output.hidden_states[head.layer][row, : len(tree.ids)]).cpu()
                products[0] = torch.inf  # the token that starts a text is left out, as attention sinks are
                own = ~products.isposinf()
                values = values + path @ products.where(own, 0) / (path @ own.float()).clamp(min=1)
            found = (log_probs.half(), top_ids.int(), top.half())
            yield Scored(group, tree, values.float().numpy(), *(part.numpy() for part in found))

    def _next(self, states: torch.Tensor, tree: PrefixTree) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """log P of each node after its parent, [nodes]; of the likeliest tokens after each, and these, [nodes, k]."""
        logits = self.reader.model.get_output_embeddings()(states).float().cpu()
        total = logits.logsumexp(dim=1)
        parents, ids = torch.from_numpy(tree.parents[1:]), torch.from_numpy(tree.ids[1:])
        log_probs = torch.nn.functional.pad(logits[parents, ids] - total[parents], (1, 0))
        values, indices = logits.topk(self.top)
        return log_probs, values - total[:, None], indices


def token_rows(tokenizer: Any, start: int, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of texts as prose, after the token that starts a text."""
    found = tokenizer([detokenize(text) for text in texts], **NOTHING_SPECIAL)["input_ids"]
    return [[start, *ids] for ids in found]


def score_groups(
    load: Callable[[], Teacher],
    groups: Sequence[Group],
    facts: Mapping[str, Any],
    folder: Path,
    progress: bool = False,
) -> None:
    """Score groups into shards, where it has not been done."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "settings.json"
    if not settings.is_file():
        write_text(settings, json.dumps(facts, indent=2) + "\n")
    elif read_json(settings) != facts:
        raise InputError(f"{folder}: holds scores of another teacher or other texts; choose another folder")
    shards = range(-(-len(groups) // SHARD))
    missing = [number for number in shards if not shard_file(folder, number).is_file()]
    if not missing:
        return
    teacher = load()
    with counting("texts that the teacher reads", len(missing), progress) as done:
        for number in missing:
            wanted = groups[number * SHARD : (number + 1) * SHARD]
            place = {text: place for place, group in enumerate(wanted) for text in group.texts}
            scores = sorted(teacher.score(wanted), key=lambda scored: place[scored.group.texts[0]])
            write_bytes(shard_file(folder, number), _packed(scores))
            done()


def shard_file(folder: Path, number: int) -> Path:
    """The file of a shard."""
    return folder / f"shard-{number:05d}.safetensors"


def read_scores(folder: Path, groups: int) -> Iterator[Scored]:
    """What `score_groups` wrote of the first groups, which fill whole shards."""
    for number in range(-(-groups // SHARD)):
        path = shard_file(folder, number)
        try:
            yield from _unpacked(load_file(path))
        except (SafetensorError, KeyError, ValueError) as error:
            raise InputError(f"{path}: damaged; remove it, and distill.py lets the teacher read it again") from error


_NODES = ("log_probs", "top_ids", "top_log_probs")


def _packed(scores: Sequence[Scored]) -> bytes:
    if not scores:  # all texts were too long
        return save({"texts": np.zeros(0, np.uint8), "sizes": np.zeros((0, 2), np.int32)})
    texts = "\n".join(text for scored in scores for text in scored.group.texts)
    arrays = {
        "texts": np.frombuffer(texts.encode(), np.uint8),
        "sizes": np.array([(len(scored.tree.ids), len(scored.values)) for scored in scores], np.int32),
        "tree": np.concatenate([scored.tree[:4] for scored in scores], axis=1).astype(np.int32),
        "last": np.concatenate([scored.tree.last for scored in scores]).astype(np.int32),
        "values": np.concatenate([scored.values for scored in scores]),
    }
    arrays |= {name: np.concatenate([getattr(scored, name) for scored in scores]) for name in _NODES}
    return save(arrays)


def _unpacked(arrays: Mapping[str, np.ndarray]) -> Iterator[Scored]:
    texts = arrays["texts"].tobytes().decode().split("\n")
    node = text = 0
    for nodes, count in arrays["sizes"].tolist():
        own, read = slice(node, node + nodes), slice(text, text + count)
        tree = PrefixTree(*arrays["tree"][:, own], arrays["last"][read])
        values = [arrays[name][own] for name in _NODES]
        yield Scored(Group(tuple(texts[read])), tree, arrays["values"][read], *values)
        node, text = node + nodes, text + count
