"""The memory of what was computed last."""

import sys
import threading

from geceval.core.recent import Recent


def test_the_value_used_longest_ago_is_forgotten():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]
    assert len(recent) == 2


def test_only_missing_values_are_computed_and_all_are_returned_even_beyond_the_size():
    recent, asked = Recent(2), []

    def compute(missing):
        asked.append(list(missing))
        return [(key, key.upper()) for key in reversed(missing)]

    recent.put("b", "kept")
    assert recent.get_all("abcab", compute) == {"a": "A", "b": "kept", "c": "C"}
    assert recent.get_all("aa", compute) == {"a": "A"}
    assert recent.get_all("", compute) == {}
    assert asked == [["a", "c"], [], []]


def test_threads_may_share_one():
    recent, errors = Recent(2), []

    def use(seed):
        try:
            for number in range(20_000):
                key = (seed * 7 + number) % 5
                assert recent.get_all([key], lambda keys: [(each, str(each)) for each in keys]) == {key: str(key)}
        except Exception as error:  # whatever it is, the test must tell
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == [] and len(recent) <= 3
