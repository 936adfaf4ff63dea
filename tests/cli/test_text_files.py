"""Reading the files of a corpus and naming its systems."""

import gzip
import io
from pathlib import Path

import pytest

from geceval.cli.text_files import name_systems, read_corpus


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(path, text):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_blank_reference_lines_are_missing_references(write):
    source = write("src", "a\nb\n\n")
    corpus = read_corpus(source, [write("p", "a\nb\n\n")], [write("r0", "a\n\n\n"), write("r1", "\nB\n\n")])
    # the third source is blank too, so its blank references are references
    assert corpus.references == [["a", None], [None, "B"], ["", ""]]


def test_an_empty_file(write):
    with pytest.raises(ValueError, match="^empty is empty$"):
        read_corpus(write("empty", ""), [write("p", "")])


def test_gzip_and_standard_input(write, tmp_path, monkeypatch):
    (tmp_path / "out.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("é\nb\n".encode()), encoding="ascii"))
    corpus = read_corpus("-", ["out.txt.gz"])
    assert corpus.sources == ["é", "b"]
    assert corpus.systems == {"out": ["a", "b"]}


def test_standard_input_only_once(write):
    with pytest.raises(ValueError, match="for one file only"):
        read_corpus("-", ["-"])


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["out/a.txt", "out/b.txt.gz"], ["a", "b"]),
        (["GPT-3.5.txt", "GPT-3.5", "AMU"], ["GPT-3.5.txt", "GPT-3.5", "AMU"]),  # the first two stems are equal
        (["GPT-3.5", "x.v2"], ["GPT-3.5", "x.v2"]),
        (["one/out.txt", "two/out.txt"], ["one/out", "two/out"]),
        (["x/one/out.txt", "y/one/out.txt", "z.txt"], ["x/one/out", "y/one/out", "z"]),
        (["a.txt", "a.out"], ["a.txt", "a.out"]),
        (["-", "a.txt"], ["stdin", "a"]),
        ([".txt"], [".txt"]),
    ],
)
def test_names_are_short_and_distinct(paths, names):
    assert name_systems(paths) == dict(zip(names, paths, strict=True))


def test_a_name_that_is_not_utf8_is_shown_all_the_same():
    path = b"caf\xe9.txt".decode("utf-8", errors="surrogateescape")  # as Python gives it on the command line
    assert name_systems([path]) == {"caf\N{REPLACEMENT CHARACTER}": path}


@pytest.mark.parametrize("again", ["a.txt", "./a.txt"])
def test_a_file_given_twice(again):
    with pytest.raises(ValueError, match=r"a.txt is given twice"):
        name_systems([again, "b.txt", "a.txt"])
