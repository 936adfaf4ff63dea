"""Verbs of the command on files of any content: a result, or one line on standard error and nothing written."""

import contextlib
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geceval.cli.app import run

ESSAY = '{"id": "1", "text": "a b", "edits": [[0, [[0, 1, "x"]]]]}'
PIECES = ["a b", "a", "\n", "\n\n", "\r\n", "S a b", "A 0 1|||R:X|||c|||REQUIRED|||-NONE-|||0", "A -1 -1|||noop|||"]
PIECES += ["|||", ESSAY, "[" * 5000, "1 2", "3", "\x1b[31m", "\x00", "é", "\t"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
RIGHT, OTHER = TEXT.map(str.encode), TEXT.map(lambda text: text.encode("utf-16"))
DATA = st.one_of(RIGHT, RIGHT, OTHER, st.binary(max_size=20))

VERBS = {
    "score": "score -m gleu green -s a.txt -p b.txt -r c.txt --output out",
    "score with gold": "score -m m2 -s a.txt -p b.txt -o gold_m2=a.m2 --output out",
    "convert": "convert a.m2 -o out",
    "convert essays": "convert a.json --nlp bundled -o out",
    "difficulty": "difficulty -s a.txt --gold-m2 a.m2 -p b.txt --nlp bundled --heat-map out",
    "difficulty of a file": "difficulty --gold-m2 a.m2 --difficulty c.txt --heat-map out",
    "compare": "compare -m gleu -s a.txt -p b.txt c.txt -r a.txt --output out",
    "types": "types -s a.txt -p b.txt --gold-m2 a.m2 --resamples 5 --shuffles 5 --output out",
    "maege": "meta maege -m gleu --m2 a.m2 --min-chains 1 --all-references --output out",
}
GOOD = {
    "a.txt": "a b c d\ne f\n",
    "b.txt": "a b x d\ne f\n",
    "c.txt": "a b c d\ne f\n",
    "a.m2": "S a b c d\nA 2 3|||R:X|||x|||REQUIRED|||-NONE-|||0\n\nS e f\nA 0 1|||R:X|||x|||REQUIRED|||-NONE-|||0\n",
    "a.json": ESSAY,
}
WEIGHTS = "1\n0 1 0 1 1 0 1 1 0\n0 1 1 0 1\n"


@pytest.mark.parametrize("verb", VERBS)
def test_the_calls_are_sound(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in GOOD.items():
        (tmp_path / name).write_text(WEIGHTS if "of a file" in verb and name == "c.txt" else text)
    assert run(VERBS[verb].split()) == 0
    assert (tmp_path / "out").stat().st_size > 10


@pytest.mark.parametrize("verb", VERBS)
def test_verbs(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    @given(st.tuples(DATA, DATA, DATA))
    @example((b"a\n", b"\xff\n", b"\x1b]0;title\x07"))
    @example((b"", b"", b""))
    def call(contents):
        for path in tmp_path.iterdir():
            path.unlink()
        for name, content in zip(("a.txt", "b.txt", "c.txt"), contents, strict=True):
            (tmp_path / name).write_bytes(content)
        for name in ("a.m2", "a.json"):
            (tmp_path / name).write_bytes(contents[0])
        names = {path.name for path in tmp_path.iterdir()}
        shown, complaint = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(complaint):
            code = run(VERBS[verb].split())
        errors = [line for line in complaint.getvalue().split("\n") if line and "geceval: warning: " not in line]
        if code == 0:
            assert errors == []
            return
        assert code == 2 and shown.getvalue() == ""
        assert len(errors) == 1 and errors[0].startswith("geceval: error: "), errors
        assert errors[0].isprintable() and len(errors[0]) < 2500
        assert {path.name for path in tmp_path.iterdir()} == names

    call()


@pytest.mark.parametrize("name", ["\x1b[31mred", "\x1b]0;title\x07", "a\u202eb", "x" * 5000])
def test_names_of_files_do_not_speak_to_the_terminal(name, capsys):
    assert run(["score", "-m", "gleu", "-s", name, "-p", "b", "-r", "c"]) == 2
    line = capsys.readouterr().err.removesuffix("\n")
    assert line.startswith("geceval: error: ") and line.isprintable() and len(line) < 2500
