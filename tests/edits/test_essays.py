"""Essays with edits by character become tokenised sentences, and no correction is lost on the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.edits.edit import Edit, apply
from geceval.edits.essays import Essay, TextEdit, read_essays, to_sentences


def essay(text, *edits):
    return Essay("one", text, {0: [TextEdit(*edit) for edit in edits]})


def sentences(text, *edits):
    """(source, corrected) of each sentence."""
    return [(s.source, apply(s.source, s.edits[0])) for s in to_sentences([essay(text, *edits)])]


def edits_of(text, *edits):
    """The edits of the only sentence, as (start, end, correction, type)."""
    (sentence,) = to_sentences([essay(text, *edits)])
    return [(e.start, e.end, e.correction, e.type) for e in sentence.edits[0]]


def test_offsets_by_token():
    text = "I have just recieved  letter, and I'm glad of of it."
    found = edits_of(text, (12, 20, "received"), (21, 21, "the"), (43, 46, ""))
    assert text[43:46] == "of "
    # I have just recieved letter , and I 'm glad of of it .
    assert found == [(3, 4, "received", ""), (4, 4, "the", ""), (10, 11, "", "")]


@pytest.mark.parametrize(
    ("text", "edits", "found"),
    [
        ("He go to home", [(3, 5, "goes"), (6, 8, "")], [(1, 2, "goes", ""), (2, 3, "", "")]),  # neighbours stay apart
        ("a big dog", [(0, 9, "the big dog")], [(0, 1, "the", "")]),  # and what both sides share is left out
        ("We walkt home", [(7, 8, "ed")], [(1, 2, "walked", "")]),  # an edit within a token covers the token
        ("every thing is", [(5, 6, "")], [(0, 2, "everything", "")]),
        ("Ive a cat", [(1, 1, "'")], [(1, 2, "'ve", "")]),  # spaCy reads Ive as I + ve
        ("a  b", [(1, 3, " ")], []),  # white space alone is no edit
        ("a  b", [(1, 2, "")], []),
    ],
)
def test_edits_of_characters_become_edits_of_tokens(text, edits, found):
    assert edits_of(text, *edits) == found


def test_punctuation_has_one_style():
    (sentence,) = to_sentences([essay("It’s “good” – yes", (0, 2, "it"), (2, 3, "'"))])
    assert sentence.source == 'It \'s " good " - yes'
    assert sentence.edits[0] == [Edit(0, 1, "it")]


def test_paragraphs_and_sentences_end():
    expected = ["Dear Kim", "Hello !", "I came at 5 p.m. by bus ."]
    assert sentences("Dear Kim\n\n Hello! I came at 5 p.m. by bus.\n") == [(text, text) for text in expected]
    assert sentences(" \n ") == []


def test_a_correction_over_the_end_of_a_sentence_joins_two():
    text = "I stayed. Because it rained. Bye."
    joined = ("I stayed . Because it rained .", "I stayed because it rained .")
    assert sentences(text, (8, 17, " because")) == [joined, ("Bye .", "Bye .")]
    assert sentences("one\ntwo", (2, 5, "-")) == [("one two", "on - wo")]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ((6, 6, "."), ["I came .", "You saw"]),
        ((7, 7, "."), ["I came .", "You saw"]),
        ((9, 9, "Then "), ["I came", "Then You saw"]),
        ((8, 8, "and home"), ["I came", "and home You saw"]),
        ((8, 8, "."), ["I came .", "You saw"]),
        ((7, 8, "."), ["I came .", "You saw"]),
    ],
)
def test_what_is_inserted_between_sentences_goes_to_the_nearer(edit, expected):
    text = "I came  \n You saw"
    text, edit = ("I came\n\n\nYou saw", edit) if edit[0] != 8 else ("I came\n\n\n\nYou saw", edit)
    assert [corrected for _, corrected in sentences(text, edit)] == expected


def test_what_is_inserted_before_a_line_break_stays_in_its_paragraph():
    found = sentences("to organise \n\nYours", (12, 12, "the party"), (12, 12, "."))
    assert found == [("to organise", "to organise the party ."), ("Yours", "Yours")]


def test_marks_without_a_correction():
    assert edits_of("I am faithfull", (5, 14, None)) == [(2, 3, "faithfull", "UNK")]
    assert edits_of("I am faithfull", (0, 14, None), (5, 14, "faithful")) == [(2, 3, "faithful", "")]
    assert edits_of("I am", (2, 2, None)) == []
    parts = to_sentences([essay("So it was. Then no.", (3, 15, None))])
    assert [s.edits[0] for s in parts] == [[Edit(1, 4, "it was .", "UNK")], [Edit(0, 1, "Then", "UNK")]]


def test_annotators_keep_their_edits_and_share_the_sentences():
    both = Essay("x", "It was. but ok", {0: [], 3: [TextEdit(6, 11, " but")]})
    (sentence,) = to_sentences([both])
    assert sentence.edits == {0: [], 3: [Edit(2, 3, "", annotator=3)]}


@given(st.text("ab. ,\n-'X!", max_size=40), st.data())
def test_no_character_is_lost(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    edits = [
        (left, right, data.draw(st.text("ab. ,-'Z", max_size=6)))
        for left, right in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    pieces, done = [], 0
    for start, end, correction in edits:
        pieces += [text[done:start], correction]
        done = end
    found = sentences(text, *edits)
    if found:  # a text without any token has no sentence to put an insertion in
        assert "".join("".join(s.split()) for s, _ in found) == "".join(text.split())
        expected = "".join([*pieces, text[done:]])
        assert sorted("".join("".join(c.split()) for _, c in found)) == sorted("".join(expected.split()))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not an essay"),
        ("[]", "line 2: not an essay"),
        ('{"id": 1, "text": "a"}', "no field 'edits'"),
        ('{"id": 1, "text": 5, "edits": []}', "text is int"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[2, 9, "x"]]]]}', "beyond the 3 characters"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[2, 1, "x"]]]]}', "beyond the 3 characters"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[0, 1.0, "x"]]]]}', "1.0 is not an integer"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[0, 1, 7]]]]}', "correction of .* is int"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[0]]]]}', "not an essay"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[0, 2, "x"], [1, 3, "y"]]]]}', "overlap at character 1"),
        ("[" * 100_000, "line 2: not an essay"),
        ('{"id": 1, "text": "a\\ud800", "edits": []}', "surrogates not allowed"),
        ('{"id": 1, "text": "abc", "edits": [[0, [[0, 1, "\\ud800"]]]]}', "surrogates not allowed"),
    ],
)
def test_bad_files(tmp_path, line, message):
    path = tmp_path / "e.json"
    path.write_text('{"id": 1, "text": "a", "edits": [[0, [[0, 1, "b", "R"]]]]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_essays(path)
    assert str(error.value).startswith(str(path))


# Sentences as measured; BEA-2019's M2 files, made with a parser, have 2,191 and 2,695 (and 28,350 in training).
@pytest.mark.parametrize(("fold", "count", "corrections"), [("dev", 2225, 3442), ("test", 2743, 4576)])
def test_fce(shared_data, fold, count, corrections):
    essays = read_essays(shared_data / "fce" / f"fce-{fold}.json")
    assert sum(e.correction is not None for x in essays for e in x.edits[0]) == corrections
    found = to_sentences(essays)
    assert len(found) == count
    assert abs(sum(e.type != "UNK" for s in found for e in s.edits[0]) - corrections) < 10


def test_the_corpora_give_their_own_names(tmp_path):
    essay = {"id": "TR1", "text": "It are.", "edits": [[2, [[3, 6, "is", "AGV"]]]]}
    (tmp_path / "e.json").write_text(json.dumps(essay), encoding="utf-8")
    (one,) = read_essays(tmp_path / "e.json")
    assert one == Essay("TR1", "It are.", {2: [TextEdit(3, 6, "is")]})
