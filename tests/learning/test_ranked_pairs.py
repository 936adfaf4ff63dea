"""Edit impacts, the pairs that they rank, and the folds of corpora."""

import math
import zlib

import numpy as np
import pytest

from geceval.edits.edit import NOOP, Edit, apply
from geceval.edits.m2 import M2Sentence, read_m2, write_m2
from geceval.learning.impara import Job
from geceval.learning.ranked_pairs import (
    RankedPair,
    cosine_impacts,
    parallel_pairs,
    ranked_pairs,
    read_pairs,
    read_rated_pairs,
    split_by_source,
)
from geceval.learning.recipe import Recipe

SOURCE = "a b c"
FIRST, LAST = Edit(0, 1, "x"), Edit(2, 3, "z")


def table(vectors):
    """An embedding given by a table; it keeps what it was asked for."""

    def embed(texts):
        embed.calls.append(list(texts))
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    embed.calls = []
    return embed


def bag_of_words(texts):
    """Counts of tokens in 64 hashed columns, so that every edit moves the vector by its own amount."""
    vectors = np.zeros((len(texts), 64), np.float32)
    for row, text in enumerate(texts):
        for token in text.split():
            vectors[row, zlib.crc32(token.encode()) % 64] += 1 + zlib.crc32(token.encode()) % 997 / 997
    return vectors


def test_impact_is_one_minus_the_cosine_to_the_text_without_the_edit():
    # T = "x b z"; cos((1, 0), (0, 2)) = 0 and cos((1, 0), (3, 4)) = 3/5; each row's edits in their own order.
    embed = table({"x b z": (1, 0), "a b z": (0, 2), "x b c": (3, 4), "a b c": (1, 0)})
    rows = [(SOURCE, [LAST, FIRST]), (SOURCE, [FIRST, LAST]), (SOURCE, []), ("a  b c", [LAST]), (SOURCE, [FIRST])]
    # "a b z" against "a b c" is (0, 2) to (1, 0); "x b c" against "a b c" is (3, 4) to (1, 0).
    expected = [[0.4, 1.0], [1.0, 0.4], [], [1.0], [0.4]]
    assert cosine_impacts(rows, embed) == [pytest.approx(row) for row in expected]
    assert embed.calls == [["x b z", "x b c", "a b z", "a b c"]]  # every distinct text once, in one call


def test_opposite_directions_have_impact_two_and_zero_vectors_none():
    embed = table({"x b z": (1, 0), "a b z": (-1, 0), "x b c": (0, 0)})
    ((opposite, nothing),) = cosine_impacts([(SOURCE, [FIRST, LAST])], embed)
    assert opposite == pytest.approx(2.0)
    assert math.isnan(nothing)


def test_an_edit_that_changes_nothing_has_impact_zero():
    embed = table({"a b c": (0.1, 0.7)})
    noop = Edit(-1, -1, "", NOOP)
    assert cosine_impacts([(SOURCE, [Edit(0, 1, "a"), noop])], embed) == [[0.0, 0.0]]


def test_edits_that_overlap_have_no_impacts():
    with pytest.raises(ValueError, match="overlap"):
        cosine_impacts([(SOURCE, [Edit(0, 2, "x"), Edit(1, 3, "y")])], bag_of_words)


def test_one_edit_gives_the_source_below_the_correction():
    pairs = ranked_pairs([("a  b c", [FIRST])], bag_of_words, total=1)
    assert pairs == [RankedPair("a b c", "a b c", "x b c")]


def test_the_text_whose_edits_weigh_more_is_the_better():
    # Impacts 1 and 0.4, so the order is: no edit, LAST (0.4), FIRST (1), both (1.4).
    embed = table({"x b z": (1, 0), "a b z": (0, 2), "x b c": (3, 4)})
    pairs = ranked_pairs([(SOURCE, [FIRST, LAST])], embed, total=6, per_row=200)
    order = ["a b c", "a b z", "x b c", "x b z"]
    ranks = {(order.index(pair.low), order.index(pair.high)) for pair in pairs}
    assert ranks == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


def test_every_text_is_a_partial_correction_with_more_impact_on_the_better_side():
    row = ("this are a example of text that have error", [
        Edit(1, 2, "is"), Edit(2, 3, "an"), Edit(7, 8, "has"), Edit(8, 9, "errors"),
    ])  # fmt: skip
    (impacts,) = cosine_impacts([row], bag_of_words)
    subsets = [[place for place in range(4) if bits >> place & 1] for bits in range(16)]
    weight = {apply(row[0], [row[1][k] for k in subset]): sum(impacts[k] for k in subset) for subset in subsets}
    pairs = ranked_pairs([row], bag_of_words, total=30)
    assert len(pairs) > 10  # of 30 attempts, the rest repeated or equal
    assert all(weight[pair.high] > weight[pair.low] for pair in pairs)
    assert len({(pair.low, pair.high) for pair in pairs}) == len(pairs)


def test_equal_sums_and_impacts_that_are_not_numbers_are_dropped(caplog):
    rows = [(SOURCE, [FIRST, LAST])]
    assert ranked_pairs(rows, lambda texts: np.ones((len(texts), 2)), total=4) == []
    assert ranked_pairs(rows, lambda texts: np.zeros((len(texts), 2)), total=4) == []
    assert "only 0 of the 4 pairs" in caplog.text


def test_empty_texts_and_overlapping_edits_are_left_out():
    rows = [("a", [Edit(0, 1, "")]), (SOURCE, [Edit(0, 1, "x"), Edit(0, 2, "y")])]
    assert ranked_pairs(rows, bag_of_words, total=9) == [RankedPair(SOURCE, SOURCE, "x b c")]


def test_the_seed_decides_and_total_is_kept():
    rows = [(f"word{n} is here and there", [Edit(1, 2, "was"), Edit(3, 4, "or"), Edit(4, 5, "")]) for n in range(40)]
    pairs = ranked_pairs(rows, bag_of_words, total=100, seed=3)
    assert len(pairs) == 100
    assert ranked_pairs(rows, bag_of_words, total=100, seed=3) == pairs
    assert set(ranked_pairs(rows, bag_of_words, total=100, seed=4)) != set(pairs)
    assert max(sum(pair.source == row[0] for pair in ranked_pairs(rows, bag_of_words, per_row=2)) for row in rows) == 2


def test_parallel_pairs_are_source_and_full_correction():
    rows = [("a  b c", [LAST, FIRST]), (SOURCE, []), (SOURCE, [Edit(0, 1, "a")]), (SOURCE, [FIRST, LAST])]
    assert parallel_pairs(rows) == [RankedPair(SOURCE, SOURCE, "x b z")]


def test_no_source_is_in_two_folds():
    rows = [(f"sentence {n // 2}" + " " * (n % 2), [FIRST]) for n in range(200)]
    folds = split_by_source(rows)
    assert [len(fold) for fold in folds] == [160, 20, 20]
    sources = [{" ".join(source.split()) for source, _ in fold} for fold in folds]
    assert [len(texts) for texts in sources] == [80, 10, 10]
    assert not sources[0] & sources[1] | sources[0] & sources[2] | sources[1] & sources[2]
    assert sorted(row for fold in folds for row in fold) == sorted(rows)
    assert split_by_source(rows, seed=2) != folds


def test_the_papers_number_of_pairs_comes_out_of_conll_2013(shared_data):
    sentences = read_m2(shared_data / "conll2013/official-preprocessed.m2")
    rows = [(sentence.source, edits) for sentence in sentences for edits in sentence.edits.values()]
    sizes = [len(ranked_pairs(fold, bag_of_words, total=total)) for fold, total in
             zip(split_by_source(rows), (3276, 410, 410), strict=True)]  # fmt: skip
    assert sizes == [3276, 410, 410]  # 8:1:1 of 4,096, section 2.4


def test_people_rank_pairs_too(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("source,output,ave_g,ave_f,ave_m\ns,a,1,2,4\ns,b,3,2,1\ns,c,4,4,1\n")  # means 1.5, 2.5, 4
    assert sorted(pair.low + pair.high for pair in read_rated_pairs(path)) == ["ab", "ac", "bc"]
    assert sorted(pair.low + pair.high for pair in read_rated_pairs(path, gap=1.5)) == ["ac", "bc"]
    assert len(read_rated_pairs(path, limit=1)) == 1


def write(path, numbers):
    """Sentences with two errors each; every number gives another sentence."""
    edits = [Edit(3, 4, "ran", "R:X"), Edit(5, 6, "home", "R:X")]
    write_m2(path, [M2Sentence(f"the dog {number} runs to school", {0: edits}) for number in numbers])
    return path


@pytest.fixture
def pairs_of(tmp_path, make_checkpoint):
    """From the options of a job to its pairs and counts."""

    def read(**options):
        job = Job(recipe=Recipe(base=str(make_checkpoint(1))), pairs=400, **options)
        (tmp_path / "run").mkdir(exist_ok=True)
        return read_pairs(job, tmp_path / "run", job.recipe.base)

    return read


def test_a_sentence_is_in_one_fold_whichever_file_it_is_in(tmp_path, pairs_of):
    first, second = (write(tmp_path / name, range(1, 41)) for name in ("first.m2", "second.m2"))
    pairs, data = pairs_of(m2=(first, second))
    folds = [{pair.source for pair in pairs[fold]} for fold in ("train", "dev", "test")]
    assert [len(sources) for sources in folds] == [32, 4, 4]  # 8:1:1 of 40
    assert len(set.union(*folds)) == 40
    assert [(entry["corpus"], entry["corrections"]) for entry in data] == [("first.m2", 40), ("second.m2", 40)]
    assert data[0]["pairs"] == data[1]["pairs"]


def test_every_fold_needs_a_pair(tmp_path, pairs_of):
    with pytest.raises(ValueError, match="every fold .* needs at least one pair"):
        pairs_of(m2=(write(tmp_path / "few.m2", range(1, 3)),))


def test_negatives_are_learnt_from_and_measured_by_nothing(tmp_path, pairs_of):
    m2 = write(tmp_path / "some.m2", range(1, 41))
    plain, _ = pairs_of(m2=(m2,))
    (tmp_path / "run" / "pairs.json").unlink()
    pairs, data = pairs_of(m2=(m2,), negatives=0.5)
    count = len(plain["train"])
    sizes = {"train": count + round(count / 2), "dev": len(plain["dev"]), "test": len(plain["test"])}
    assert {fold: len(rows) for fold, rows in pairs.items()} == sizes
    assert pairs["train"][:count] == plain["train"]
    of = {text: pair.source for pair in plain["train"] for text in (pair.source, pair.low, pair.high)}
    assert all(of[pair.high] == pair.source and pair.low not in of for pair in pairs["train"][count:])
    assert data[0]["pairs"]["train"] == count  # the card counts them apart
