"""The memory of what was computed last."""

from collections import OrderedDict

from geceval.core.cache.memory import LRUCache


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
    assert recent.get_or_compute("abcab", compute) == {"a": "A", "b": "kept", "c": "C"}
    assert recent.get_or_compute("aa", compute) == {"a": "A"}
    assert recent.get_or_compute("", compute) == {}
    assert asked == [["a", "c"], [], []]


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
    assert recent.get_or_compute(["c"], lambda keys: [(key, key) for key in keys]) == {"c": "c"}
