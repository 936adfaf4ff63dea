"""An encoder as the student: its targets, one run on a tiny teacher's scores, mistakes."""

import dataclasses

import numpy as np
import pytest
import torch

from geceval.learning.distillation.groups import Group
from geceval.learning.distillation.teacher import Scored, token_rows
from geceval.learning.distillation.trees import prefix_tree
from geceval.learning.objective import IGNORED
from geceval.models.checkpoints import resolve
from geceval.models.tokenizers import load_tokenizer


@pytest.fixture(scope="module")
def script(load_script):
    return load_script("encoder_student")


@pytest.fixture(scope="module")
def teacher(make_causal):
    return make_causal(3, "llama")


@pytest.fixture(scope="module")
def tokenizers(teacher, base):
    """Of the teacher, over bytes, and of the encoder, over words and letters."""
    return load_tokenizer(resolve(str(teacher))), load_tokenizer(resolve(str(base)))


@pytest.fixture
def scored(tokenizers):
    """Two texts, the second the better one; a node's log-probability is its number by -1/100."""
    texts = ("the cat sit on mat .", "the cat sat on mat .")
    tree = prefix_tree(token_rows(tokenizers[0], 0, texts))
    log_probs = -np.arange(len(tree.ids), dtype=np.float16) / 100
    return Scored(Group(texts), tree, np.array([0.0, 1.0], np.float32), log_probs, None, None)


def encode(script, tokenizers, scored, losses):
    teacher, own = tokenizers
    return own, script.EncoderDistillation(teacher, losses).encode([scored], own, 96)[0]


def test_a_token_learns_the_log_probability_of_its_letters(script, tokenizers, scored):
    own, encoded = encode(script, tokenizers, scored, ["tokens"])
    ids, targets = encoded["texts"][0], encoded["tokens"][0]
    assert own.convert_ids_to_tokens(ids)[:3] == ["[CLS]", "the", "cat"]
    nodes = scored.log_probs[scored.tree.paths()[0]].astype(float)  # <s>, t, h, e, the space, c, a, t, the space, ...
    assert targets[1] == pytest.approx(nodes[1:5].sum(), abs=1e-6)
    assert targets[2] == pytest.approx(nodes[5:9].sum(), abs=1e-6)
    assert targets[0] == targets[-1] == IGNORED
    assert targets[1:-1].sum() == pytest.approx(nodes.sum(), abs=1e-3)  # ".", which prose puts at a word, included


def test_labels_are_the_words_that_the_best_text_does_not_have(script, tokenizers, scored):
    own, encoded = encode(script, tokenizers, scored, ["labels"])
    worse, best = encoded["labels"]
    ids = encoded["texts"][0]
    words = own(scored.group.texts[0].split(), is_split_into_words=True).word_ids()
    assert len(worse) == len(ids)
    assert worse == [IGNORED if word is None else int(word == 2) for word in words]  # "sit"
    assert set(best) == {IGNORED, 0}


def test_targets_are_made_for_the_losses_that_read_them(script, tokenizers, scored):
    assert not {"tokens", "labels"} & set(encode(script, tokenizers, scored, [])[1])


@pytest.fixture(scope="module")
def scores(load_script, corpus, teacher, tmp_path_factory):
    """The folder of the scores that a run of `distill.py` has written."""
    folder = tmp_path_factory.mktemp("scores")
    arguments = ["--m2", str(corpus), "--init-from", str(teacher), "--scores", str(folder), "--texts", "200"]
    arguments += ["--held", "8", "--layers", "1", "--vocabulary", "257", "--weights", "0", "1", "1"]
    arguments += [
        "--batch-size",
        "8",
        "--dtype",
        "float32",
        "--max-length",
        "120",
        "--quiet",
        "--output",
        str(folder / "student"),
    ]
    assert load_script("distill").main(arguments) == 0
    return folder


def test_a_run_learns_and_prints_the_table(script, scores, make_ratings, teacher, base, tmp_path, capsys):
    arguments = ["--scores", str(scores), "--ratings", str(make_ratings(12)), "--output", str(tmp_path / "probes")]
    arguments += ["--teacher", str(teacher), "--init-from", str(base), "--shards", "1", "--held", "16", "--lr", "3e-3"]
    assert script.main([*arguments, "--losses", "none", "tokens+labels"]) == 0
    header, _, *rows = capsys.readouterr().out.splitlines()[-6:]
    assert header == "| further losses | texts | pairs | 1/4 | 1/2 | 3/4 | all |"
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] + ", " + row[2] for row in cells] == [
        "none, held",
        "none, rated",
        "tokens+labels, held",
        "tokens+labels, rated",
    ]
    assert all(float(row[-1]) > 0.5 for row in cells if row[2] == "held")  # in the teacher's order more often than not
    (done,) = tmp_path.glob("probes/none-*/run/seed-1/history.json")
    written = done.stat().st_mtime_ns
    assert script.main([*arguments, "--losses", "none"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == rows[:2]
    assert done.stat().st_mtime_ns == written  # read, not learnt again
    assert script.main([*arguments, "--losses", "none", "--held", "17"]) == 2
    assert "holds a run with other settings" in capsys.readouterr().err


def test_killed_and_started_again_it_ends_with_the_same_weights(scores, make_ratings, teacher, base, whole_and_broken):
    arguments = ["--scores", str(scores), "--ratings", str(make_ratings(12)), "--teacher", str(teacher)]
    arguments += ["--init-from", str(base), "--shards", "1", "--held", "16", "--losses", "tokens"]
    whole, broken = whole_and_broken("encoder_student", arguments, weights_file="network.safetensors")
    assert all(torch.equal(whole[key], broken[key]) for key in whole)


def test_it_learns_without_dropout(script, base, tokenizers):
    recipe = dataclasses.replace(script.RECIPE, base=str(base))
    network = script.EncoderDistillation(tokenizers[0], ()).network(recipe, resolve(str(base))).train()
    batch = {name: torch.ones(1, 8, dtype=torch.long) for name in ("input_ids", "attention_mask")}
    assert torch.equal(network(**batch)[1], network(**batch)[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--losses", "token"], "losses must be one of 'tokens', 'labels', got 'token'"),
        (["--shards", "0"], "shards must be at least 1"),
        (["--teacher", "ENCODER"], "name their teacher (--teacher)"),
        (["--held", "900"], "900 are kept apart (held)"),
    ],
)
def test_mistakes_are_one_line(script, scores, make_ratings, teacher, base, tmp_path, capsys, options, message):
    arguments = ["--scores", str(scores), "--ratings", str(make_ratings(4)), "--output", str(tmp_path / "out")]
    arguments += ["--teacher", str(teacher), "--init-from", str(base), "--shards", "1"]
    arguments += [str(base) if option == "ENCODER" else option for option in options]
    assert script.main(arguments) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_missing_scores_are_one_line(script, make_ratings, teacher, tmp_path, capsys):
    arguments = ["--scores", str(tmp_path / "no"), "--ratings", str(make_ratings(4)), "--teacher", str(teacher)]
    assert script.main([*arguments, "--output", str(tmp_path / "out")]) == 2
    assert str(tmp_path / "no") in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
