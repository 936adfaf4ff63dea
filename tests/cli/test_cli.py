"""The command as users run it: what it prints, where it writes, and how it fails."""

import dataclasses
import inspect
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import geceval
from geceval import registry
from geceval.cli import error_types
from geceval.cli.app import PANELS
from geceval.cli.compare import compare
from geceval.cli.gate import gate
from geceval.cli.metric_options import make_scorers
from geceval.cli.rerank import rerank
from geceval.cli.score import rank, to_json
from geceval.core.result import Result
from geceval.meta.significance.systems import METHODS
from geceval.workflows.choose import EditUtility
from geceval.workflows.error_types import MEASURES
from geceval.workflows.gate import Settings

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
SOURCE = str(EXAMPLE / "source.txt")
SYSTEMS = [str(path) for path in sorted((EXAMPLE / "systems").glob("*.txt"))]
REFERENCES = [str(EXAMPLE / f"reference_{number}.txt") for number in (0, 1)]
CORPUS = ["-s", SOURCE, "-p", *SYSTEMS, "-r", *REFERENCES]


def geceval_command(*arguments, **options):
    """The real command in a process of its own."""
    command = [sys.executable, "-m", "geceval", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, **options)


def test_version_and_citation(ok):
    version = geceval_command("--version")
    assert (version.returncode, version.stdout) == (0, f"geceval {geceval.__version__}\n")
    assert ok("--version") == version.stdout
    assert "@software{geceval," in ok("--citation")


def test_version_imports_neither_typer_nor_rich():
    code = "import sys, geceval.cli as c; c.main(['--version']); print({'typer', 'rich', 'numpy'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[1] == "set()"


def test_help_names_every_verb(ok):
    text = ok()
    assert text == ok("--help")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("╭─")] == [
        "Options", *(panel.split()[0] for panel in PANELS)
    ]  # fmt: skip
    for verb in (verb for verbs in PANELS.values() for verb in verbs):
        assert f"\n│ {verb} " in text
        assert "Usage: geceval " + verb in ok(verb, "--help")
    assert ok("score", "-h") == ok("score", "--help")
    assert "│ maege " in ok("meta", "--help") and "--pairwise" in ok("meta")
    for group in ("train", "data", "publish", "meta"):
        assert ok(group) == ok(group, "--help")


def test_what_verbs_repeat_of_workflows():
    """The file of a verb imports none, and so states their choices and defaults again."""
    assert get_args(error_types.Measure) == MEASURES
    for verb, option, choices in ((compare, "method", METHODS), (rerank, "utility", get_args(EditUtility))):
        assert ", ".join(choices) in get_type_hints(verb, include_extras=True)[option].__metadata__[0].help
    defaults = {name: parameter.default for name, parameter in inspect.signature(gate).parameters.items()}
    assert dataclasses.asdict(Settings()).items() <= defaults.items()


def test_what_is_read_is_not_overwritten(fails, ok, tmp_path):
    system, result = tmp_path / "systems/one.txt", tmp_path / "systems/result.json"
    system.parent.mkdir()
    system.write_bytes(Path(SYSTEMS[0]).read_bytes())
    result.write_text("{}", encoding="utf-8")
    for predictions, output in ((system, system), (system.parent, result)):
        before = output.read_bytes()
        files = [*CORPUS[:2], "-p", str(predictions), *CORPUS[-3:]]
        message = fails("score", "-m", "gleu", *files, "--output", str(output))
        assert message == f"--output {output} is also read, and would be overwritten; name another"
        assert output.read_bytes() == before
    link = tmp_path / "link.txt"
    link.symlink_to(system)
    before = system.read_bytes()
    text = ["-s", SOURCE, "-p", SOURCE, "-r", SOURCE, "--format", "json"]
    for arguments in (
        ["score", "-m", "gleu", *text[:2], "-p", str(link), *text[4:]],
        ["score", "-m", "m2", "-o", f"m2.gold_m2={system}", *text[:4]],
        ["compare", "-m", "gleu", *text[:4], "-r", f"{system.parent}/../systems/one.txt"],
        ["rerank", "-m", "gleu", *text[:2], "-n", f"{system}:best"],
        ["meta", "--data", str(tmp_path), "-m", "m2", "--gold-m2", str(system)],
        ["meta", "maege", "-m", "m2", "--m2", str(system)],
    ):
        message = fails(*arguments, "--output", str(system))
        assert message == f"--output {system} is also read, and would be overwritten; name another"
        assert system.read_bytes() == before
    twice = [f"{tmp_path}/new.html", f"{tmp_path}/./new.html"]
    message = fails("difficulty", *text[:6], "--heat-map", twice[0], "--chunks", twice[1])
    assert "is also written by another option" in message
    ok("score", "-m", "gleu", *CORPUS[:2], "-p", str(system), *CORPUS[-3:], "--output", str(result))
    assert json.loads(result.read_text(encoding="utf-8"))["systems"]


def test_an_m2_file_is_no_text(fails, tmp_path):
    gold = tmp_path / "gold.m2"
    gold.write_text("S This are it .\nA 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0\n\n", encoding="utf-8")
    for files in (["-s", gold, "-p", SOURCE, "-r", SOURCE], ["-s", SOURCE, "-p", SOURCE, "-r", gold]):
        assert f"{gold}: an M2 file, and texts are expected" in fails("score", "-m", "gleu", *map(str, files))


def test_completion_in_a_shell():
    def complete(line):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - (not line.endswith(" ")))}
        return geceval_command(env={**os.environ, **words, "_GECEVAL_COMPLETE": "complete_bash"})

    assert complete("geceval sc").stdout.split() == ["score"]
    assert complete("geceval score --pred").stdout.split() == ["--predictions", "--predictions-m2"]
    nothing = complete("geceval score -p ")  # where the shell completes names of files
    assert (nothing.stdout.strip(), nothing.stderr) == ("", "")


def test_json_has_numbers_and_signatures(answer):
    report = answer("score", "-m", "gleu", "green", *CORPUS)
    assert report["sentences"] == 44
    assert report["geceval"] == geceval.__version__
    assert report["ranked_by"] == "gleu"
    assert report["metrics"]["green"] == {"higher_is_better": True, "bounds": [0.0, 1.0]}
    first = report["systems"][0]
    assert (first["rank"], first["system"], first["file"]) == (1, "strong", SYSTEMS[3])
    assert list(first["metrics"]) == ["gleu", "green"]
    assert "scores" not in first["metrics"]["gleu"]
    for system in report["systems"]:
        direct = score_directly("gleu", system["file"])
        assert system["metrics"]["gleu"]["score"] == direct.score
        assert system["metrics"]["gleu"]["signature"] == direct.signature


def score_directly(metric, path, **options):
    columns = [Path(name).read_text(encoding="utf-8").splitlines() for name in (SOURCE, path, *REFERENCES)]
    return registry.make_scorer(metric, options).score(
        columns[0], columns[1], [list(row) for row in zip(*columns[2:], strict=True)]
    )


def test_table_is_ranked_by_the_first_metric(ok):
    lines = ok("score", "-m", "gleu", "green", *CORPUS).splitlines()
    assert lines[0].split()[:3] == ["rank", "system", "gleu"]
    values = [line.split()[:3] for line in lines[2:7]]
    assert [row[0] for row in values] == ["1", "2", "3", "4", "5"]
    assert values[0][1] == "strong"
    scores = [float(row[2]) for row in values]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(score_directly("gleu", SYSTEMS[3]).score, abs=5e-5)
    assert lines[7] == "44 sentences, ranked by gleu (higher is better)"
    assert lines[8].startswith("gleu|")
    assert lines[9].startswith("green|")


def test_ties_share_a_rank(answer, tmp_path):
    copy = shutil.copy(SYSTEMS[3], tmp_path / "copy.txt")
    report = answer("score", "-m", "gleu", "-s", SOURCE, "-p", copy, *SYSTEMS[3:], "-r", *REFERENCES)
    assert [(row["rank"], row["system"]) for row in report["systems"]] == [(1, "copy"), (1, "strong"), (3, "unchanged")]


@pytest.fixture
def score_file(ok, tmp_path):
    """A function that scores the source as the output of a system whose file has some name."""

    def score(name, form):
        shutil.copy(SOURCE, tmp_path / name)
        return ok("score", "-m", "gleu", "-s", SOURCE, "-p", tmp_path / name, "-r", *REFERENCES, "--format", form)

    return score


def test_tsv_has_all_digits_and_no_tabs_in_cells(ok, score_file):
    lines = [line.split("\t") for line in ok("score", "-m", "gleu", *CORPUS, "--format", "tsv").splitlines()]
    assert lines[0] == ["rank", "system", "gleu"]
    direct = score_directly("gleu", SYSTEMS[3])
    assert lines[1] == ["1", "strong", repr(direct.score)]
    assert lines[6:] == [[f"# {direct.signature}"]]
    assert score_file("a\tb.txt", "tsv").splitlines()[1].split("\t")[:2] == ["1", "a b"]


def test_an_output_that_cannot_be_written_fails_before_the_work(fails, monkeypatch):
    monkeypatch.setattr(registry, "score_systems", lambda *arguments: pytest.fail("it was scored"))
    assert fails("score", "-m", "gleu", *CORPUS, "--output", "none/out") == "none/out: No such file or directory"


def test_markdown_is_a_table_for_a_card(score_file):
    lines = score_file("a|b.txt", "markdown").split("\n")
    assert lines[:2] == ["| rank | system | gleu |", "|---:|---|---:|"]
    assert re.fullmatch(r"\| 1 \| a&#124;b \| 0\.\d{4} \|", lines[2])
    assert lines[4].startswith("44 sentences") and lines[6].startswith("`gleu|")


def test_latex_is_escaped(score_file):
    text = score_file("a_b&c.txt", "latex")
    assert r"1 & a\_b\&c & \textbf{0." in text
    assert text.startswith("% gleu|")
    assert "% \\usepackage{booktabs}\n\\begin{tabular}{rlr}\n\\toprule\nrank & system & gleu" in text
    assert text.endswith("\\bottomrule\n\\end{tabular}\n") and r"\midrule" in text


STARTS = {"x.json": "{", "x.tsv": "rank\tsystem\t", "x.TEX": "% gleu|", "x.md": "| rank |", "x.txt": " rank "}


def test_the_name_of_the_output_says_its_format(ok, fails, tmp_path):
    arguments = ["score", "-m", "gleu", *CORPUS, "--output"]
    for name, start in STARTS.items():
        ok(*arguments, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    ok(*arguments, tmp_path / "x.json", "--format", "table")
    assert (tmp_path / "x.json").read_text(encoding="utf-8").startswith(" rank ")
    refused = fails(*arguments, tmp_path / "x.html")
    assert "x.html: html is not written here, only table, json, tsv, markdown, latex" in refused
    assert "x.xlsx: .xlsx is not written here" in fails(*arguments, "x.xlsx")


def test_references_beside_an_m2_file(gold, fails, caplog):
    both = ["-s", SOURCE, "-p", SYSTEMS[0], "-r", REFERENCES[0], "--gold-m2", gold]
    assert fails("score", "-m", "gleu", "errant", *both) == (
        "gleu, errant would take --gold-m2 and leave out -r: pass one of them"
    )
    assert fails("score", "-m", "impara", *both).startswith("impara reads no M2 file; --gold-m2 is for")
    with caplog.at_level(logging.WARNING, "geceval"):
        make_scorers({"gleu": {"gold_m2": str(gold)}, "bertscore": {}, "impara": {}}, [REFERENCES[0]])
        make_scorers({"impara": {}, "fluency": {}}, [REFERENCES[0]])
    assert caplog.messages == [
        "references are those of --gold-m2 for gleu, of -r for bertscore",
        "-r is left out: no references are needed by impara, fluency",
    ]


def test_what_somebody_may_have_meant(fails):
    assert fails("score", "-m", "glue", *CORPUS).endswith("; did you mean 'gleu'?")
    assert fails("score", "-m", "gleu", *CORPUS, "-o", "smothing=no").endswith("; did you mean 'smoothing'?")
    assert fails("score", "-m", "gleu,m2", *CORPUS).endswith("; several are separate words, not one with commas")
    assert "did you mean" not in fails("score", "-m", "xyzzy", *CORPUS)
    assert "Did you mean 'score'" in fails("scor", "-m", "gleu")


def test_sentence_scores(ok, answer):
    lines = ok("score", "-m", "gleu", *CORPUS, "--sentence", "--format", "tsv").splitlines()
    assert lines[0].split("\t")[:3] == ["system", "line", "gleu"]
    assert len(lines) == 1 + 5 * 44 + 1 and lines[-1].startswith("# gleu|")
    direct = score_directly("gleu", SYSTEMS[3])
    assert lines[2].split("\t")[:3] == ["strong", "2", repr(direct.scores[1])]
    report = answer("score", "-m", "gleu", *CORPUS, "--sentence")
    assert report["systems"][0]["metrics"]["gleu"]["scores"] == direct.scores


def test_the_worst_corrections_come_with_their_texts(ok, answer):
    (found,) = answer("score", "-m", "gleu", *CORPUS, "--worst", "1")["rows"]
    scores = {(path, line): score for path in SYSTEMS for line, score in enumerate(score_directly("gleu", path).scores)}
    place = next(path for path in SYSTEMS if found["system"] in path), found["line"] - 1
    assert found["gleu"] == scores[place] == min(scores.values())
    texts = [Path(file).read_text(encoding="utf-8").splitlines()[place[1]] for file in (SOURCE, place[0])]
    assert [found["source"], found["correction"]] == texts
    lines = ok("score", "-m", "gleu", "green", *CORPUS, "--worst", "3").splitlines()
    assert lines[0].split() == ["system", "line", "gleu", "green", "source", "correction"]
    assert lines[5] == "the worst of 220 corrections by gleu (higher is better)"


def test_of_corrections_that_are_equally_bad_the_next_metric_names_the_worst(answer):
    rows = answer("score", *CORPUS, "-m", "errant", "gleu", "--worst", "30")["rows"]
    assert {row["errant"] for row in rows} == {0.0}
    assert [row["gleu"] for row in rows] == sorted(row["gleu"] for row in rows)
    assert rows[0]["gleu"] == answer("score", *CORPUS, "-m", "gleu", "--worst", "1")["rows"][0]["gleu"]


@pytest.fixture
def attacked(tmp_path):
    """The arguments of two systems, one an attack: one sentence in answer to every source."""
    constant = tmp_path / "constant.txt"
    constant.write_text("The weather is mild .\n" * 44)
    return ["-s", SOURCE, "-p", constant, SYSTEMS[3], "--quiet"]


def test_an_attack_ranks_last_and_the_table_says_why(ok, answer, attacked):
    found = answer("score", "-m", "impara_lm", *attacked)["systems"]
    assert [row["system"] for row in found] == ["strong", "constant"]
    assert found[1]["metrics"]["impara_lm"]["guarded"] == 44 and "guard_reasons" not in found[1]["metrics"]["impara_lm"]
    off = answer("score", "-m", "impara_lm", *attacked, "-o", "guard=off")["systems"]
    assert [row["system"] for row in off] == ["constant", "strong"]
    lines = ok("score", "-m", "impara_lm", *attacked).splitlines()
    assert lines[0].split() == ["rank", "system", "impara_lm", "impara_lm_guarded"]
    assert lines[3].split()[1::2] == ["constant", "44"]
    (why,) = [line for line in lines if line.startswith("impara_lm_guarded: constant ")]
    assert "44 of 44 (says something else " in why and "drops " in why
    assert "guarded" not in ok("score", "-m", "impara_lm", *attacked, "-o", "guard=off")


def test_each_sentence_says_why_the_guard_struck(ok, answer, attacked):
    lines = ok("score", "-m", "impara_lm", *attacked, "--sentence", "--format", "tsv").splitlines()
    assert lines[0].split("\t") == ["system", "line", "impara_lm", "impara_lm_guard"]
    reasons = [line.split("\t")[3] for line in lines if line.startswith("constant")]
    assert len(reasons) == 44
    assert set(reasons) == {"says something else", "drops half of the sentence", "drops most of the sentence"}
    (worst,) = answer("score", "-m", "impara_lm", *attacked, "--worst", "1")["rows"]
    assert (worst["system"], worst["impara_lm_guard"]) == ("constant", reasons[worst["line"] - 1])
    report = answer("score", "-m", "impara_lm", *attacked, "--sentence")["systems"][1]["metrics"]["impara_lm"]
    assert report["guard_reasons"] == reasons and len(report["unguarded_scores"]) == 44


@pytest.fixture
def gold(ok, tmp_path):
    """The references as an M2 file."""
    assert ok("convert", SOURCE, *REFERENCES, "--to", "m2", "--output", tmp_path / "gold.m2") == ""
    return tmp_path / "gold.m2"


def test_gold_from_m2(ok, gold):
    plain = ok("score", "-m", "gleu", *CORPUS, "--format", "tsv").splitlines()
    from_m2 = ok("score", "-m", "gleu", "-s", SOURCE, "-p", *SYSTEMS, "--refs-m2", gold, "--format", "tsv").splitlines()
    assert plain[:6] == from_m2[:6] and "|gold_m2:gold.m2@" in from_m2[6]


def test_output_file_is_written_at_once(ok, fails, tmp_path):
    path = tmp_path / "report.json"
    assert ok("score", "-m", "gleu", *CORPUS, "--format", "json", "--output", path) == ""
    assert json.loads(path.read_text(encoding="utf-8"))["sentences"] == 44
    before = path.read_bytes()
    missing = fails("score", "-m", "gleu", "-s", SOURCE, "-p", "none", "-r", *REFERENCES, "--output", path)
    assert missing == "none: No such file or directory"
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["report.json"]


def test_a_terminal_folds_and_never_cuts(score_file, monkeypatch):
    long = "a-system-with-a-very-long-name" * 3
    assert long in score_file(f"{long}.txt", "table")
    monkeypatch.setattr("geceval.cli.tables.terminal_width", lambda output: 40)
    folded = score_file(f"{long}.txt", "table").split("\ngleu|")[0]
    assert max(len(line) for line in folded.splitlines()[:-1]) <= 40
    assert "…" not in folded


MISTAKES = [
    (["score", "-m", "frob", *CORPUS], "unknown metric 'frob'; the metrics are: asano2017, "),
    (["score", "-m", *CORPUS], "option -m needs at least one value"),
    (["score", *CORPUS], "Missing option '-m'"),
    (["score", "-m", "gleu", *CORPUS, "--frob"], "No such option: --frob"),
    (["score", "-m", "gleu", *CORPUS, "--sentence", "x"], "unexpected extra argument"),
    (["score", "-m", "gleu", *CORPUS, "-o", "counting=odd"], "counting must be one of"),
    (["score", "-m", "gleu", *CORPUS, "--batch-size", "0"], "batch_size must be at least 1, got 0"),
    (["score", "-m", "gleu", "-s", SOURCE, "-p", *SYSTEMS], "gleu needs references: pass -r FILE... or --gold-m2 FILE"),
    (["score", "-m", "gleu", "-s", SOURCE, "-p", str(EXAMPLE), "-r", *REFERENCES], "README.md has 18 lines but"),
    (["score", "-m", "gleu", "-s", str(EXAMPLE), "-p", *SYSTEMS, "-r", *REFERENCES], "Is a directory"),
    (["score", "-m", "gleu", "-s", SOURCE, "-p", str(EXAMPLE.parents[2]), "-r", *REFERENCES], "folder without files"),
    (["score", "-m", "impara", "-s", SOURCE, "-p", *SYSTEMS, "--model", "/none"], "/none"),
    (["score", "-m", "bertscore", *CORPUS, "--device", "abacus"], "abacus"),
    (["score", "-m", "bertscore", *CORPUS, "--device", "meta"], "device 'meta' cannot be used here"),
    (["frob"], "No such command 'frob'"),
    (["convert", SOURCE], "source.txt, line 1: "),
    (["convert", SOURCE, "--to", "m2"], "takes the source and at least one corrected file"),
    (["convert", SOURCE, SOURCE], "--to text takes one M2 or JSON file, got 2"),
    (["convert", os.devnull], "holds no sentence"),
    (["convert", SOURCE, SOURCE, "--to", "m2", "--annotator", "1"], "--annotator is an option of --to text"),
    (["convert", "x.m2", "--source", "--annotator", "1"], "--annotator chooses corrections, and --source prints"),
    (["convert", "x.m2", "--nlp", "bundled"], "--nlp is an option of --to m2"),
    (["convert", "x.m2", "--output", "x.json"], "x.json: texts are written, one a line"),
    (["score", "-m", "gleu", *CORPUS, "--sentence", "--worst", "3"], "--sentence shows all sentences, and --worst the"),
    (["impacts", "a b", "a c", "--seed", "2"], "--seed is for the other methods"),
    (["impacts", "a b", "a c", "--method", "add", "--permutations", "9"], "--permutations is for --method shapley"),
    (["impacts", "a b", "a c", "--method", "shapley", "--rescale", "ratio"], "--rescale is for --method add and sub"),
    (["doctor", "--quick", "-m", "gleu"], "--metrics says whose numbers to check, and --quick checks none"),
    (["train", "impara", "--m2", "x.m2", "-o", "out", "--nlp", "bundled"], "--nlp is about the texts of --parallel"),
    (["meta", "tune-weights", "--data", "x", "--share", "0.5"], "--share counts with --level sentence"),
    (["meta", "report", "--data", "x", "-o", "x.json", "--title", "x"], "--title is that of a page"),
    (["meta", "--data", "x", "report"], "options of report stand behind it: geceval meta report --data ..."),
    (["meta", "--format", "tsv", "maege"], "options of maege stand behind it: geceval meta maege --format ..."),
    (["meta", "--format", "tsv", "report"], "report has no option --format; see geceval meta report --help"),
    (["meta", "-m", "gleu"], "meta takes the judgments of people: --data FOLDER"),
    (["score", "-m", "gleu", *CORPUS, "--output", str(EXAMPLE)], f"{EXAMPLE}: Is a directory"),
    (["leaderboard", "-m", "gleu", *CORPUS, "--output", "x.json"], "x.json: this is a page, whose name ends in .html"),
    (["meta", "report", "--data", str(EXAMPLE), "--output", "x.tsv"], "x.tsv: this is a page, whose name"),
    (["impacts", SOURCE, SYSTEMS[0]], f"{SOURCE} is a file, and a sentence is expected here: pass files as -s"),
    (["chunks", "He go .", "He goes .", SOURCE], f"{SOURCE} is a file, and a sentence is expected here"),
    (["detect", SOURCE], f"{SOURCE} is a file, and a sentence is expected here: pass it as -s FILE"),
    (["impacts", "one text only"], "impacts takes either SOURCE and CORRECTION"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[message[:28] for _, message in MISTAKES])
def test_mistakes_are_one_line_and_exit_code_2(fails, arguments, message):
    assert message in fails(*arguments)


def test_the_traceback_of_a_mistake_is_shown_on_request(call, monkeypatch):
    code, out, plain = call("convert", "none.m2")
    assert (code, out, plain) == (2, "", "geceval: error: none.m2: No such file or directory\n")
    shown = call("--debug", "convert", "none.m2")
    monkeypatch.setenv("GECEVAL_DEBUG", "1")
    assert shown == call("convert", "none.m2")
    code, out, err = shown
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(f"FileNotFoundError: [Errno 2] No such file or directory: 'none.m2'\n{plain}")


@pytest.mark.parametrize("error", [ValueError, TypeError, ImportError])
def test_our_own_errors_are_no_mistake_of_the_user(call, monkeypatch, error):
    def broken(*arguments):
        raise error("frob")

    monkeypatch.setattr(registry, "score_systems", broken)
    code, out, err = call("score", "-m", "gleu", *CORPUS)
    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert 'raise error("frob")' in err
    assert err.endswith("\ngeceval: this is a bug of geceval; please report it with the lines above\n")


def test_warnings_are_lines_of_standard_error_unless_quiet(call, tmp_path):
    shuffled = tmp_path / "shuffled.txt"
    shuffled.write_text("\n".join(f"{number} {number}" for number in range(44)) + "\n")
    arguments = ["score", "-m", "gleu", "-s", SOURCE, "-p", shuffled, "-r", *REFERENCES]
    code, _, err = call(*arguments)
    assert code == 0
    assert err.startswith("geceval: warning: gleu: predictions keep only")
    code, out, err = call(*arguments, "--quiet")
    assert (code, err) == (0, "")
    assert "shuffled" in out


def test_a_real_process_with_pipes_and_a_poor_locale(tmp_path):
    """UTF-8 in and out whatever the locale, standard input, and no colour codes where no terminal is."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    source, reference = tmp_path / "naïve.txt", tmp_path / "r.txt"
    source.write_text("Ein Café\n", encoding="utf-8")
    reference.write_text("Ein Café\n", encoding="utf-8")
    run = geceval_command(
        "score", "-m", "gleu", "-s", str(reference), "-p", "-", str(source), "-r", str(reference), "--format", "json",
        input="Ein Café\n", env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert [row["system"] for row in json.loads(run.stdout)["systems"]] == ["stdin", "naïve"]
    assert "\x1b" not in run.stdout + run.stderr


def test_a_file_name_that_is_not_utf8_may_be_missing():
    arguments = ["score", "-m", "gleu", "-s", SOURCE, "-p", b"caf\xe9.txt", "-r", *REFERENCES]
    done = subprocess.run([sys.executable, "-m", "geceval", *arguments], capture_output=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == b"geceval: error: caf\\udce9.txt: No such file or directory\n"


def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m geceval score -m gleu --sentence --format tsv {' '.join(CORPUS)} | head -n 1"
    run = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_list(ok):
    entries = {entry["name"]: entry for entry in json.loads(ok("list", "--json"))}
    assert list(entries) == registry.list_metrics()
    assert entries["gleu"]["references"] is True
    assert entries["gleu"]["bounds"] == [0.0, 1.0]
    lines = ok("list").splitlines()
    assert lines[0].split() == ["metric", "needs", "extra", "better", "range", "description"]
    assert [line.split()[0] for line in lines[2:]] == list(entries)


def test_list_has_one_line_a_metric_on_a_terminal(ok, monkeypatch):
    monkeypatch.setattr("geceval.cli.list_metrics.terminal_width", lambda output: 80)
    *lines, note = ok("list").splitlines()
    assert lines[0].split() == ["metric", "needs", "description"]
    assert [line.split()[0] for line in lines[2:]] == registry.list_metrics()
    assert max(map(len, lines)) <= 80
    assert note == "3 columns hidden (extra, better, range): a wider terminal or --json shows them"
    monkeypatch.setattr("geceval.cli.list_metrics.terminal_width", lambda output: 40)
    narrow = ok("list").splitlines()
    assert max(map(len, narrow[:-1])) <= 40 and len(narrow) == 2 * len(lines) + 1  # the descriptions stand below
    assert " edit_quality   Share of a …" in narrow


def test_register(ok):
    assert ok("register").startswith(f"registered {len(registry.list_metrics())} metrics in ")


def test_convert_there_and_back(ok, gold):
    assert ok("convert", gold, "--source") == Path(SOURCE).read_text(encoding="utf-8")
    for number, path in enumerate(REFERENCES):
        assert ok("convert", gold, "--annotator", number) == Path(path).read_text(encoding="utf-8")
    assert ok("convert", gold) == Path(REFERENCES[0]).read_text(encoding="utf-8")


def test_convert_keeps_missing_annotations_blank(ok, fails, tmp_path):
    for name, text in {"s": "a b\nc d\n", "r0": "a c\n\n", "r1": "\nc d\n"}.items():
        (tmp_path / name).write_text(text)
    gold = tmp_path / "gold.m2"
    ok("convert", tmp_path / "s", tmp_path / "r0", tmp_path / "r1", "--to", "m2", "--output", gold)
    assert ok("convert", gold, "--annotator", 0) == "a c\n\n"
    assert ok("convert", gold, "--annotator", 1) == "\nc d\n"
    assert fails("convert", gold, "--annotator", 2) == f"{gold} has no annotator 2; its annotators are: 0, 1"


def test_impacts_of_a_pair_and_of_files(ok, answer, tmp_path):
    pair = ["He go to school .", "He goes to the school ."]
    (found,) = answer("impacts", *pair)
    edits = [tuple(edit[key] for key in ("start", "end", "source", "correction")) for edit in found["edits"]]
    assert edits == [(1, 2, "go", "goes"), (3, 3, "", "the")]
    assert all(0 < edit["impact"] < 2 for edit in found["edits"])
    table = ok("impacts", *pair)
    assert f"{found['edits'][0]['impact']:.4f}" in table
    assert table.splitlines()[-2] == "1 sentence, 2 edits"  # before the legend
    for name, line in zip(("s", "p"), pair, strict=True):
        (tmp_path / name).write_text(f"They sleep .\n{line}\n")
    rows = ok("impacts", "-s", tmp_path / "s", "-p", tmp_path / "p", "--format", "tsv").splitlines()
    assert [row.split("\t")[:4] for row in rows[1:]] == [["2", "1:2", "go", "goes"], ["2", "3:3", "", "the"]]


def test_convert_essays(ok, tmp_path):
    path, gold = tmp_path / "essays.json", tmp_path / "gold.m2"
    content = {"id": "1", "text": "She go home. Bye", "edits": [[0, [[4, 6, "goes", "AGV"]]]]}
    path.write_text(json.dumps(content) + "\n", encoding="utf-8")
    ok("convert", path, "--nlp", "bundled", "-o", gold)
    assert gold.read_text(encoding="utf-8") == (
        "S She go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\n"
        "S Bye\nA -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
    )
    assert ok("convert", path, "--to", "text", "--source") == "She go home .\nBye\n"
    assert ok("convert", path, "--to", "text") == "She goes home .\nBye\n"


def test_convert_essays_in_markdown(ok, fails, tmp_path):
    orig, lines, hyp = tmp_path / "orig.md", tmp_path / "lines.txt", tmp_path / "hyp.md"
    orig.write_text("### essay_id = 1\n\nHe go. I stay.\n\n\n### essay_id = 2\n\nBye.\n\n\n", encoding="utf-8")
    ok("convert", orig, "-o", lines)
    assert lines.read_text(encoding="utf-8") == "He go.\nI stay.\nBye.\n"
    ok("convert", orig, lines, "--to", "essays", "-o", hyp)
    assert hyp.read_bytes() == orig.read_bytes()
    rows = [{"id": 2, "prediction": "Bye!"}, {"id": 1, "prediction": "He goes, and I stay."}]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ok("convert", orig, tmp_path / "answers.jsonl", "--to", "essays", "-o", hyp)
    assert ok("convert", orig, hyp) == "He goes,\nand I stay.\nBye!\n"
    for arguments in ([orig, hyp, hyp], [orig, "--to", "essays"], [lines, hyp, "--to", "essays"]):
        assert fails("convert", *arguments).startswith("essays in Markdown are converted with one corrected file")
    hyp.write_text("### essay_id = 1\n\nHe goes.\n\n### essay_id = 1\n\nBye.\n", encoding="utf-8")
    assert fails("convert", orig, hyp) == f"{hyp}: two essays have the id 1; keep one"


def test_a_system_without_a_score_comes_last_and_json_stays_json():
    nan = float("nan")
    results = {
        name: {"gleu": Result(score, [score, nan], "gleu|", {"cost": nan, "rows": [nan]})}
        for name, score in (("failed", nan), ("worse", 1.0), ("better", 2.0))
    }
    rows = rank(results, {name: f"{name}.txt" for name in results}, registry.make_scorer("gleu"))
    assert [(row.rank, row.system) for row in rows] == [(1, "better"), (2, "worse"), (3, "failed")]
    for by_sentence, more in ((False, {}), (True, {"scores": [None, None], "rows": [None]})):
        content = json.loads(json.dumps(to_json(rows, [registry.make_scorer("gleu")], by_sentence), allow_nan=False))
        assert content["systems"][2]["metrics"]["gleu"] == {"score": None, "cost": None, "signature": "gleu|", **more}


def test_gleu_of_short_sentences_says_why_it_is_zero(ok, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("a b c\n", encoding="utf-8")
    shown = ok("score", "-m", "gleu", "-s", path, "-p", path, "-r", path)
    assert "gleu of short is 0, for the whole corpus has no match of some length up to four words" in shown
    assert "gleu of" not in ok("score", "-m", "gleu", *CORPUS)
