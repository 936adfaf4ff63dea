"""Pairs of the corpora of a training run: which fold each sentence is in."""

import pytest

from geceval.learning.impara.corpus_pairs import read_pairs
from geceval.learning.impara.job import Job
from geceval.learning.recipe import Recipe


def write_m2(path, sentences):
    """Sentences with two errors each; every number gives another sentence."""
    path.write_text(
        "".join(
            f"S the dog {number} runs to school\nA 3 4|||R:X|||ran|||REQUIRED|||-NONE-|||0\n"
            "A 5 6|||R:X|||home|||REQUIRED|||-NONE-|||0\n\n"
            for number in sentences
        )
    )
    return path


@pytest.fixture
def pairs_of(tmp_path, make_checkpoint):
    """From the options of a job to its pairs and counts."""

    def read(**options):
        job = Job(recipe=Recipe(base=str(make_checkpoint(1))), pairs=400, **options)
        (tmp_path / "run").mkdir(exist_ok=True)
        return read_pairs(job, tmp_path / "run", progress=False)

    return read


def sources(pairs):
    return {pair.source for pair in pairs}


def test_what_is_only_learnt_from_is_in_no_other_fold(tmp_path, pairs_of):
    divided = write_m2(tmp_path / "divided.m2", range(1, 41))
    learnt = write_m2(tmp_path / "learnt.m2", range(101, 121))
    pairs, data = pairs_of(m2=(divided,), train_m2=(learnt,))
    only = {f"the dog {number} runs to school" for number in range(101, 121)}
    assert sources(pairs["train"]) >= only
    assert not (sources(pairs["dev"]) | sources(pairs["test"])) & only
    assert [(entry["corpus"], entry["corrections"]) for entry in data] == [("divided.m2", 40), ("learnt.m2", 20)]
    assert (data[1]["pairs"]["dev"], data[1]["pairs"]["test"]) == (0, 0)
    assert data[1]["pairs"]["train"] > 20


def test_a_sentence_that_is_tested_is_learnt_from_nowhere(tmp_path, pairs_of):
    # The same sentences in both files: those of the dev and the test fold of the first must not come back.
    divided = write_m2(tmp_path / "divided.m2", range(1, 41))
    learnt = write_m2(tmp_path / "learnt.m2", range(1, 41))
    pairs, data = pairs_of(m2=(divided,), train_m2=(learnt,))
    held_out = sources(pairs["dev"]) | sources(pairs["test"])
    assert len(held_out) == 8  # 1 and 1 of 10 of 40
    assert len(sources(pairs["train"])) == 32
    assert not sources(pairs["train"]) & held_out
    assert data[1]["pairs"]["train"] > 0


def test_folds_do_not_depend_on_what_is_only_learnt_from(tmp_path, pairs_of):
    divided = write_m2(tmp_path / "divided.m2", range(1, 41))
    alone, _ = pairs_of(m2=(divided,))
    (tmp_path / "run" / "pairs.json").unlink()
    both, _ = pairs_of(m2=(divided,), train_m2=(write_m2(tmp_path / "learnt.m2", range(101, 141)),))
    assert (alone["dev"], alone["test"]) == (both["dev"], both["test"])


def test_every_fold_needs_a_pair(tmp_path, pairs_of):
    few = write_m2(tmp_path / "few.m2", range(1, 3))
    with pytest.raises(ValueError, match="every fold .* needs at least one pair"):
        pairs_of(m2=(few,), train_m2=(write_m2(tmp_path / "learnt.m2", range(101, 141)),))
