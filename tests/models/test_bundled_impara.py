"""The IMPARA adapter that ships with geceval: what its files say, and that it is the network they describe."""

import numpy as np

from geceval.models.checkpoints import ASSETS, resolve
from geceval.models.encoder import Encoder
from geceval.scorers.impara import Impara

FOLDER = ASSETS / "impara"

WORSE_AND_BETTER = [
    ("He have been lived here since three year .", "He has lived here for three years ."),
    ("I am agree with this opinions .", "I agree with this opinion ."),
    ("The informations is very useful to the student .", "The information is very useful to the students ."),
    ("She suggested me to going there by feet .", "She suggested that I go there on foot ."),
    ("In my opinion , peoples should to eat more vegetable .", "In my opinion , people should eat more vegetables ."),
    ("Yesterday we go to see film what was very bored .", "Yesterday we went to see a film that was very boring ."),
    ("There is many reason why the childs do not reads .", "There are many reasons why the children do not read ."),
    ("It depend of how many money you has .", "It depends on how much money you have ."),
]


def test_it_is_a_small_adapter_over_the_bundled_encoder():
    checkpoint = resolve("bundled", bundled="impara")
    assert checkpoint.base.folder == ASSETS / "encoder"
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000
    assert {path.name for path in FOLDER.iterdir()} == {
        *("README.md", "adapter_config.json", "adapter_model.safetensors", "config.json", "results.json")
    }


def test_it_prefers_plainly_better_sentences():
    logits = Encoder.load(resolve("bundled", bundled="impara"), head=True).logits(
        [text for pair in WORSE_AND_BETTER for text in pair]
    )
    margins = np.diff(logits.reshape(-1, 2), axis=1)
    assert (margins > 0).all(), margins


def test_a_different_sentence_counts_nothing():
    result = Impara().score(["This are a sentence ."] * 2, ["This is a sentence .", "Dogs like meat ."])
    assert result.scores[0] > 0
    assert result.scores[1] == 0
    assert result.details["zeroed"] == 1
