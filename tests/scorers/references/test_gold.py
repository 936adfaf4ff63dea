"""Gold from an M2 file: what is read how often, and what the signature says of it."""

import hashlib
import os
import threading

import pytest

import geceval
from geceval.scorers.m2 import M2, Settings

TEXT = "S a b\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||0\n"


def test_a_pipe_serves_several_systems(tmp_path):
    """`--gold-m2 <(zcat gold.m2.gz)`: every system and the signature read the same text."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    geceval.clear_caches()
    threading.Thread(target=path.write_text, args=(TEXT,), daemon=True).start()
    scorer = M2(Settings(gold_m2=str(path)))
    right, wrong = scorer.score(["a b"], ["x b"]), scorer.score(["a b"], ["y b"])
    assert (right.score, wrong.score) == (1.0, 0.0)
    assert f"gold_m2:pipe@{hashlib.sha256(TEXT.encode()).hexdigest()[:8]}|" in right.signature


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "gold.m2"
    path.write_text(TEXT)
    scorer = M2(Settings(gold_m2=str(path)))
    before = scorer.score(["a b"], ["x b"])
    path.write_text(TEXT.replace("|||x|||", "|||y|||"))
    after = scorer.score(["a b"], ["x b"])
    assert (before.score, after.score) == (1.0, 0.0)
    assert before.signature != after.signature


def test_what_is_no_path_is_named():
    with pytest.raises(TypeError, match="gold_m2 must be a path, got int 3"):
        M2(Settings(gold_m2=3)).score(["a"], ["a"])
