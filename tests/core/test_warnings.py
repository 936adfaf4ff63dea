"""Warnings name their metric, and come once for all systems."""

import logging

import pytest

from geceval.core.inputs import Columns
from geceval.core.warnings import first_on_line, gathered, once, scoring

logger = logging.getLogger("geceval")
COLUMNS = Columns(["a b", "c  d", "e"], ["a", "c D", "e"], [["x"], ["y"], ["z", "q"]])


def test_the_metric_comes_first_and_only_once(caplog):
    logger.warning("%d cut", 1)
    with scoring("impara", COLUMNS):
        logger.warning("%d cut", 2)
        logger.warning("%s: %d cut", "impara", 3)
    logger.warning("%d cut", 4)
    assert caplog.messages == ["1 cut", "impara: 2 cut", "impara: 3 cut", "4 cut"]


def test_one_warning_of_a_kind_names_the_systems(caplog):
    with gathered() as begin:
        for system in ("strong", "weak", "odd"):
            begin(system)
            with scoring("impara", COLUMNS):
                if system != "odd":
                    logger.warning("%d cut", {"strong": 3, "weak": 2}[system])
                logger.warning("%d empty", 1)
                if system == "odd":
                    logger.warning("odd")
                    logger.warning("odd")
            assert caplog.messages == []
    assert caplog.messages == ["impara: 3 cut (strong; the like for weak)", "impara: 1 empty", "impara: odd (odd)"]


def test_what_is_wrong_with_a_file_concerns_no_system(caplog):
    with once(set()), gathered() as begin:
        for system in ("strong", "weak"):
            begin(system)
            with scoring("m2", COLUMNS):
                for name in ("gold.m2", "own.m2"):
                    logger.warning("%s: %s", name, "overlaps", extra={"of_file": True})
    assert caplog.messages == ["m2: gold.m2: overlaps", "m2: own.m2: overlaps"]


def test_what_was_gathered_is_said_where_scoring_fails(caplog):
    with pytest.raises(ValueError, match="broken"), gathered() as begin:
        begin("strong")
        logger.warning("cut")
        raise ValueError("broken")
    assert caplog.messages == ["cut"]


def test_what_has_been_said_is_not_said_again(caplog):
    given = set()
    for metric in ("gleu", "green"):
        with once(given), gathered() as begin:
            begin("strong")
            logger.warning("%s: not aligned", metric)
            with scoring(metric, COLUMNS):
                logger.warning("cut")
    assert caplog.messages == ["gleu: not aligned", "gleu: cut", "green: cut"]


def test_lines_count_from_one():
    assert first_on_line("a") == ""
    with scoring("some", COLUMNS):
        found = {text: first_on_line(text) for text in ("a b", "c d", ("c d", "c D"), ("a b", "c D"), "q")}
    lines = {"a b": 1, "c d": 2, ("c d", "c D"): 2, "q": 3}
    assert found == {("a b", "c D"): "", **{text: f", first on line {line}" for text, line in lines.items()}}
