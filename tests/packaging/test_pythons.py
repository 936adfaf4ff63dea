"""What is said of versions of Python and of requirements is what is run and installed."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_pythons_that_are_named_are_those_that_ci_runs(setup_arguments):
    named = [text.rpartition(" ")[2] for text in setup_arguments["classifiers"] if "Python" in text]
    (run,) = re.findall(r"^PYTHONS \?= (.+)$", read("Makefile"), re.MULTILINE)
    assert run.split() == named
    assert setup_arguments["python_requires"] == f">={named[0]}"
    assert f'target-version = "py{named[0].replace(".", "")}"' in read("pyproject.toml")
    assert "\nmake smoke\n" in read(".ci/run")
    (stated,) = re.findall(r"On ([\d., and]+), `make smoke`", read("docs/scale.md"))
    assert re.findall(r"3\.\d+", stated) == named


def test_everything_that_setup_names_is_pinned(setup_arguments):
    pinned = {Requirement(line).name.lower().replace("_", "-") for line in read("constraints.txt").splitlines()
              if line and not line.startswith("#")}  # fmt: skip
    extras = [line for lines in setup_arguments["extras_require"].values() for line in lines]
    for requirement in map(Requirement, [*setup_arguments["install_requires"], *extras]):
        assert requirement.name.lower() in pinned
        assert requirement.specifier.contains(version(requirement.name), prereleases=True)
