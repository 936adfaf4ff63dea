"""The benchmark itself: sides that take turns, equal scores, ratios, floor and tables; no time is asserted."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STAND_IN = Path(__file__).with_name("stand_in_peer.py")


@pytest.fixture(scope="module")
def side_by_side():
    """The modules of the benchmark, which is no package that is installed."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from side_by_side import corpora, floor, geceval_side, models, plans, table

        modules = (corpora, floor, geceval_side, models, plans, table)
        yield {module.__name__.rpartition(".")[2]: module for module in modules}
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def bench(side_by_side, tmp_path):
    models = dict.fromkeys(("quality", "similarity", "some", "threshold", "pipeline", "layer"), "not used")
    works = dict.fromkeys(("seeda", "gjg15"), side_by_side["corpora"].read_example())
    return side_by_side["plans"].Bench(works, models, tmp_path, [sys.executable, str(STAND_IN)], rounds=3)


def test_both_sides_are_asked_in_turn_for_the_same_scores(side_by_side, bench):
    row = side_by_side["plans"].compare(bench, "gleu")
    assert row.difference == 0
    assert row.work == "example corpus, 5 systems, 44 sentences"
    assert len(row.ours) == len(row.peer) == 3
    assert [entry["scores"] for entry in row.ours] == [entry["scores"] for entry in row.peer]
    assert len(row.ours[0]["scores"]) == 5
    assert row.ratio == pytest.approx(side_by_side["table"].median(row.peer) / side_by_side["table"].median(row.ours))
    assert bench.versions == {"stand-in": "1.0"}
    assert "| gleu | example corpus, 5 systems, 44 sentences |" in side_by_side["table"].comparison([row])


def test_no_times_are_given_where_scores_differ(side_by_side, bench):
    bench.peer = [*bench.peer, "--wrong"]
    with pytest.raises(RuntimeError, match=r"gleu: scores differ by 0\.1"):
        side_by_side["plans"].compare(bench, "gleu")


def test_a_side_that_ends_is_named(side_by_side, bench, capfd):
    with pytest.raises(RuntimeError, match=r"the peer \(green\) ended with code 1"):
        side_by_side["plans"].compare(bench, "green")
    assert "AssertionError" in capfd.readouterr().err


def test_the_floor_counts_each_distinct_text_once(side_by_side):
    from geceval.core.options import RunTime
    from geceval.models.checkpoints import resolve
    from geceval.models.encoder import Encoder

    floor, encoder = side_by_side["floor"], Encoder.load(resolve("bundled"), RunTime(device="cpu"))
    with floor.watched() as seen:
        encoder.embed(["a cat", "a cat", "dogs"])
        encoder.embed(["a cat", ("a cat", "dogs")])
    # [CLS] a cat [SEP], [CLS] dogs [SEP], [CLS] a cat [SEP] dogs [SEP]
    assert floor.count(seen) == {(384, 1536, 6): 4 + 3 + 6}
    # A layer has 4 matrices of 384 x 384 and 2 of 384 x 1536; a multiplication and an addition an element and token.
    assert floor.flops(384, 1536, 6, 13) == 13 * 6 * 2 * (4 * 384 * 384 + 2 * 384 * 1536)

    side_by_side["geceval_side"].forget()
    assert len(encoder._answers) == 0
    assert Encoder.load(resolve("bundled"), RunTime(device="cpu")) is encoder


def test_the_peer_reads_the_networks_of_geceval(side_by_side, tmp_path):
    import torch
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    from geceval.core.options import RunTime
    from geceval.models.checkpoints import resolve
    from geceval.models.encoder import Encoder

    exported = side_by_side["models"].export(tmp_path, causal=False)
    tokenizer = AutoTokenizer.from_pretrained(exported["similarity"])
    with torch.inference_mode():
        states = AutoModel.from_pretrained(exported["similarity"])(**tokenizer("a cat", return_tensors="pt"))[0]
    ours = Encoder.load(resolve("bundled"), RunTime(device="cpu")).embed(["a cat"])
    assert states.mean(dim=1).numpy() == pytest.approx(ours, abs=1e-5)
    assert exported["layer"] == 5
    for folder in (exported["quality"], *(f"{exported['some']}/{part}" for part in ("grammer", "fluency"))):
        assert AutoModelForSequenceClassification.from_pretrained(folder).config.num_labels == 1


def test_the_table_is_written_between_the_marks(side_by_side, tmp_path):
    import bench

    readme, other = tmp_path / "README.md", tmp_path / "other.md"
    readme.write_text(f"# Speed\n\n{bench.BEGIN}\nold\n{bench.END}\n\nMore.\n", encoding="utf-8")
    bench.write(readme, "| new |", {})
    expected = f"# Speed\n\n{bench.BEGIN}\n\n| new |\n\n{bench.END}\n\nMore.\n"
    assert readme.read_text(encoding="utf-8") == expected
    other.write_text("kept", encoding="utf-8")
    with pytest.raises(SystemExit, match="nothing was written"):
        bench.write(other, "| new |", {})
    assert other.read_text(encoding="utf-8") == "kept"
    bench.write(tmp_path / "values.json", "| new |", {"rows": [1]})
    assert json.loads((tmp_path / "values.json").read_text(encoding="utf-8")) == {"rows": [1]}
