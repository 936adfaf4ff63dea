"""Every command of the pages in docs/ runs, on corpora of the same form."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest

from geceval.cli.app import run
from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, write_m2

ROOT = Path(__file__).resolve().parents[1]
# That on publishing needs a Hub: tests/hub/test_publish_docs.py.
PAGES = sorted(path for path in (ROOT / "docs").glob("*.md") if path.stem != "publishing")
QUICK = ["--pairs", "12", "--epochs", "1", "--quiet"]  # the last of several values counts


def commands(page: Path) -> list[list[str]]:
    """The arguments of each `geceval` command of the page's bash blocks."""
    blocks = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    assert all(line.startswith("geceval ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """The files that the page on domain adaptation names, with sentences of our own."""
    rng = random.Random(0)
    sentences = []
    for _ in range(60):
        words = [rng.choice(["the", "a"]), rng.choice(["cat", "dog"]), "sit", "on", rng.choice(["mat", "school"])]
        words += [rng.choice(["the", "a"]), "dogs", "runs", *rng.choices(["the", "mat", "likes"], k=rng.randint(0, 3))]
        sentences.append(M2Sentence(" ".join(words), {0: [Edit(2, 3, "sat"), Edit(7, 8, "run")]}))
    monkeypatch.chdir(tmp_path)
    for folder in ("jfleg", "cweb"):
        Path(folder).mkdir()
    for name in ("mine.m2", *(f"cweb/CWEB-{kind}.{part}.m2" for kind in "GS" for part in ("dev", "test"))):
        write_m2(Path(name), sentences)
    sources = "".join(f"{sentence.source}\n" for sentence in sentences)
    corrected = sources.replace("sit", "sat").replace("runs", "run")
    texts = {"source.txt": sources, "system.txt": corrected}
    for part in ("dev", "test"):
        texts[f"jfleg/{part}.src"] = sources
        texts |= {f"jfleg/{part}.ref{number}": corrected for number in range(4)}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_commands_run(page, corpora, capsys):
    found = commands(page)
    assert found
    for arguments in found:
        assert run([*arguments, *(QUICK if arguments[0] == "train" else [])]) == 0, (arguments, capsys.readouterr().err)
