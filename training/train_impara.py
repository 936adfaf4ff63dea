"""Train the quality estimator of IMPARA from parallel text.

    python training/train_impara.py --m2 mine.m2 --output my-impara
    python training/train_impara.py --parallel mine.src mine.trg --init-from bert-base-cased --output my-impara

The defaults are the paper's recipe: 4,096 ranked pairs from each corpus, learning rate 1e-5, 32 pairs a step, at most
10 epochs of which the best on the dev fold is kept. Killed and started again with the same arguments, it goes on where
it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices, `--batch-size` on each.
"""

from __future__ import annotations

import sys

from geceval.learning.impara import Job, train_impara
from geceval.learning.recipe import Recipe
from recipes.scripts import ADAPTER, HEAD, PAIRS, POOLING, RECIPE, Script

script = Script(
    "train_impara",
    __doc__,
    Job,
    Recipe(),
    {
        **PAIRS,
        "parallel_only": "the paper's ablation: source against full correction",
        "threshold": "of the similarity estimator, written into the checkpoint",
        "log_odds": "scale the logit so that differences are log-odds on the dev fold",
        **(RECIPE | POOLING | HEAD | ADAPTER),
    },
    train_impara,
    lambda results: {"seed": results["seed"], "test": results["test"]},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
