"""BARTScore against the definition, one pair at a time, on a small BART with random weights."""

import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.scorers.bartscore import Bartscore, Settings

PREDICTIONS = ["the cat sat", "a dog runs to school", "", "the cat sat"]
REFERENCES = [["the cat sat on the mat", "a cat sits"], ["the dog runs"], ["the cat"], ["a cat sits"]]


@pytest.fixture(scope="module")
def bart(make_checkpoint):
    sizes = {"layers": 1, "attention_heads": 2, "ffn_dim": 32}
    layers = {f"{side}_{kind}": size for side in ("encoder", "decoder") for kind, size in sizes.items()}
    more = {"max_position_embeddings": 40, "init_std": 0.4, "decoder_start_token_id": 3, "forced_eos_token_id": None}
    return make_checkpoint(3, "BartForConditionalGeneration", d_model=16, **layers, **more)


def one(folder, source: str, target: str) -> float:
    """The model's own mean loss on one pair, negated: every target token, <s> and </s> included, counts."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    labels = tokenizer(target, return_tensors="pt").input_ids
    with torch.no_grad():
        return -model(input_ids=tokenizer(source, return_tensors="pt").input_ids, labels=labels).loss.item()


@pytest.mark.parametrize("batch_size", [1, 4])
def test_equals_the_models_own_loss(bart, batch_size):
    scorer = Bartscore(Settings(model=str(bart)), RunTime(batch_size=batch_size))
    result = scorer.score(PREDICTIONS, PREDICTIONS, REFERENCES)
    expected = [
        max(one(bart, reference, prediction) for reference in references)
        for prediction, references in zip(PREDICTIONS, REFERENCES, strict=True)
    ]
    assert result.scores == pytest.approx(expected, abs=1e-5)
    assert result.score == pytest.approx(sum(expected) / 4, abs=1e-5)
    assert max(result.scores) < 0


def test_long_texts_are_cut_and_reported(bart, caplog):
    Bartscore(Settings(model=str(bart))).score(["x"], ["the cat " * 30], [["the cat"]])
    assert "bartscore: longer than 40 tokens and cut: " in caplog.text


def test_no_model_is_bundled():
    with pytest.raises(ValueError, match="no sequence-to-sequence model is bundled.*facebook/bart-large-cnn"):
        Bartscore(Settings(model="bundled")).load()


def test_an_encoder_is_no_sequence_to_sequence_model(make_checkpoint):
    with pytest.raises(ValueError, match="cannot be loaded"):
        Bartscore(Settings(model=str(make_checkpoint(1)))).load()
