"""Where checkpoints come from, how they are named, and what is said about broken ones."""

import hashlib
import json
import shutil
import warnings

import pytest
import torch
from safetensors.torch import load_file, save_file

from geceval.models import loading
from geceval.models.checkpoints import ASSETS, CheckpointError, resolve
from geceval.models.encoder import Encoder
from geceval.models.pooling import logits, mean_pool
from geceval.models.tokenizers import load_tokenizer


def edit_json(path, **values):
    content = json.loads(path.read_text())
    content.update(values)
    path.write_text(json.dumps(content))


def test_the_bundled_encoder_is_the_published_one_in_8_bits():
    weights = ASSETS / "encoder" / "model.safetensors"
    card = (ASSETS / "encoder" / "README.md").read_text()
    assert hashlib.sha256(weights.read_bytes()).hexdigest() in card
    # SHA-256 of the model's file on the Hub, as the model card of sentence-transformers/all-MiniLM-L6-v2 links it
    assert "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db" in card
    stored = load_file(weights)
    matrices = {name: tensor for name, tensor in stored.items() if f"{name}:scales" in stored}
    assert {tensor.dtype for tensor in matrices.values()} == {torch.int8}
    assert sum(tensor.numel() for tensor in matrices.values()) > 0.99 * 22_713_216  # the published parameters
    assert {tensor.dtype for name, tensor in stored.items() if name not in matrices} == {torch.float16}


def test_identity_of_a_folder_changes_with_what_changes_the_number(make_checkpoint):
    folder = make_checkpoint(1)
    identity = resolve(str(folder)).identity
    assert identity.startswith(f"{folder.name}@")
    assert resolve(folder).identity == identity
    edit_json(folder / "config.json", geceval_pooling="mean")
    pooled = resolve(folder).identity
    assert pooled != identity
    state = load_file(folder / "model.safetensors")
    state["classifier.bias"] += 1
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    assert resolve(folder).identity not in (identity, pooled)


def test_identity_does_not_depend_on_the_place(make_checkpoint, tmp_path):
    folder = make_checkpoint(1)
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    (copy / "README.md").write_text("a card changes nothing")
    assert resolve(copy).identity == resolve(folder).identity


def test_a_hub_snapshot_is_named_by_its_commit(make_checkpoint, tmp_path, monkeypatch):
    # The layout of the Hub's cache, as huggingface_hub documents it: refs/<name> holds the commit of a snapshot.
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--some-org--some-model"
    shutil.copytree(make_checkpoint(1), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for model in ("some-org/some-model", "some-org/some-model@main", f"some-org/some-model@{commit}"):
        assert resolve(model).identity == "some-org/some-model@0123456"
    assert Encoder.load(resolve("some-org/some-model"), head=True).logits(["a cat"]).shape == (1, 1)


def test_a_hub_id_while_offline_is_one_error_that_names_the_command():
    told = r"(?s)some-org/some-model.*HF_HUB_OFFLINE.*hf download some-org/some-model"
    with pytest.raises(CheckpointError, match=told):
        resolve("some-org/some-model")
    with pytest.raises(CheckpointError, match=r"hf download some-org/some-model --revision v2 "):
        resolve("some-org/some-model@v2")


@pytest.mark.parametrize("model", ["./missing", "missing/folder/of/mine", "../x", "/missing", "C:\\models\\x"])
def test_a_missing_folder_is_not_taken_for_a_hub_id(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="no such folder"):
        resolve(model)


@pytest.mark.parametrize("model", ["gpt2", "bundled", "smollm2-impara", "bundled:impara"])
def test_an_empty_folder_called_like_a_model_is_not_that_model(model, tmp_path, monkeypatch):
    def outcome():
        try:
            return resolve(model).identity
        except CheckpointError as error:
            return str(error)

    monkeypatch.chdir(tmp_path)
    expected = outcome()
    (tmp_path / model).mkdir()
    assert outcome() == expected
    with pytest.raises(CheckpointError, match="no such folder, or an empty one"):
        resolve(f"./{model}")
    (tmp_path / model / "notes.txt").write_text("not empty")
    with pytest.raises(CheckpointError, match="config.json is missing"):
        resolve(f"./{model}")
    if model == "gpt2":
        with pytest.raises(CheckpointError, match="gpt2: config.json is missing"):
            resolve(model)


def test_a_model_must_be_text_or_a_path():
    with pytest.raises(TypeError, match="got int"):
        resolve(3)


def test_missing_files_are_named(make_checkpoint):
    folder = make_checkpoint(2)
    (folder / "config.json").rename(folder / "other.json")
    with pytest.raises(CheckpointError, match="config.json is missing"):
        resolve(folder)
    (folder / "other.json").rename(folder / "config.json")
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="no weights"):
        resolve(folder)


def test_weights_that_are_not_finite_are_named(make_checkpoint):
    folder = make_checkpoint(8)
    state = load_file(folder / "model.safetensors")
    state["classifier.weight"][0, 0] = float("inf")
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="classifier.weight has values that are not finite"):
        loading.load_classifier(resolve(folder))


def test_the_number_of_outputs_is_checked(make_checkpoint):
    checkpoint = resolve(make_checkpoint(9, num_labels=3))
    with pytest.raises(CheckpointError, match="3 outputs"):
        loading.load_classifier(checkpoint)


def test_a_plain_encoder_is_no_classifier(make_checkpoint):
    checkpoint = resolve(make_checkpoint(10, architecture="BertModel"))
    with pytest.raises(CheckpointError, match="no classification head"):
        loading.load_classifier(checkpoint)
    assert loading.load_encoder(checkpoint).config.hidden_size == 16


def test_a_pickle_checkpoint_loads_with_weights_only(make_checkpoint):
    folder = make_checkpoint(11)
    expected = Encoder.load(resolve(folder), head=True).logits(["the cat sat"])
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert Encoder.load(resolve(folder), head=True).logits(["the cat sat"]) == pytest.approx(expected, abs=0)


def test_code_in_a_checkpoint_is_never_run(make_checkpoint, tmp_path):
    folder = make_checkpoint(13)
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'harm')!r}, 'w')\nclass C: pass\n")
    edit_json(folder / "config.json", model_type="evil", auto_map={"AutoConfig": "evil.C", "AutoModel": "evil.C"})
    with pytest.raises(CheckpointError, match="config.json cannot be used"):
        loading.load_encoder(resolve(folder))
    assert not (tmp_path / "harm").exists()


def make_adapter(folder, base=None, pooling="first", sha256=None, seed=0):
    """A random LoRA adapter with a new head over the bundled encoder, as training would save it; also its network."""
    import transformers
    from peft import LoraConfig, TaskType, get_peft_model

    torch.manual_seed(seed)
    whole = resolve(base or "bundled")
    config = transformers.AutoConfig.from_pretrained(whole.folder, num_labels=1)
    network, _ = loading.read_model(transformers.AutoModelForSequenceClassification, whole, config)
    lora = LoraConfig(
        task_type=TaskType.SEQ_CLS, r=4, target_modules=["query", "value"], init_lora_weights=False
    )  # fmt: skip
    adapted = get_peft_model(network.float(), lora).eval()
    adapted.save_pretrained(folder)
    network.config.geceval_pooling = pooling
    network.config.geceval_base_sha256 = sha256
    network.config.save_pretrained(folder)
    edit_json(folder / "adapter_config.json", base_model_name_or_path=str(base or "bundled"))
    return adapted


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_an_adapter_is_merged_into_the_bundled_encoder(tmp_path, pooling):
    adapted = make_adapter(tmp_path, pooling=pooling)
    checkpoint = resolve(tmp_path)
    tokenizer = load_tokenizer(checkpoint)
    texts = ["He goes to school .", "He go to school every day , I think ."]
    with torch.no_grad():
        batch = dict(tokenizer(texts, padding=True, return_tensors="pt"))
        expected = logits(adapted, batch, pooling).numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = Encoder.load(checkpoint, head=True)
    assert encoder.logits(texts) == pytest.approx(expected, abs=1e-5)
    states = adapted.get_base_model().bert(**batch).last_hidden_state
    expected = mean_pool(states, batch["attention_mask"]).detach().numpy()
    assert Encoder.load(checkpoint).embed(texts) == pytest.approx(expected, abs=1e-5)


def test_an_adapter_knows_its_base(tmp_path):
    found = hashlib.sha256((ASSETS / "encoder" / "model.safetensors").read_bytes()).hexdigest()
    make_adapter(tmp_path / "right", sha256=found)
    assert resolve(tmp_path / "right").base.folder == ASSETS / "encoder"
    make_adapter(tmp_path / "wrong", sha256="0" * 64)
    with pytest.raises(CheckpointError, match="trained over weights with SHA-256 000000000000"):
        resolve(tmp_path / "wrong")


def test_a_part_of_a_checkpoint_is_named_by_its_sub_folder(make_checkpoint, tmp_path, monkeypatch):
    commit = "89abcdef0123456789abcdef0123456789abcdef"
    snapshot = tmp_path / "models--some-org--three-models" / "snapshots" / commit
    for seed, part in enumerate(("one", "two")):
        shutil.copytree(make_checkpoint(seed), tmp_path / "three" / part)
        shutil.copytree(make_checkpoint(seed), snapshot / part)
    one, two = (resolve(tmp_path / "three", part=part) for part in ("one", "two"))
    assert (one.folder, two.folder) == (tmp_path / "three" / "one", tmp_path / "three" / "two")
    assert one.identity.startswith("three/one@") and one.identity[-7:] != two.identity[-7:]
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert resolve(f"some-org/three-models@{commit}", part="two").identity == "some-org/three-models/two@89abcde"
    with pytest.raises(CheckpointError, match="three: no sub-folder 'three', spelt so"):
        resolve(tmp_path / "three", part="three")
