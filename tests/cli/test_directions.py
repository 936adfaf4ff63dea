"""Scripts from right to left, wide letters, combining marks and joined emoji in tables and pages."""

from geceval.cli.pages import chunk_table, span_text
from geceval.cli.tables import table_text
from geceval.edits.edit import Edit
from geceval.workflows.chunks import chunk_tables

ARABIC = "ذهب الأولاد الى المدرسة"


def test_cells_from_right_to_left_stay_in_their_columns():
    """By Unicode's bidirectional algorithm, FSI and PDI keep a cell's direction to itself, LRM begins the line."""
    assert table_text(["source", "n", "correction"], [[f"{ARABIC} .", 1, "هو"], ["a b", 2, "c"]]).splitlines()[2:] == [
        f"\u200e \u2068{ARABIC} .\u2069   1   \u2068هو\u2069",
        " a b                         2   c",
    ]


def test_columns_are_as_wide_as_their_letters_are_shown():
    """Four full-width letters take eight columns, a base with its marks one, a family of emoji two."""
    rows = [["ＡＢＣＤ", 1], ["e\u0301e\u0301", 2], ["👩\u200d👩\u200d👧", 3]]
    lines = table_text(["text", "n"], rows, width=10).splitlines()[2:]
    assert lines == [" ＡＢＣＤ   1", " e\u0301e\u0301         2", " 👩\u200d👩\u200d👧         3"]


def test_pages_read_a_sentence_in_its_own_direction():
    (arabic,) = chunk_tables([ARABIC], [ARABIC.replace("الى", "إلى")], [[ARABIC.replace("الى", "إلى")]])
    (english,) = chunk_tables(["He go ."], ["He goes ."], [["He goes ."]])
    assert '<table dir="rtl">' in chunk_table(arabic) and '<span dir="auto">إلى</span>' in chunk_table(arabic)
    assert '<table dir="ltr">' in chunk_table(english)
    assert span_text(ARABIC, Edit(2, 3, "إلى")) == "2:3 \u2068الى\u2069 → \u2068إلى\u2069"
    assert span_text("He go .", Edit(1, 2, "goes")) == "1:2 go → goes"
