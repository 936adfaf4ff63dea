"""`geceval data`: where the data sets are, and building one from the command line."""

from pathlib import Path

import pytest


def test_list(call):
    code, out, err = call("data", "list")
    assert (code, err) == (0, "")
    rows = [line.split()[0] for line in out.splitlines() if "http" in line]
    assert rows == ["seeda", "gjg15", "conll13", "conll14", "jfleg", "cweb", "fce", "wi_locness", "tmu_gfm"]
    assert "https://github.com/tmu-nlp/SEEDA" in out


def test_build(call, shared_data, tmp_path):
    code, out, err = call("data", "build", "jfleg", "--from", shared_data / "jfleg", "--out", tmp_path / "j")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[2:]] == [
        ["default", "validation", "754"],
        ["default", "test", "747"],
    ]
    assert sorted(path.name for path in (tmp_path / "j").rglob("*.*")) == [
        "README.md",
        "test.parquet",
        "validation.parquet",
    ]
    code, out, err = call("data", "build", "jfleg", "--from", shared_data / "jfleg", "--out", tmp_path / "j")
    assert (code, out) == (2, "")
    assert err == f"geceval: error: {tmp_path / 'j'} exists and is no empty folder; remove it or choose another one\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squad", "--from", "."], "there is no data set 'squad'; choose one of seeda, gjg15, conll13"),
        (["jfleg", "--from", "nowhere"], "nowhere/dev.src: No such file or directory"),
        (["jfleg", "--from", ".", "--gold-m2", "x.m2"], "jfleg takes no --gold-m2"),
        (["jfleg"], "Missing option '--from'"),
    ],
)
def test_mistakes(call, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("data", "build", *arguments, "--out", "out")
    assert (code, out) == (2, "")
    assert err.startswith(f"geceval: error: {message}")
    assert err.count("\n") == 1
    assert list(Path().iterdir()) == []
