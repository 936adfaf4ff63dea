"""The fast lattice of MaxMatch against its definition, the edge cases of the official scorer, and invariants."""

import random
import sqlite3
from contextlib import closing

import pytest
from edits.maxmatch.slow_maxmatch import slow_maxmatch
from hypothesis import given
from hypothesis import strategies as st

import geceval
from geceval.core.disk_cache import FILE
from geceval.edits.edit import Edit, apply
from geceval.edits.maxmatch import arcs, extraction
from geceval.edits.maxmatch.extraction import EXTRACTING, SCORING, Lattice, Rules, extract_all

SPARSE, DENSE = 10**9, 0


def random_case(random_):
    """Source, prediction (which mostly keeps most of the source), gold edits (many of which it makes), rules."""
    words = "abcdefgh"[: random_.choice([2, 4, 8])]
    source = [random_.choice(words) for _ in range(random_.randint(0, 7))]
    prediction = []
    for word in source:
        others = [[word], [], [random_.choice(words)], [word, random_.choice(words)]]
        prediction += random_.choices(others, [5, 1, 1, 1])[0]
    if random_.random() < 0.3:
        prediction = random_.choices(words, k=random_.randint(0, 6))
    golds = []
    for _ in range(random_.randint(0, 4)):
        start = random_.randint(0, len(source))
        first = random_.randint(0, len(prediction))
        texts = [" ".join(prediction[first : first + random_.randint(0, 3)]), random_.choice([*words, ""])]
        golds.append((start, min(len(source), start + random_.choice([0, 0, 1, 1, 2, 3])), texts))
    if random_.random() < 0.8:
        golds.sort(key=lambda gold: gold[:2])
    rules = Rules(max_unchanged_words=random_.choice([0, 1, 2, 2, 3]), version=random_.choice(["head", "head", "v3.2"]))
    return " ".join(source), " ".join(prediction), golds, rules


def check_against_definition(source, prediction, golds, rules):
    expected, matched = slow_maxmatch(source, prediction, golds, rules.max_unchanged_words, rules.version)
    gold = [Edit(start, end, texts[0], alternatives=tuple(texts[1:])) for start, end, texts in golds]
    extraction = Lattice(source, prediction, rules).extract(gold)
    found = [(" ".join(source.split()[e.start : e.end]), e.correction) for e in extraction.edits]
    assert found == [edit[2:] for edit in expected]
    assert len(extraction.matches) == matched
    if rules.version == "head":  # version 3.2 misplaces insertions at the start; edits are returned where they are
        assert [(edit.start, edit.end) for edit in extraction.edits] == [edit[:2] for edit in expected]


@pytest.mark.parametrize("dense_from", [SPARSE, DENSE])
def test_same_edits_as_the_definition(monkeypatch, dense_from):
    monkeypatch.setattr(arcs, "DENSE_CELLS", dense_from)
    random_ = random.Random(20)
    for _ in range(400):
        check_against_definition(*random_case(random_))


# Paths of equal cost, found by fuzzing a matrix search that took the wrong one.
TIES = [
    ("c a", "b d", [(0, 1, [""]), (0, 2, [""])], Rules()),
    ("a a a", "b b c", [(0, 2, ["c", ""]), (1, 3, [""])], Rules()),
    ("c c b a c c", "a a b", [(0, 0, ["b", "a"]), (3, 5, ["b"])], Rules(max_unchanged_words=0)),
    ("c c c", "d d d c a d a d", [(1, 2, ["d"])], Rules(version="v3.2")),
]


@pytest.mark.parametrize("dense_from", [SPARSE, DENSE])
@pytest.mark.parametrize("case", TIES)
def test_ties_as_in_the_definition(monkeypatch, dense_from, case):
    monkeypatch.setattr(arcs, "DENSE_CELLS", dense_from)
    check_against_definition(*case)


# The official scorer (version 3.2 and its latest state, both run): correct, proposed, gold; see also golden/m2.json
EDGES = [
    pytest.param("", "a b", [Edit(0, 0, "a b")], (1, 1, 1), id="empty source"),
    pytest.param("", "", [], (0, 0, 0), id="both empty"),
    pytest.param("a b c", "a c", [Edit(1, 2, "x", alternatives=("",))], (1, 1, 1), id="alternative deletes"),
    pytest.param("a b", "A b", [Edit(0, 1, "A")], (1, 1, 1), id="case counts"),
    pytest.param("a\u00a0b c", "a  b\tc", [], (0, 0, 0), id="any white space separates tokens"),
]


@pytest.mark.parametrize(("source", "prediction", "gold", "expected"), EDGES)
def test_edges(source, prediction, gold, expected):
    extraction = Lattice(source, prediction).extract(gold)
    assert (len(extraction.matches), len(extraction.edits), len(extraction.gold)) == expected


def test_extraction_keeps_unchanged_words_out_of_edits():
    assert Lattice("a b c d", "x b y d", EXTRACTING).extract().edits == [Edit(0, 1, "x"), Edit(2, 3, "y")]


def distinct(words, most):
    return st.lists(st.sampled_from(words), max_size=most, unique=True).map(" ".join)


@given(source=distinct("abcdefgh", 8), reference=distinct("abcdefgh", 8))
def test_extracted_gold_is_found_in_full_where_no_word_repeats(source, reference):
    gold = Lattice(source, reference, EXTRACTING).extract().edits
    assert apply(source, gold) == reference
    extraction = Lattice(source, reference).extract(gold)
    assert extraction.edits == gold
    assert len(extraction.matches) == len(gold)


def test_where_words_repeat_an_edit_of_the_reference_itself_can_be_lost():
    """The walk over the insertions at one offset uses up a gold edit on an arc that the path then does not take."""
    gold = Lattice("d b", "b c b c", EXTRACTING).extract().edits
    assert len(gold) == 2
    assert len(Lattice("d b", "b c b c").extract(gold).matches) == 1
    definition = slow_maxmatch("d b", "b c b c", [(e.start, e.end, [e.correction]) for e in gold])
    assert definition[1] == 1


def test_of_too_large_a_lattice_a_single_path_is_searched():
    source = " ".join(f"s{i}" for i in range(20))
    prediction = " ".join(f"p{i}" for i in range(20))
    gold = [Edit(0, 1, "p0")]
    full = Lattice(source, prediction)
    assert not full.single_path
    thin = Lattice(source, prediction, Rules(max_cells=100))
    assert thin.single_path
    assert apply(source, thin.extract(gold).edits) == prediction
    assert thin.extract(gold).matches == full.extract(gold).matches == [(0, 0)]
    bare = Lattice(source, prediction, Rules(max_cells=10))
    assert bare.single_path
    assert bare.extract([]).edits == [Edit(i, i + 1, f"p{i}") for i in range(20)]


def test_several_annotators_share_a_lattice():
    lattice = Lattice("a b c d e", "x b y d e")
    golds = [Edit(0, 1, "x")], [], [Edit(2, 3, "y")], [Edit(0, 1, "x"), Edit(2, 3, "y")], [Edit(0, 1, "x")]
    shared = [lattice.extract(gold) for gold in golds]
    assert shared == [Lattice("a b c d e", "x b y d e").extract(gold) for gold in golds]
    assert [(len(e.matches), len(e.edits)) for e in shared] == [(1, 2), (0, 1), (1, 2), (2, 2), (1, 2)]


def test_gold_beyond_the_source():
    with pytest.raises(ValueError, match="lies beyond the 2 tokens"):
        Lattice("a b", "a c").extract([Edit(1, 3, "c")])


WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "."]


@pytest.fixture
def no_caches():
    geceval.clear_caches()
    yield
    extraction._pool.close()


def corpus(count: int, seed: int = 0):
    """Random sentences, predictions and gold edits; of two annotators, one with alternatives."""
    dice = random.Random(seed)
    sources, predictions, gold = [], [], []
    for _ in range(count):
        source = dice.choices(WORDS, k=dice.randint(1, 9))
        changed = [dice.choice(WORDS) if dice.random() < 0.3 else word for word in source]
        place = dice.randrange(len(source))
        own = Edit(place, place + 1, changed[place], "X", 0, ("dog", ""))
        sources.append("  ".join(source))
        predictions.append(" ".join(changed + dice.choices(WORDS, k=dice.randint(0, 2))))
        gold.append({0: [own], 3: [Edit(0, 0, "so", "Y", 3)]})
    return sources, predictions, gold


def one_by_one(sources, predictions, gold, rules):
    found = []
    for source, prediction, options in zip(sources, predictions, gold, strict=True):
        lattice = Lattice(source, prediction, rules)
        found.append(({annotator: lattice.extract(edits) for annotator, edits in options.items()}, lattice.single_path))
    return found


@pytest.mark.parametrize("rules", [SCORING, EXTRACTING, Rules(1, "v3.2", 4)])
def test_here_in_processes_and_from_disk(rules, tmp_path, no_caches):
    columns = corpus(150)
    expected = one_by_one(*columns, rules)
    assert sum(len(e.matches) for options, _ in expected for e in options.values()) > 20
    assert any(single for _, single in expected) == (rules.max_cells == 4)
    for workers, cache in ((1, None), (2, tmp_path), (1, tmp_path)):
        geceval.clear_caches()
        found = extract_all(*columns, rules, workers, cache)
        assert [(dict(each.by_annotator), each.single_path) for each in found] == expected
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        rows = database.execute("SELECT count(*) FROM entries").fetchone()[0]
    assert rows == len({(s, p, str(g)) for s, p, g in zip(*columns, strict=True)})


def test_only_what_is_new_is_searched(monkeypatch, tmp_path, no_caches):
    searched = []
    monkeypatch.setattr(extraction, "Lattice", lambda *given: searched.append(given[1]) or Lattice(*given))
    sources, predictions, gold = ["a  cat", "a cat", "dogs"], ["the cat", "the  cat", "dog"], [{0: []}] * 3
    first = extract_all(sources, predictions, gold, SCORING, cache=tmp_path)
    assert searched == ["the cat", "dog"]  # white space makes no difference
    extract_all(["a cat", "a cat"], ["the cat", "my cat"], gold[:2], SCORING)
    assert searched[2:] == ["my cat"]
    extract_all(["a cat"], ["the cat"], gold[:1], EXTRACTING)  # other rules
    extract_all(["a cat"], ["the cat"], [{0: [Edit(0, 1, "the")]}], SCORING)  # other gold
    assert searched[3:] == ["the cat", "the cat"]
    geceval.clear_caches()
    assert extract_all(sources, predictions, gold, SCORING, cache=tmp_path) == first
    assert len(searched) == 5
    geceval.clear_caches()
    monkeypatch.setattr(extraction, "package_version", lambda name: f"another {name}")
    assert extract_all(sources, predictions, gold, SCORING, cache=tmp_path) == first
    assert searched[5:] == ["the cat", "dog"]
