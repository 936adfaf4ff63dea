"""The bundled detectors and the bundled estimator of IMPARA-GED: small, offline, and on the side of corrections."""

import pytest

import geceval
from geceval.edits.ged_labels import LABELS
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector
from geceval.scorers.ged import Ged, Settings
from geceval.scorers.impara_ged import ImparaGed

SOURCES = ["He go to school every days .", "I have two cat and a dog .", "She are happy because the weather are good ."]
CORRECTED = ["He goes to school every day .", "I have two cats and a dog ."]
CORRECTED.append("She is happy because the weather is good .")


@pytest.mark.parametrize(("name", "classes"), [("ged", 2), ("ged_25", 25)])
def test_labels_are_those_of_the_scheme(name, classes):
    assert Detector.load(resolve(f"bundled:{name}")).labels == LABELS[classes]


def test_clear_errors_are_marked_and_their_corrections_are_not():
    for wrong, right in zip(geceval.detect(SOURCES), geceval.detect(CORRECTED), strict=True):
        assert any(word.is_error for word in wrong)
        assert sum(word.error for word in right) < sum(word.error for word in wrong)
    assert {word.label for row in geceval.detect(SOURCES, classes=25) for word in row} & set(LABELS[25][1:])


@pytest.mark.parametrize("scorer", [Ged(Settings(task="sentence")), ImparaGed()])
def test_sentence_scores_prefer_corrections(scorer):
    better, same = scorer.score(SOURCES, CORRECTED), scorer.score(SOURCES, SOURCES)
    assert all(a > b for a, b in zip(better.scores, same.scores, strict=True))
    assert scorer.name != "impara_ged" or min(same.scores) > 0
