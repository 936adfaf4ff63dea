"""The public API is typed: the client beside this file and the README's Python pass `mypy --strict`."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import geceval

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("client.py")
CONFIGURATION = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_clients_pass_the_checker(tmp_path):
    """With `pyproject.toml`, which is strict: a mistake that the client states and mypy does not find fails, too."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    readme = tmp_path / "readme.py"
    readme.write_text(example, encoding="utf-8")
    files = re.findall(r'"(.+?)"', re.search(r"^files = (.*)$", CONFIGURATION, re.MULTILINE)[1])
    assert CLIENT.relative_to(ROOT).as_posix() in files
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *files, str(readme)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


def test_the_client_names_the_entire_api_and_runs():
    text = CLIENT.read_text(encoding="utf-8")
    assert [name for name in geceval.__all__ if f"geceval.{name}" not in text] == []
    spec = importlib.util.spec_from_file_location("client", CLIENT)
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)
    assert client.cheap() == pytest.approx(2 / 3)  # one edit of two, none wrong
