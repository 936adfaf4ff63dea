"""Distil IMPARA-LM: a small language model learns from a large one's scores of corrected and corrupted sentences.

    python training/distill.py --m2 mine.m2 --output my-student
    python training/distill.py --m2 mine.m2 --sentences news.txt --init-from my-impara-lm --layers 12 --output mine

Killed and started again with the same arguments, it goes on where it was. `accelerate launch` or `torchrun` in place of
`python` trains on several devices, `--batch-size` groups of texts on each.
"""

from __future__ import annotations

import sys

from recipes import scripts
from recipes.distillation.run import RECIPE, Job, distill
from recipes.scripts import Script

script = Script(
    "distill",
    __doc__,
    Job,
    RECIPE,
    {
        "m2": "M2 files: sources, corrections, and the errors that people make",
        "sentences": "files with a tokenised sentence a line; errors are added",
        "texts": "distinct texts that the teacher scores; as many more as fill 256 groups",
        "errors": "texts of each group with errors of other sentences",
        "held": "groups that are kept apart to measure agreement with the teacher",
        "layers": "layers of the teacher that the student has, the first ones",
        "vocabulary": "tokens of the teacher that the student has, the most frequent ones",
        "ratings": "TMU-GFM-Dataset; its rated outputs then help to choose evaluation and seed",
        **scripts.RECIPE,
        "base": "the teacher: 'smollm2-impara', a folder or a Hub id of an IMPARA-LM",
        "batch_size": "groups of texts a step and process",
        "max_length": "tokens beyond which a text is left out",
    },
    distill,
    lambda results: {name: results[name] for name in ("seed", "data")},
)
parser, main = script.parser, script.main

if __name__ == "__main__":
    sys.exit(main())
