"""`geceval impacts --method ...`: attribution of a metric's gain to edits, on the command line."""

import functools
import json

import pytest

import geceval

PAIR = ["He go to school .", "He goes to the school ."]


@pytest.fixture
def call(call):
    """Run `geceval impacts`."""
    return functools.partial(call, "impacts")


@pytest.fixture
def files(tmp_path):
    """Two sentences, the first of them correct, and references of both: -s, -p, -r."""
    arguments = []
    for name, line in {"s": PAIR[0], "p": PAIR[1], "r": "He goes to school ."}.items():
        (tmp_path / name).write_text(f"They sleep .\n{line}\n", encoding="utf-8")
        arguments += [f"-{name}", tmp_path / name]
    return arguments


@pytest.mark.parametrize("method", ["sub", "shapley-sampling"])
def test_json_holds_what_the_library_gives(call, files, method):
    code, out, err = call("--method", method, "-m", "gleu", *files, "--format", "json")
    assert (code, err) == (0, "")
    correct, found = json.loads(out)
    columns = [["They sleep .", PAIR[0]], ["They sleep .", PAIR[1]], [["They sleep ."], ["He goes to school ."]]]
    same, direct = geceval.attribute("gleu", *columns, method=method.replace("-", "_"))
    assert [edit["score"] for edit in found["edits"]] == list(direct.scores)
    assert [(edit["source"], edit["correction"]) for edit in found["edits"]] == [("go", "goes"), ("", "the")]
    for row, each in ((correct, same), (found, direct)):
        assert (row["source_score"], row["total"], row["note"]) == (each.source_score, each.total, each.note)
        assert (row["signature"], row["how"]) == (each.signature, each.how)
    assert correct["edits"] == []


def test_the_table_has_shares_totals_and_notes(call):
    # IMPARA by default, for which no reference is needed.
    code, out, err = call("--method", "shapley", "--max-edits", "1", *PAIR)
    assert (code, err) == (0, "")
    (direct,) = geceval.attribute("impara", [PAIR[0]], [PAIR[1]], max_edits=1)
    lines = out.splitlines()
    assert lines[0].split() == ["line", "span", "source", "correction", "type", "right", "shapley", "total"]
    for line, share in zip(lines[2:4], direct.scores, strict=True):
        assert line.split()[-2:] == [f"{share:.4f}", f"{direct.total:.4f}"]
    assert lines[4] == f"1 sentence, 2 edits, shapley of impara: {direct.signature}"
    assert lines[5] == "line 1: 2 edits exceed max_edits=1: Shapley values are sampled"


def test_options_reach_the_metric_and_the_attribution(call, files):
    options = ["-m", "gleu", "-o", "unit=char", "--rescale", "ratio", "--format", "json"]
    code, out, _ = call("--method", "add", *files, *options)
    assert code == 0
    found = json.loads(out)[1]
    assert "|unit:char|" in found["signature"]
    assert "|method:add|rescale:ratio|" in found["how"]


@pytest.mark.parametrize(
    "options", [["-m", "green", "-r", "{r}", "-o", "beta=1"], ["-r", "{r}", "-r", "{r}2", "-m", "gleu"]]
)
@pytest.mark.parametrize("texts_last", [True, False])
def test_options_leave_the_texts_alone(call, tmp_path, options, texts_last):
    reference = tmp_path / "r"
    for path in (reference, tmp_path / "r2"):
        path.write_text("He goes to school .\n", encoding="utf-8")
    options = ["--method", "shapley", "--format", "tsv", *(option.format(r=reference) for option in options)]
    code, out, err = call(*(options + PAIR if texts_last else PAIR + options))
    assert (code, err) == (0, "")
    assert [line.split("\t")[2:4] for line in out.splitlines()[1:]] == [["go", "goes"], ["", "the"]]


def test_with_files_an_option_takes_several_values(call, files):
    again = files[-1].with_name("again")
    again.write_bytes(files[-1].read_bytes())
    once = call("--method", "add", "-m", "gleu", *files, "-r", again, "--format", "json")
    assert call("--method", "add", "-m", "gleu", *files, again, "--format", "json") == once
    assert once[0] == 0


def test_the_file_may_stand_right_after_its_flag(call, files):
    _, source, *others, reference = files
    options = [f"-s{source}", *others, reference, f"{reference.parent}/./r2"]
    code, out, err = call("--method", "add", "-m", "gleu", *options)
    assert (code, err) == (2, f"geceval: error: {reference.parent}/r2: No such file or directory\n")


MISTAKES = [
    (["-m", "gleu", *PAIR], "--metric is for the other methods; add --method shapley"),
    (["--method", "shapley", "-m", "gleu", *PAIR], "gleu needs references: pass -r FILE..."),
    (["--method", "shapley", "-m", "no_such", *PAIR], "unknown metric 'no_such'"),
    (["--method", "shapley", "--max-edits", "99", *PAIR], "max_edits must lie between 1 and 20, got 99"),
    (["--method", "add", "--rescale", "odd", *PAIR], "attribute: rescale must be one of 'safe', 'ratio', 'none'"),
    (["--method", "add", "-o", "frob=1", *PAIR], "unknown option 'frob'"),
    (["--method", "add", "-r", "two", "-m", "gleu", *PAIR], "two has 2 lines but the source has 1"),
    (["--method", "add", "-r", "blank", "-m", "gleu", *PAIR], "line 1 has no reference: it is blank in blank"),
    (["--method", "add", "-m", "gleu", "-r", "two", "two", *PAIR], "beside texts an option takes one value, -r A -r B"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[message[:24] for _, message in MISTAKES])
def test_mistakes_are_one_line(fails, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "blank").write_text("\n", encoding="utf-8")
    assert message in fails(*arguments)
