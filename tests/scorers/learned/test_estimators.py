"""Metrics that read the texts of several systems together: a system whose answers are no numbers fails alone."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from geceval import registry

SOURCES = ["the cat sat", "a cat", "dogs run"]
GOOD, BAD = ["the cats sat", "the cat", "a dog"], ["the cats sat", "the cat xyz", "a dog"]


def spoilt(folder, target, embeddings, token):
    """A copy of a network whose state of one token overflows in the first normalisation."""
    shutil.copytree(folder, target)
    state = load_file(target / "model.safetensors")
    state[embeddings][token] = torch.full_like(state[embeddings][token], 3e38)
    save_file(state, target / "model.safetensors", metadata={"format": "pt"})
    return str(target)


@pytest.fixture
def encoder(make_checkpoint, tmp_path):
    import transformers

    folder = make_checkpoint(3)
    token = transformers.AutoTokenizer.from_pretrained(folder)("xyz").input_ids[1]
    return spoilt(folder, tmp_path / "encoder", "bert.embeddings.word_embeddings.weight", token)


@pytest.fixture
def causal(make_causal, tmp_path):
    import transformers

    folder = make_causal(3, tie_word_embeddings=False)
    token = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()["z"]
    return spoilt(folder, tmp_path / "causal", "transformer.wte.weight", token)


@pytest.mark.parametrize("metric", ["impara", "impara_ged", "fluency", "impara_lm", "scribendi", "asano2017"])
def test_what_is_no_number_is_said_of_the_system_that_has_it(encoder, causal, metric, monkeypatch):
    options = {"model": encoder} if metric in ("impara", "impara_ged") else {"model": causal}
    options |= {"se_model": "bundled"} if metric == "impara" else {}
    scorer = registry.make_scorer(metric, options)
    alone = scorer.score(SOURCES, GOOD)
    cls, scored = registry.scorer_class(metric), []
    note = lambda self, columns, score=cls._score: scored.append(score(self, columns)) or scored[-1]  # noqa: E731
    monkeypatch.setattr(cls, "_score", note)
    with pytest.raises(ValueError, match=rf"^{metric}: .*(predictions\[1\]|the cat xyz).* \(system bad\)$"):
        registry.score_systems(registry.make_scorer(metric, options), SOURCES, {"good": GOOD, "bad": BAD})
    assert len(scored) == 1
    assert scored[0].scores == pytest.approx(alone.scores, abs=1e-5)
