"""geceval doctor: what is stored is complete, and whatever differs from it is named."""

import json
import shutil

import pytest
from packaging.requirements import Requirement

from geceval import registry
from geceval.cli.app import run
from geceval.core.errors import install_command
from geceval.doctor import checks as doctor
from geceval.doctor import mini_benchmark

WITHOUT_BUNDLED_MODEL = {"asano2017", "bartscore", "fluency", "llm_judge", "scribendi"}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A copy of the stored numbers that may be changed; the function writes it."""
    shutil.copy(mini_benchmark.STORED, tmp_path / "doctor.json")
    monkeypatch.setattr(mini_benchmark, "STORED", tmp_path / "doctor.json")
    content = mini_benchmark.read_stored()

    def write(change):
        change(content)
        mini_benchmark.STORED.write_text(json.dumps(content), encoding="utf-8")

    return write


def result(signature="m|a:1|geceval:0.1.0", score=0.5, scores=(0.5, 0.5)):
    return {"signature": signature, "systems": {"strong": {"score": score, "scores": list(scores)}}}


def test_every_metric_that_runs_on_what_is_bundled_is_stored():
    content = mini_benchmark.read_stored()
    assert content["metrics"].keys() == set(registry.list_metrics()) - WITHOUT_BUNDLED_MODEL, "geceval doctor --write"
    assert content["assets"] == mini_benchmark.asset_hashes(), "geceval doctor --write"
    for name, metric in content["metrics"].items():
        assert metric["signature"].startswith(f"{name}|")
        assert set(metric["systems"]) == {"meaning", "minimal", "overcorrect", "strong", "unchanged"}
        assert all(len(system["scores"]) == 44 for system in metric["systems"].values())


@pytest.mark.parametrize("name", sorted(set(registry.list_metrics()) - WITHOUT_BUNDLED_MODEL))
def test_numbers_are_as_stored(name):
    stored, found = mini_benchmark.read_stored()["metrics"][name], mini_benchmark.run(name)
    assert mini_benchmark.differences(stored, found) == []
    names = [[part.partition(":")[0] for part in each["signature"].split("|")] for each in (stored, found)]
    assert names[0] == names[1], "geceval doctor --write"


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (result(), []),
        (result(score=0.50009, scores=(0.50009, 0.49991)), []),
        (result("m|a:2|geceval:0.1.0"), []),  # what a signature says matters only where numbers differ
        (result(score=0.5002), ["strong scores 0.5002, stored is 0.5"]),
        (result(scores=(0.5, 0.6)), ["strong: line 2 scores 0.6, stored is 0.5; 1 such lines"]),
        (result(score=float("nan")), ["strong scores nan, stored is 0.5"]),
        (result(scores=[0.5]), ["strong has 1 sentence scores, stored are 2"]),
        (result("m|a:2|b:x|geceval:0.1.0", 0.7), ["strong scores 0.7, stored is 0.5", "a was 1, is 2",
                                                 "b was absent, is x"]),
    ],
)  # fmt: skip
def test_differences_are_named(found, lines):
    assert mini_benchmark.differences(result(), found) == lines


def test_requirements():
    fine = doctor.installed("packages", [Requirement("numpy>=1.26")], "pip install geceval", doctor.PROBLEM)
    assert (fine.state, fine.what.split()[0]) == ("ok", "numpy")
    old = doctor.installed("packages", [Requirement("numpy>=99")], "pip install geceval", doctor.PROBLEM)
    assert old.state == "problem"
    assert old.what.endswith("but must be >=99. Run: pip install geceval")
    absent = doctor.installed("extra x", [Requirement("no-such-package-here")], "pip install 'geceval[x]'", doctor.NOTE)
    assert absent.state == "note"
    assert absent.what == "not installed: no-such-package-here. Run: pip install 'geceval[x]'"


def test_files_that_are_damaged_missing_or_strange():
    right = mini_benchmark.asset_hashes()
    wrong = {**right, "example/source.txt": "0" * 64, "ged/model.safetensor": "1" * 64}
    del wrong["encoder/config.json"]
    found = [(finding.state, finding.what) for finding in doctor.assets(wrong)]
    assert found == [
        ("problem", "assets/example/source.txt is not the published file; install geceval again"),
        ("problem", "assets/ged/model.safetensor is missing; install geceval again"),
        ("note", "not part of geceval: encoder/config.json"),
    ]


def test_a_check_that_fails_is_a_finding():
    def broken():
        yield doctor.Finding("first", doctor.OK, "fine")
        raise RuntimeError("out of\nmemory")

    states = [(found.check, found.state, found.what) for found in doctor.findings_of("second", broken)]
    assert states == [("first", "ok", "fine"), ("second", "problem", "RuntimeError: out of memory")]

    def absent():
        raise ModuleNotFoundError("No module named 'spacy'", name="spacy")

    (found,) = doctor.findings_of("errant", absent)
    told = f"not checked: errant needs the package spacy: {install_command('edits')}"
    assert (found.state, found.what) == ("note", told)


def test_the_command_on_a_right_installation(capsys):
    assert run(["doctor", "-m", "gleu", "green", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == 0
    rows = {row["check"]: row for row in report["checks"]}
    assert rows["gleu"]["what"] == rows["green"]["what"] == "5 corpus scores and 220 sentence scores as stored"
    assert rows["ERRANT"]["state"] == rows["bundled files"]["state"] == rows["packages"]["state"] == "ok"
    assert run(["doctor", "-m", "glue"]) == 2
    assert "unknown metric 'glue'" in capsys.readouterr().err


def test_each_line_is_printed_when_its_check_is_done(monkeypatch, capsys):
    def examine(metrics, device):
        yield doctor.Finding("first", "ok", "fine")
        assert capsys.readouterr().out == "ok       first           fine\n"
        yield doctor.Finding("second", "note", "a b c d")
        assert capsys.readouterr().out == f"note     second          a b c\n{' ' * 25}d\n"

    monkeypatch.setattr(doctor, "examine", examine)
    monkeypatch.setattr("geceval.cli.doctor.terminal_width", lambda output: 30)
    assert run(["doctor"]) == 0
    assert capsys.readouterr().out == "2 checks, 0 problems\n"


def test_the_command_names_what_differs(stored, capsys):
    def change(content):
        content["metrics"]["gleu"]["systems"]["strong"]["score"] += 0.01
        content["versions"]["numpy"] = "0.1"

    stored(change)
    findings = list(doctor.numbers("gleu", mini_benchmark.read_stored(), "cpu"))
    assert [found.state for found in findings] == ["problem"]
    assert findings[0].what.startswith("strong scores 0.")
    assert "(stored with 0.1)" in findings[0].what
    mini_benchmark.STORED.unlink()
    assert run(["doctor", "--quick"]) == 1
    assert "stored numbers" in capsys.readouterr().out


def test_store_leaves_out_what_needs_a_model(stored, monkeypatch):
    before = mini_benchmark.read_stored()
    monkeypatch.setattr(registry, "list_metrics", lambda: ["bartscore", "gleu"])
    left_out = mini_benchmark.store()
    assert left_out == {"bartscore": "its default model, facebook/bart-large-cnn, is not bundled"}
    after = mini_benchmark.read_stored()
    assert after["metrics"] == {"gleu": before["metrics"]["gleu"]}
    assert after["assets"] == mini_benchmark.asset_hashes()


@pytest.mark.parametrize("package", [None, "en_core_web_sm_again"])
def test_the_bundled_pipeline_is_examined_and_an_official_one_is_named(monkeypatch, package):
    monkeypatch.setattr("geceval.edits.errant.pipeline.official_package", lambda: package)
    (finding,) = doctor.pipeline()
    assert finding.state == "ok" and finding.what.startswith("pipeline en_geceval_")
    assert ('en_core_web_sm_again is installed, too: nlp="official"' in finding.what) == (package is not None)
