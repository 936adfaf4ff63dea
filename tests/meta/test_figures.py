"""Figures say what they are given: texts, positions and colours are read from the axes, files by their first bytes."""

import re
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from geceval.core.errors import install_command
from geceval.meta import figures
from geceval.meta.agreement import Agreement
from geceval.meta.correlation import Correlation
from geceval.meta.pair_maps import PairMap

SYSTEMS = ["A", "B", "C"]
HUMANS = {"ew": {"A": 0.1, "B": 0.2, "C": 0.4}, "ts": {"A": 3.0, "B": 2.0, "C": 1.0}}
METRICS = {"m": dict.fromkeys(HUMANS, {"A": 1.0, "B": 2.0, "C": 4.0})}


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_scatter_numbers_the_systems_and_names_the_correlations():
    figure = figures.scatter(METRICS, HUMANS, SYSTEMS)
    left, right = figure.axes
    assert texts(left) == ["1", "2", "3"]
    assert left.texts[2].xy == (0.4, 4.0)
    assert left.get_title() == "r = +1.000   ρ = +1.000"
    assert right.get_title() == "r = −.982   ρ = −1.000"  # of (1, 2, 4) and (3, 2, 1)
    assert (right.get_xlabel(), right.get_ylabel()) == ("human: ts", "m")
    assert figure.texts[0].get_text() == " 1  A\n 2  B\n 3  C"


def test_more_metrics_than_rankings_lie_side_by_side():
    figure = figures.scatter({name: METRICS["m"] for name in "mno"}, HUMANS, SYSTEMS)
    assert [axes.get_ylabel() for axes in figure.axes] == ["m", "n", "o"] * 2


def test_curves():
    runs = {"m": {"ew": [Correlation(0.5, 1.0), Correlation(-0.25, 0.0)]}, "n": {"ew": [Correlation(0, 0)] * 2}}
    figure = figures.curves(runs, [3, 2], "K best systems", falling=True)
    above, below = figure.axes
    assert above.lines[0].get_ydata().tolist() == [0.5, -0.25]
    assert below.lines[0].get_ydata().tolist() == [1.0, 0.0]
    first, second = above.lines[:2]
    assert first.get_linestyle() != second.get_linestyle() and first.get_marker() != second.get_marker()
    assert below.xaxis_inverted() and below.get_xlabel() == "K best systems"
    assert [text.get_text() for text in figure.legends[0].texts] == ["m", "n"]


def heat_map(*cells: tuple[int, int, int, int]) -> PairMap:
    agree, pairs = np.zeros((2, 3, 3), dtype=int)
    for a, b, right, count in cells:
        agree[a - 1, b - 1], pairs[a - 1, b - 1] = right, count
    return PairMap(agree, pairs)


def test_two_heat_maps_and_their_difference():
    first, second = heat_map((1, 2, 3, 4), (2, 3, 0, 1)), heat_map((1, 2, 1, 4), (1, 3, 1, 1))
    figure = figures.pair_maps({"m": {"all": first}, "n": {"all": second}}, "metric")
    left, middle, right = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["m: Kendall's τ", "n: Kendall's τ", "m − n"]
    assert texts(left) == [".50", "−1.00"]
    assert texts(middle) == ["−.50", "1.00"]
    assert texts(right) == ["+1.00"]  # only one cell has pairs in both
    assert left.images[0].get_clim() == middle.images[0].get_clim() == (-1.0, 1.0)
    assert [label.get_text() for label in left.get_xticklabels()] == ["2", "3"]
    assert (left.get_xlabel(), left.get_ylabel()) == ("worse metric rank", "better metric rank")


def test_a_row_a_metric_and_a_column_a_set_of_judgments():
    cells = {"sent": heat_map((1, 2, 3, 4)), "edit": heat_map((1, 2, 1, 4))}
    figure = figures.pair_maps({"m": cells}, "human")
    assert [axes.get_title() for axes in figure.axes] == ["m, sent: Kendall's τ", "m, edit: Kendall's τ"]
    assert len(figures.pair_maps({"m": cells, "n": cells}, "human").axes) == 6


def test_agreements_show_accuracy_and_ties():
    table = {"m": {"all": Agreement(0.75, 0.5, 8, 0.125)}, "n": {"all": Agreement(0.25, -0.5, 8, 0.5)}}
    (axes,) = figures.agreements(table).axes
    assert [bar.get_width() for bar in axes.patches] == [0.75, 0.25]
    assert texts(axes) == [".750", ".250"]
    assert axes.lines[0].get_xdata().tolist() == [0.125, 0.5]
    (axes,) = figures.agreements({"m": {"all": Agreement(float("nan"), -0.5, 8, 0.5)}}).axes
    assert (axes.get_xlabel(), axes.patches[0].get_width()) == ("Kendall's τ", -0.5)


@dataclass
class Row:
    type: str
    mean: float
    sd: float
    frequency: int


def test_difficulty():
    (axes,) = figures.difficulty([Row("PUNCT", 0.9, 0.05, 1234), Row("SPELL", 0.2, 0.3, 7)]).axes
    assert [bar.get_width() for bar in axes.patches] == [0.9, 0.2]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["PUNCT", "SPELL"]
    assert texts(axes) == ["1,234", "7", "edits"]
    assert axes.yaxis_inverted()


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_files_are_what_their_names_say_and_always_the_same(tmp_path, suffix, start):
    path = tmp_path / f"figure.{suffix}"
    figures.save(figures.difficulty([Row("PUNCT", 0.9, 0.05, 3)]), path)
    content = path.read_bytes()
    assert content.startswith(start)
    figures.save(figures.difficulty([Row("PUNCT", 0.9, 0.05, 3)]), path)
    assert path.read_bytes() == content


def test_other_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="figures are written to .png, .svg, .pdf"):
        figures.save(figures.difficulty([Row("PUNCT", 0.9, 0.05, 3)]), tmp_path / "figure.jpg")


def test_without_matplotlib_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=re.escape(install_command("plots"))):
        figures.check_suffix(tmp_path / "figure.png")
    with pytest.raises(ImportError, match="matplotlib"):
        figures.difficulty([Row("PUNCT", 0.9, 0.05, 3)])


def test_error_types_are_cells_with_numbers_and_what_is_to_be_found():
    figure = figures.error_types({"one": [0.25, np.nan], "two": [1.0, 0.5]}, {"DET": 1200, "SVA": 3}, "type: f")
    (axes,) = figure.axes
    assert texts(axes) == [".25", "1.00", ".50", "to find", "1,200", "3"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["one", "two"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["DET", "SVA"]
    assert axes.get_xlabel() == "type: f"
    assert axes.images[0].get_array().tolist()[0] == [0.25, 1.0]
    with pytest.raises(ValueError, match="no edit, no error type"):
        figures.error_types({"one": []}, {}, "type: f")
