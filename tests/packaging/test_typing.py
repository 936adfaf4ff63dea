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


def test_clients_pass_the_checker(tmp_path):
    """With `pyproject.toml`, which is strict: an error that the client states and mypy does not find fails, too."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    readme = tmp_path / "readme.py"
    readme.write_text(f"{example}reveal_type(result)\ngeceval.load(3)\n", encoding="utf-8")
    files = re.search(r"^files = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    named = [ROOT / name.strip(' "') for name in files.split(",")]
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *map(str, named), str(readme)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line.partition("readme.py:")[2] for line in found.stdout.splitlines()]
    last = len(example.splitlines()) + 2
    assert found.stderr == ""
    assert lines == [
        f'{last - 1}: note: Revealed type is "dict[str, Any]"',
        f'{last}: error: Argument 1 to "load" has incompatible type "int"; expected "str"  [arg-type]',
        "",
    ], found.stdout


def test_the_client_names_the_entire_api_and_runs():
    text = CLIENT.read_text(encoding="utf-8")
    assert CLIENT.relative_to(ROOT).as_posix() in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [name for name in geceval.__all__ if f"geceval.{name}" not in text] == []
    spec = importlib.util.spec_from_file_location("client", CLIENT)
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)
    assert client.cheap() == pytest.approx(2 / 3)  # one edit of two, none wrong


def test_the_wheel_says_so(setup_arguments):
    assert (
        "py.typed" in setup_arguments["package_data"]["geceval"] and "Typing :: Typed" in setup_arguments["classifiers"]
    )
    assert (Path(geceval.__file__).parent / "py.typed").is_file()
