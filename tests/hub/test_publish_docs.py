"""The page on publishing says what is true: its commands and its Python run, against a Hub on this machine."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers

import geceval
from geceval.cli.app import run
from geceval.models.checkpoints import resolve

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def here(toy_corpus, write_data, tmp_path, monkeypatch):
    """The files that the page names."""
    shutil.copy(toy_corpus, tmp_path / "mine.m2")
    for name in ("jfleg", "conll14"):
        write_data(tmp_path / name, name)
    shutil.copytree(ROOT / "spaces" / "demo", tmp_path / "spaces" / "demo")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / f"geceval-{geceval.__version__}-py3-none-any.whl").write_bytes(b"wheel")
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_all_of_it_runs(here, hub, make_checkpoint, at_home, environment, tmp_path, capsys):
    lines = [line for block in blocks("bash") for line in block.splitlines()]
    tiny = make_checkpoint(0)
    with at_home(hub):
        for line in lines:
            name, *arguments = shlex.split(line)
            assert name == "geceval"
            # The last of several values counts: a tiny network learns in no time.
            quick = ["--init-from", str(tiny), "--pairs", "12", "--epochs", "1", "--quiet"]
            quick = quick if arguments[0] == "train" else []
            assert run([*arguments, *quick]) == 0, (line, capsys.readouterr().err)
    names = ["gec-metrics", "gleu", "impara", "impara-merged", "impara-minilm", "jfleg", "conll14", "my-impara"]
    assert {name for _, name in hub.repos} == {f"ORG/{name}" for name in names}
    assert [name for (_, name), repo in hub.repos.items() if repo.private] == ["ORG/conll14"]
    trained = hub.repos["model", "ORG/my-impara"]
    assert trained.tags == {"v1": trained.head}
    line, stranger = [sys.executable, "-c", "\n".join(blocks("python"))], environment(hub, tmp_path / "h", token=None)
    done = subprocess.run(line, env=stranger, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    commit = hub.repos["model", "ORG/impara-minilm"].head[:7]
    assert f"|model:ORG/impara-minilm@{commit}|" in done.stdout
    check_merged(hub.repos["model", "ORG/impara-merged"], tmp_path)


def check_merged(repo, tmp_path):
    """What `--merge` published gives the scores of the adapter, by transformers alone."""
    assert "adapter_config.json" not in repo.files
    for path, file in repo.files.items():
        (tmp_path / path).write_bytes(file.data)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    texts = ["This is a sentence .", "He go to school every days ."]
    with torch.no_grad():
        logits = model(**tokenizer(texts, padding=True, return_tensors="pt")).logits[:, 0]
    adapter = geceval.load("impara", threshold=-2)
    wanted = adapter.compute(sources=texts, predictions=texts)["scores"]
    assert torch.sigmoid(logits).tolist() == pytest.approx(wanted, abs=1e-5)
    whole = resolve(tmp_path)
    assert whole.base is None
    assert whole.setting("threshold") == resolve("bundled:impara").setting("threshold")
