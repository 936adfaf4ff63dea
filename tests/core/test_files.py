"""Lines are read as they were written, and files are written at once or not at all."""

import gzip
import lzma
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from geceval.core.files import read_lines, read_text, write_text


def test_lines_are_read_as_written_but_for_trailing_space(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffone \r\n\r\n\ttwo\u2028still two\u00a0\nthree".encode())
    # the byte order mark goes, CRLF is a line end, a blank line stays, U+2028 ends no line, the last \n may lack
    assert read_lines(path) == ["one", "", "\ttwo\u2028still two", "three"]
    path.write_text("")
    assert read_lines(path) == []


def test_what_is_no_gzip_file_is_named(tmp_path):
    (tmp_path / "text.txt.xz").write_bytes(lzma.compress(b"plain text"))
    with pytest.raises(ValueError, match=r"text.txt.xz: packed by xz, of packed files only .gz is read; unpack it"):
        read_lines(tmp_path / "text.txt.xz")
    (tmp_path / "text.txt.gz").write_bytes(b"plain text")
    with pytest.raises(ValueError, match=r"text.txt.gz: not a valid gzip file"):
        read_lines(tmp_path / "text.txt.gz")


def test_what_was_written_is_read_again(tmp_path):
    for name in ("plain.txt", "packed.txt.gz"):
        write_text(tmp_path / name, "naïve\r\n✓\n")
        assert read_text(tmp_path / name) == "naïve\r\n✓\n"
    assert gzip.decompress((tmp_path / "packed.txt.gz").read_bytes()).decode() == "naïve\r\n✓\n"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    write_text(path, "old\n")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "lone surrogate \ud800")
    assert path.read_text() == "old\n"
    assert [item.name for item in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize(("name", "kind"), [("none/out.txt", FileNotFoundError), ("", IsADirectoryError)])
def test_errors_name_the_file_and_not_the_temporary_one(name, kind, tmp_path):
    with pytest.raises(kind) as error:
        write_text(tmp_path / name, "x")
    assert error.value.filename == str(tmp_path / name)


def test_links_are_followed(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink() and (tmp_path / "real.txt").read_text() == "new"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="circle"):
        write_text(tmp_path / "circle" / "x", "new")


def test_the_longest_names_can_be_written(tmp_path):
    path = tmp_path / ("長" * 85)  # 255 bytes, the most that a file system takes
    write_text(path, "x")
    assert path.read_text() == "x"


@pytest.fixture
def umask():
    """A function that sets the umask of this process, which is put back."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o027, 0o077])
def test_files_have_the_mode_that_the_user_wants(mask, tmp_path, umask):
    umask(mask)
    for _ in range(2):  # new, and replaced
        write_text(tmp_path / "out.txt", "x")
        assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o666 & ~mask


def test_files_of_other_threads_keep_their_mode(tmp_path, umask):
    """The umask is that of the process: were it cleared for a moment, others could read what a thread writes then."""
    umask(0o077)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(lambda: [write_text(tmp_path / "out.txt", "x") for _ in range(800)])
        number = 0
        while not written.done():
            (tmp_path / f"{number}.private").touch()
            number += 1
    sys.setswitchinterval(interval)
    assert number > 100
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("*.private")} == {0o600}
