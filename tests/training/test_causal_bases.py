"""SOME and error detection over tiny causal models, whose tokens do not see what follows."""

import csv
import json
import random
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import geceval
from geceval.core.options import RunTime
from geceval.learning.network import new_network
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.detector import Detector
from geceval.models.encoder import Encoder
from geceval.models.tokenizers import encode_words

BORDER = {"gpt2": "<|endoftext|>", "llama": "<s>"}
QUICK = ["--batch-size", "8", "--lr", "1e-2", "--max-length", "150", "--quiet"]
TEXTS = ["the cat sit", "a dog sat on mat", "", "a " * 200]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def causal(kind, make_causal):
    return make_causal(5, kind)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """90 outputs of 45 sources; the verb at the end of an output decides all three ratings."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("ratings") / "toy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "output", "grammer", "fluency", "meaning", "system", "ave_g", "ave_f", "ave_m"])
        for number in range(45):
            for _ in range(2):
                verb = rng.choice(["sat", "sit"])
                output = f"{rng.choice(['the', 'a'])} {rng.choice(['cat', 'dog'])} {verb}"
                table.writerow([f"a cat sit {number}", output, "", "", "", "x", *[4.0 if verb == "sat" else 2.0] * 3])
    return path


def rated(ratings, base, folder, *options):
    arguments = ["--ratings", str(ratings), "--dev", "15", "--test", "15", "--init-from", str(base), *QUICK]
    return [*arguments, "--output", str(folder), *options]


def by_hand(folder, text, pooling):
    """The answer of a finished part to one text, from the sub-tokens and states of plain transformers and peft."""
    from peft import PeftModel

    config = transformers.AutoConfig.from_pretrained(folder)
    base = json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(base, config=config)
    network = PeftModel.from_pretrained(plain, folder).merge_and_unload().eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    border = tokenizer.convert_tokens_to_ids(config.geceval_border)
    texts = text if isinstance(text, tuple) else (text,)
    ids = [border]
    for part in texts:
        ids += [*tokenizer(part, add_special_tokens=False)["input_ids"], border]
    with torch.no_grad():
        states = network.base_model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        return network.score(states.mean(0) if pooling == "mean" else states[-1]).item()


@pytest.mark.parametrize(("pooling", "stated"), [("first", "last"), ("mean", "mean")])
def test_some_answers_as_by_hand(load_script, kind, causal, ratings, tmp_path, pooling, stated):
    folder = tmp_path / "some"
    options = rated(ratings, causal, folder, "--pooling", pooling, "--lora-rank", "8", "--epochs", "2")
    assert load_script("train_some").main(options) == 0
    config = json.loads((folder / "fluency/config.json").read_text())
    assert (config["geceval_pooling"], config["geceval_border"]) == (stated, BORDER[kind])
    found = geceval.load("some", model=str(folder)).compute(
        sources=["a cat sit 1", "a cat sit 2", ""], predictions=["the dog sat", "the dog sit", ""]
    )
    for part, name, texts in [
        ("grammer", "grammaticality", ["the dog sat", "the dog sit", ""]),
        ("meaning", "meaning", [("a cat sit 1", "the dog sat"), ("a cat sit 2", "the dog sit"), ("", "")]),
    ]:
        expected = [(by_hand(folder / part, text, stated) - 1) / 3 for text in texts]
        assert found[f"{name}_scores"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_batch_size_and_order_do_not_matter(make_causal, tmp_path, pooling):
    folder = whole(make_causal(5, "llama"), tmp_path, pooling)
    network = Encoder.load(resolve(folder), head=True)
    alone = [Encoder(network.model, network.tokenizer, 128, "", pooling).logits([text]).item() for text in TEXTS]
    assert np.std(alone) > 0.01
    network.tokenizer.padding_side = "left"  # which is not asked
    together = Encoder(network.model, network.tokenizer, 128, "", pooling).logits(TEXTS[::-1], RunTime(batch_size=3))
    assert together[::-1, 0] == pytest.approx(alone, abs=1e-5)


def whole(base, folder, pooling="last"):
    """A sequence classifier over a causal model, all weights in one file."""
    network = new_network(Recipe(base=str(base), head_deviation=0.5), resolve(base))
    network.config.geceval_pooling = pooling
    network.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(base / name, folder / name)
    return folder


def test_a_published_classifier_without_our_settings_scores_as_in_transformers(make_causal, tmp_path):
    folder = whole(make_causal(5, "llama"), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    del config["geceval_border"], config["geceval_pooling"]
    (folder / "config.json").write_text(json.dumps({**config, "pad_token_id": 1}))
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        expected = [plain(**tokenizer(text, return_tensors="pt")).logits.item() for text in TEXTS[:2]]
    assert Encoder.load(resolve(folder), head=True).logits(TEXTS[:2])[:, 0] == pytest.approx(expected, abs=1e-5)


def labels_by_hand(folder, sentence):
    """Log-probabilities of each word, from the sub-tokens of plain transformers: two copies, borders around each."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    border = tokenizer.convert_tokens_to_ids(network.config.geceval_border)
    ids, last = [border], []
    for _ in range(2):
        last = []
        for word in sentence.split():
            ids += tokenizer(" " + word, add_special_tokens=False)["input_ids"]
            last.append(len(ids) - 1)
        ids.append(border)
    with torch.no_grad():
        return network(input_ids=torch.tensor([ids])).logits[0, last].log_softmax(-1).numpy()


@pytest.fixture(scope="module")
def detector(load_script, causal, corpus, tmp_path_factory):
    """A finished run of the script, all weights tuned."""
    folder = tmp_path_factory.mktemp("finished") / "ged"
    files = [part for use in ("train", "dev", "test") for part in (f"--{use}-m2", str(corpus))]
    arguments = [*files, "--init-from", str(causal), "--output", str(folder), "--epochs", "12", *QUICK]
    assert load_script("train_ged").main(arguments) == 0
    return folder


def test_a_detector_learns_and_its_card_says_where_labels_sit(detector):
    results = json.loads((detector / "results.json").read_text())
    assert results["test"]["toy.m2"]["f"] > 0.9  # "sit" and "run" are always wrong
    assert "its last sub-token, of the second of two copies" in (detector / "README.md").read_text()
    assert geceval.detect(["the cat sit on mat dog run school"], model=str(detector))


def test_a_detector_answers_as_by_hand_whatever_the_batch(detector):
    sentences = ["the cat sit on mat dog run school", "a dog", "", "the mat likes the cat"]
    for batch_size in (1, 4):
        loaded = Detector.load(resolve(detector))
        fresh = Detector(loaded.model, loaded.tokenizer, loaded.max_length, "", loaded.twice)
        found = fresh.log_probabilities(sentences, RunTime(batch_size=batch_size))
        assert [len(row) for row in found] == [8, 2, 0, 5]
        for row, sentence in zip(found, sentences, strict=True):
            if sentence:
                assert row == pytest.approx(labels_by_hand(detector, sentence), abs=1e-4)


def test_a_later_word_counts_for_an_earlier_one(detector):
    # A causal model that read the sentence once could not tell these two apart at the second word.
    loaded = Detector.load(resolve(detector))
    one, other = loaded.log_probabilities(["the cat sit on mat", "the cat likes a dog"])
    assert abs(one[1] - other[1]).max() > 1e-6


@pytest.mark.parametrize("limit", [3, 10, 11, 16, 40])
def test_a_sentence_that_is_cut_loses_as_many_words_of_both_copies(detector, limit):
    loaded = Detector.load(resolve(detector))
    words = ["the", "cat", "sit", "on", "mat"]
    ((ids, labelled),) = encode_words(loaded.tokenizer, [words], limit, twice=True)
    assert len(ids) <= limit
    border = ids[0]
    second = len(ids) - 1 - ids[::-1].index(border, 1)  # the border between the copies
    assert all(index is None or index > second for index in labelled)
    seen = [index for index in labelled if index is not None]
    assert seen == sorted(seen) and labelled[: len(seen)] == seen
    assert len(seen) == {3: 0, 10: 1, 11: 1, 16: 2, 40: 5}[limit]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"geceval_border": "<nowhere>"}, "'<nowhere>' around them, which its tokenizer does not know"),
        ({"geceval_pooling": "middle"}, "must be 'first', 'mean' or 'last', got 'middle'"),
    ],
)
def test_settings_that_cannot_be(make_causal, tmp_path, settings, message):
    folder = whole(make_causal(5, "llama"), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **settings}))
    with pytest.raises(CheckpointError, match=message):
        Encoder.load(resolve(folder), head=True)


def test_a_tokenizer_without_any_token_for_the_border(load_script, make_causal, ratings, tmp_path, capsys):
    base = shutil.copytree(make_causal(5, "gpt2"), tmp_path / "base")
    settings = json.loads((base / "tokenizer_config.json").read_text())
    (base / "tokenizer_config.json").write_text(
        json.dumps({name: value for name, value in settings.items() if not name.endswith("os_token")})
    )
    assert load_script("train_some").main(rated(ratings, base, tmp_path / "some")) == 2
    assert "no EOS or BOS token to put around texts; write one of its tokens" in capsys.readouterr().err
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps({**config, "geceval_start_token": "<|endoftext|>"}))
    assert new_network(Recipe(base=str(base)), resolve(base)).config.geceval_border == "<|endoftext|>"


def test_an_adapter_over_another_base(load_script, make_causal, ratings, tmp_path):
    base = shutil.copytree(make_causal(5, "llama"), tmp_path / "base")
    options = rated(ratings, base, tmp_path / "some", "--lora-rank", "2", "--epochs", "1")
    assert load_script("train_some").main(options) == 0
    shutil.copy(make_causal(6, "llama") / "model.safetensors", base)
    with pytest.raises(CheckpointError, match="trained over weights with SHA-256"):
        geceval.load("some", model=str(tmp_path / "some")).compute(sources=["a"], predictions=["a"])


def state_by_hand(base, text, layer):
    """The mean state of a text's tokens, from plain transformers; zeros for a text without words."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    start = tokenizer.convert_tokens_to_ids(tokenizer.bos_token or "<|endoftext|>")
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    network = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    with torch.no_grad():
        states = network(torch.tensor([[start, *ids]]), output_hidden_states=True).hidden_states[layer]
    return states[0, 1:].sum(0).double().numpy() / max(1, len(ids))


def test_heads_alone_answer_as_by_hand(load_script, causal, ratings, tmp_path, monkeypatch):
    monkeypatch.setattr("recipes.some.RIDGE", (0.01, 100.0))
    folder = tmp_path / "some"
    options = [*rated(ratings, causal, folder), "--head-layer", "1"]
    assert load_script("train_some").main(options) == 0
    results = json.loads((folder / "results.json").read_text())
    assert results["parts"]["fluency"]["test"]["pearson"] > 0.9
    assert results["parts"]["fluency"]["head"]["penalty"] == 0.01
    assert {path.name for path in (folder / "meaning").iterdir()} == {"config.json", "quality_head.safetensors"}
    pairs = [("a cat sit 1", "the dog sat"), ("a cat sit 2", "the dog sit"), ("a cat", "a dog , sat"), ("a cat", "")]
    found = geceval.load("some", model=str(folder)).compute(
        sources=[source for source, _ in pairs], predictions=[output for _, output in pairs]
    )
    for part, name in [("grammer", "grammaticality"), ("fluency", "fluency"), ("meaning", "meaning")]:
        config = json.loads((folder / part / "config.json").read_text())
        weight = load_file(folder / part / "quality_head.safetensors")["weight"].double().numpy()
        expected = []
        for pair in pairs:
            source, output = (state_by_hand(causal, text.replace(" ,", ","), 1) for text in pair)
            read = np.sqrt(np.abs(source - output)) if part == "meaning" else output
            rating = read @ weight + config["geceval_head_bias"]
            expected.append((rating - 1) / 3 if pair[1] or part == "meaning" else 0)  # no words, the lowest rating
        assert found[f"{name}_scores"] == pytest.approx(expected, abs=1e-4)
    good, bad = found["fluency_scores"][:2]
    assert good > bad + 0.2


def test_heads_and_what_they_cannot_be(load_script, causal, ratings, tmp_path, capsys, make_checkpoint):
    script = load_script("train_some")
    for options, message in [
        (["--head-layer", "9"], "head_layer is 9, but the base has 2 layers"),
        (["--head-layer", "0"], "head_layer must be at least 1"),
        (["--head-layer", "1", "--lora-rank", "2"], "head_layer leaves the base as it is"),
    ]:
        assert script.main(rated(ratings, causal, tmp_path / "some", *options)) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "some").exists()
    options = rated(ratings, make_checkpoint(3), tmp_path / "some", "--head-layer", "1")
    capsys.readouterr()
    assert script.main(options) == 2
    error = capsys.readouterr().err
    assert error.startswith("train_some: ") and error.count("\n") == 1


def test_a_head_without_its_language_model(load_script, make_causal, ratings, tmp_path):
    base = shutil.copytree(make_causal(5, "llama"), tmp_path / "base")
    folder = tmp_path / "some"
    assert load_script("train_some").main([*rated(ratings, base, folder), "--head-layer", "1"]) == 0
    config = json.loads((folder / "fluency/config.json").read_text())
    assert config["geceval_base"] == str(base)

    def message() -> str:
        with pytest.raises(CheckpointError) as raised:
            geceval.load("some", model=str(folder)).compute(sources=["a"], predictions=["a"])
        return str(raised.value)

    shutil.copy(make_causal(6, "llama") / "model.safetensors", base)
    assert "this head was trained over weights with SHA-256" in message()
    shutil.rmtree(base)
    assert "the base of this head cannot be found" in message()
    config.update(geceval_base=str(make_causal(5, "llama")), geceval_head_layer=None)
    for part in ("grammer", "fluency", "meaning"):
        (folder / part / "config.json").write_text(json.dumps(config))
    assert "has geceval_base, and lacks geceval_head_layer" in message()
