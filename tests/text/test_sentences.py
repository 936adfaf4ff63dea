"""Sentences of a corrected text, cut where those of its source end."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geceval.core.files import read_lines
from geceval.edits.essays import _PUNCTUATION, read_essays, to_sentences
from geceval.edits.m2 import references
from geceval.text.sentences import CELLS, sentence_parts

PIECES = ["I", "a", "b", "Mr.", ".", "go", ",", "“", "\n", "我", "。", "\u2028", "'s"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=12)


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
        (["A b ."], "A\nb.", ["A\nb."]),
        (["A .", "B ."], "", ["", ""]),
    ],
)
def test_parts(sources, answer, parts):
    assert sentence_parts(sources, [answer]) == parts


@given(st.lists(TEXT.map(" ".join), min_size=1, max_size=6), st.lists(TEXT.map(" ".join), max_size=4))
def test_nothing_is_lost(sources, answers):
    texts = sentence_parts(sources, answers)
    assert len(texts) == len(sources)
    assert squeezed("".join(texts)) == squeezed("".join(answers))
    assert all(text == text.strip() for text in texts)


@given(st.lists(st.sampled_from(["He goes home .", "I see .", "Yes !", "“ Go . ”", "Why ?"]), min_size=1, max_size=8))
def test_a_text_without_errors_is_cut_at_its_sentences(sentences):
    assert sentence_parts(sentences, [" ".join(sentences)]) == sentences


def test_texts_that_have_nothing_in_common():
    size = int(CELLS**0.5) + 1
    with pytest.raises(ValueError, match="agree with none of the answers"):
        sentence_parts(["a " * size, "b"], ["c " * size])


def joined_or_split(texts, share, generator):
    """Some texts joined to the next by a comma and `and`, and some cut in two at a comma."""
    texts = [text.split() for text in texts]
    for text, following in zip(texts, texts[1:], strict=False):
        commas = [n for n, word in enumerate(text) if word == "," and 1 < n < len(text) - 3]
        if generator.random() < share / 2 and text[-1:] == ["."] and len(following) > 2:
            text[-1], following[0] = ",", following[0] if following[0] == "I" else following[0].lower()
            following.insert(0, "and")
        elif generator.random() < share and commas:
            where = generator.choice(commas)
            text[where : where + 2] = [".", text[where + 1].capitalize()]
    return [" ".join(text) for text in texts]


@pytest.mark.parametrize(
    ("corpus", "share", "exact"),
    [("conll14", 0, 1312), ("conll14", 0.5, 1308), ("bea19-dev", 0, 4380), ("bea19-dev", 0.5, 4374)],
)
def test_essays_of_real_corrections(shared_data, corpus, share, exact):
    """Outputs of T5-11B, in texts of 4 to 20 sentences; the rest of docs/command-line.md's figures is measured here."""
    sources = read_lines(shared_data / f"pillars/source.{corpus}.txt")
    generator, essays, start = random.Random(1), [], 0
    answers = joined_or_split(read_lines(shared_data / f"pillars/T5-11B.{corpus}.txt"), share, generator)
    while start < len(answers):
        size = generator.randint(4, 20)
        essays.append(" ".join(answers[start : start + size]))
        start += size
    assert sum(map(str.__eq__, sentence_parts(sources, essays), answers)) == exact


@pytest.mark.parametrize(("fold", "sentences", "exact"), [("dev", 2225, 2223), ("test", 2743, 2735)])
def test_essays_as_they_were_written(shared_data, fold, sentences, exact):
    """Essays of FCE with the annotator's corrections, one a line."""
    sources, corrections, answers = [], [], []
    for essay in read_essays(shared_data / f"fce/fce-{fold}.json"):
        rows = to_sentences([essay])
        sources += [row.source for row in rows]
        corrections += [references(row)[0] for row in rows]
        text = essay.text
        for edit in sorted(essay.edits[0], key=lambda edit: (edit.start, edit.end), reverse=True):
            if edit.correction is not None:
                text = text[: edit.start] + edit.correction + text[edit.end :]
        answers.append(" ".join(text.split()))
    parts = [squeezed(part.translate(_PUNCTUATION)) for part in sentence_parts(sources, answers)]
    assert len(parts) == sentences
    assert sum(map(str.__eq__, parts, map(squeezed, corrections))) == exact
