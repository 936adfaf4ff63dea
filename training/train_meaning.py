"""Train the estimator that says whether a correction says what its source says.

    python training/train_meaning.py --m2 mine.m2 --output my-meaning

then `geceval.load("meaning", model="my-meaning")`. Killed and started again with the same arguments, it goes on where
it was. `accelerate launch` or `torchrun` in place of `python` trains on several devices.
"""

from __future__ import annotations

import sys

from recipes import scripts
from recipes.meaning import RECIPE, Job, train_meaning
from recipes.scripts import Script

script = Script(
    "train_meaning",
    __doc__,
    Job,
    RECIPE,
    {
        "m2": "M2 files; sentences of several annotators give fluent rewrites of each other",
        "pairs": "about so many pairs from each file",
        "mined": "files of mine_meaning.py; one given twice counts twice",
        "adapter": "adapter_model.safetensors of a run before, to learn on",
        **(scripts.RECIPE | scripts.POOLING | scripts.HEAD | scripts.ADAPTER),
    },
    train_meaning,
    lambda results: {name: results["test"][name] for name in ("pairs", "accuracy", "calibration_error")},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
