"""The real large model, where its package is installed."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
import transformers

from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve
from geceval.models.origins.named import NAMED_MODELS, local_weights

TEXTS = ["He goes to school every day.", "He go to school every days.", "", "In 1999 I'd 42 cats (and a dog)."]


@pytest.fixture(scope="module")
def model(smollm2):
    return CausalModel.load(resolve(smollm2))


def test_its_name_is_that_of_its_weights(smollm2, model):
    assert model.name == "smollm2@b179c95"
    assert (model.start_token, model.start, model.max_length) == ("<|endoftext|>", 0, 8192)
    # spec of the model: 134,515,008 parameters, the output layer tied to the embeddings
    assert sum(parameter.numel() for parameter in model.model.parameters()) == 134_515_008
    assert {parameter.dtype for parameter in model.model.parameters()} == {torch.float32}


def test_it_knows_grammar(model):
    right, wrong, empty, _ = model.token_log_probs(TEXTS)
    assert right.sum() > wrong.sum() + 5
    assert len(empty) == 0


def test_likelihoods_are_those_of_the_file_itself(model):
    file = local_weights("smollm2")[1]
    source = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    plain = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    fresh = CausalModel(model.model, model.tokenizer, model.max_length, start=model.start_token)
    for text, found in zip(TEXTS, fresh.token_log_probs(TEXTS, RunTime(batch_size=2)), strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = plain(input_ids=torch.tensor([[0, *ids]])).logits[0, :-1]
        expected = torch.log_softmax(logits, -1)[range(len(ids)), ids].numpy()
        assert found == pytest.approx(expected, abs=2e-2)  # the copy is rounded to 16 bits
        assert abs(found.sum() - expected.sum()) < 5e-2


def test_an_adapter_over_it_knows_its_weights(smollm2, model, tmp_path, caplog):
    import peft

    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=1, target_modules=["q_proj"], init_lora_weights=False)
    network = transformers.AutoModelForCausalLM.from_pretrained(resolve(smollm2).folder, dtype=torch.float32)
    torch.manual_seed(0)
    peft.get_peft_model(network, settings).save_pretrained(tmp_path)
    shutil.copy(resolve(smollm2).folder / "config.json", tmp_path)
    edit(tmp_path / "adapter_config.json", base_model_name_or_path=smollm2)
    edit(
        tmp_path / "config.json", geceval_base_sha256=NAMED_MODELS[smollm2].sha256, geceval_start_token="<|endoftext|>"
    )
    adapted = CausalModel.load(resolve(tmp_path))
    assert adapted.start == 0
    assert abs(adapted.token_log_probs(TEXTS[:1])[0] - model.token_log_probs(TEXTS[:1])[0]).max() > 1e-3
    edit(tmp_path / "config.json", geceval_base_sha256="0" * 64)
    assert resolve(tmp_path).identity.endswith("+smollm2@b179c95")
    assert "trained over weights with SHA-256 000000000000..., but those of its base 'smollm2'" in caplog.text


def edit(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
