"""IMPARA: its two networks together, its threshold, its settings, and bad input."""

import numpy as np
import pytest
import torch
import transformers

from geceval.edits.edit import Edit
from geceval.models import loading
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.scorers.impara import Impara, Settings
from geceval.scorers.learned.estimators import cosine
from geceval.workflows.impacts import edit_impacts


def qualities_and_similarities(quality, similarity, sources, predictions):
    """By the networks' own loops, which tests/models/ holds against transformers."""
    answers = Encoder.load(resolve(quality), head=True).logits(predictions)[:, 0]
    left, right = (torch.from_numpy(Encoder.load(resolve(similarity)).embed(texts)) for texts in (sources, predictions))
    return 1 / (1 + np.exp(-answers)), torch.cosine_similarity(left, right).numpy()


@pytest.mark.parametrize("seed", [0, 1])
def test_scores_are_qualities_where_similarity_passes(make_checkpoint, corpus, seed):
    quality, similarity = make_checkpoint(seed), make_checkpoint(seed + 100, architecture="BertModel", hidden_size=24)
    sources, predictions = corpus(seed=seed)
    qualities, similarities = qualities_and_similarities(quality, similarity, sources, predictions)
    ranked = np.sort(similarities)
    place = 10 + int(np.argmax(np.diff(ranked[10:30])))  # the widest gap, so that rounding moves no sentence across
    threshold = float(ranked[place : place + 2].mean())
    expected = np.where(similarities > threshold, qualities, 0.0)
    settings = Settings(model=str(quality), se_model=str(similarity), threshold=threshold)
    result = Impara(settings).score(sources, predictions)
    assert result.details == {"zeroed": place + 1}
    assert result.scores == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.score == pytest.approx(expected.mean(), abs=1e-5)


@pytest.fixture(scope="module")
def local(make_checkpoint):
    """Settings with a quality and a similarity estimator of their own."""
    return {"model": str(make_checkpoint(31)), "se_model": str(make_checkpoint(32, architecture="BertModel"))}


@pytest.mark.parametrize(("similarity", "passes"), [(0.51, True), (0.5, False), (0.49, False), (float("nan"), False)])
def test_the_threshold_is_strict(local, monkeypatch, similarity, passes):
    monkeypatch.setattr("geceval.scorers.learned.estimators.cosine", lambda left, right: np.full(len(left), similarity))
    (score,) = Impara(Settings(**local, threshold=0.5)).score(["the cat"], ["a cat"]).scores
    assert 0 < score < 1 if passes else score == 0.0


def test_equal_sentences_have_similarity_one(local, monkeypatch):
    asked, place = [], "geceval.scorers.learned.estimators.cosine"
    monkeypatch.setattr(place, lambda left, right: asked.append(len(left)) or np.ones(len(left)))
    sources, predictions = ["the cat", "dogs", "a mat"], ["the cat", "dogs run", "a mat"]
    assert Impara(Settings(**local, threshold=0.999)).score(sources, predictions).details == {"zeroed": 0}
    assert asked == [1]
    assert Impara(Settings(**local, threshold=1.0)).score(sources, predictions).details == {"zeroed": 3}


def test_a_threshold_below_every_cosine_switches_similarity_off(local, corpus):
    sources, predictions = corpus()
    settings = Settings(model=local["model"], se_model="some-org/never-loaded", threshold=-999.0)
    result = Impara(settings).score(sources, predictions)
    assert result.details == {"zeroed": 0}
    assert "|se_model:off|" in result.signature
    below = Impara(Settings(**local, threshold=-1.0)).score(sources, predictions)
    assert below.scores == pytest.approx(result.scores, abs=1e-5)


def test_cosine_of_a_zero_vector_is_not_a_number():
    left, right = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]]), np.array([[4.0, 3.0], [1.0, 1.0], [-2.0, 0.0]])
    # 24 / 25 by hand
    assert cosine(left, right).tolist() == pytest.approx([0.96, float("nan"), -1.0], nan_ok=True)


def test_settings_stored_with_the_checkpoint_are_the_defaults(make_checkpoint, local):
    stored = {"threshold": 0.25, "se_model": local["se_model"], "max_length": 24, "pooling": "mean"}
    folder = make_checkpoint(31, **{f"geceval_{name}": value for name, value in stored.items()})
    stored = Impara(Settings(model=str(folder))).score(["the cat sat"], ["a cat sat"])
    assert "|threshold:0.25|" in stored.signature and "|max_length:24|" in stored.signature
    given = Impara(Settings(model=str(folder), threshold=0.5, max_length=16)).score(["the cat sat"], ["a cat sat"])
    assert "|threshold:0.5|" in given.signature and "|max_length:16|" in given.signature
    assert Impara(Settings(**local)).score(["the cat"], ["the cat"]).signature.count("threshold:0.9|") == 1


def test_a_published_checkpoint_wants_its_published_similarity_estimator(make_checkpoint):
    with pytest.raises(CheckpointError, match="hf download bert-base-cased"):
        Impara(Settings(model=str(make_checkpoint(33)))).score(["the cat"], ["a cat"])


SOURCE = "Using text-messaging language as an informal way of communicating on social networks also in a bad effect"
CHANGES = [Edit(13, 14, "has"), Edit(3, 4, "like")]


def test_impacts_of_edits_follow_equation_5():
    """1 - cos of mean states, here computed with transformers alone, one sentence at a time."""
    full = SOURCE.replace("also in", "also has").replace("language as", "language like")
    without = [SOURCE.replace("language as", "language like"), SOURCE.replace("also in", "also has")]
    tokenizer = transformers.AutoTokenizer.from_pretrained(ASSETS / "encoder")
    network = loading.load_encoder(resolve("bundled"))
    with torch.no_grad():
        batches = [tokenizer(text, return_tensors="pt") for text in (full, *without)]
        means = [network(**batch).last_hidden_state[0].mean(0) for batch in batches]
    expected = [1 - torch.cosine_similarity(means[0], mean, dim=0).item() for mean in means[1:]]
    assert min(expected) > 1e-4
    found = edit_impacts([SOURCE, "a cat"], [full, "a cat"], edits=[CHANGES, []])
    assert [edit for edit, _ in found[0]] == CHANGES
    assert [impact for _, impact in found[0]] == pytest.approx(expected, abs=1e-5)
    assert found[1] == []


def test_impacts_check_their_columns():
    with pytest.raises(ValueError, match="impacts: 2 lists of edits but 1 source"):
        edit_impacts(["a"], ["b"], edits=[[], []])
    with pytest.raises(ValueError, match="impacts: 1 source but 2 predictions"):
        edit_impacts(["a"], ["b", "c"])
