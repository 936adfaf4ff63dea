"""What the page takes and how it says no."""

import gradio as gr
import pytest

import limits
from geceval.core.errors import InputError


def test_texts_come_back_with_single_spaces():
    assert limits.check_text("the source", " He\tgo \n home. ") == "He go home."
    assert limits.check_text("the correction", "") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word " * 5_000, "This page takes 400 words at most, but the source has 5,000 words."),
        ("x" * 10_000_000, "This page takes 6,000 characters at most, but the source has 10,000,000 characters."),
        ("a\x00b", "Please paste plain text: the source holds U+0000, which is no printable character."),
        (None, "Type the source as text."),
        (" \n ", "Nothing to do yet: type the source first."),
    ],
)
def test_what_is_no_sentence_is_refused_in_one_sentence(text, message):
    with pytest.raises(limits.Refused) as refusal:
        limits.check_sentence("the source", text)
    assert str(refusal.value) == message


def test_the_longest_sentence_is_taken():
    assert len(limits.check_sentence("the source", "word " * 400).split()) == 400
    with pytest.raises(limits.Refused, match="401 words"):
        limits.check_sentence("the source", "word " * 401)


def test_references_are_lines():
    assert limits.check_references("He goes .\n\n  He went .  \n") == ["He goes .", "He went ."]
    assert limits.check_references(None) == limits.check_references("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n" * 9, "8 references at most, one a line, but there are 9"),
        ("a\n" + "b " * 401, "400 words at most, but reference 2 has 401 words"),
        ("x" * 50_000, "8 references of 400 words each at most"),
        (3, "as text, one a line"),
    ],
)
def test_bad_references_are_refused(text, message):
    with pytest.raises(limits.Refused, match=message):
        limits.check_references(text)


def raising(error):
    @limits.polite
    def handler():
        raise error

    return handler


def test_mistakes_are_told_as_text_that_the_page_can_show():
    with pytest.raises(gr.Error) as told:
        raising(InputError("<b>bad</b>\n  name"))()
    assert told.value.message == "&lt;b&gt;bad&lt;/b&gt; name"
    assert not told.value.print_exception


@pytest.mark.parametrize("error", [ValueError("x"), OSError("/secret/path"), MemoryError()])
def test_faults_of_ours_give_nothing_away(error, caplog):
    with pytest.raises(gr.Error) as told:
        raising(error)()
    assert told.value.message == f"{limits.SORRY}."
    assert "handler failed" in caplog.text


def test_a_long_message_is_cut():
    with pytest.raises(gr.Error) as told:
        raising(InputError("y" * 5_000))()
    assert len(told.value.message) == 402
