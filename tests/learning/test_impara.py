"""IMPARA's loss, and the scale of its finished logit: fitted on pairs, and written into the output layer."""

import shutil

import numpy as np
import pytest
import torch
import transformers

from geceval.learning.impara import PairCollator, PairModel, PairRanking, log_odds, rescale
from geceval.learning.ranked_pairs import RankedPair
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.models.loading import load_classifier

TEXTS = ["the cat sat on the mat", "cats sit", "a dog runs to school", ""]


def test_the_scale_is_the_one_that_made_the_preferences():
    generator = np.random.default_rng(0)
    margins = generator.normal(size=40_000)
    # The better text is the one with the higher logit with probability sigmoid(2 * margin).
    margins = np.where(generator.random(40_000) < 1 / (1 + np.exp(-2 * margins)), margins, -margins)
    low = generator.normal(5, 1, size=40_000)
    scale, shift = log_odds(low, low + margins)
    assert scale == pytest.approx(2, rel=0.03)
    assert np.mean(scale * np.concatenate([low, low + margins]) + shift) == pytest.approx(0, abs=1e-9)


def test_the_scale_of_logits_is_undone():
    low, high = np.array([0.0, 1.0, 2.0, 0.5]), np.array([1.0, 0.5, 3.0, 2.0])
    scale, shift = log_odds(low, high)
    larger, moved = log_odds(1000 * low + 7, 1000 * high + 7)
    assert larger == pytest.approx(scale / 1000, rel=1e-4)
    assert larger * (1000 * low + 7) + moved == pytest.approx(scale * low + shift, abs=1e-3)


@pytest.mark.parametrize("architecture", ["BertForSequenceClassification", "RobertaForSequenceClassification"])
def test_a_rescaled_checkpoint_gives_scaled_logits(make_checkpoint, tmp_path, architecture):
    folder = shutil.copytree(make_checkpoint(5, architecture), tmp_path / "checkpoint")
    before = Encoder.load(resolve(folder), head=True).logits(TEXTS)
    rescale(folder, 0.25, -1.5)
    after = Encoder.load(resolve(folder), head=True).logits(TEXTS)
    assert after == pytest.approx(0.25 * before - 1.5, abs=1e-5)


def test_a_folder_without_an_output_layer(make_checkpoint):
    with pytest.raises(ValueError, match="expected one output layer, found 0"):
        rescale(make_checkpoint(6, "BertModel"), 1.0, 0.0)


def test_the_loss_is_the_sigmoid_of_the_margin(make_checkpoint):
    # Eq. 4 against a plain loop over single texts, without padding.
    folder = make_checkpoint(1)
    checkpoint = resolve(folder)
    network = load_classifier(checkpoint)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = [RankedPair("", "the cat sit", "the cat sat on the mat"), RankedPair("", "dogs runs to school", "a dog")]
    rows = PairRanking().encode(pairs, tokenizer, 128)
    with torch.no_grad():
        margins = PairModel(network, "first")(**PairCollator(tokenizer.pad_token_id)(list(rows)))
        texts = [text for pair in pairs for text in (pair.low, pair.high)]
        batches = {text: tokenizer(text, return_tensors="pt", return_token_type_ids=False) for text in texts}
        alone = {text: network(**batch).logits.item() for text, batch in batches.items()}
    assert margins.tolist() == pytest.approx([alone[pair.high] - alone[pair.low] for pair in pairs], abs=1e-5)


def test_pairs_that_the_network_cannot_tell_apart_are_dropped(make_checkpoint):
    tokenizer = transformers.AutoTokenizer.from_pretrained(make_checkpoint(1))
    pairs = [RankedPair("", "the cat sat", "the cat sat on"), RankedPair("", "the dog", "a dog")]
    assert PairRanking().encode(pairs, tokenizer, 5).num_rows == 1  # [CLS], three words, [SEP]: "on" is cut
    with pytest.raises(ValueError, match="no pair of texts"):
        PairRanking().encode(pairs[:1], tokenizer, 5)
