"""The files of a finished training run."""

from __future__ import annotations

import pytest

from geceval.learning.runs import keep_results, read_results


def test_a_run_that_cannot_be_finished_does_not_count_as_finished(tmp_path):
    (tmp_path / "README.md").mkdir()
    with pytest.raises(IsADirectoryError):
        keep_results(tmp_path, {"seed": 1}, "card")
    assert not (tmp_path / "results.json").exists()
    (tmp_path / "README.md").rmdir()
    keep_results(tmp_path, {"seed": 1}, "card")
    assert read_results(tmp_path) == {"seed": 1} and (tmp_path / "README.md").read_text() == "card"
