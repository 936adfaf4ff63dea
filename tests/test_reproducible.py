"""The same numbers in every process: whatever the hash seed, threads, workers, devices, batch size and cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = {"gleu": {}, "green": {}, "i_measure": {}, "m2": {}, "errant": {"nlp": "bundled"}}

SCRIPT = """
import json, sys
from pathlib import Path
import geceval
from geceval.core.files import read_lines
from geceval import registry

if __name__ == "__main__":
    metrics, runtime = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    example = Path(geceval.__file__).parent / "assets" / "example"
    names = ["source", "systems/strong", "systems/overcorrect", "reference_0", "reference_1"]
    source, strong, other, *references = (read_lines(example / f"{name}.txt") for name in names)
    rows = [list(row) for row in zip(*references)]
    found = {}
    for name, options in metrics.items():
        scorer = registry.make_scorer(name, {**options, **runtime})
        result = scorer.score(source * 2, strong + other, rows * 2 if scorer.needs_references() else None)
        found[name] = result.to_dict() | {"rows": result.rows().tolist()}
    print(json.dumps(found))
"""


def run(metrics, runtime, **environment):
    """Score the example corpus in a process of its own."""
    command = [sys.executable, "-c", SCRIPT, json.dumps(metrics), json.dumps(runtime)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_metrics_of_texts_and_edits_to_the_last_bit(tmp_path):
    first = run(TEXT, {}, PYTHONHASHSEED="1")
    assert first == run(TEXT, {"workers": 2, "cache": str(tmp_path)}, PYTHONHASHSEED="2", OMP_NUM_THREADS="2")
    assert first == run(TEXT, {"cache": str(tmp_path)}, PYTHONHASHSEED="3")
    assert {name: len(found["scores"]) for name, found in first.items()} == dict.fromkeys(TEXT, 88)


@pytest.mark.slow
def test_metrics_of_networks(make_checkpoint):
    folder = str(make_checkpoint(5))
    metrics = {"impara": {"model": folder, "se_model": folder, "threshold": 0.5}}
    metrics["bertscore"] = {"model": folder, "layer": 2}
    first, again, threads, devices = (
        run(metrics, {"device": device, "batch_size": size}, PYTHONHASHSEED=seed, OMP_NUM_THREADS=number)
        for seed, number, device, size in (("1", "1", "cpu", 64), ("2", "1", "cpu", 64), ("3", "2", "cpu", 64),
                                           ("4", "1", "cpu,cpu", 7))
    )  # fmt: skip
    for other in (again, threads, devices):  # the last bit can depend on where numbers lie in memory
        for name, found in first.items():
            assert other[name]["scores"] == pytest.approx(found["scores"], abs=1e-5)
            assert other[name]["signature"] == found["signature"]
    assert len(set(first["bertscore"]["scores"])) > 40
