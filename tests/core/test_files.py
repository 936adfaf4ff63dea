"""Files are written at once or not at all."""

import gzip

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
