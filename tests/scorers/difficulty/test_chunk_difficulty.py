"""Difficulty of chunks, its files, and the counts that it weighs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, without_overlaps
from geceval.edits.gotoscorer_chunks import cut, cut_annotations
from geceval.edits.m2 import read_m2
from geceval.scorers.difficulty.chunk_difficulty import (
    Difficulty,
    ReferenceDifficulty,
    chunk_table,
    count_correct,
    format_difficulty,
    read_difficulty,
    type_table,
)
from geceval.scorers.gotoscorer import count_chunks, precision_recall

# "He like cat ." and three systems; the counts and weights below were worked out by hand from the definition.
SOURCE = "He like cat ."
GOLD = cut(SOURCE, [Edit(1, 2, "likes", "R:VERB:SVA"), Edit(2, 2, "the", "M:DET")])
PERFECT = cut(SOURCE, [Edit(1, 2, "likes"), Edit(2, 2, "the")])
HALF = cut(SOURCE, [Edit(1, 2, "likes")])
WRONG = cut(SOURCE, [Edit(1, 2, "liked"), Edit(2, 3, "cats")])
CORRECT = [3, 3, 3, 2, 1, 2, 3, 3, 3]
THIRDS = [0, 0, 0, 1 / 3, 2 / 3, 1 / 3, 0, 0, 0]


def test_difficulty_is_the_share_of_systems_that_are_wrong():
    difficulty = count_correct([GOLD], [[PERFECT], [HALF], [WRONG]])
    assert difficulty == Difficulty(3, [CORRECT])
    assert difficulty.of_chunks() == [pytest.approx(THIRDS)]


@pytest.mark.parametrize(
    ("system", "expected", "precision", "recall"),
    [
        # TP 1/3 + 2/3, TN 1/3 ("cat")
        (PERFECT, [1, 0, 0, 1 / 3, 4 / 3], 1, 1),
        # TP 1/3, FN 2/3
        (HALF, [1 / 3, 0, 2 / 3, 1 / 3, 4 / 3], 1, 1 / 3),
        # "like" is FP and FN, "the" FN, "cat" FP
        (WRONG, [0, 2 / 3, 1, 0, 4 / 3], 0, 0),
    ],
)
def test_weighted_counts_worked_out_by_hand(system, expected, precision, recall):
    counts = count_chunks(GOLD, system, THIRDS)
    assert counts == pytest.approx(expected)
    assert precision_recall(np.array(counts)) == pytest.approx((precision, recall))


def test_nothing_to_find_and_nothing_done_is_0():
    nothing = count_chunks(cut("Yes", []), cut("Yes", []), [0, 0, 0])
    assert precision_recall(np.array(nothing)) == (0, 0)


def test_a_deletion_is_not_solved_by_an_empty_place_elsewhere():
    # gec-metrics' weight generator looks for the text anywhere in the sentence and would count this system.
    deletion, untouched = cut("a b", [Edit(1, 2, "")]), cut("a b", [])
    assert count_correct([deletion], [[untouched]]).correct == [[1, 1, 1, 0, 1]]


def test_a_system_that_changes_nothing_does_not_hide_the_next():
    assert count_correct([GOLD], [[cut(SOURCE, [])], [PERFECT]]) == Difficulty(2, [[2, 2, 2, 1, 1, 2, 2, 2, 2]])


def test_a_difficulty_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "difficulty.txt"
    path.write_text(format_difficulty(Difficulty(3, [CORRECT, [0, 2]])))
    assert path.read_text() == "3\n3 3 3 2 1 2 3 3 3\n0 2\n"
    read = read_difficulty(path)
    assert (read.systems, read.correct) == (3, [CORRECT, [0, 2]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("3\n", "holds no sentence"),
        ("3 3\n1\n", r"line 1: expected the number of systems, got '3 3'"),
        ("0\n0\n", "line 1: expected the number of systems"),
        ("three\n1\n", r"line 1: expected counts, got 'three'"),
        ("3\n1 2\n1 2.5\n", r"line 3: expected counts, got '2.5'"),
        ("3\n1 -1\n", r"line 2: expected counts, got '-1'"),
        ("3\n1 4\n", "line 2: 4 of 3 systems cannot be right"),
        ("3\n1 2\n\n1 2\n", "line 3: the line is blank"),
    ],
)
def test_a_broken_difficulty_file_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "difficulty.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as raised:
        read_difficulty(path)
    assert str(path) in str(raised.value)


def test_difficulty_of_another_reference_are_refused():
    difficulty = Difficulty(3, [CORRECT, [3, 3, 3]], "w.txt")
    with pytest.raises(ValueError, match=r"w\.txt, line 3: 3 counts, but the reference of sentence 2 has 5 chunks"):
        difficulty.check([GOLD, cut("Yes .", [])])
    with pytest.raises(ValueError, match="holds 2 sentences, but 1 are scored"):
        difficulty.check([GOLD])


@st.composite
def corpora(draw):
    """Chunks of a reference and of one to four systems, two sentences."""
    edits = st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from(["", "x", "y", "x y"]))

    def chunks():
        made = [Edit(start, min(start + size, 4), text) for start, size, text in draw(st.lists(edits, max_size=4))]
        return cut("a b c d", without_overlaps([edit for edit in made if edit.start < edit.end or edit.correction]))

    return [chunks(), chunks()], [[chunks(), chunks()] for _ in range(draw(st.integers(1, 4)))]


def total(gold, system, weights):
    return np.sum([*map(count_chunks, gold, system, weights)], axis=0)


@given(corpora())
def test_invariants_of_difficulty_and_scores(corpus):
    gold, systems = corpus
    difficulty = count_correct(gold, systems)
    difficulty.check(gold)
    weights = difficulty.of_chunks()
    assert all(0 <= weight <= 1 for weight in itertools.chain(*weights))
    assert count_correct(gold, systems[::-1]) == difficulty
    assert count_correct(gold, systems * 2).of_chunks() == [pytest.approx(row) for row in weights]
    for system in systems:
        tp, fp, fn, tn, whole = counts = total(gold, system, weights)
        assert all(-1e-12 <= figure <= 1 + 1e-12 for figure in precision_recall(counts))
        # Every chunk is right (TP or TN), touched and wrong (FP), or left alone and wrong (FN alone).
        assert tp + tn <= whole + 1e-9
        assert whole <= tp + tn + fp + fn + 1e-9
    tp, fp, fn, *_ = total(gold, gold, weights)
    weighed = zip(itertools.chain(*gold), itertools.chain(*weights), strict=True)
    assert tp == pytest.approx(sum(weight for chunk, weight in weighed if chunk.is_edit))
    assert (fp, fn) == (0, 0)


# --- published data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "systems", "sentences", "chunks"),
    [("conll14_8sys", 8, 1312, 60410), ("conll14_4sys", 4, 1312, 60410), ("conll13_4sys", 4, 1381, 58349)],
)
def test_published_weight_files_are_read_and_written_byte_by_byte(shared_data, name, systems, sentences, chunks):
    path = shared_data / "gotoscorer" / "weight_files" / f"{name}.txt"
    difficulty = read_difficulty(path)
    assert (difficulty.systems, len(difficulty.correct)) == (systems, sentences)
    assert sum(map(len, difficulty.correct)) == chunks
    assert format_difficulty(difficulty).split() == path.read_text().split()


def test_published_weights_fit_the_nucle_spans_of_annotator_0(shared_data):
    sentences = read_m2(shared_data / "conll2014" / "official-2014.combined.m2")
    difficulty = read_difficulty(shared_data / "gotoscorer" / "weight_files" / "conll14_8sys.txt")
    gold = [row[0] for row in cut_annotations(sentences, 0)]
    difficulty.check(gold)
    assert sum(map(len, difficulty.correct)) == sum(map(len, gold)) == 60410
    rows = {row.type: row for row in type_table(ReferenceDifficulty(gold, difficulty))}
    # The poster has DET .747/.292, NOUN:NUM .539/.340, VERB:TENSE .876/.213 under ERRANT's types; NUCLE's are akin.
    for kind, mean, sd in [("ArtOrDet", 0.746, 0.293), ("Nn", 0.537, 0.348), ("Vt", 0.884, 0.201)]:
        assert (rows[kind].mean, rows[kind].sd) == pytest.approx((mean, sd), abs=5e-4)
    with pytest.raises(ValueError, match=r"conll14_8sys\.txt, line \d+: \d+ counts, but the reference of sentence"):
        difficulty.check([row[0] for row in cut_annotations(sentences, 1)])


TYPED = cut("a b c d e f", [
    Edit(0, 1, "x", "R:NOUN"), Edit(1, 2, "", "U:DET"), Edit(2, 3, "y", "R:NOUN"), Edit(3, 3, "z", "M:NOUN"),
    Edit(4, 5, "w", "Wci"),
])  # fmt: skip
TYPED_RIGHT = [3 if chunk.type == "M:NOUN" else 0 if chunk.start in (0, 1) else 2 for chunk in TYPED]  # of 4 systems
TYPED_REFERENCE = ReferenceDifficulty([TYPED], Difficulty(4, [TYPED_RIGHT]))


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        # means and sample standard deviations by hand
        (1, [("U", 1, 0, 1), ("R", 2 / 3, (1 / 12) ** 0.5, 3), ("M", 0.25, 0, 1)]),
        (2, [("DET", 1, 0, 1), ("NOUN", 7 / 12, (7 / 48) ** 0.5, 3), ("Wci", 0.5, 0, 1)]),
        (3, [("U:DET", 1, 0, 1), ("R:NOUN", 0.75, 0.125**0.5, 2), ("Wci", 0.5, 0, 1), ("M:NOUN", 0.25, 0, 1)]),
    ],
)
def test_types_are_sorted_from_hard_to_easy(level, expected):
    rows = type_table(TYPED_REFERENCE, level)
    assert [(row.type, row.frequency) for row in rows] == [(kind, frequency) for kind, _, _, frequency in expected]
    assert [row.mean for row in rows] == pytest.approx([mean for _, mean, _, _ in expected])
    assert [row.sd for row in rows] == pytest.approx([sd for _, _, sd, _ in expected])
    with pytest.raises(ValueError, match="level must be 1, 2 or 3"):
        type_table(TYPED_REFERENCE, 4)


def test_types_without_operation_get_it_from_the_span():
    chunks = cut("a b", [Edit(0, 0, "x", "Art"), Edit(0, 1, "", "Art"), Edit(1, 2, "y", "Art")])
    nobody = Difficulty(1, [[0] * len(chunks)])
    assert {row.type for row in type_table(ReferenceDifficulty([chunks], nobody), 1)} == {"M", "U", "R"}


def test_the_table_of_chunks():
    chunks = [cut("He cat", [Edit(1, 1, "likes the", "M:VERB")]), cut("", [])]
    text = chunk_table(ReferenceDifficulty(chunks, Difficulty(3, [[3, 3, 0, 2, 3], [1]])))
    assert text == (
        "# sentence 1\n"
        "orig   |      | He   |           | cat  |\n"
        "gold   |      | He   | likes the | cat  |\n"
        "weight | 0.00 | 0.00 | 1.00      | 0.33 | 0.00\n"
        "cat    |      |      | M:VERB    |      |\n"
        "\n"
        "# sentence 2\n"
        "orig   |\n"
        "gold   |\n"
        "weight | 0.67\n"
        "cat    |\n"
    )
