"""`geceval data`: where the data sets are, and building one from the command line."""

from pathlib import Path

import pytest


def test_list(ok):
    out = ok("data", "list")
    rows = [line.split()[0] for line in out.splitlines() if "http" in line]
    names = ["seeda", "gjg15", "conll13", "conll14", "jfleg", "cweb", "fce", "wi_locness", "tmu_gfm", "gmeg"]
    assert rows == [*names, "seeda-edits"]
    assert "https://github.com/tmu-nlp/SEEDA" in out


def test_build(ok, fails, shared_data, tmp_path):
    arguments = ["data", "build", "jfleg", "--from", shared_data / "jfleg", "--out", tmp_path / "j"]
    out = ok(*arguments)
    assert [line.split() for line in out.splitlines()[2:]] == [
        ["default", "validation", "754"],
        ["default", "test", "747"],
    ]
    files = sorted(path.name for path in (tmp_path / "j").rglob("*.*"))
    assert files == ["README.md", "test.parquet", "validation.parquet"]
    assert fails(*arguments) == f"{tmp_path / 'j'} exists and is no empty folder; remove it or choose another one"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squad", "--from", "."], "there is no data set 'squad'; choose one of seeda, gjg15, conll13"),
        (["jfleg", "--from", "nowhere"], "nowhere/dev.src: No such file or directory"),
        (["jfleg", "--from", ".", "--gold-m2", "x.m2"], "jfleg takes no --gold-m2"),
        (["jfleg"], "Missing option '--from'"),
    ],
)
def test_mistakes(fails, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert fails("data", "build", *arguments, "--out", "out").startswith(message)
    assert list(Path().iterdir()) == []
