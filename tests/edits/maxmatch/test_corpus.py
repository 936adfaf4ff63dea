"""MaxMatch over a corpus: what `Lattice` gives one by one, once for equal sentences, in any number of processes."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing

import pytest

import geceval
from geceval.core.disk_cache import FILE
from geceval.edits.edit import Edit
from geceval.edits.maxmatch import corpus as extractor
from geceval.edits.maxmatch.corpus import extract_all
from geceval.edits.maxmatch.extraction import EXTRACTING, SCORING, Lattice, Rules

WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "."]


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    geceval.clear_caches()
    yield
    extractor.close()


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


@pytest.mark.parametrize("rules", [SCORING, EXTRACTING, Rules(1, True, "v3.2", "repaired", 4)])
def test_here_in_processes_and_from_disk(rules, tmp_path):
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


def test_only_what_is_new_is_searched(monkeypatch, tmp_path):
    searched = []
    monkeypatch.setattr(extractor, "Lattice", lambda *given: searched.append(given[1]) or Lattice(*given))
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
    monkeypatch.setattr(extractor, "package_version", lambda name: f"another {name}")
    assert extract_all(sources, predictions, gold, SCORING, cache=tmp_path) == first
    assert searched[5:] == ["the cat", "dog"]


def test_a_gold_edit_beyond_the_source_is_the_same_error_in_a_process():
    sources, predictions, gold = corpus(80)
    gold[70] = {0: [Edit(40, 41, "x")]}
    messages = []
    for workers in (1, 2):
        with pytest.raises(ValueError, match="lies beyond the") as caught:
            extract_all(sources, predictions, gold, SCORING, workers)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_process_that_dies_is_an_error_and_not_the_end(monkeypatch):
    columns = corpus(80)
    expected = extract_all(*columns, SCORING)
    geceval.clear_caches()
    with monkeypatch.context() as patch:
        patch.setattr(extractor, "_extract", lambda keys: os._exit(1))
        with pytest.raises(RuntimeError, match="a worker process that extracts edits died; use workers=1"):
            extract_all(*columns, SCORING, 2)
    assert extract_all(*columns, SCORING, 2) == expected
