"""The detector against plain transformers, one sentence at a time, and what it says of words it cannot see."""

import logging

import numpy as np
import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.detector import Detector, decide, error_probabilities, is_seen
from geceval.models.tokenizers import encode_words

FAMILIES = ["Bert", "DebertaV2", "Electra", "ModernBert", "Roberta"]


TWO = ("CORRECT", "INCORRECT")
NAMES = {"id2label": dict(enumerate(TWO)), "label2id": {"CORRECT": 0, "INCORRECT": 1}}
UNSEEN = "\u200b"  # BERT's tokenizer drops it: a word without sub-tokens


def plain(folder, text):
    """Probabilities of one sentence: [words, labels]; every word has a sub-token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder, attn_implementation="eager").eval()
    ids, firsts = [tokenizer.cls_token_id], []
    for word in text.split():
        firsts.append(len(ids))
        ids += tokenizer(word, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*ids, tokenizer.sep_token_id]])).logits[0]
    return logits.softmax(-1)[firsts].numpy()


@pytest.fixture(scope="module")
def folder(make_checkpoint):
    return make_checkpoint(41, architecture="BertForTokenClassification", labels=TWO)


@pytest.fixture
def fresh(folder):
    """A function that makes detectors which remember nothing."""
    kept = Detector.load(resolve(folder))
    return lambda **options: Detector(kept.model, kept.tokenizer, **options)


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_those_of_plain_transformers(make_checkpoint, family):
    labels = ("CORRECT", "M", "R", "U")
    folder = make_checkpoint(1, architecture=f"{family}ForTokenClassification", labels=labels)
    detector = Detector.load(resolve(folder))
    assert detector.labels == ("CORRECT", "M", "R", "U")
    texts = ["the cat sat on the mat .", "dogs run", "", "a school likes xyz", "cats didn't sit"]
    found = detector.log_probabilities(texts, RunTime(batch_size=2))
    for text, row in zip(texts, found, strict=True):
        assert row.shape == (len(text.split()), 4)
        if text:
            assert np.exp(row) == pytest.approx(plain(folder, text), abs=1e-5)
    assert np.exp(found[0]).std() > 0.01


def test_xlnet_which_has_no_length_limit(make_checkpoint):
    folder = make_checkpoint(3)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(3)
    sizes = {"vocab_size": len(tokenizer), "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32}
    transformers.XLNetForTokenClassification(transformers.XLNetConfig(**sizes, **NAMES)).save_pretrained(folder)
    detector = Detector.load(resolve(folder), max_length=1000)
    texts = ["the cat sat on the mat", "cat " * 200]
    found = detector.log_probabilities(texts)
    for text, row in zip(texts, found, strict=True):
        assert np.exp(row) == pytest.approx(plain(folder, text), abs=1e-5)
        assert is_seen(row).all()


def test_a_word_without_sub_tokens_is_correct_and_moves_no_other(fresh):
    (found,), (without,) = (fresh().log_probabilities([text]) for text in (f"the {UNSEEN} cat sat", "the cat sat"))
    assert found[1].tolist() == [0.0, -np.inf]
    assert np.delete(found, 1, axis=0) == pytest.approx(without, abs=1e-6)
    assert is_seen(found).tolist() == [True, False, True, True]
    assert fresh().log_probabilities([UNSEEN])[0].tolist() == [[0.0, -np.inf]]


def test_words_beyond_the_limit_are_correct_and_reported(fresh, caplog):
    detector = fresh(name="my-detector@1234567", max_length=10)
    with caplog.at_level(logging.WARNING, logger="geceval"):
        long, short = detector.log_probabilities(["cat " * 300, "a cat"])
    told = "longer than 10 tokens and cut: 1 of 2 texts; the words beyond count as correct"
    assert [record.getMessage() for record in caplog.records] == [told]
    assert long.shape == (300, 2)
    assert is_seen(long).tolist() == [True] * 8 + [False] * 292  # two of ten tokens are special
    assert detector.label_ids(["cat " * 300])[0][8:] == [0] * 292
    assert is_seen(short).all()


def test_decisions():
    with np.errstate(divide="ignore"):
        row = np.log(np.array([[0.7, 0.1, 0.2], [0.2, 0.2, 0.6], [0.4, 0.35, 0.25], [1.0, 0.0, 0.0]], np.float32))
    assert error_probabilities(row) == pytest.approx([0.3, 0.8, 0.6, 0.0], abs=1e-6)
    assert decide(row).tolist() == [0, 2, 0, 0]
    assert decide(row, threshold=0.5).tolist() == [0, 2, 1, 0]
    assert decide(row, threshold=0.25).tolist() == [2, 2, 1, 0]
    assert decide(row, correct=2).tolist() == [0, 2, 0, 0]
    assert decide(row, correct=2, threshold=0.7).tolist() == [0, 2, 0, 2]  # a word that is not seen is correct
    assert decide(row, threshold=0.0).tolist() == [2, 2, 1, 0]


def test_labels_that_nobody_named(make_checkpoint):
    plain = Detector.load(resolve(make_checkpoint(42, architecture="BertForTokenClassification", num_labels=2)))
    assert (plain.labels, plain.correct) == (("LABEL_0", "LABEL_1"), 0)
    names = ("i", "c")
    detector = Detector.load(resolve(make_checkpoint(42, architecture="BertForTokenClassification", labels=names)))
    assert (detector.labels, detector.correct) == (("i", "c"), 1)
    assert detector.log_probabilities([UNSEEN])[0].tolist() == [[-np.inf, 0.0]]


def test_what_is_no_detector(make_checkpoint):
    people = ("O", "PERSON")
    with pytest.raises(CheckpointError, match=r"its labels \(id2label\) are O, PERSON; a detector has the label COR"):
        Detector.load(resolve(make_checkpoint(43, architecture="BertForTokenClassification", labels=people)))
    with pytest.raises(CheckpointError, match="this is BertForSequenceClassification; .* needs a token classifier"):
        Detector.load(resolve(make_checkpoint(44, num_labels=2)))
    with pytest.raises(CheckpointError, match="this is BertModel"):
        Detector.load(resolve(make_checkpoint(45, architecture="BertModel")))


def test_values_that_are_not_finite_are_named(folder):
    kept = Detector.load(resolve(folder), RunTime(dtype="bfloat16"))  # its own copy of the weights
    model = kept.model.__class__(kept.model.config).eval()
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight[kept.tokenizer.convert_tokens_to_ids("cat")] = float("nan")
    detector = Detector(model, kept.tokenizer, name="broken@1")
    with pytest.raises(ValueError, match=r"broken@1: .* not finite for sentence 2 \('the cat'\); use dtype='float32'"):
        detector.log_probabilities(["a dog", "the cat"])


def test_byte_level_tokenizers_see_a_space_before_every_word():
    """RoBERTa and ModernBERT have other sub-tokens for a word at the very start of a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = {piece: number for number, piece in enumerate(["[UNK]", "a", "\u0120", "\u0120a"])}
    backend = Tokenizer(models.BPE(pieces, [("\u0120", "a")], unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    assert encode_words(tokenizer, [["a", "aa"], []]) == [([3, 3, 1], [0, 1]), ([], [])]
