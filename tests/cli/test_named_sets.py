"""`geceval score -t NAME`, `--beside`, `--cite`, and the verbs of `geceval data` for test sets."""

import json
import zipfile
from pathlib import Path

import docs_corpora
import pytest

from geceval.corpora import test_sets as catalogue

SYSTEMS = docs_corpora.EXAMPLE / "systems"


@pytest.fixture(autouse=True)
def conll14(monkeypatch, tmp_path) -> Path:
    """A folder in which the files of `conll14` lie, which are 44 sentences here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(catalogue.VARIABLE, raising=False)
    entry = docs_corpora.write_conll14(tmp_path / "data" / "official-2014.combined.m2")
    monkeypatch.setitem(catalogue.TEST_SETS, "conll14", entry)
    return tmp_path / "data"


@pytest.fixture
def here(monkeypatch, conll14):
    monkeypatch.setenv(catalogue.VARIABLE, str(conll14))


def test_score_is_that_of_the_files(here, ok, conll14):
    named = ok("score", "-t", "conll14", "-p", SYSTEMS, "--format", "tsv")
    gold = conll14 / "official-2014.combined.m2"
    source = docs_corpora.EXAMPLE / "source.txt"
    assert named == ok("score", "-m", "m2", "-s", source, "-p", SYSTEMS, "--gold-m2", gold, "--format", "tsv")


def test_other_metrics_take_the_texts(here, ok):
    named = ok("score", "-t", "conll14", "-m", "gleu", "m2", "-p", SYSTEMS / "strong.txt", "--format", "json")
    files = ["-s", docs_corpora.EXAMPLE / "source.txt", "-r", docs_corpora.EXAMPLE / "reference_0.txt"]
    alone = ok("score", "-m", "gleu", *files, "-p", SYSTEMS / "strong.txt", "--format", "json")
    (ours,), (theirs,) = json.loads(named)["systems"], json.loads(alone)["systems"]
    assert ours["metrics"]["gleu"] == theirs["metrics"]["gleu"]
    assert "gold_m2:official-2014.combined.m2@" in ours["metrics"]["m2"]["signature"]


def test_beside(here, ok):
    arguments = ["score", "-t", "conll14", "-p", SYSTEMS / "unchanged.txt", "--beside"]
    lines = ok(*arguments).splitlines()
    assert lines[0].split() == ["rank", "system", "m2", "m2_precision", "m2_recall"]
    rows = [line.split() for line in lines[2:24]]
    assert [row[0] for row in rows[:5]] == ["1", "2", "3", "3", "5"]
    assert rows[2] == ["3", "T5-11B", "(Omelianchuk", "et", "al.,", "2024)", "0.6750", "0.7090", "0.5650"]
    assert rows[3] == ["3", "UL2-20B", "*", "(Omelianchuk", "et", "al.,", "2024)", "0.6750", "0.7380", "0.5040"]
    assert rows[8] == ["9", "CAMB", "(Ng", "et", "al.,", "2014)", "0.3733", "–", "–"]
    assert rows[-1] == ["22", "unchanged", "0.0000", "1.0000", "0.0000"]
    assert lines[25] == "* the output that is published with this row gives another score: the row is of another run"
    assert lines[26].startswith("m2|text:auto|beta:0.5|")
    content = json.loads(ok(*arguments, "--format", "json"))
    assert (content["sentences"], len(content["systems"])) == (44, 22)


@pytest.mark.parametrize("metric", ["m2", "gleu"])
def test_cite(here, ok, metric):
    out = ok("score", "-t", "conll14", "-m", metric, "-p", SYSTEMS / "strong.txt", "--cite")
    table, sentence, *entries = out.split("\n\n")
    signature = table.splitlines()[-1]
    papers = {"m2": "dahlmeier-ng-2012-better", "gleu": "napoles-etal-2015-ground,napoles-etal-2016-gleu"}
    start = r"Scores on CoNLL-2014 \citep{ng-etal-2014-conll} were computed with geceval 0.1.0 \citep{geceval}: "
    assert sentence.startswith(start)
    assert rf"\citep{{{papers[metric]}}}" in sentence and rf"\texttt{{\detokenize{{{signature}}}}}." in sentence
    assert ("F0.5 of MaxMatch against official-2014.combined.m2, two annotators" in sentence) == (metric == "m2")
    keys = [entry.split("{")[1].split(",")[0] for entry in "\n\n".join(entries).split("\n@")]
    assert keys == [*papers[metric].split(","), "ng-etal-2014-conll", "geceval"]


def test_beside_without_stars(monkeypatch, shared_data, ok):
    monkeypatch.setenv(catalogue.VARIABLE, str(shared_data / "jfleg"))
    lines = ok("score", "-t", "jfleg-dev", "-p", shared_data / "jfleg" / "dev.ref0", "--beside").splitlines()
    assert lines[3].split() == ["2", "the", "sources,", "unchanged", "(measured", "with", "geceval)", "0.3821"]
    assert lines[4:6] == ["754 sentences, ranked by gleu (higher is better)", lines[-1]]


def test_cite_without_a_test_set(ok):
    files = ["-s", docs_corpora.EXAMPLE / "source.txt", "-r", docs_corpora.EXAMPLE / "reference_0.txt"]
    arguments = ["score", "-m", "gleu", *files, "-p", SYSTEMS / "strong.txt", "--cite", "--format"]
    assert "\n\nScores were computed with geceval 0.1.0" in ok(*arguments, "markdown")
    assert "\n# Scores were computed with geceval" in ok(*arguments, "tsv")
    assert json.loads(ok(*arguments, "json"))["cite"].startswith("Scores were computed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "x"], "Missing option '-m' and '-s'; or name a test set: -t NAME"),
        (["-m", "m2", "-p", "x"], "Missing option '-s'; or name a test set: -t NAME"),
        (["-s", "x", "-p", "x"], "Missing option '-m'; or name a test set: -t NAME"),
        (["-t", "conl14", "-p", "x"], "unknown test set 'conl14'; did you mean 'conll14'?"),
        (["-t", "multigec-", "-p", "x"], "multigec-: add the language or name of a corpus: multigec-LANGUAGE-CORPUS"),
        (["-t", "conll14", "-s", "x", "-p", "x"], "--sources says what -t says: leave it out"),
        (["-t", "conll14", "-p", "short.txt"], "short.txt has 1 line but conll14 has 44; they must be parallel"),
        (["-t", "conll14", "-m", "gleu", "--beside"], "conll14: published scores are those of m2 alone"),
        (["-t", "conll14", "--beta", "1", "--beside"], "conll14: published scores are those of m2 alone"),
        (["-t", "conll14", "--sentence", "--beside"], "--sentence shows sentences, and --beside"),
        (["-t", "bea19-test", "-p", "short.txt"], "short.txt has 1 line, but bea19-test has 4,477"),
        (["-t", "bea19-test", "-m", "errant", "-p", "x"], "--metrics is not for a test set without public gold"),
        (
            ["-m", "gleu", "--beside", "-s", "short.txt", "-r", "short.txt", "-p", "same.txt"],
            "--beside needs a test set",
        ),
    ],
)
def test_mistakes(here, fails, arguments, message):
    for name in ("short.txt", "same.txt"):
        Path(name).write_text("a\n")
    more = [] if "-p" in arguments else ["-p", SYSTEMS / "strong.txt"]
    assert fails("score", *arguments, *more).startswith(message)


def test_what_is_not_here(fails):
    message = fails("score", "-t", "conll14", "-p", SYSTEMS / "strong.txt")
    assert message.startswith("conll14: no file with the text of official-2014.combined.m2, ")
    assert "geceval data add conll14 FOLDER" in message


def test_add_list_and_sources(ok, fails, conll14):
    here = {line.split()[0]: line for line in ok("data", "list").splitlines()[2:17]}
    assert "   no   " in here["conll14"] and "on the Hub" in here["jfleg-dev"] and "to submit" in here["bea19-test"]
    file = conll14 / "official-2014.combined.m2"
    assert ok("data", "add", "conll14", "data") == f"conll14: m2 is {file}\n"
    assert "   yes   " in next(line for line in ok("data", "list").splitlines() if line.startswith(" conll14 "))
    assert ok("data", "sources", "conll14") == (docs_corpora.EXAMPLE / "source.txt").read_text()
    message = fails("data", "add", "conll13", "data")
    assert message.startswith("conll13: no file with the text of official-preprocessed.m2, 326,386 bytes")
    assert fails("data", "add", "conll13", "nowhere").startswith("nowhere: no such file or folder")
    assert fails("data", "add", "bea19-test", "data").startswith("bea19-test: its gold is not public")


def test_submission(ok):
    Path("mine.txt").write_text("Ein Satz .\n" * 4477)
    told = ok("score", "-t", "bea19-test", "-p", "mine.txt")
    assert told.startswith("bea19-test.mine.zip: 4,477 sentences, to submit")
    with zipfile.ZipFile("bea19-test.mine.zip") as archive:
        assert archive.namelist() == ["bea19-test.txt"]
        assert archive.read("bea19-test.txt") == Path("mine.txt").read_bytes()


def test_multigec(ok, conll14, monkeypatch):
    docs_corpora.write_multigec(conll14 / "german")
    monkeypatch.setenv(catalogue.VARIABLE, str(conll14))
    essays = (conll14 / "german" / "de-merlin-hyp-dev.md").read_text(encoding="utf-8").split("### ")
    Path("hyp.md").write_text("### ".join(["", essays[2], essays[1]]), encoding="utf-8")  # without the third, a "!"
    lines = ok("score", "-t", "multigec-german-merlin", "-p", "hyp.md", "--quiet").splitlines()
    assert lines[2].split() == ["1", "hyp", "0.1679"]  # .167887 by gleu 1.1.0, see golden/multigec.json
    assert lines[4].startswith("gleu|text:syntok|counting:released|sampler:python2|")
    assert "   yes   " in next(line for line in ok("data", "list").splitlines() if line.startswith(" multigec-"))
