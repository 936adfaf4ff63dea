"""The scores of every metric on the example corpus, stored with the package to compare an installation with."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

from geceval import registry
from geceval.core.files import ASSETS, file_sha256, read_lines, write_text

STORED = ASSETS / "doctor.json"
TOLERANCE = 1e-4
PACKAGES = ("errant", "numpy", "peft", "spacy", "tokenizers", "torch", "transformers")


def read_stored() -> dict[str, Any]:
    """The content of the file that `store` writes: `metrics`, `assets` and `versions`."""
    content = json.loads(STORED.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not {"metrics", "assets", "versions"} <= content.keys():
        raise ValueError(f"{STORED}: not what geceval doctor --write wrote")
    return content


def store() -> dict[str, str]:
    """Run the mini-benchmark and store the results, with the versions and the hashes of the bundled files."""
    chosen, left_out = registry.offline_metrics()
    content = {"versions": versions(), "assets": asset_hashes(), "metrics": {name: run(name) for name in chosen}}
    text = json.dumps(content, indent=1)
    write_text(STORED, re.sub(r"\[[^\[\]]*\]", lambda row: " ".join(row[0].split()), text) + "\n")
    return left_out


def run(name: str, device: str = "auto") -> dict[str, Any]:
    """Score all systems of the example corpus with one metric, on what is bundled."""
    scorer = registry.make_scorer(name, {"device": device, "cache": None})
    example = ASSETS / "example"
    sources = read_lines(example / "source.txt")
    references = [list(row) for row in zip(*map(read_lines, sorted(example.glob("reference_*.txt"))), strict=True)]
    systems = {path.stem: read_lines(path) for path in sorted((example / "systems").glob("*.txt"))}
    results = registry.score_systems(scorer, sources, systems, references)
    return {
        "signature": next(iter(results.values())).signature,
        "systems": {
            system: {"score": round(result.score, 6), "scores": [round(score, 6) for score in result.scores]}
            for system, result in results.items()
        },
    }


def differences(stored: Mapping[str, Any], scored: Mapping[str, Any]) -> list[str]:
    """Differences above `TOLERANCE`, one line per system, then those of the signatures."""
    lines = []
    for system, then in stored["systems"].items():
        now = scored["systems"].get(system, {"score": math.nan, "scores": []})
        if not _near(then["score"], now["score"]):
            lines.append(f"{system} scores {now['score']}, stored is {then['score']}")
        elif len(then["scores"]) != len(now["scores"]):
            lines.append(f"{system} has {len(now['scores'])} sentence scores, stored are {len(then['scores'])}")
        else:
            pairs = enumerate(zip(then["scores"], now["scores"], strict=True), start=1)
            far = [(line, one, other) for line, (one, other) in pairs if not _near(one, other)]
            if far:
                line, one, other = far[0]
                lines.append(f"{system}: line {line} scores {other}, stored is {one}; {len(far)} such lines")
    return [*lines, *_changed(stored["signature"], scored["signature"])] if lines else []


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE or (math.isnan(one) and math.isnan(other))


def _changed(stored: str, current: str) -> list[str]:
    """The parts of a signature that differ here."""
    then, now = (dict(part.partition(":")[::2] for part in text.split("|")[1:]) for text in (stored, current))
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return [f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}" for name in names]


def versions() -> dict[str, str]:
    """The installed versions of the packages that affect the numbers."""
    installed = {}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed


def asset_hashes() -> dict[str, str]:
    """SHA-256 of every bundled file that can change a number: path below `assets` to hexadecimal digits."""
    files = sorted(path for path in ASSETS.glob("*/**/*") if path.is_file())
    counted = [path for path in files if path.suffix != ".md" and path.name != "results.json"]
    return {path.relative_to(ASSETS).as_posix(): file_sha256(path) for path in counted}
