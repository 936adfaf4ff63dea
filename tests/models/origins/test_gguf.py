"""De-quantised weights: what they are, where they are cached, and that nothing half-written is ever used."""

import hashlib
import signal
import stat
from pathlib import Path

import gguf
import numpy as np
import pytest
import transformers
from safetensors.numpy import load_file

from geceval.core.errors import MissingExtraError, install_command
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.origins.gguf import cached_copy, dequantised

WANTED = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}


def make(file, name="small"):
    return dequantised(file, name, hashlib.sha256(file.read_bytes()).hexdigest())


def run_in_process(python, file, before=""):
    """De-quantise in a process of its own, which prints the folder."""
    code = f"""
from pathlib import Path
from geceval.models.origins import gguf
{before}
print(gguf.dequantised(Path({str(file)!r}), "small", {hashlib.sha256(file.read_bytes()).hexdigest()!r}))
"""
    return python(code)


def test_weights_are_those_of_the_file_in_16_bits(weights, cache):
    folder = make(weights)
    assert folder.parent == cache and {path.name for path in folder.iterdir()} >= WANTED
    assert {path.name for path in cache.iterdir()} == {folder.name, f"{folder.name}.lock"}
    found = load_file(folder / "model.safetensors")
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(weights).tensors}
    for name, theirs in {"model.embed_tokens": "token_embd", "model.layers.1.mlp.down_proj": "blk.1.ffn_down"}.items():
        expected = gguf.quants.dequantize(tensors[f"{theirs}.weight"].data, tensors[f"{theirs}.weight"].tensor_type)
        assert np.array_equal(found[f"{name}.weight"], expected.astype(np.float16))
    assert {array.dtype for array in found.values()} == {np.dtype(np.float16)}
    assert "lm_head.weight" not in found  # tied to the embeddings


def test_likelihoods_are_those_of_transformers_own_reader(weights, cache):
    import torch

    source = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).eval()
    ids = transformers.AutoTokenizer.from_pretrained(**source)("the cat is 12 .", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([[1, *ids]])).logits[0, :-1]
    expected = torch.log_softmax(logits, -1)[range(len(ids)), ids].numpy()
    found = CausalModel.load(resolve(make(weights))).token_log_probs(["the cat is 12 ."])[0]
    assert found == pytest.approx(expected, abs=0.02)  # rounded to 16 bits


def test_the_copy_is_found_again(weights, cache):
    folder = make(weights)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert make(weights) == folder == cached_copy("small", hashlib.sha256(weights.read_bytes()).hexdigest())
    assert (folder / "model.safetensors").stat().st_mtime_ns == before


def _change(path):
    path.write_bytes(path.read_bytes()[:-1] + b"?")


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("model.safetensors", _change),
        ("config.json", Path.unlink),
        ("tokenizer.json", _change),
        ("written.json", _change),
    ],
)
def test_a_copy_that_was_spoilt_is_made_again(weights, cache, name, spoil):
    folder = make(weights)
    whole = (folder / name).read_bytes()
    spoil(folder / name)
    assert cached_copy("small", hashlib.sha256(weights.read_bytes()).hexdigest()) is None
    assert make(weights) == folder and (folder / name).read_bytes() == whole


def test_others_may_read_the_copy(weights, cache):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in make(weights).iterdir()}
    assert {mode & 0o044 for mode in modes.values()} == {0o044}


def test_a_cache_that_cannot_be_written(weights, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("GECEVAL_MODEL_CACHE", str(tmp_path / "file"))
    with pytest.raises(CheckpointError, match=f"written to {tmp_path}/file .*; set GECEVAL_MODEL_CACHE to a folder wi"):
        make(weights)


def test_a_full_disk_is_one_line(weights, cache, python):
    full = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    full += "import torch, transformers; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    process = run_in_process(python, weights, before=full)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert f"CheckpointError: small: its de-quantised copy cannot be written to {cache}" in err.strip().splitlines()[-1]
    assert not [path for path in cache.iterdir() if path.is_dir() and not path.name.endswith(".partial")]
    assert make(weights).is_dir()


SLOW = """
from time import sleep
from safetensors import torch as safetensors
save = safetensors.save_file
def slow(tensors, path, *rest):
    path.write_bytes(b"half")
    print("writing", flush=True)
    sleep({seconds})
    save(tensors, path, *rest)
safetensors.save_file = slow
"""


@pytest.mark.slow
def test_killed_while_it_writes(weights, cache, python):
    process = run_in_process(python, weights, before=SLOW.format(seconds=60))
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    (partial,) = (path for path in cache.iterdir() if path.is_dir())
    assert partial.name.endswith(".partial") and (partial / "model.safetensors").read_bytes() == b"half"
    folder = make(weights)  # the lock died with its owner
    assert {path.name for path in folder.iterdir()} >= WANTED
    assert {path.name for path in cache.iterdir()} == {folder.name, f"{folder.name}.lock"}
    assert len(CausalModel.load(resolve(folder)).token_log_probs(["the cat"])[0]) == 5


@pytest.mark.slow
def test_two_processes_at_once_write_one_copy(weights, cache, python):
    first = run_in_process(python, weights, before=SLOW.format(seconds=3))
    assert first.stdout.readline() == "writing\n"
    second = run_in_process(python, weights, before=SLOW.format(seconds=0))
    outputs, errors = zip(*(process.communicate(timeout=300) for process in (first, second)), strict=True)
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    assert outputs == (f"{folder}\n",) * 2, errors  # the second has waited and writes nothing


def test_without_gguf_it_says_what_to_install(weights, cache, python):
    process = run_in_process(python, weights, before="import sys; sys.modules['gguf'] = None")
    _, err = process.communicate(timeout=300)
    assert err.strip().splitlines()[-1].endswith(f"small.gguf needs the package gguf: {install_command('lm')}")
    make(weights)
    again = run_in_process(python, weights, before="import sys; sys.modules['gguf'] = None")
    assert again.communicate(timeout=300)[0].strip()  # the copy needs it no more
    assert MissingExtraError.__name__ in err


@pytest.mark.parametrize("architecture", ["frob", "mamba"])
def test_another_architecture_is_one_line(architecture, gguf_files, cache, tmp_path):
    file = gguf_files.write_gguf(tmp_path / "other.gguf", architecture=architecture)
    with pytest.raises(CheckpointError, match=r"other\.gguf: cannot be read \(.*\)$"):
        make(file)
    assert not [path for path in cache.iterdir() if path.is_dir() and not path.name.endswith(".partial")]


@pytest.mark.parametrize("length", [0, 3, 1000, -5000])
def test_a_file_that_is_cut_off(length, weights, cache, tmp_path):
    file = tmp_path / "cut.gguf"
    file.write_bytes(weights.read_bytes()[:length])
    with pytest.raises(CheckpointError, match=r"cut\.gguf: cannot be read"):
        make(file)
