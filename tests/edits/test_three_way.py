"""The three-way alignment against the plain dynamic programme that defines it."""

import functools
import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits import three_way
from geceval.edits.three_way import count_columns

tokens = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)
# No gap, then one gap (in the reference, the prediction, the source), then two.
MOVES = [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def align(*texts):
    """The columns of one alignment, `None` for a gap."""
    ((_, columns),) = three_way._aligned([three_way._number(texts)])
    names = [*dict.fromkeys(itertools.chain(*texts)), None]
    return [tuple(names[number] for number in row) for row in np.stack(columns)[:, :, 0].T.tolist()]


def column_cost(column) -> int:
    s, h, r = column
    pairs = ((s, h), (s, r), (h, r))
    return sum(0 if x == y else 2 if x is None or y is None else 3 for x, y in pairs)


def slow_align(s, h, r) -> list[tuple]:
    """Every cell by recursion over the seven ways into it, and the way back by the order of preference."""

    def column(i, j, k, move):
        steps = zip((s, h, r), (i, j, k), move, strict=True)
        return tuple(text[place - 1] if step else None for text, place, step in steps)

    def before(i, j, k):
        for move in MOVES:
            cell = (i - move[0], j - move[1], k - move[2])
            if min(cell) >= 0:
                yield cell, column(i, j, k, move)

    @functools.cache
    def cost(i, j, k):
        return min((cost(*cell) + column_cost(found) for cell, found in before(i, j, k)), default=0)

    at, columns = (len(s), len(h), len(r)), []
    while at != (0, 0, 0):
        at, found = next((c, col) for c, col in before(*at) if cost(*c) + column_cost(col) == cost(*at))
        columns.append(found)
    return columns[::-1]


def kind(column) -> int:
    s, h, r = column
    if s == h:
        return 0 if h == r else 1
    return 2 if s == r else 3 if h == r else 4


def slow_counts(columns) -> list[int]:
    kinds = [kind(column) for column in columns]
    return [kinds.count(number) for number in range(5)]


@given(tokens, tokens, tokens)
def test_columns_equal_the_definition(s, h, r):
    assert align(s, h, r) == slow_align(s, h, r)


@given(st.lists(st.tuples(tokens, tokens, tokens), min_size=1, max_size=12))
def test_counts_equal_the_definition_in_any_batch(triples):
    assert count_columns(triples).tolist() == [slow_counts(slow_align(*triple)) for triple in triples]


def related(draw, text):
    """A copy of a text with a few changes."""
    copy = list(text)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(copy)))
        copy[place : place + draw(st.integers(0, 1))] = draw(st.lists(st.sampled_from("abcde"), max_size=2))
    return tuple(copy)


@st.composite
def related_triples(draw):
    source = draw(st.lists(st.sampled_from("abcde"), min_size=4, max_size=12).map(tuple))
    return source, related(draw, source), related(draw, source)


@given(related_triples())
def test_cutting_similar_texts_changes_nothing(triple):
    assert count_columns([triple]).tolist() == [slow_counts(slow_align(*triple))]


def test_nothing_to_align():
    assert align((), (), ()) == []
    assert count_columns([]).shape == (0, 5)
    assert count_columns([((), (), ()), ((), ("a",), ())]).tolist() == [[0] * 5, [0, 0, 1, 0, 0]]


def test_long_sentences_with_local_changes_are_exact():
    source = tuple(f"w{i}" for i in range(900))
    prediction = (*source[:100], "x", *source[101:700], *source[701:])
    reference = (*source[:100], "y", *source[101:400], "z", *source[400:])
    # Cut where the texts agree, so that no table of 900 x 899 x 901 cells is ever made.
    assert count_columns([(source, prediction, reference)]).tolist() == [[898, 1, 1, 0, 1]]


def test_beyond_the_bound_the_alignment_goes_by_way_of_the_source(monkeypatch, caplog):
    monkeypatch.setattr(three_way, "MAX_CELLS", 50)
    columns = align(["a", "b", "c", "d", "e"], ["x", "a", "q", "c", "d"], ["y", "z", "a", "r", "c", "d", "f"])
    assert "aligned by way of the source: 1 stretch" in caplog.text
    for side, text in enumerate(("a b c d e", "x a q c d", "y z a r c d f")):
        assert [column[side] for column in columns if column[side] is not None] == text.split()
    assert columns[2:5] == [("a", "a", "a"), ("b", "q", "r"), ("c", "c", "c")]
