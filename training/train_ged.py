"""Train an error detector (GED): a token classifier over the labels of ERRANT edits.

    python training/train_ged.py --m2 mine.m2 --output my-ged
    python training/train_ged.py --train-m2 fce.train.m2 --dev-m2 fce.dev.m2 --test-m2 fce.test.m2 --classes 4 \\
        --init-from google/electra-base-discriminator --output my-ged

The defaults are the recipe of the published detectors: learning rate 3e-5 falling to 0, 32 sentences a step, 5 epochs
of which the best F0.5 on the dev fold is kept. Killed and started again with the same arguments, it goes on where it
was. `accelerate launch` or `torchrun` in place of `python` trains on several devices.
"""

from __future__ import annotations

import sys

from recipes import scripts
from recipes.ged import RECIPE, Job, train_ged
from recipes.scripts import Script

script = Script(
    "train_ged",
    __doc__,
    Job,
    RECIPE,
    {
        "m2": "M2 files to divide 8:1:1 by source",
        "train_m2": "M2 files to learn from as a whole",
        "dev_m2": "M2 files that choose the epoch",
        "test_m2": "M2 files for the final look",
        "classes": "label scheme",
        "final_insertion": "of labels: 'lost' as published",
        "partial": "share of sentences learnt again with some edits made",
        "error_weight": "weight of a token in an error in the loss",
        "limit": "at most so many training sentences",
        **(scripts.RECIPE | scripts.HEAD | scripts.ADAPTER),
    },
    train_ged,
    lambda results: {"seed": results["seed"], "test": {name: test["f"] for name, test in results["test"].items()}},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
