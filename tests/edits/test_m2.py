"""M2 files: what is read, what is repaired with a warning, what is an error with file and line."""

import gzip

import pytest

from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, format_m2, parse_m2, read_m2, references, write_m2

TEXT = """S This are gramamtical sentence .
A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 2 2|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||grammatical||correct|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S Fine .

S The the cat
A 0 1|||U:DET||||||REQUIRED|||-NONE-|||2
A 1 2|||UNK|||the|||REQUIRED|||-NONE-|||2
"""
VERB_AND_ARTICLE = Edit(1, 2, "is", "R:VERB:SVA"), Edit(2, 2, "a", "M:DET")
SPELLING = Edit(2, 3, "grammatical", "R:SPELL", 0, ("correct",))
SENTENCES = [
    M2Sentence("This are gramamtical sentence .", {0: [*VERB_AND_ARTICLE, SPELLING], 1: []}, 1),
    M2Sentence("Fine .", {0: []}, 7),
    M2Sentence("The the cat", {2: [Edit(0, 1, "", "U:DET", 2), Edit(1, 2, "the", "UNK", 2)]}, 9),
]


def line(offsets="0 1", kind="X", correction="x", annotator="0"):
    return f"A {offsets}|||{kind}|||{correction}|||REQUIRED|||-NONE-|||{annotator}\n"


def test_reading(caplog):
    assert parse_m2(TEXT) == SENTENCES
    assert caplog.messages == []


@pytest.mark.parametrize(
    "text", [TEXT + "\n", TEXT.rstrip("\n"), "\n\n" + TEXT + "\n\n\n", TEXT.replace("S F", "I x\nS F")]
)
def test_blank_lines_at_the_ends_and_i_lines_are_nothing(text, caplog):
    assert [(s.source, s.edits) for s in parse_m2(text)] == [(s.source, s.edits) for s in SENTENCES]
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("\n", "\r\n"), "f.m2: CRLF line ends removed (11, first on line 1)"),
        (TEXT.replace("\n\n", "\n \n"), "f.m2: white space on blank lines removed (2, first on line 6)"),
        (TEXT.replace("\n\n", "\n\n\n"), "f.m2: several blank lines in a row read as one (2, first on line 8)"),
    ],
)
def test_line_ends_are_repaired_with_one_warning(text, message, caplog):
    assert [(s.source, s.edits) for s in parse_m2(text, name="f.m2")] == [(s.source, s.edits) for s in SENTENCES]
    assert caplog.messages == [message]


@pytest.mark.parametrize(
    ("edits", "expected", "note"),
    [
        (line("0 2") + line("1 3"), [(0, 2), (1, 3)], "overlapping edits kept (1, first on line 1)"),
        (line("1 2") + line("0 1"), [(1, 2), (0, 1)], "kept in the order of the file (1, first on line 3)"),
        (line() + line(kind="Y"), [(0, 1), (0, 1)], "repeated edits kept (1, first on line 3)"),
        (line() + line("-1 -1", "noop"), [(0, 1)], "noops beside other edits removed (1, first on line 1)"),
        (line("2 3", "noop"), [], "noops with offsets read as -1 -1 (1, first on line 2)"),
    ],
)
def test_what_is_kept_or_repaired_with_a_warning(edits, expected, note, caplog):
    (sentence,) = parse_m2("S a b c\n" + edits)
    assert {who: [(edit.start, edit.end) for edit in row] for who, row in sentence.edits.items()} == {0: expected}
    (message,) = caplog.messages
    assert note in message


def test_lines_of_one_text_are_joined_and_offsets_count_through(caplog):
    (sentence,) = parse_m2("S a b\nS c\n" + line("2 3"))
    assert (sentence.source, sentence.edits) == ("a b c", {0: [Edit(2, 3, "x", "X")]})
    assert caplog.messages == ["M2: S lines in a row joined to one sentence (1, first on line 2)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S a b\nhello\n", "f.m2, line 2: expected a line that starts with 'S ' or 'A ', got 'hello'"),
        (line(), "f.m2, line 1: an A line without an S line"),
        ("S a b\n" + line() + "S c\n", "f.m2, line 3: an S line follows A lines; put a blank line"),
        ("S a b\nA 0 1|||X|||x|||y|||REQUIRED|||-NONE-|||0\n", "f.m2, line 2: expected 6 fields .*, got 7"),
        ("S a b\n" + line("0"), "f.m2, line 2: expected two offsets, got '0'"),
        ("S a b\n" + line("1_0 1_1"), "f.m2, line 2: an offset must be an integer, got '1_0'"),
        ("S a b\n" + line(annotator="9" * 5000), "f.m2, line 2: the annotator must be an integer, got '999"),
        ("S a b\n" + line(annotator="bob"), "f.m2, line 2: the annotator must be an integer, got 'bob'"),
        ("S a b\n" + line("1 0"), "f.m2, line 2: offsets 1 0 are negative or reversed"),
        ("S a b\n" + line("-1 -1"), "f.m2, line 2: offsets -1 -1 are negative or reversed; only a noop"),
        ("S a b\n" + line() + line("2 3"), "f.m2, line 3: offsets 2 3 lie beyond the 2 tokens"),
    ],
)
def test_errors_give_file_and_line(text, message):
    with pytest.raises(ValueError, match=message):
        parse_m2(text, name="f.m2")


def test_empty_sentences_and_empty_files():
    assert parse_m2("") == []
    empty, inserted = M2Sentence("", {0: []}, 1), M2Sentence("", {0: [Edit(0, 0, "x", "X")]}, 3)
    assert parse_m2("S\n\nS \n" + line("0 0")) == [empty, inserted]


def test_deletions_and_alternatives():
    (sentence,) = parse_m2("S a b c\n" + line(correction="-NONE-") + line("1 2", correction=" x  y || -NONE- ||z"))
    assert sentence.edits[0] == [Edit(0, 1, "", "X"), Edit(1, 2, "x y", "X", 0, ("", "z"))]
    assert sentence.edits[0][1].corrections == ("x y", "", "z")


def test_tokens_are_split_at_any_white_space():
    (sentence,) = parse_m2("S a\u00a0b \u2003c\n" + line("2 3"))
    assert sentence.source == "a b c"


def test_references():
    assert references(SENTENCES[0]) == {0: "This is a grammatical sentence .", 1: "This are gramamtical sentence ."}
    assert references(SENTENCES[1]) == {0: "Fine ."}
    assert references(SENTENCES[2]) == {2: "the cat"}
    overlapping = M2Sentence("a b c", {0: [Edit(1, 3, "x"), Edit(0, 2, "y")]})
    assert references(overlapping) == {0: "a x"}


@pytest.mark.parametrize("name", ["gold.m2", "gold.m2.gz"])
def test_files(tmp_path, name):
    write_m2(tmp_path / name, SENTENCES)
    assert [(s.source, s.edits) for s in read_m2(tmp_path / name)] == [(s.source, s.edits) for s in SENTENCES]
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith("gz") else data).decode()
    assert text.startswith("S This are gramamtical sentence .\nA 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0\n")
    assert "S Fine .\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n" in text
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_broken_files(tmp_path):
    path = tmp_path / "f.m2"
    path.write_bytes(b"S a\n\nS \xff\n")
    with pytest.raises(ValueError, match="f.m2, line 3: not valid UTF-8"):
        read_m2(path)
    path.write_bytes(b"\xef\xbb\xbfS a\n")
    assert read_m2(path) == [M2Sentence("a", {0: []}, 1)]


def test_nothing_is_written_where_m2_cannot_express_an_edit(tmp_path):
    path = tmp_path / "f.m2"
    path.write_text("before")
    with pytest.raises(ValueError, match="sentence 2: edit .*cannot express"):
        write_m2(path, [M2Sentence("a"), M2Sentence("a", {0: [Edit(0, 1, "|||")]})])
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.m2"]
    for edit in (Edit(0, 1, "x", "R|"), Edit(0, 1, "x\n", "R")):
        with pytest.raises(ValueError, match="cannot express"):
            edit.to_m2()


@pytest.mark.parametrize(
    "texts", [("|",), ("x |",), ("| x",), ("|x|",), ("a|b",), ("x|", "|y", "z")], ids=lambda texts: " or ".join(texts)
)
def test_a_bar_is_a_token_like_any_other(texts, caplog):
    # "R|||" + "|" + "|||REQUIRED" read from the left alone is a deletion
    sentence = M2Sentence("a b", {0: [Edit(0, 1, texts[0], "R", 0, texts[1:])]})
    (again,) = parse_m2(format_m2([sentence]))
    assert again.edits == sentence.edits
    assert caplog.messages == []


@pytest.mark.parametrize("correction", ["||", "a||b", "-NONE-"])
def test_what_is_read_as_something_else_is_written_with_a_warning(correction, caplog):
    text = format_m2([M2Sentence("a"), M2Sentence("a b", {0: [Edit(0, 1, correction, "R")]})])
    assert f"|||{correction}|||REQUIRED" in text
    (message,) = caplog.messages
    assert message.startswith("1 edits insert '||' or '-NONE-'") and message.endswith("(first: sentence 2)")


# Counted with grep: `grep -c "^S"`, `grep "^A" | grep -vc "|||noop|||"`.
@pytest.mark.parametrize(
    ("name", "sentence_count", "edit_count"),
    [
        ("conll2014/official-2014.combined.m2", 1312, 5598),
        ("conll2014/official-2014.combined-withalt.m2", 1312, 7157),
        ("conll2013/official-preprocessed.m2", 1381, 3506),
        ("cweb/CWEB-G.dev.m2", 3867, 3194),
        ("wi-locness/ABCN.dev.gold.bea19.m2", 4384, 7632),
    ],
)
def test_real_files(shared_data, name, sentence_count, edit_count):
    rows = read_m2(shared_data / name)
    assert len(rows) == sentence_count
    assert sum(len(edits) for row in rows for edits in row.edits.values()) == edit_count
    assert [(s.source, s.edits) for s in parse_m2(format_m2(rows))] == [(s.source, s.edits) for s in rows]
    assert all(text == " ".join(text.split()) for row in rows for text in references(row).values())
