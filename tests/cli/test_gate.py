"""`geceval.gate`, its verb, the pytest plug-in, the GitHub Action and the hook of the page."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import geceval
from geceval.cli.app import run
from geceval.cli.gate import report
from geceval.meta.significance.resampling import bootstrap_scores, p_value

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]
M2 = """S He go home .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

S It is fine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""
SOURCES, GOOD = ["He go home .", "It is fine ."] * 20, ["He goes home .", "It is fine ."] * 20
WORSE = [*SOURCES[:1], "It is a fine ."] * 6 + GOOD[12:]
REFERENCES = [[text] for text in GOOD]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"source": SOURCES, "old": GOOD, "new": WORSE, "ref": GOOD}.items():
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("gold.m2").write_text(M2 * 20, encoding="utf-8")
    return ["-s", "source.txt", "--baseline", "old.txt", "--candidate", "new.txt"]


def test_a_drop_beyond_chance_fails():
    """6 of 20 corrections lost, 6 false alarms: P and R, and so F0.5, are 14 / 20."""
    found = geceval.gate(["errant", "gleu"], SOURCES, GOOD, WORSE, REFERENCES)
    errant, gleu = found.verdicts
    assert (found.passed, errant.passed, errant.blind, gleu.passed) == (False, False, False, False)
    assert (errant.baseline, errant.candidate, errant.drop) == (1.0, 0.7, pytest.approx(30))
    assert errant.p < 0.05 and 0.5 < errant.visible < 30
    kinds = [(each.kind, each.line, each.correct, each.edit, each.type) for each in found.changes]
    assert kinds[:2] == [("lost", 1, False, "go → goes", "R:VERB:SVA"), ("new alarm", 2, True, "→ a", "M:DET")]
    assert len(kinds) == 12 and [each.line for each in gleu.worse] == sorted(range(1, 13), key=lambda line: line % 2)
    back = geceval.gate("errant", SOURCES, WORSE, GOOD, REFERENCES)
    assert (back.passed, back.verdicts[0].drop, back.verdicts[0].blind) == (True, pytest.approx(-30), False)
    assert {each.kind for each in back.changes} == {"gained", "alarm gone"} and back.verdicts[0].worse == []


def test_the_smallest_visible_drop_is_where_the_test_turns():
    (verdict,) = geceval.gate("gleu", SOURCES, GOOD, WORSE, REFERENCES, resamples=199, seed=5).verdicts
    scorer = geceval.registry.make_scorer("gleu")
    rows = [scorer.score(SOURCES, system, REFERENCES).rows() for system in (GOOD, WORSE)]
    left, right = (bootstrap_scores(row, scorer.aggregate, 199, 5) for row in rows)
    shift = right - left - (verdict.candidate - verdict.baseline)
    above, below = (verdict.visible / 100 + each for each in (1e-9, -1e-9))
    assert p_value(above, shift + above, "bootstrap", "two-sided") < 0.05
    assert p_value(below, shift + below, "bootstrap", "two-sided") >= 0.05


def test_without_power_it_passes_and_says_so(caplog):
    """One of 40 sentences differs: no sample tells it from chance."""
    almost = [*GOOD[:39], "It is a fine ."]
    (verdict,) = geceval.gate("errant", SOURCES, GOOD, almost, REFERENCES).verdicts
    assert (verdict.passed, verdict.blind) == (True, True) and verdict.drop > 0.5 and verdict.p >= 0.05
    message = "errant: cannot see a drop of 0.5 at p < 0.05: too few sentences differ to show a drop of any size"
    assert verdict.visible == math.inf and message in caplog.text
    assert '"visible": null' in report(geceval.gate("errant", SOURCES[:2], GOOD[:2], WORSE[:2], REFERENCES[:2]), "json")
    with pytest.raises(ValueError, match="gate, candidate: 2 sources but 1 prediction; row 1 has no partner"):
        geceval.gate("errant", SOURCES[:2], GOOD[:2], WORSE[:1], REFERENCES[:2])
    caplog.clear()
    (equal,) = geceval.gate("errant", SOURCES, GOOD, GOOD, REFERENCES).verdicts
    assert (equal.passed, equal.blind, equal.drop, equal.visible, equal.p, caplog.text) == (True, False, 0, 0, 1, "")


def test_exit_codes_and_reports(files, call, fails):
    code, out, err = call("gate", "-m", "errant", *files, "-r", "ref.txt")
    assert (code, err) == (1, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[2][:4] == ["errant", "1.0000", "0.7000", "30.00"] and lines[2][-1] == "FAIL"
    assert lines[3][0] == "FAILED:" and ["M:DET", "0", "0", "6", "0", "6"] in lines
    assert ["all", "6", "0", "6", "0", "6"] in lines and "10 of 12 edits that made it worse" in out
    code, out, _ = call("gate", "-m", "errant", "m2", *files, "--gold-m2", "gold.m2", "--format", "json")
    found = json.loads(out)
    assert (code, found["passed"], [each["metric"] for each in found["verdicts"]]) == (1, False, ["errant", "m2"])
    assert found["settings"] == {"max_drop": 0.5, "p": 0.05, "resamples": 1000, "seed": 1}
    assert len(found["changes"]) == len(found["verdicts"][1]["worse"]) == 12
    allowed = call("gate", "-m", "gleu", *files, "-r", "ref.txt", "--max-drop", "60", "--format", "markdown")
    assert allowed[0] == 0 and "| pass |" in allowed[1] and "PASSED; drops in points" in allowed[1]
    assert "no p < 0.0005: take more than 1999" in fails("gate", "-m", "gleu", *files, "-r", "ref.txt", "--p", "0.0005")
    assert "needs references" in fails("gate", "-m", "errant", *files)
    Path("new.txt").write_text("It is fine .\n", encoding="utf-8")
    assert "40" in fails("gate", "-m", "gleu", *files, "-r", "ref.txt")


def test_the_plug_in_is_found_by_pytest(pytester, setup_arguments, monkeypatch):
    """As setup.py announces it: in a run of its own, which imports nothing heavy until the fixture is called."""
    (pytester.path / "announced-1.dist-info").mkdir()
    lines = "\n".join(setup_arguments["entry_points"]["pytest11"])
    (pytester.path / "announced-1.dist-info" / "entry_points.txt").write_text(f"[pytest11]\n{lines}\n")
    (pytester.path / "announced-1.dist-info" / "METADATA").write_text("Name: announced\nVersion: 1\n")
    pytester.makepyfile(f"""
        import sys

        COLUMNS = {SOURCES!r}, {GOOD!r}, {WORSE!r}, {REFERENCES!r}

        def test_light():
            assert "geceval.cli.pytest_plugin" in sys.modules
            assert not {{"numpy", "torch", "evaluate", "typer"}} & set(sys.modules)

        def test_worse(assert_no_regression):
            assert_no_regression("gleu", *COLUMNS)

        def test_allowed(assert_no_regression):
            assert assert_no_regression("gleu", *COLUMNS, max_drop=60).passed
    """)
    monkeypatch.setenv("PYTHONPATH", f"{pytester.path}{os.pathsep}{ROOT / 'src'}")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*FAILED: worse than the baseline; drops in points*"])


@pytest.fixture
def action(files, tmp_path):
    """The steps of action.yml, and a function that runs one as GitHub does, with inputs."""
    content = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    def run_step(number, environ=(), **inputs):
        step = content["runs"]["steps"][number]
        values = {name: each.get("default", "") for name, each in content["inputs"].items()} | inputs
        names = {name: re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", each)[1] for name, each in step["env"].items()}
        summary, path = tmp_path / "summary.md", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTION_PATH": str(ROOT), "PATH": path}
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **own}
        environment |= {name: values[key] for name, key in names.items()} | dict(environ)
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(bash, env=environment, capture_output=True, text=True)
        return done.returncode, summary.read_text(encoding="utf-8") if summary.exists() else done.stdout + done.stderr

    return content, run_step


def test_the_action_fails_and_writes_its_summary(action):
    content, run_step = action
    assert content["runs"]["using"] == "composite"
    assert not any("${{" in step["run"] for step in content["runs"]["steps"])  # inputs are no code
    used = [value for step in content["runs"]["steps"] for value in step["env"].values()]
    assert sorted(used) == sorted(f"${{{{ inputs.{name} }}}}" for name in content["inputs"])
    paths = {"sources": "source.txt", "baseline": "old.txt", "candidate": "new.txt"}
    assert (run_step(1, **paths, references="ref.txt none.txt")) == (2, "")
    code, summary = run_step(1, **paths, references="ref.txt", metrics="gleu green")
    assert code == 1 and summary.startswith("| metric | baseline |") and summary.count("| FAIL |") == 2
    code, summary = run_step(1, **{**paths, "candidate": "old.txt", "baseline": "ref.txt"}, **{"gold-m2": "gold.m2"})
    assert code == 0 and "| errant | 1.0000 | 1.0000 | 0.00 |" in summary


@pytest.mark.slow
def test_the_action_installs_its_own_checkout(action):
    trial = {"PIP_DRY_RUN": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_QUIET": "0"}
    code, said = action[1](0, trial, extras="edits,meteor")
    assert (code, said) == (0, "")


def test_the_hook_of_the_page_runs(files):
    (text,) = re.findall(r"```yaml\n(repos:.*?)```", (ROOT / "docs" / "gate.md").read_text(encoding="utf-8"), re.DOTALL)
    (hook,) = yaml.safe_load(text)["repos"][0]["hooks"]
    words = hook["entry"].split()
    Path("reference_0.txt").write_text(Path("ref.txt").read_text(encoding="utf-8"), encoding="utf-8")
    assert words[0] == "geceval" and run(words[1:]) == 1


def test_five_sentences_that_differ_show_nothing(caplog):
    """Five equal signs have p = 1/16; samples of one sentence are all the same."""
    sources, worse = ["This are it ."] * 20, ["This are it it ."] * 20
    better = ["This is it ."] * 20
    for changed, passes in ((1, True), (5, True), (6, False)):
        candidate = worse[:changed] + better[changed:]
        assert geceval.gate("gleu", sources, better, candidate, [[each] for each in better]).passed is passes
    assert "cannot see a drop of 0.5" in caplog.text
