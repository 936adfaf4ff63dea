"""Sentences of a corrected text, cut where those of its source end."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.core.files import read_lines
from geceval.text.sentences import CELLS, sentence_parts

DATA = Path(__file__).resolve().parents[3] / "shared/data/pillars"
TEXT = st.lists(
    st.sampled_from(["I", "a", "b", "Mr.", ".", "go", ",", "“", "\n", "我", "。", "\u2028", "'s"]), max_size=12
)


def squeezed(text):
    return "".join(text.split())


@pytest.mark.parametrize(
    ("sources", "answer", "parts"),
    [
        (["He go .", "I sees ."], "He goes. I see.", ["He goes.", "I see."]),
        (["He go , he say .", "I sees ."], "He goes. He says it. I see.", ["He goes. He says it.", "I see."]),
        (["He go .", "But I sees ."], "He goes, but I see.", ["He goes,", "but I see."]),
        (["He go", "I sees him"], "He goes because I see him.", ["He goes", "because I see him."]),
        (["He go .", "Bad one .", "I sees it ."], "He goes. I see it.", ["He goes.", "", "I see it."]),
        (['She said " go " .', "I sees ."], 'She said "go." I see.', ['She said "go."', "I see."]),
        (["", "He go .", "", "I sees .", ""], "He goes .\n\nI see .", ["", "He goes .", "", "I see .", ""]),
        (["Dear Mr. X ,", "I go ."], "Dear Mr. X,\n\nI went.", ["Dear Mr. X,", "I went."]),
        (["他去学交。", "我喜换他。"], "他去学校，我喜欢他。", ["他去学校，", "我喜欢他。"]),
        (["A b ."], "A\nb.", ["A b."]),
        (["A .", "B ."], "", ["", ""]),
    ],
)
def test_parts(sources, answer, parts):
    assert sentence_parts(sources, [answer]).texts == parts


def test_what_was_joined_or_left_out():
    parts = sentence_parts(["He go .", "But I sees .", "Yes .", "Gone now ."], ["He goes, but I see. Yes."])
    assert (parts.joined, parts.missing) == ([0, 1], [3])


@given(st.lists(TEXT.map(" ".join), min_size=1, max_size=6), st.lists(TEXT.map(" ".join), max_size=4))
def test_nothing_is_lost(sources, answers):
    texts = sentence_parts(sources, answers).texts
    assert len(texts) == len(sources)
    assert squeezed("".join(texts)) == squeezed("".join(answers))
    assert all("\n" not in text and text == text.strip() for text in texts)


@given(st.lists(st.sampled_from(["He goes home .", "I see .", "Yes !", "“ Go . ”", "Why ?"]), min_size=1, max_size=8))
def test_a_text_without_errors_is_cut_at_its_sentences(sentences):
    assert sentence_parts(sentences, [" ".join(sentences)]).texts == sentences


def test_texts_that_have_nothing_in_common():
    size = int(CELLS**0.5) + 1
    with pytest.raises(ValueError, match="agree with none of the answers"):
        sentence_parts(["a " * size, "b"], ["c " * size])


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the outputs of pillars-of-gec")
@pytest.mark.parametrize(("corpus", "exact"), [("conll14", 1312), ("bea19-dev", 4380)])
def test_essays_of_real_corrections(corpus, exact):
    """Outputs of T5-11B, joined into texts of 4 to 20 sentences; measured, see docs/texts.md."""
    sources, answers = read_lines(DATA / f"source.{corpus}.txt"), read_lines(DATA / f"T5-11B.{corpus}.txt")
    generator, essays, start = random.Random(1), [], 0
    while start < len(answers):
        size = generator.randint(4, 20)
        essays.append(" ".join(answers[start : start + size]))
        start += size
    parts = sentence_parts(sources, essays)
    assert sum(map(str.__eq__, parts.texts, answers)) == exact
