"""Groups of versions of one sentence."""

import random

from geceval.edits.edit import Edit
from recipes.distillation.groups import SHARD, Confusions, make_groups

ROWS = [
    ("he go to the school", [Edit(1, 2, "goes"), Edit(3, 4, "")]),
    ("they goes home now", [Edit(1, 2, "go")]),
    ("we sat in house", [Edit(3, 3, "the")]),
]


def test_confusions_go_both_ways_and_what_is_inserted_or_deleted_is_read_with_the_next_word():
    confusions = Confusions(ROWS)
    rng = random.Random(1)

    def outcomes(text):
        return {confusions.exchange(text, 1, rng) for _ in range(50)}

    assert outcomes("she goes out") == {"she go out"}
    assert outcomes("at the school") == {"at school", "at the the school"}
    assert outcomes("my house") == {"my the house"}
    assert outcomes("nothing here") == {"nothing here"}


def test_a_group_has_the_source_first_and_its_corrections():
    groups = make_groups(ROWS, [], 100, 0)
    found = {group.texts[0]: set(group.texts[1:]) for group in groups}
    assert found["they goes home now"] == {"they go home now"}
    full, partial = "he goes to school", {"he goes to the school", "he go to school"}
    assert found["he go to the school"] - partial == {full}
    assert found["he go to the school"] & partial


def test_groups_of_fewer_texts_are_the_first_of_those_of_more():
    rows = [(f"he go to room {number}", [Edit(1, 2, "goes")]) for number in range(3 * SHARD)]
    fewer, more = make_groups(rows, [], 10, 2), make_groups(rows, [], 2000, 2)
    assert len(fewer) == SHARD < len(more)
    assert more[:SHARD] == fewer
    assert make_groups(rows, [], 10, 2, seed=2) != fewer
