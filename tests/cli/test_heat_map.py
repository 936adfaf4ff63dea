"""The heat map of difficulty."""

import re
from html import unescape

import pytest

from geceval.cli.pages import heat_map_page
from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import cut
from geceval.scorers.difficulty.chunk_difficulty import Difficulty, ReferenceDifficulty

GOLD = cut("He like cat .", [Edit(1, 2, "likes", "R:VERB:SVA"), Edit(2, 2, "the", "M:DET")])
DIFFICULTY = Difficulty(3, [[3, 3, 3, 2, 0, 1, 3, 3, 2]])
PIECE = re.compile(r'<span class="([^"]*)" style="--x:([^"]*)" tabindex="0" data-tip="([^"]*)">([^<]*)</span>')


def heat_map(gold, difficulty, **options) -> str:
    return heat_map_page(ReferenceDifficulty(gold, difficulty), **options)


def pieces(page: str) -> list[list[tuple[str, str, float, str]]]:
    """The coloured pieces of each sentence: (classes, text, share of systems that are wrong, mouse-over text)."""
    rows = [PIECE.findall(row) for row in re.findall(r'<li dir="auto">(.*?)</li>', page)]
    return [[(kind, unescape(text), float(shade), unescape(tip)) for kind, shade, tip, text in row] for row in rows]


def test_edits_are_red_false_alarms_blue_and_the_rest_is_plain():
    """The class `e` is red, `a` is blue; `b`, of weight .7 and more, is bold; `i` is a place between words."""
    page = heat_map([GOLD], DIFFICULTY)
    assert pieces(page) == [
        [
            ("e", "like", 0.333, "R:VERB:SVA: like → likes · weight 0.33 · 2 of 3 systems right"),
            ("e i b", "", 1.0, "M:DET: ∅ → the · weight 1.00 · 0 of 3 systems right"),
            ("a", "cat", 0.667, "keep: cat · weight 0.67 · 2 of 3 systems wrong"),
            ("a i", "", 0.333, "insert nothing here · weight 0.33 · 1 of 3 systems wrong"),
        ]
    ]
    (sentence,) = re.findall(r'<li dir="auto">(.*?)</li>', page)
    assert re.sub(r"<[^>]*>", "", sentence).split() == ["He", "like", "cat", "."]


def test_text_of_learners_cannot_become_markup(read_page):
    nasty = "<script>alert(1)</script>"
    gold = cut(f"{nasty} & \"x\" 'y'", [Edit(0, 1, "\"><b onmouseover='f()'>", "R:<i>"), Edit(3, 4, "it's")])
    text = heat_map([gold], Difficulty(1, [[0] * len(gold)]), title="<img src=x>")
    page = read_page(text)
    assert {tag for tag, _ in page.tags} & {"script", "b", "i", "img"} == set()
    assert nasty in page.text
    assert pieces(text)[0][1][3].startswith(f"R:<i>: {nasty} → \"><b onmouseover='f()'> · ")


@pytest.mark.parametrize("systems", [1, 2, 101])
def test_any_number_of_systems_has_a_shade(systems):
    """That of an edit which every system gets right is .1, so that it is still shown."""
    counts = [[count] * 3 for count in range(systems + 1)]
    page = heat_map([cut("a", [Edit(0, 1, "b")])] * (systems + 1), Difficulty(systems, counts))
    shades = [[shade for classes, _, shade, _ in row if "e" in classes][-1] for row in pieces(page)]
    assert shades == pytest.approx([max(1 - count / systems, 0.1) for count in range(systems + 1)], abs=5e-4)
