"""Which tokenizer a checkpoint gets, and what is said about broken ones."""

import contextlib
import json
import shutil

import pytest

from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.tokenizers import load_tokenizer


def test_a_checkpoint_without_its_vocabulary_is_refused(make_checkpoint):
    # transformers 5 makes a tokenizer with five entries out of a folder like this, without a word
    folder = make_checkpoint(3)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match="no tokenizer"):
        load_tokenizer(resolve(folder))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": 28_996}))  # that of published checkpoints
    with pytest.raises(CheckpointError, match="'bert-base-cased' on this machine"):
        load_tokenizer(resolve(folder))


def test_the_tokenizer_of_the_base_model_serves_a_checkpoint_saved_without_one(make_checkpoint):
    base, folder = make_checkpoint(4), make_checkpoint(5)
    expected = load_tokenizer(resolve(folder))("the cat")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "_name_or_path": str(base)}))
    assert load_tokenizer(resolve(folder))("the cat") == expected


def test_a_tokenizer_larger_than_the_network_is_refused(make_checkpoint):
    folder = make_checkpoint(6, vocab_size=50)
    with pytest.raises(CheckpointError, match=r"has 20\d entries, the network 50"):
        load_tokenizer(resolve(folder))


def test_a_damaged_tokenizer_is_named(make_checkpoint):
    folder = make_checkpoint(6)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(CheckpointError, match="tokenizer cannot be read"):
        load_tokenizer(resolve(folder))


def test_code_of_a_tokenizer_is_never_run(make_checkpoint, tmp_path, monkeypatch):
    folder = make_checkpoint(14)
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(vocabulary, key=vocabulary.get)))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'harm')!r}, 'w')\nclass Evil: pass\n")
    config = folder / "tokenizer_config.json"
    evil = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}}
    config.write_text(json.dumps({**json.loads(config.read_text()), **evil}))
    monkeypatch.setattr("builtins.input", lambda *prompt: "y")  # nobody is asked, either
    with contextlib.suppress(CheckpointError):
        load_tokenizer(resolve(folder))
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("words", "config", "lowered"),
    [
        (["The", "the"], None, False),
        (["The", "the"], {}, False),
        (["The", "the"], {"do_lower_case": True}, True),
        (["the"], None, True),
        (["the"], {"do_lower_case": False}, False),
    ],
)
def test_a_cased_vocabulary_saved_alone_is_not_lower_cased(make_checkpoint, tmp_path, words, config, lowered):
    # vocab.txt without tokenizer.json: what the checkpoints of older transformers hold.
    folder = tmp_path / "old"
    shutil.copytree(make_checkpoint(0), folder)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n")
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    expected = "the" if lowered else words[0].replace("the", "[UNK]")
    assert load_tokenizer(resolve(folder)).tokenize("The") == [expected]
