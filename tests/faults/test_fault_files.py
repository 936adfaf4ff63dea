"""Files made to do harm, and places that cannot be written: one message, nothing half-written, nothing replaced.

More of them: tests/fuzz/test_fuzz_readers.py, tests/core/test_disk_cache.py, tests/hub/test_data_bad_files.py.
"""

import gzip
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from geceval import registry
from geceval.cli.app import run
from geceval.core.files import read_lines, read_text, write_text
from geceval.corpora.judgments import read_rankings, to_items
from geceval.edits.m2 import parse_m2

FULL = Path("/dev/full")
OUTPUTS = {"A": ["x", "y"], "B": ["x", "z"]}


@pytest.fixture
def corpus(tmp_path):
    """A source file, which is its own correction."""
    path = tmp_path / "source.txt"
    path.write_text("He goes to school every day .\n" * 40)
    return path


def score(corpus, output, *more):
    files = [option for flag in ("-s", "-p", "-r") for option in (flag, str(corpus))]
    return ["score", "-m", "gleu", *files, "--output", str(output), *more]


def command(*arguments, before=None, shown=subprocess.PIPE):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "geceval", *map(str, arguments)]
    streams = {"stdout": shown, "stderr": subprocess.PIPE, "text": True}
    return subprocess.run(line, env=environment, preexec_fn=before, timeout=600, check=False, **streams)


def a_small_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def test_a_full_disk_leaves_the_old_file(corpus, tmp_path):
    old = tmp_path / "out.txt"
    old.write_text("old")
    for output in (old, tmp_path / "new.txt"):
        done = command(*score(corpus, output), before=a_small_disk)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"geceval: error: {output}: File too large\n"
    assert old.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"source.txt", "out.txt"}


@pytest.mark.skipif(not FULL.exists(), reason="a device of Linux")
def test_a_device_that_is_full(corpus):
    before = FULL.stat()
    done = command(*score(corpus, "/dev/full"))
    assert (done.returncode, done.stderr) == (2, "geceval: error: /dev/full: No space left on device\n")
    after = FULL.stat()
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)  # and no file stands in its place
    with FULL.open("w") as full:
        done = command(*score(corpus, "-"), shown=full)
    assert (done.returncode, done.stderr) == (2, "geceval: error: standard output: No space left on device\n")
    done = command(*score(corpus, "-"), before=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, "geceval: error: standard output is closed\n")


def test_what_is_no_file_is_written_to_and_stays(corpus, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text\n")
    assert os.read(reader, 100) == b"text\n" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    assert "gleu" in command(*score(corpus, "/dev/stdout")).stdout
    assert Path("/dev/stdout").is_symlink()


AS_NOBODY = """
import os, sys
from geceval.cli.app import run
run([*sys.argv[1:], "--output", os.devnull])  # imports what nobody may not read here
if os.getuid() == 0:  # whom no permission binds
    os.setgid(65534), os.setuid(65534)
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.slow
def test_folders_that_may_not_be_written(corpus, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "old.txt").write_text("old")
    closed.chmod(0o555)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.name.startswith(("popen-", "pytest-", "test_")):  # pytest closes them to others
            folder.chmod(0o755)
    files = ["-s", str(corpus), "-p", str(corpus), "-r", str(corpus)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HOME": str(closed)}

    def nobody(*more):
        line = [sys.executable, "-c", AS_NOBODY, "score", "-m", "gleu", *files, *map(str, more)]
        return subprocess.run(line, capture_output=True, text=True, env=environment, check=False, timeout=600)

    for name in ("new.txt", "old.txt"):
        done = nobody("--output", closed / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"geceval: error: {closed / name}: Permission denied\n"
    done = nobody("--cache", closed / "cache")
    assert done.returncode == 0 and "1.0000" in done.stdout, done.stderr
    assert {path.name for path in closed.iterdir()} == {"old.txt"} and (closed / "old.txt").read_text() == "old"


BIG = 1 << 20


def test_a_small_gzip_file_cannot_fill_the_memory(tmp_path):
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(gzip.compress(bytes(80 * BIG), compresslevel=6))
    assert path.stat().st_size < BIG // 4
    with pytest.raises(ValueError, match=r"bomb.txt.gz: unpacks to more than 100 times its size"):
        read_lines(path)
    path.write_bytes(gzip.compress(b"a b\n" * 100) + gzip.compress(b"c"))  # an honest one, in two parts
    assert read_text(path) == "a b\n" * 100 + "c"
    path.write_bytes(path.read_bytes() + b"noise")
    with pytest.raises(ValueError, match="bomb.txt.gz: not a valid gzip file"):
        read_text(path)


def test_utf_16_without_its_mark_and_an_empty_name_are_no_texts(corpus, capsys, monkeypatch):
    corpus.write_bytes("a b\n".encode("utf-16-le"))
    assert run(score(corpus, "-")) == 2
    assert capsys.readouterr().err == f"geceval: error: {corpus}: UTF-16 or a binary file; convert it to UTF-8\n"
    monkeypatch.chdir(corpus.parent)  # of which an unset variable of the shell is not the name
    assert run(["score", "-m", "impara", "-s", str(corpus), "-p", ""]) == 2
    assert capsys.readouterr().err == "geceval: error: the name of a file is empty\n"


@pytest.mark.parametrize(("data", "line"), [(b"a\n\xe9\n", 2), ("a\n".encode("utf-16"), 1), (b"\xed\xa0\x80", 1)])
def test_other_encodings_are_named_by_line(data, line, tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_bytes(data)
    assert run(score(path, "-")) == 2
    expected = f"geceval: error: {path}, line {line}: not valid UTF-8; convert the file to UTF-8\n"
    assert capsys.readouterr().err == expected


def test_marks_of_byte_order_and_nul_bytes_are_text(tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xef\xbb\xbfHe go to \x00 .\n\x00\n")
    assert read_lines(path) == ["He go to \x00 .", "\x00"]
    assert run(["score", "-m", "gleu", "errant", "m2", "-s", str(path), "-p", str(path), "-r", str(path)]) == 0
    assert "1.0000" in capsys.readouterr().out


def test_a_line_of_a_megabyte():
    many, one = "word " * (BIG // 5), "x" * BIG
    for text in (many, one):
        assert parse_m2(f"S {text}\n\n")[0].source == " ".join(text.split())
        with pytest.raises(ValueError) as error:
            parse_m2(f"{text}\n")
        assert len(str(error.value)) < 200
        assert len(parse_m2(f"S a\nA 0 1|||T|||{text}|||REQUIRED|||-NONE-|||0\n")[0].edits[0]) == 1
    with pytest.raises(ValueError) as error:
        parse_m2("S a\nA 0 1" + "|||" * BIG)
    assert len(str(error.value)) < 300


def test_many_edits_of_one_sentence():
    """Twice as many take twice as many calls; they took four times as many, 20 s for 5,000."""

    def calls(count: int) -> int:
        line = "A {0} {1}|||T|||b|||REQUIRED|||-NONE-|||0\n"
        text = f"S {'a ' * count}\n" + "".join(line.format(n, n + 1) for n in range(count))
        seen = []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            found = parse_m2(text)
        finally:
            sys.setprofile(None)
        assert len(found[0].edits[0]) == count
        return len(seen)

    assert calls(800) < 2.5 * calls(400)


LONG = 20_000  # words; with the square of it as bytes a machine runs out of memory


@pytest.mark.parametrize("metric", ["gleu", "green", "m2"])  # errant: tests/edits/errant/test_annotator.py
def test_sentences_of_20_000_words_end(metric):
    left, right = (" ".join(f"{letter}{place}" for place in range(LONG)) for letter in "ab")
    result = registry.make_scorer(metric).score([left, left], [right, f"{left} x"], [[left], [f"{left} x"]])
    assert result.scores[0] < 0.5 < result.scores[1]


def test_texts_that_cannot_be_aligned_are_refused():
    left, right = (" ".join(f"{letter}{place}" for place in range(LONG)) for letter in "ab")
    with pytest.raises(ValueError, match=r"i_measure: sources\[1\], .* have up to 20,000 words, too many"):
        registry.make_scorer("i_measure").score(["a", left], ["a", right], [["a"], [left]])


def bomb(levels):
    inner = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, levels))
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{inner}]><a>&l{levels - 1};</a>'


JUDGMENTS = {
    "billion laughs": bomb(10),
    "quadratic": '<!DOCTYPE a [<!ENTITY b "' + "x" * 50_000 + '">]><a>' + "&b;" * 50_000 + "</a>",
    "a file": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    "a parameter": '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]><a/>',
    "in UTF-16": '<?xml version="1.0"?><!DOCTYPE a []><a/>'.encode("utf-16"),
    "deep": "<a>" * 100_000,
    "deep and closed": "<a>" * 100_000 + "</a>" * 100_000,
    "a long name": f'<ranking-item src-id="1"><translation system="{"u" * BIG}" rank="1"/></ranking-item>',
    "a long number": f'<ranking-item src-id="{"9" * 4000}"><translation system="A" rank="1"/></ranking-item>',
    "many systems": '<ranking-item src-id="1"><translation system="' + "A " * 100_000 + '" rank="1"/></ranking-item>',
    "another code": '<?xml version="1.0" encoding="rot13"?><a/>',
}


@pytest.mark.parametrize("kind", JUDGMENTS)
def test_judgments_that_explode(kind, tmp_path):
    path = tmp_path / "j.xml"
    content = JUDGMENTS[kind]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match="j.xml") as error:
        to_items(read_rankings(path, first_line=1), path, {0: 0, 1: 1}, OUTPUTS)
    assert len(str(error.value)) < 400 + len(str(path))


def test_files_are_never_included(tmp_path):
    path = tmp_path / "j.xml"
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd" parse="text"/>'
    path.write_text(f'<?xml-stylesheet href="file:///etc/passwd"?><a>{include}<ranking-item src-id="1"/></a>')
    (row,) = read_rankings(path, first_line=1)
    assert row["groups"] == []
