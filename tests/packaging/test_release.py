"""A release could go out: one version, Pythons and requirements as they are run; no folder's name breaks it."""

import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import geceval
from geceval.cli.named_sets import CITATION

ROOT = Path(__file__).resolve().parents[2]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere(setup_arguments):
    cff = yaml.safe_load(read("CITATION.cff"))
    newest = re.search(r"^## (\S+)", read("CHANGELOG.md"), flags=re.MULTILINE)[1]
    assert {setup_arguments["version"], cff["version"], newest} == {geceval.__version__}
    assert f"version = {{{geceval.__version__}}}" in CITATION and f"title   = {{{cff['title']}}}" in CITATION
    assert (cff["license"], cff["authors"]) == (setup_arguments["license"], [{"name": setup_arguments["author"]}])


def test_links_of_the_readme_lead_to_the_public_repository(monkeypatch):
    import runpy

    import setuptools

    found = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: found.update(arguments))
    monkeypatch.setenv("GECEVAL_REPOSITORY", "https://host/ORG/geceval/")
    runpy.run_path(str(ROOT / "setup.py"))
    assert found["url"] == found["project_urls"]["Source"] == "https://host/ORG/geceval"
    links = re.findall(r"\]\(([^)]+)\)", found["long_description"])
    assert "https://host/ORG/geceval/blob/main/docs/command-line.md" in links
    assert "https://host/ORG/geceval/raw/main/docs/page.png" in links
    assert "https://host/ORG/geceval/blob/main/README.md#what-to-report" in links
    assert all(link.startswith("https://") for link in links)


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
    lines = [line for line in read("constraints.txt").splitlines() if line and not line.startswith("#")]
    pinned = {each.name.lower().replace("_", "-"): str(each.specifier)[2:] for each in map(Requirement, lines)}
    extras = dict(setup_arguments["extras_require"])
    elsewhere = [*extras.pop("harness"), *extras.pop("docs")]  # not what the tests themselves run on
    for requirement in map(Requirement, elsewhere):
        assert requirement.specifier.contains(pinned[requirement.name], prereleases=True)
    named = [line for lines in extras.values() for line in lines]
    for requirement in map(Requirement, [*setup_arguments["install_requires"], *named]):
        assert requirement.name.lower() in pinned
        assert requirement.specifier.contains(version(requirement.name), prereleases=True)


def test_a_commit_is_checked_by_the_pinned_ruff():
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    pins = {each for hook in local["hooks"] for each in hook.get("additional_dependencies", [])}
    assert len(pins) == 1 and pins < set(read("constraints.txt").splitlines())


@pytest.mark.slow
def test_an_editable_install_works_beside_a_clone_of_its_name(tmp_path):
    """In the folder above a clone that is called geceval, `geceval` must not be that folder."""
    clone = tmp_path / "geceval"
    (clone / "src").mkdir(parents=True)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "metrics", "src/geceval"):
        (clone / name).symlink_to(ROOT / name)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-e", clone], check=True, env=clean)
    code = (
        "import geceval; from geceval.hub.folders import module_folder; "
        "print(geceval.__version__, (module_folder('gleu') / 'gleu.py').is_file(), geceval.load.__name__)"
    )
    run = subprocess.run([python, "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True, check=True)
    assert run.stdout == f"{geceval.__version__} True load\n"
