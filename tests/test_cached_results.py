"""Edits and answers of networks that are kept on disk: the same result bit for bit, and nothing computed twice."""

import dataclasses
import logging
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from geceval import registry
from geceval.core.cache import clear_caches
from geceval.core.disk_cache import FILE
from geceval.core.options import RunTime
from geceval.edits.errant.annotator import Annotator
from geceval.edits.maxmatch import extraction
from geceval.models import batched_model, checkpoints
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder

SOURCES = ["the cat sit on the mat", "a dogs runs", "the cat likes the school", ""]
PREDICTIONS = ["the cat sat on the mat", "dogs run", "the cat likes the school", "a cat"]
REFERENCES = [["the cat sat on a mat", "the cat sits on the mat"], ["a dog runs"], ["the cat likes the school"], [""]]
LONG = "the cat " * 100


@pytest.fixture(autouse=True)
def _as_in_a_new_process():
    clear_caches()
    yield
    clear_caches()


@pytest.fixture
def nothing_computed(monkeypatch):
    """A function after which parsing a sentence, or running a network, is an error."""

    def fail(*_, **__):
        raise AssertionError("computed again")

    def forbid():
        monkeypatch.setattr(Annotator, "extract", fail)
        monkeypatch.setattr(batched_model.BatchedModel, "_run", fail)
        monkeypatch.setattr(extraction, "Lattice", fail)

    return forbid


def entries(folder):
    with closing(sqlite3.connect(folder / FILE)) as database:
        return database.execute("SELECT count(*) FROM entries").fetchone()[0]


def score(name, cache, sources=SOURCES, predictions=PREDICTIONS, **options):
    """The result as in a new process."""
    clear_caches()
    scorer = registry.make_scorer(name, {"device": "cpu", "cache": cache, **options})
    return scorer.score(sources, predictions, REFERENCES if scorer.needs_references() else None)


def same(one, other):
    """Equal to the last bit, statistics included."""
    assert one == other
    assert one.details == other.details
    assert (one.statistics is None) == (other.statistics is None)
    if one.statistics is not None:
        np.testing.assert_array_equal(one.statistics, other.statistics)


@pytest.fixture
def options(make_checkpoint, make_causal):
    folder, other = (str(make_checkpoint(seed)) for seed in (0, 1))
    return {
        "impara": {"model": folder, "se_model": other, "threshold": 0.0},
        "errant": {"nlp": "bundled"},
        "m2": {},
        "bertscore": {"model": folder, "layer": 1},
        "pt_m2": {"model": folder, "layer": 2},
        "ged": {"model": str(make_checkpoint(2, "BertForTokenClassification", ("CORRECT", "WRONG"))), "nlp": "bundled"},
        "scribendi": {"model": str(make_causal(0))},
    }


@pytest.mark.parametrize("name", ["errant", "impara", "m2", "bertscore", "pt_m2", "ged", "scribendi"])
def test_the_same_result_from_disk(name, options, tmp_path, nothing_computed):
    columns = {"predictions": SOURCES} if name == "ged" else {}  # a detector marks the sources
    plain = score(name, None, **columns, **options[name])
    first = score(name, tmp_path, **columns, **options[name])
    nothing_computed()
    again = score(name, str(tmp_path), **columns, **options[name])
    same(plain, first)
    same(first, again)


def test_only_new_texts_are_computed(options, tmp_path):
    score("errant", tmp_path, **options["errant"])
    before = entries(tmp_path)
    assert before == 6  # changed pairs: three predictions and three references
    others = ["the cat sat on mat", *PREDICTIONS[1:]]
    got = score("errant", tmp_path, predictions=others, **options["errant"])
    assert entries(tmp_path) == before + 1
    same(got, score("errant", None, predictions=others, **options["errant"]))


def test_seven_equal_digits_are_not_the_same_network(make_checkpoint, tmp_path, monkeypatch):
    """Names of checkpoints in signatures carry seven digits of a hash; of many versions of one model two may agree."""
    hashes = checkpoints._hash
    monkeypatch.setattr(checkpoints, "_hash", lambda *given: "1234567" + hashes(*given))
    found = []
    for seed in (0, 1):
        folder = tmp_path / str(seed) / "model"
        shutil.copytree(make_checkpoint(seed), folder)
        checkpoint = resolve(str(folder))
        assert checkpoint.identity == "model@1234567"
        network = Encoder.load(checkpoint, RunTime(device="cpu"), head=True)
        found.append(network.logits(["the cat sat"], RunTime(cache=tmp_path / "cache")).tolist())
    assert found[0] != found[1]


def test_another_network_or_limit_is_another_entry(make_checkpoint, tmp_path):
    texts = ["the cat sat on the mat", "a dog runs"]
    found = []
    for seed, limit in ((0, 128), (1, 128), (0, 4)):
        checkpoint = resolve(str(make_checkpoint(seed)))
        for cache in (tmp_path, None):
            clear_caches()
            reader = Encoder.load(checkpoint, RunTime(device="cpu"), head=True, max_length=limit)
            found.append(reader.logits(texts, RunTime(cache=cache)).tolist())
    assert found[0::2] == found[1::2]
    assert entries(tmp_path) == 6
    assert len({str(values) for values in found}) == 3


def test_a_text_that_is_cut_is_reported_again(options, tmp_path, caplog):
    texts = {"sources": [*SOURCES, LONG], "predictions": [*PREDICTIONS, LONG]}
    messages = []
    for _ in range(2):
        caplog.clear()
        score("impara", tmp_path, **texts, **options["impara"], guard="off")
        messages.append([record.getMessage() for record in caplog.records if record.levelno == logging.WARNING])
    assert len(messages[0]) == 1
    assert "longer than 128 tokens and cut: 1 of 5 texts" in messages[0][0]
    assert messages[0] == messages[1]


def test_another_layer_is_another_match(options, tmp_path):
    for layer in (1, 2):
        cached = score("bertscore", tmp_path, **{**options["bertscore"], "layer": layer})
        same(cached, score("bertscore", None, **{**options["bertscore"], "layer": layer}))
    assert entries(tmp_path) == 10  # five pairs of prediction and reference


def test_a_match_of_a_text_that_is_cut_is_not_kept(options, tmp_path, caplog):
    texts = {"sources": [*SOURCES[:3], LONG], "predictions": [*PREDICTIONS[:3], LONG]}
    for _ in range(2):
        caplog.clear()
        score("bertscore", tmp_path, **texts, **options["bertscore"])
        assert caplog.text.count("cut") == 1
    assert entries(tmp_path) == 4


@pytest.mark.parametrize("name", ["impara", "bertscore"])
def test_answers_in_16_bits_are_not_kept(name, options, tmp_path):
    score(name, tmp_path, dtype="bfloat16", **options[name])
    assert not (tmp_path / FILE).exists()


def test_the_environment_names_the_folder(monkeypatch):
    assert RunTime().cache is None
    monkeypatch.setenv("GECEVAL_CACHE", "kept")
    assert (RunTime().cache, RunTime(cache=None).cache, RunTime(cache="here").cache) == ("kept", None, "here")
    assert registry.scorer_class("llm_judge").RunTime().cache == "kept"
    assert dataclasses.replace(RunTime(cache=None), workers=2).cache is None
    with pytest.raises(TypeError, match="cache must be a path, got int"):
        RunTime(cache=3)
