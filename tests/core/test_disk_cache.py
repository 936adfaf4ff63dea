"""Values kept on disk: found again, never wrong, and never in the way of the work."""

import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from geceval.core.cache import LRUCache, clear_caches
from geceval.core.disk_cache import FILE, DiskCache, cached

FACTS = ["lengths", 1]


class Lengths:
    """Computes the length of texts and notes for which it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        for text in texts:
            self.asked.append(text)
            yield text, len(text)


def lengths(folder, texts, compute=None, facts=FACTS):
    """What `cached` gives for the texts in a new process, and which of them it computed."""
    compute = compute or Lengths()
    found = cached(texts, compute, LRUCache(0), DiskCache(folder, facts, lambda n: str(n).encode(), int))
    return found, compute.asked


@pytest.fixture(autouse=True)
def fresh_caches():
    clear_caches()


def test_only_what_is_new_is_computed(tmp_path):
    assert lengths(tmp_path / "new" / "cache", ["a", "bb"]) == ({"a": 1, "bb": 2}, ["a", "bb"])
    assert lengths(tmp_path / "new" / "cache", ["bb", "ccc", "a"]) == ({"a": 1, "bb": 2, "ccc": 3}, ["ccc"])
    assert lengths(None, ["a"]) == ({"a": 1}, ["a"])


def test_facts_and_keys_tell_values_apart(tmp_path):
    lengths(tmp_path, ["a", ("b", "c")])
    for facts in (["lengths", 2], ["lengths"], ["length", "s", 1], []):
        assert lengths(tmp_path, ["a"], facts=facts)[1] == ["a"]
    keys = ["b c", ("b", "c", ""), ("bc", ""), '["b", "c"]']
    assert lengths(tmp_path, keys)[1] == keys


def test_a_damaged_entry_is_computed_again(tmp_path, caplog):
    lengths(tmp_path, ["a", "bb", "ccc"])
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        rows = database.execute("SELECT key, value FROM entries").fetchall()
        (key, value), (other, _), (third, _) = sorted(rows, key=lambda row: row[1][8:])  # by the length they hold
        database.execute("UPDATE entries SET value = ? WHERE key = ?", (value[:8] + b"7", key))
        database.execute("UPDATE entries SET value = ? WHERE key = ?", (value, other))  # whole, but of another key
        database.execute("UPDATE entries SET value = 'text' WHERE key = ?", (third,))
    assert lengths(tmp_path, ["a", "bb", "ccc"]) == ({"a": 1, "bb": 2, "ccc": 3}, ["a", "bb", "ccc"])
    assert lengths(tmp_path, ["a", "bb", "ccc"])[1] == []
    assert caplog.records == []


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be taken for one" * 20])
def test_a_file_that_is_no_database_is_begun_anew(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    assert lengths(tmp_path, ["a"]) == ({"a": 1}, ["a"])
    assert lengths(tmp_path, ["a"])[1] == []


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_begun_anew(keep, tmp_path, caplog):
    texts = [str(number) for number in range(3000)]
    lengths(tmp_path, texts)
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content[: int(len(content) * keep)])
    right = {text: len(text) for text in texts}
    assert lengths(tmp_path, texts)[0] == right
    assert "is damaged" in caplog.text
    assert lengths(tmp_path, texts)[0] == right
    assert lengths(tmp_path, texts) == (right, [])


def test_pages_of_noise_give_no_wrong_value(tmp_path):
    texts = [str(number) for number in range(3000)]
    lengths(tmp_path, texts)
    with (tmp_path / FILE).open("r+b") as file:
        for place in range(8192, (tmp_path / FILE).stat().st_size - 4096, 12_288):
            file.seek(place)
            file.write(os.urandom(4096))
    for _ in range(3):
        assert lengths(tmp_path, texts)[0] == {text: len(text) for text in texts}


def test_a_folder_that_cannot_be_used_costs_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    for _ in range(2):
        assert lengths(tmp_path / "file" / "cache", ["a", "bb"]) == ({"a": 1, "bb": 2}, ["a", "bb"])
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "is not used" in caplog.text


def test_a_full_disk_costs_one_warning(tmp_path):
    """A limit on the size of files has the effect of a full disk, also for root."""
    code = f"""
import logging, resource
from geceval import clear_caches
from geceval.core.disk_cache import DiskCache
logging.basicConfig(level=logging.WARNING)
store = DiskCache({str(tmp_path)!r}, [], bytes, bytes)
store.put_many({{"small": b"kept"}})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for _ in range(2):
    store.put_many({{n: bytes(10_000) for n in range(100)}})
clear_caches()
assert DiskCache({str(tmp_path)!r}, [], bytes, bytes).get_many(["small", 1]) == {{"small": b"kept"}}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("WARNING") == 1
    assert DiskCache(tmp_path, [], bytes, bytes).get_many(["small"]) == {"small": b"kept"}


def test_what_came_before_a_failure_is_kept(tmp_path):
    def fails(texts):
        yield texts[0], 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lengths(tmp_path, ["a", "bb"], fails)
    assert lengths(tmp_path, ["a", "bb"]) == ({"a": 1, "bb": 2}, ["bb"])


def _write(folder, first):
    for start in range(first, first + 400, 40):
        texts = [str(number) for number in range(start, start + 80)]
        assert lengths(folder, texts)[0] == {text: len(text) for text in texts}


def test_processes_write_at_once(tmp_path):
    writers = [multiprocessing.get_context("fork").Process(target=_write, args=(tmp_path, n)) for n in (0, 100, 200)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert lengths(tmp_path, [str(n) for n in range(640)])[1] == []


def _die(folder):
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the commit
        rows = ((os.urandom(32), bytes(2000)) for _ in range(2000))
        database.executemany("INSERT INTO entries VALUES (?, ?)", rows)
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_writer_that_is_killed_leaves_what_was_there(tmp_path):
    lengths(tmp_path, ["a", "bb"])
    size = (tmp_path / FILE).stat().st_size
    writer = multiprocessing.get_context("fork").Process(target=_die, args=(tmp_path,))
    writer.start()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL
    assert (tmp_path / FILE).stat().st_size > size  # half a transaction lies there
    assert lengths(tmp_path, ["a", "bb", "ccc"]) == ({"a": 1, "bb": 2, "ccc": 3}, ["ccc"])
    assert (tmp_path / FILE).stat().st_size == size
