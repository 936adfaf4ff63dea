"""What a student learns at each node of its tree, from what the teacher says at nodes of another tokenisation.

Student and teacher have byte-level vocabularies, the student's a part of the teacher's. Where a prefix of a text ends
at a token for both, the teacher's distribution holds for the student, too: the probability of a token that the student
lacks goes to the first piece of it. Between the pieces of such a token, the text itself is what is learnt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from geceval.learning.distillation.teacher import Scored
from geceval.learning.distillation.trees import PrefixTree

BRANCHES = 4
"""Children of a node whose probabilities are targets though they are not among the likeliest."""


class Translation:
    """From the teacher's tokens to the student's."""

    def __init__(self, teacher: Any, student: Any) -> None:
        model = student.backend_tokenizer.model
        names = teacher.convert_ids_to_tokens(range(len(teacher)))
        special = set(teacher.all_special_ids) | set(teacher.added_tokens_decoder)
        known = student.get_vocab()
        self.lengths = _byte_lengths(teacher, len(teacher))
        self.own_lengths = _byte_lengths(student, len(student))
        pieces = [[] if number in special else model.tokenize(name) for number, name in enumerate(names)]
        self.first = np.array(  # a special token that the student lacks, which no text holds, counts as token 0
            [found[0].id if found else known.get(name, 0) for found, name in zip(pieces, names, strict=True)]
        )

    def targets(self, scored: Scored, tree: PrefixTree) -> tuple[np.ndarray, np.ndarray]:
        """Next tokens and their probabilities at each node with children of the student's tree of the same texts."""
        match = self._matching(scored.tree, tree)
        ids, probabilities = _next_tokens(scored)
        ids, probabilities = self.first[ids[match]], probabilities[match]
        same = ids[:, :, None] == ids[:, None, :]
        repeated = np.tril(same & (probabilities > 0)[:, None, :], -1).any(axis=2)
        merged = np.where(repeated | (probabilities == 0), 0, (same * probabilities[:, None, :]).sum(axis=2))
        children: list[list[int]] = [[] for _ in tree.ids]
        for node, parent in enumerate(tree.parents[1:].tolist(), 1):
            children[parent].append(int(tree.ids[node]))
        for node in np.flatnonzero(match < 0):
            found = children[node][: ids.shape[1]]
            merged[node] = 0
            ids[node, : len(found)], merged[node, : len(found)] = found, 1 / max(1, len(found))
        inner = [node for node, found in enumerate(children) if found]
        return ids[inner].astype(np.int32), merged[inner].astype(np.float16)

    def _matching(self, theirs: PrefixTree, own: PrefixTree) -> np.ndarray:
        """The teacher's node for each of the student's, -1 where a path goes on in a way the teacher's does not."""
        match = np.full(len(own.ids), -1)
        bad = np.zeros(len(own.ids), bool)
        for their_end, own_end in zip(theirs.last.tolist(), own.last.tolist(), strict=True):
            their_path, own_path = _path(theirs, their_end), _path(own, own_end)
            at = dict(zip(np.cumsum(self.lengths[theirs.ids[their_path]]).tolist(), their_path, strict=True))
            next_of = dict(zip(their_path, [*their_path[1:], -1], strict=True))
            offsets = np.cumsum(self.own_lengths[own.ids[own_path]]).tolist()
            for node, following, offset in zip(own_path, [*own_path[1:], -1], offsets, strict=True):
                found = at.get(offset, -1)
                match[node] = found
                if found < 0 or (following >= 0 and self.first[theirs.ids[next_of[found]]] != own.ids[following]):
                    bad[node] = True
        match[bad] = -1
        return match


def _next_tokens(scored: Scored) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest tokens and the children of each node, none twice, with probabilities: [nodes, k + BRANCHES]."""
    nodes, count = scored.top_ids.shape
    ids = np.zeros((nodes, count + BRANCHES), np.int64)
    found = np.zeros(ids.shape, np.float32)
    ids[:, :count], found[:, :count] = scored.top_ids, np.exp(scored.top_log_probs.astype(np.float32))
    filled = np.full(nodes, count)
    for node, parent in enumerate(scored.tree.parents[1:].tolist(), 1):
        token, column = scored.tree.ids[node], filled[parent]
        if column < ids.shape[1] and token not in scored.top_ids[parent]:
            ids[parent, column], found[parent, column] = token, np.exp(np.float32(scored.log_probs[node]))
            filled[parent] += 1
    return ids, found


def _path(tree: PrefixTree, node: int) -> list[int]:
    """The nodes from the root to a node."""
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parents[path[-1]]))
    return path[::-1]


def _byte_lengths(tokenizer: Any, size: int) -> np.ndarray:
    """How many bytes each token stands for; none for special tokens."""
    special = set(tokenizer.added_tokens_decoder)
    names = tokenizer.convert_ids_to_tokens(range(size))
    return np.array([0 if number in special else len(name) for number, name in enumerate(names)])
