"""The lint of cards sees what is wrong."""

import re
from pathlib import Path

import pytest

from geceval.hub.cards import lint_metric_card, read_card

CARD = (Path(__file__).resolve().parents[2] / "metrics" / "impara" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title: IMPARA", "name: IMPARA", "title must be of type str, got None"),
        ("pinned: false", "pinned: maybe", "pinned must be of type bool, got 'maybe'"),
        ("- metric\n", "", "the tag metric is missing"),
        ("colorTo: pink", "colorTo: mauve", "colorTo must be one of red, .*, got 'mauve'"),
        ("short_description: ", "short_description: " + "x" * 60, "longer than 60 characters"),
        ("## Limitations and Bias", "## Limits", "sections must be Metric Description, .*; they are .*Limits"),
    ],
)
def test_each_mistake_is_named(tmp_path, old, new, problem):
    path = tmp_path / "README.md"
    path.write_text(CARD, encoding="utf-8")
    assert lint_metric_card(path) == []
    assert old in CARD
    path.write_text(CARD.replace(old, new, 1), encoding="utf-8")
    (found,) = lint_metric_card(path)
    assert re.search(problem, found)


@pytest.mark.parametrize("text", ["# no front matter\n", "---\n: :\n  - x\n bad\n---\n", "---\n- a list\n---\n"])
def test_unreadable_front_matter(tmp_path, text):
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="front matter"):
        read_card(path)


def test_headings_in_code_are_no_sections(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("---\ntitle: x\n---\n## One\n```\n## not one\n```\n## Two\n", encoding="utf-8")
    assert read_card(path).sections == ["One", "Two"]
