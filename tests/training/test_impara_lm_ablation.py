"""What else could teach IMPARA-LM: each variant trained for real on a tiny model, the labels of words, mistakes."""

import json
import random
import string

import pytest

from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.models.checkpoints import resolve
from geceval.models.tokenizers import load_tokenizer


@pytest.fixture(scope="module")
def script(load_script):
    return load_script("impara_lm_ablation")


@pytest.fixture(scope="module")
def causal(make_causal):
    return make_causal(5, "llama", max_position_embeddings=300)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """An M2 file of 40 sentences with 8 edits each, of random letters, so that networks differ about the impacts."""
    rng = random.Random(1)
    sentences = []
    for _ in range(40):
        wrong, right = (["".join(rng.choices(string.ascii_lowercase, k=4)) for _ in range(8)] for _ in range(2))
        edits = [Edit(n, n + 1, word, "R:NOUN") for n, word in enumerate(right)]
        sentences.append(M2Sentence(" ".join(wrong), {0: edits}))
    path = tmp_path_factory.mktemp("random") / "random.m2"
    write_m2(path, sentences)
    return path


def test_every_variant_is_trained_and_measured(script, corpus, causal, make_ratings, tmp_path, capsys):
    arguments = ["--m2", str(corpus), "--ratings", str(make_ratings(12)), "--init-from", str(causal)]
    arguments += ["--output", str(tmp_path), "--seeds", "1", "--pairs", "40", "--batch-size", "8"]
    assert script.main(arguments) == 0
    *lines, _, _, plain, own, detection = capsys.readouterr().out.splitlines()
    runs = [json.loads(line) for line in lines if line.startswith("{")]
    assert [run["variant"] for run in runs] == list(script.VARIANTS)
    for run, row in zip(runs, (plain, own, detection), strict=True):
        last = run["history"][-1]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[:3] == [run["variant"], "1", "32"]
        assert cells[3:] == [f"{last['rated_accuracy']:.3f}", f"{last['rated_loss']:.3f}"]
    losses = [run["history"][-1]["rated_loss"] for run in runs]
    assert losses[0] != losses[2]  # the second loss reaches the adapter
    made = [json.loads((tmp_path / folder / "pairs.json").read_text())["train"] for folder in ("bundled", "own")]
    assert made[0] != made[1]  # other impacts, other pairs


def test_tokens_that_end_within_a_changed_word_are_errors(script, causal):
    tokenizer = load_tokenizer(resolve(str(causal)))
    low, high = "the cat sit on the mat.", "the cat sat on the mat."
    labels = script._labels(tokenizer, low, high, 300)
    assert len(labels) == 1 + len(low)  # a byte a token, after the one that starts a text
    assert [low[number - 1] for number, label in enumerate(labels) if label] == list("sit")
    assert labels.index(1) == 1 + low.index("sit")
    assert script._labels(tokenizer, low, high, 10) == labels[:10]


def test_a_missing_corpus_is_one_line(script, causal, make_ratings, tmp_path, capsys):
    arguments = ["--m2", str(tmp_path / "no.m2"), "--ratings", str(make_ratings(4)), "--init-from", str(causal)]
    assert script.main([*arguments, "--output", str(tmp_path / "out")]) == 2
    assert str(tmp_path / "no.m2") in capsys.readouterr().err.splitlines()[-1]
