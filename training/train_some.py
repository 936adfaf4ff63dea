"""Train the three regressors of SOME on human ratings of corrections.

    python training/train_some.py --ratings tmu-gfm-dataset.csv --init-from bert-base-cased --output my-some

They learn grammaticality, fluency and meaning one after the other, and end in one folder for
`geceval.load("some", model="my-some")`. Killed and started again with the same arguments, it goes on where it was.
`accelerate launch` or `torchrun` in place of `python` trains on several devices.
"""

from __future__ import annotations

import sys

from recipes import scripts
from recipes.scripts import Script
from recipes.some import RECIPE, Job, train_some

script = Script(
    "train_some",
    __doc__,
    Job,
    RECIPE,
    {
        "ratings": "TMU-GFM-Dataset",
        "meaning_base": "start of the meaning regressor; by default that of all",
        "dev": "outputs in the dev fold",
        "test": "outputs in the test fold",
        "head_layer": "learn heads alone, over so many layers of a causal model that stays as it is",
        **(scripts.RECIPE | scripts.POOLING | scripts.HEAD | scripts.ADAPTER),
    },
    train_some,
    lambda results: {name: part["test"] for name, part in results["parts"].items()},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
