"""Caches in memory: what they hold, what is computed, and that one call empties them all."""

import gc
import re
import weakref
from collections import OrderedDict
from pathlib import Path

import geceval
from geceval.core.cache import LRUCache, lru_cache
from geceval.core.disk_cache import cached


def test_the_value_used_longest_ago_is_forgotten():
    recent = LRUCache(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]
    assert len(recent) == 2


def test_only_missing_values_are_computed_and_all_are_returned_even_beyond_the_size():
    recent, asked = LRUCache(2), []

    def compute(missing):
        asked.append(list(missing))
        return [(key, key.upper()) for key in reversed(missing)]

    recent.put("b", "kept")
    assert cached("abcab", compute, recent) == {"a": "A", "b": "kept", "c": "C"}
    assert cached("aa", compute, recent) == {"a": "A"}
    assert cached("", compute, recent) == {}
    assert asked == [["a", "c"]]


class Shared(OrderedDict):
    """Values that another thread drops between two steps of this one."""

    def get(self, key):
        return self.pop(key, None)

    def __setitem__(self, key, value):
        pass


def test_a_value_that_another_thread_drops_meanwhile_does_no_harm():
    recent = LRUCache(0)
    recent._values = Shared()
    OrderedDict.__setitem__(recent._values, "a", 1)
    assert recent.get("a") == 1
    assert recent.get("a") is None
    recent.put("b", 2)
    assert cached(["c"], lambda keys: [(key, key) for key in keys], recent) == {"c": "c"}


def test_one_call_empties_every_cache():
    asked = []

    @lru_cache(maxsize=4)
    def length(text):
        asked.append(text)
        return len(text)

    memory = LRUCache(4)
    for _ in range(2):
        assert length("ab") == 2
        assert cached(["ab"], lambda keys: [(key, length(key)) for key in keys], memory) == {"ab": 2}
    assert asked == ["ab"]
    assert "ab" in memory
    geceval.clear_caches()
    assert len(memory) == 0
    assert (length("ab"), asked) == (2, ["ab", "ab"])


def test_no_cache_of_the_library_is_left_out():
    """`functools` has caches that `clear_caches` would not find."""
    sources = Path(geceval.__file__).parent.rglob("*.py")
    users = [path.name for path in sources if re.search(r"functools\.(lru_)?cache\b", path.read_text(encoding="utf-8"))]
    assert users == ["cache.py"]


def test_clearing_frees_networks(make_checkpoint):
    from geceval.core.options import RunTime
    from geceval.models.checkpoints import resolve
    from geceval.models.encoder import Encoder

    folder = str(make_checkpoint(0))

    def load():
        return Encoder.load(resolve(folder), RunTime(device="cpu"))

    first = load()
    assert load() is first
    freed = weakref.ref(first)
    del first
    geceval.clear_caches()
    gc.collect()
    assert freed() is None
