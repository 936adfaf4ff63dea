import numpy as np
import pytest

from calibrate_threshold import calibrate


def on_circle(texts):
    """The vector of a text is the direction of its angle in degrees."""
    angles = np.radians([float(text.split()[0]) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_above_all_different_sentences_where_corrections_pass_there():
    # The most similar of the different ones are 30 degrees apart, cos = 0.8660; corrections are 10 degrees off, 0.9848.
    found = calibrate(["0", "30", "90", "30"], [("0", "10"), ("5", "15"), ("7", "7"), ("3 x x", "90")], on_circle)
    assert (found.rule, found.threshold) == ("different", 0.867)
    assert (found.different_sentences, found.different_above) == (3, 0.0)
    assert found.highest_different == pytest.approx(np.sqrt(3) / 2)
    assert (found.corrections, found.corrections_kept, found.kept_at_highest) == (2, 1.0, 1.0)


def test_else_the_value_that_keeps_995_of_1000_corrections():
    # Corrections 0.01 ... 10 degrees off; five of 1,000 may fail, so the bound lies at the sixth largest angle, 9.95,
    # cos 0.984958, and must itself pass. Different sentences 1 degree apart allow no threshold above them.
    corrections = [("0", str(k / 100)) for k in range(1, 1001)]
    found = calibrate(["0", "1", "50"], corrections, on_circle)
    assert (found.rule, found.threshold) == ("corrections", 0.984)
    assert found.corrections_kept >= 0.995
    assert found.kept_at_highest == pytest.approx(0.099)  # angles below 1 degree: 99 of 1,000
    assert found.different_above == pytest.approx(1 / 3)


@pytest.mark.parametrize(("different", "corrections"), [(["0", "0"], [("0", "1")]), (["0", "9"], [("1", "1")])])
def test_without_material_there_is_no_threshold(different, corrections):
    with pytest.raises(ValueError, match="at least two different sentences and one genuine correction"):
        calibrate(different, corrections, on_circle)
