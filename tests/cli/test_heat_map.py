"""The heat map of difficulty."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from geceval.cli.pages import heat_map_page
from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import cut, cut_annotations
from geceval.edits.m2 import read_m2
from geceval.scorers.difficulty.chunk_difficulty import Difficulty, count_correct
from geceval.scorers.difficulty.difficulty_tables import ReferenceDifficulty

GOLD = cut("He like cat .", [Edit(1, 2, "likes", "R:VERB:SVA"), Edit(2, 2, "the", "M:DET")])
DIFFICULTY = Difficulty(3, [[3, 3, 3, 2, 0, 1, 3, 3, 2]])


def heat_map(gold, difficulty, **options) -> str:
    return heat_map_page(ReferenceDifficulty(gold, difficulty), **options)


Piece = tuple[str, str, float, str]


class Page(HTMLParser):
    """The coloured pieces of each sentence: (colour, text, share of systems that are wrong, mouse-over text)."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sentences: list[list[Piece]] = []
        self.texts: list[str] = []
        self.bold: list[str] = []
        self.tags: list[str] = []
        self.open: dict[str, str] | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        fields = dict(attrs)
        self.tags.append(tag)
        if tag == "li":
            self.sentences.append([])
            self.texts.append("")
        if tag == "span" and self.sentences:
            self.open = fields
            self.piece = ""

    def handle_data(self, data):
        if self.sentences:
            self.texts[-1] += data
        if self.open is not None:
            self.piece += data

    def handle_endtag(self, tag):
        if tag == "span" and self.open is not None:
            classes = self.open["class"].split()
            shade = float(self.open["style"].removeprefix("--x:"))
            colour = "red" if "e" in classes else "blue"
            self.sentences[-1].append((colour, self.piece, shade, self.open["data-tip"]))
            if "b" in classes:
                self.bold.append(self.piece)
            self.open = None


def test_edits_are_red_false_alarms_blue_and_the_rest_is_plain():
    page = Page(heat_map([GOLD], DIFFICULTY))
    assert page.sentences == [
        [
            ("red", "like", 0.333, "R:VERB:SVA: like → likes · weight 0.33 · 2 of 3 systems right"),
            ("red", "", 1.0, "M:DET: ∅ → the · weight 1.00 · 0 of 3 systems right"),
            ("blue", "cat", 0.667, "keep: cat · weight 0.67 · 2 of 3 systems wrong"),
            ("blue", "", 0.333, "insert nothing here · weight 0.33 · 1 of 3 systems wrong"),
        ]
    ]
    assert page.texts[0].split() == ["He", "like", "cat", "."]
    assert page.bold == [""]  # weight .7 and more


def test_an_edit_that_every_system_gets_right_is_still_shown():
    page = Page(heat_map([GOLD], Difficulty(2, [[2] * 9])))
    assert [piece[:3] for piece in page.sentences[0]] == [("red", "like", 0.1), ("red", "", 0.1)]


def test_text_of_learners_cannot_become_markup():
    nasty = "<script>alert(1)</script>"
    gold = cut(f"{nasty} & \"x\" 'y'", [Edit(0, 1, "\"><b onmouseover='f()'>", "R:<i>"), Edit(3, 4, "it's")])
    text = heat_map([gold], Difficulty(1, [[0] * len(gold)]), title="<img src=x>")
    page = Page(text)
    assert set(page.tags) & {"script", "b", "i", "img"} == set()
    assert nasty in page.texts[0]
    assert page.sentences[0][1][3].startswith(f"R:<i>: {nasty} → \"><b onmouseover='f()'> · ")
    assert "<img" not in text


@pytest.mark.parametrize("systems", [1, 101])
def test_any_number_of_systems_has_a_shade(systems):
    counts = [[count] * 3 for count in range(systems + 1)]
    page = Page(heat_map([cut("a", [Edit(0, 1, "b")])] * (systems + 1), Difficulty(systems, counts)))
    shades = [[shade for colour, _, shade, _ in row if colour == "red"][-1] for row in page.sentences]
    assert shades == pytest.approx([max(1 - count / systems, 0.1) for count in range(systems + 1)], abs=5e-4)


def test_difficulty_of_another_reference_is_refused():
    with pytest.raises(ValueError, match="2 counts, but the reference of sentence 1 has 9 chunks"):
        heat_map([GOLD], Difficulty(3, [[3, 3]]))


def authors_pieces(page: str) -> list[list[tuple[str, str, int, str, str]]]:
    """(colour, text, percent, type, correction) of the authors' page, by sentence."""
    pattern = (
        r'<span class="(red|blue)w(\d+)" onmouseover="f\(\'\[error type\]: (.*?), \[correct\]: (.*?), '
        r'\[weight\]: .*?\'\)">(.*?)</span>'
    )
    rows = re.findall(r"<p>(?!<)(.*?)</p>|<p>(<span.*?)</p>", page)
    return [
        [
            (colour, text.strip(), int(percent), kind, gold)
            for colour, percent, kind, gold, text in re.findall(pattern, a + b)
        ]
        for a, b in rows
    ]


def our_pieces(page: str) -> list[list[tuple[str, str, int, str, str]]]:
    rows = []
    for sentence in Page(page).sentences:
        row = []
        for colour, text, shade, tip in sentence:
            percent = round(100 * shade) if shade > 0.1 else 0
            kind, gold = "", text or "φ"
            if colour == "red":
                kind, gold = re.fullmatch(r"(\S+): .* → (.*) · weight .* · .*", tip).groups()
            row.append((colour, text, percent, kind, gold.replace("∅", "φ")))
        rows.append(row)
    return rows


def test_the_same_pieces_have_the_same_colours_as_on_the_authors_page(shared_data):
    demo = shared_data / "gotoscorer" / "demo"
    gold = [row[0] for row in cut_annotations(read_m2(demo / "ref.m2"), 0)]
    hypotheses = read_m2(demo / "hyp.m2")
    difficulty = count_correct(gold, [[row[0] for row in cut_annotations(hypotheses, k)] for k in range(3)])
    theirs = authors_pieces((demo / "heat_map.html").read_text())
    assert [len(row) for row in theirs] == [6, 3]
    assert our_pieces(heat_map(gold, difficulty)) == theirs
