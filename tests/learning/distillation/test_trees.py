"""Trees of prefixes, and what a causal model says of them."""

import numpy as np
import torch
import transformers

from geceval.learning.distillation.trees import pad, prefix_tree
from geceval.models.prefix_trees import inputs


def test_what_sequences_begin_with_alike_is_one_path():
    tree = prefix_tree([[9, 1, 3, 2], [9, 1, 2], [9, 1]])
    assert tree.ids.tolist() == [9, 1, 2, 3, 2]
    assert tree.parents.tolist() == [0, 0, 1, 1, 3]
    assert tree.depths.tolist() == [0, 1, 2, 2, 3]
    assert tree.last.tolist() == [4, 2, 1]
    assert [np.flatnonzero(path).tolist() for path in tree.paths()] == [[0, 1, 3, 4], [0, 1, 2], [0, 1]]


def test_a_tree_without_branches():
    tree = prefix_tree([[9, 1], [9, 1, 2], [9, 1]])
    assert [row.tolist() for row in tree] == [[9, 1, 2], [0, 0, 1], [0, 1, 2], [3, 3, 3], [1, 2, 1]]


def test_a_model_says_of_a_node_what_it_says_of_the_path(merged):
    model = transformers.AutoModelForCausalLM.from_pretrained(merged).eval()
    rows = [[[0, 5, 6, 7], [0, 5, 6, 8, 9], [0, 4]], [[0, 7], [0, 8]]]
    trees = [prefix_tree(some) for some in rows]
    with torch.no_grad():
        found = model(**inputs(pad(trees), torch.float32)).logits
        for some, tree, logits in zip(rows, trees, found, strict=True):
            for row, last in zip(some, tree.last, strict=True):
                expected = model(input_ids=torch.tensor([row])).logits[0, -1]
                torch.testing.assert_close(logits[last], expected, atol=1e-5, rtol=1e-5)
