"""What a teacher says of groups of texts: values that are read once and stored in shards of 256 groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from geceval.core.errors import InputError
from geceval.core.files import write_bytes
from geceval.core.options import RunTime
from geceval.core.progress import counting
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import Checkpoint
from geceval.models.prefix_trees import common_prefix, inputs, tree_of
from geceval.models.tokenizers import NOTHING_SPECIAL
from geceval.scorers.learned.likelihoods import word_counts
from geceval.text.tokenisers import detokenise
from recipes.distillation.groups import SHARD, Group

NODES = 1536  # of the trees that are read at once


class PrefixTree(NamedTuple):
    """Token sequences that begin with the same token; right after a node come all that are below it."""

    ids: np.ndarray
    parents: np.ndarray
    depths: np.ndarray
    ends: np.ndarray
    last: np.ndarray

    def paths(self) -> np.ndarray:
        """Which nodes each sequence is made of: bool [sequences, nodes]."""
        last = self.last[:, None]
        return (np.arange(len(self.ids)) <= last) & (last < self.ends)


def prefix_tree(rows: Sequence[Sequence[int]]) -> PrefixTree:
    """The tree of token sequences that all begin with the same token."""
    order = sorted(range(len(rows)), key=rows.__getitem__)
    before = [(), *(rows[index] for index in order)]
    shared = [(index, common_prefix(last, rows[index])) for last, index in zip(before, order, strict=False)]
    tree = tree_of(shared, rows)
    size = len(tree.row["input_ids"])
    plain = {"parents": [0, *range(size - 1)], "position_ids": [*range(size)], "ends": [size] * size}
    row = plain | tree.row
    last = np.zeros(len(rows), np.int64)
    last[tree.texts] = [path[-1] for path in tree.paths]
    return PrefixTree(*(np.array(row[name]) for name in ("input_ids", "parents", "position_ids", "ends")), last)


def pad(trees: Sequence[PrefixTree]) -> dict[str, torch.Tensor]:
    """Trees as a batch for `inputs`, filled up with zeros, each int64 [trees, nodes]."""
    columns = {"input_ids": "ids", "position_ids": "depths", "parents": "parents", "ends": "ends"}
    return {
        name: torch.nn.utils.rnn.pad_sequence([torch.from_numpy(getattr(tree, column)) for tree in trees], True)
        for name, column in columns.items()
    }


class Scored(NamedTuple):
    """A group and the value of each of its texts to the teacher, or to people."""

    group: Group
    values: np.ndarray
    by_people: bool = False


class Teacher:
    """IMPARA-LM's language model, reading trees of texts."""

    def __init__(self, checkpoint: Checkpoint, runtime: RunTime, max_length: int) -> None:
        self.reader = CausalModel.load(checkpoint, runtime)
        self.scale = float(checkpoint.setting("scale", 1.0))
        self.max_length = max_length

    def score(self, groups: Sequence[Group]) -> Iterator[Scored]:
        """q of each text of each group, largest trees first; texts that are too long are left out."""
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
    def _score(self, trees: Sequence[tuple[Group, PrefixTree]]) -> Iterator[Scored]:
        model, head = self.reader.model, self.reader.head
        batch = {name: value.to(model.device) for name, value in pad([tree for _, tree in trees]).items()}
        options = {"use_cache": False, "output_hidden_states": head is not None}
        output = model.base_model(**inputs(batch, model.dtype), **options)
        for row, (group, tree) in enumerate(trees):
            log_probs = self._log_probs(output.last_hidden_state[row, : len(tree.ids)], tree)
            path = torch.from_numpy(tree.paths()).float()
            values = self.scale * (path @ log_probs) / torch.from_numpy(word_counts(group.texts)).sqrt()
            if head is not None:
                products = self.reader.head_products(output.hidden_states[head.layer][row, : len(tree.ids)]).cpu()
                products[0] = torch.inf  # the token that starts a text is left out, as attention sinks are
                usual = ~products.isposinf()
                values = values + path @ products.where(usual, 0) / (path @ usual.float()).clamp(min=1)
            yield Scored(group, values.float().numpy())

    def _log_probs(self, states: torch.Tensor, tree: PrefixTree) -> torch.Tensor:
        """log P of each node after its parent, 0 for the first: [nodes]."""
        logits = self.reader.model.get_output_embeddings()(states).float().cpu()
        parents, ids = torch.from_numpy(tree.parents[1:]), torch.from_numpy(tree.ids[1:])
        return torch.nn.functional.pad(logits[parents, ids] - logits.logsumexp(dim=1)[parents], (1, 0))


def token_rows(tokenizer: Any, start: int, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of texts as prose, after the token that starts a text."""
    rows = tokenizer([detokenise(text) for text in texts], **NOTHING_SPECIAL)["input_ids"]
    return [[start, *ids] for ids in rows]


def score_groups(load: Callable[[], Teacher], groups: Sequence[Group], folder: Path, progress: bool = False) -> None:
    """Write the shards that are missing; a teacher is loaded if there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [number for number in range(-(-len(groups) // SHARD)) if not shard_file(folder, number).is_file()]
    if not missing:
        return
    teacher = load()
    with counting("texts that the teacher reads", len(missing), progress) as done:
        for number in missing:
            shard = groups[number * SHARD : (number + 1) * SHARD]
            place = {text: place for place, group in enumerate(shard) for text in group.texts}
            scores = sorted(teacher.score(shard), key=lambda scored: place[scored.group.texts[0]])
            write_bytes(shard_file(folder, number), _packed(scores))
            done()


def shard_file(folder: Path, number: int) -> Path:
    """The file of a shard."""
    return folder / f"shard-{number:05d}.safetensors"


def read_scores(folder: Path, groups: int) -> Iterator[Scored]:
    """What `score_groups` wrote of so many groups."""
    for number in range(-(-groups // SHARD)):
        path = shard_file(folder, number)
        try:
            yield from _unpacked(load_file(path))
        except (SafetensorError, KeyError, ValueError) as error:
            raise InputError(f"{path}: damaged; remove it, and distill.py lets the teacher read it again") from error


def _packed(scores: Sequence[Scored]) -> bytes:
    texts = "\n".join(text for scored in scores for text in scored.group.texts)
    values = [scored.values for scored in scores] or [np.zeros(0, np.float32)]  # all texts may be too long
    arrays = {
        "texts": np.frombuffer(texts.encode(), np.uint8),
        "sizes": np.array([len(scored.values) for scored in scores], np.int32),
        "values": np.concatenate(values),
    }
    return save(arrays)


def _unpacked(arrays: Mapping[str, np.ndarray]) -> Iterator[Scored]:
    texts = arrays["texts"].tobytes().decode().split("\n")
    start = 0
    for size in arrays["sizes"].tolist():
        yield Scored(Group(tuple(texts[start : start + size])), arrays["values"][start : start + size])
        start += size
