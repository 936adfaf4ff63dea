"""Files are written at once or not at all."""

import gzip
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from geceval.core.files import read_text, write_text


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


def test_a_missing_folder_is_an_os_error(tmp_path):
    path = tmp_path / "none" / "out.txt"
    with pytest.raises(FileNotFoundError) as error:
        write_text(path, "x")
    assert error.value.filename == str(path)  # and not the temporary file beside it


def test_a_folder_is_not_overwritten(tmp_path):
    with pytest.raises(IsADirectoryError) as error:
        write_text(tmp_path, "x")
    assert error.value.filename == str(tmp_path)


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
