"""Essays in Markdown: their sentences, and the way back."""

from pathlib import Path

import pytest

from geceval.text.essays import markdown_essays, sentence_lines, with_lines

ORIG = (
    "A note.\n### essay_id = a\n\nDear Sir,\nI am (e.g. here) happy.  Dont go!\n\nNo stop\n\nBye.\n\n\n"
    "### essay_id = b 2 \n\nHe go home. I stay.\n\n\n### essay_id = c\n"
)
SENTENCES = ["Dear Sir, I am (e.g. here) happy.", "Dont go!", "No stop", "Bye.", "He go home.", "I stay.", ""]


@pytest.fixture(autouse=True)
def orig(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("orig.md").write_text(ORIG, encoding="utf-8")


def test_sentences_there_and_back():
    assert sentence_lines("orig.md") == SENTENCES
    kept = ["Dear Sir,\nI am (e.g. here) happy.", *SENTENCES[1:]]
    assert with_lines("orig.md", kept, "lines") == ORIG
    Path("orig.md").write_bytes(ORIG.replace("\n", "\r\n").encode())
    assert sentence_lines("orig.md") == SENTENCES
    kept[0] = kept[0].replace("\n", "\r\n")
    assert with_lines("orig.md", kept, "lines") == ORIG.replace("\n", "\r\n")


def test_corrections_are_cut_along_the_sentences_of_their_sources(caplog):
    corrected = [*SENTENCES[:1], "Don't go! Stay!", "No stop.", "", "He goes home,", "and I stay.", "New."]
    Path("hyp.md").write_text(with_lines("orig.md", corrected, "lines"), encoding="utf-8")
    assert sentence_lines("orig.md", "hyp.md") == corrected
    Path("hyp.md").write_text("### essay_id = b 2\n\nHe goes home, and I stay.\n", encoding="utf-8")
    assert sentence_lines("orig.md", "hyp.md") == ["", "", "", "", "He goes home,", "and I stay.", ""]
    assert caplog.messages == ["hyp.md lacks 2 essays of orig.md, a first; the lines are blank"]


def test_whole_essays_in_their_places():
    Path("hyp.md").write_text(with_lines("orig.md", ["Bye.\n\nNow.", "I stay.", "New."], "lines"), encoding="utf-8")
    assert markdown_essays("hyp.md") == [("a", "Bye.\n\nNow."), ("b 2", "I stay."), ("c", "New.")]


def test_lines_that_fit_neither():
    message = r"^lines has 2 lines, but orig.md has 3 essays of 7 sentences; pass one for each essay, or for each"
    with pytest.raises(ValueError, match=message):
        with_lines("orig.md", ["a", "b"], "lines")
    Path("lines.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(ValueError, match="^lines.txt: no essay; a line such as `### essay_id = a` stands before each$"):
        sentence_lines("orig.md", "lines.txt")


def test_a_changed_file_is_read_anew():
    assert len(markdown_essays("orig.md")) == 3
    Path("orig.md").write_text("plain lines\n", encoding="utf-8")
    assert markdown_essays("orig.md") == []
