"""Checkpoints made to do harm: nothing is run, nothing outside their folder is read, and one message says what it is.

More of them: tests/models/test_checkpoints.py, tests/models/test_tokenizers.py.
"""

import io
import json
import pickle
import shutil
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from geceval.models import loading
from geceval.models.checkpoints import CheckpointError, resolve
from geceval.models.loading import LAYERS
from geceval.models.tokenizers import load_tokenizer
from geceval.scorers.impara import Impara, Settings


@pytest.fixture
def harm(tmp_path):
    """What a payload would create; it must not be there in the end."""
    path = tmp_path / "harm"
    yield path
    assert not path.exists()


@pytest.fixture
def harmful(payload, harm):
    """An object whose pickle does harm when it is loaded."""
    return payload(harm)


@pytest.fixture
def checkpoint(make_checkpoint, tmp_path):
    """A folder that a test may damage."""
    shutil.copytree(make_checkpoint(70), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def adapter(checkpoint, tmp_path):
    """An adapter over it."""
    import transformers
    from peft import LoraConfig, TaskType, get_peft_model

    network = transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint)
    folder = tmp_path / "adapter"
    lora = LoraConfig(task_type=TaskType.SEQ_CLS, r=2, target_modules=["query"])
    get_peft_model(network, lora).save_pretrained(folder)
    network.config.save_pretrained(folder)
    edit_json(folder / "adapter_config.json", base_model_name_or_path=str(checkpoint))
    return folder


def edit_json(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def load(folder):
    found = resolve(folder)
    load_tokenizer(found)
    return loading.load_network(found)


def of_torch(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("how", ["plain", "old", "new", "shard", "adapter", "disguised"])
def test_pickled_weights_are_not_unpickled(how, checkpoint, adapter, harmful):
    folder = adapter if how == "adapter" else checkpoint
    (folder / ("adapter_model.safetensors" if how == "adapter" else "model.safetensors")).unlink()
    old = of_torch({"x": harmful}, _use_new_zipfile_serialization=False)
    name, data = {
        "plain": ("pytorch_model.bin", pickle.dumps(harmful)),
        "old": ("pytorch_model.bin", old),
        "new": ("pytorch_model.bin", of_torch({"x": harmful})),
        "shard": ("evil.bin", of_torch({"x": harmful})),
        "adapter": ("adapter_model.bin", of_torch({"x": harmful})),
        "disguised": ("model.safetensors", of_torch({"x": harmful})),
    }[how]
    (folder / name).write_bytes(data)
    if how == "shard":
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"x": name}}))
    message = "no weights" if how == "adapter" else "weights cannot be loaded"
    with pytest.raises(CheckpointError, match=message) as error:
        load(folder)
    assert str(folder) in str(error.value) and "\x1b" not in str(error.value)


def test_pickles_beside_the_weights_are_left_alone(checkpoint, adapter, harmful):
    for folder in (checkpoint, adapter):
        for name in ("pytorch_model.bin", "adapter_model.bin", "training_args.bin", "optimizer.pt", "vocab.pkl"):
            (folder / name).write_bytes(of_torch({"x": harmful}))
        assert load(folder)


@pytest.mark.parametrize(
    "name",
    ["tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "spm.model", "tokenizer.model", "merges.txt"]
    + ["added_tokens.json", "special_tokens_map.json", "chat_template.jinja"],
)
def test_a_pickle_as_part_of_a_tokenizer(name, checkpoint, harmful):
    (checkpoint / name).write_bytes(pickle.dumps(harmful))
    try:
        assert load_tokenizer(resolve(checkpoint))("a cat")["input_ids"]
    except CheckpointError as error:
        assert "the tokenizer cannot be read" in str(error)


def tensors(**offsets):
    """A header of tensors of 64-bit shapes that lie at these places."""
    head = {name: {"dtype": "F32", "shape": [end // 4], "data_offsets": [0, end]} for name, end in offsets.items()}
    data = json.dumps(head).encode()
    return struct.pack("<Q", len(data)) + data + bytes(64)


HEADERS = {
    "empty": b"",
    "short": b"1234567",
    "huge": struct.pack("<Q", 2**63 - 1) + b"{}",
    "a gigabyte": struct.pack("<Q", 10**9) + b"{}",
    "no JSON": struct.pack("<Q", 3) + b"{a}",
    "deep": struct.pack("<Q", 100_000) + b'{"a":' * 20_000,
    "a tensor without end": tensors(a=4 * 10**18),
    "tensors that overlap": tensors(a=64, b=4),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_that_lie(kind, checkpoint, adapter):
    data = HEADERS[kind]
    (checkpoint / "model.safetensors").write_bytes(data)
    with pytest.raises(CheckpointError, match="weights cannot be loaded"):
        load(checkpoint)
    (adapter / "adapter_model.safetensors").write_bytes(data)
    with pytest.raises(CheckpointError):
        load(adapter)


@given(st.integers(0, 4000), st.binary(min_size=1, max_size=8), st.booleans())
def test_noise_in_weights_never_gives_a_half_loaded_network(make_checkpoint, tmp_path_factory, place, noise, cut):
    folder = tmp_path_factory.mktemp("noise") / "model"
    shutil.copytree(make_checkpoint(70), folder)
    path = folder / "model.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[:place] + (b"" if cut else noise + data[place + len(noise) :]))
    try:
        network = loading.load_classifier(resolve(folder))
    except CheckpointError as error:
        assert str(folder) in str(error)
    else:  # the noise fell into a number
        assert all(torch.isfinite(parameter).all() for parameter in network.parameters())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_hidden_layers": 10**6}, f"num_hidden_layers in config.json is 1000000, more than {LAYERS} layers"),
        ({"n_layer": 10**6}, f"n_layer in config.json is 1000000, more than {LAYERS} layers"),  # as GPT-2 has it
        ({"text_config": {"num_hidden_layers": 10**6}}, "num_hidden_layers in config.json is 1000000"),
        ({"hidden_size": -1}, "cannot be"),
        ({"vocab_size": 10**12}, "cannot be"),
        ({"hidden_act": "__import__('os')"}, "cannot be"),
        ({"model_type": ["x"]}, "cannot be"),
        ({"dtype": "evil"}, "cannot be"),
        ({"attn_implementation": "some-org/kernels"}, "cannot be"),
        ({"transformers_weights": "../../x.bin"}, "cannot be"),
        ({"geceval_max_length": "x"}, "geceval_max_length in config.json cannot be 'x'"),
        ({"geceval_max_length": 0}, "geceval_max_length in config.json cannot be 0"),
        ({"geceval_threshold": float("nan")}, "geceval_threshold in config.json cannot be nan"),
        ({"geceval_se_model": {"a": 1}}, "geceval_se_model in config.json cannot be"),
    ],
)
def test_configurations_that_lie(values, message, checkpoint):
    edit_json(checkpoint / "config.json", **values)
    with pytest.raises(CheckpointError, match=message) as error:
        Impara(Settings(model=str(checkpoint), se_model="bundled")).score(["a cat"], ["the cat"])
    assert str(checkpoint) in str(error.value)


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", "\0" * 9, '{"a": ' + "9" * 5000 + "}", "\ufeff{}"])
def test_configurations_that_are_none(content, checkpoint, adapter):
    for folder, name in ((checkpoint, "config.json"), (adapter, "adapter_config.json")):
        (folder / name).write_text(content, encoding="utf-8")
        with pytest.raises(CheckpointError, match="not valid JSON|expected a JSON object"):
            resolve(folder)


def test_known_networks_bring_no_code(checkpoint, harm, monkeypatch):
    code = dict.fromkeys(("AutoConfig", "AutoTokenizer"), "evil.C")
    code["AutoModelForSequenceClassification"] = "some-org/evil--evil.C"
    asked = {"auto_map": code, "trust_remote_code": True}
    (checkpoint / "evil.py").write_text(f"open({str(harm)!r}, 'w')\nclass C: pass\n")
    edit_json(checkpoint / "config.json", **asked, custom_pipelines={"x": {"impl": "evil.C"}})
    edit_json(checkpoint / "tokenizer_config.json", **asked)
    monkeypatch.setattr("builtins.input", lambda *prompt: "y")  # nobody is asked, either
    assert load(checkpoint)


@pytest.mark.parametrize("name", ["../stolen.safetensors", "sub/x.safetensors", "C:\\x.safetensors", 3])
def test_an_index_stays_in_its_folder(name, checkpoint):
    state = load_file(checkpoint / "model.safetensors")
    (checkpoint / "model.safetensors").rename(checkpoint.parent / "stolen.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(state, name)}
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match="is not the name of a file beside it"):
        load(checkpoint)


@pytest.mark.parametrize("index", [{}, {"weight_map": []}])
def test_an_index_without_a_map(index, checkpoint):
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match="no weight_map"):
        load(checkpoint)


def test_adapters_that_lead_to_themselves(adapter, tmp_path):
    shutil.copytree(adapter, tmp_path / "second")
    edit_json(tmp_path / "second" / "adapter_config.json", base_model_name_or_path="../adapter")
    edit_json(adapter / "adapter_config.json", base_model_name_or_path="../second")
    for folder in (adapter, tmp_path / "second"):
        with pytest.raises(CheckpointError, match="is an adapter over this one"):
            resolve(folder)
    edit_json(adapter / "adapter_config.json", base_model_name_or_path=str(adapter))
    with pytest.raises(CheckpointError, match="is an adapter over this one"):
        resolve(adapter)


@pytest.mark.parametrize(
    "base", [3, ["x"], {"a": 1}, "x/../../y", "org/x@../../../etc", "org/x@/etc", "a\0b", "a" * 10**5, "bundled:../x"]
)
def test_bases_that_are_none(base, adapter):
    edit_json(adapter / "adapter_config.json", base_model_name_or_path=base)
    with pytest.raises(CheckpointError):
        resolve(adapter)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"megatron_config": {"a": 1}, "megatron_core": "evil"}, "asks for a module of Megatron"),
        ({"peft_type": "XLORA", "adapters": {"0": "some-org/x"}}, "type 'XLORA' are not loaded"),
        ({"peft_type": "PROMPT_TUNING", "tokenizer_kwargs": {"trust_remote_code": True}}, "are not loaded"),
        ({"peft_type": ["LORA"]}, "are not loaded"),
        ({"r": 10**9}, "r in adapter_config.json is 1000000000"),
        ({"target_modules": 3}, "does not fit"),
        ({"task_type": "EVIL"}, "does not fit"),
    ],
)
def test_adapters_that_ask_for_more(values, message, adapter, harm, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(f"open({str(harm)!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    mapping = {"parent_library": "evil", "base_model_class": "X"}
    edit_json(adapter / "adapter_config.json", auto_mapping=mapping, **values)
    with pytest.raises(CheckpointError, match=message):
        load(adapter)


@pytest.mark.parametrize("change", [lambda tensor: torch.zeros(3, 3), lambda tensor: tensor * float("nan")])
def test_adapters_of_other_shapes_and_numbers(change, adapter):
    path = adapter / "adapter_model.safetensors"
    save_file({name: change(tensor) for name, tensor in load_file(path).items()}, path)
    with pytest.raises(CheckpointError, match="does not fit|not finite"):
        load(adapter)


def test_a_link_out_of_the_folder_is_not_published(checkpoint, tmp_path):
    from geceval.hub.repositories import collect

    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    (checkpoint / "inside.txt").symlink_to(checkpoint / "config.json")
    assert "inside.txt" in collect(checkpoint, lambda path: True)
    (checkpoint / "vocab.txt").symlink_to(secret)
    with pytest.raises(ValueError, match=r"vocab.txt: a link to .*secret.txt, outside of"):
        collect(checkpoint, lambda path: True)


@pytest.mark.parametrize("name", ["config.cfg", "tokenizer", "tagger/model", "parser/cfg", "vocab/strings.json"])
def test_a_pipeline_brings_no_code(name, tmp_path, harm, harmful):
    """spaCy pipelines in a folder are read as data; damaged ones end with one message."""
    from geceval.edits.errant import pipeline

    folder = tmp_path / "pipeline"
    shutil.copytree(pipeline.BUNDLED, folder)
    (folder / "__init__.py").write_text(f"open({str(harm)!r}, 'w')\n")
    assert (folder / name).is_file()
    (folder / name).write_bytes(pickle.dumps(harmful))
    with pytest.raises(ValueError, match=f"spaCy pipeline '{folder}'"):
        pipeline.load(str(folder))
