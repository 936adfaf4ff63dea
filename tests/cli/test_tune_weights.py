"""`geceval meta tune-weights` on people who weigh SOME's sub-metrics in a known way."""

from __future__ import annotations

import functools
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from docs_corpora import write_gjg15

from geceval import registry
from geceval.cli.options import metric_options
from geceval.corpora.judgments import GJG15_SYSTEMS
from geceval.scorers.some import PARTS, Settings, Some

WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "dogs", "run", "likes", "school"]
TASTE = np.array([0.2, 0.5, 0.3])


@pytest.fixture(scope="module")
def model(make_checkpoint, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("model") / "some"
    for seed, part in enumerate(PARTS.values(), start=40):
        shutil.copytree(make_checkpoint(seed), folder / part)
    return str(folder)


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[str]]:
    """Thirteen systems, twenty sentences."""
    rng = random.Random(0)
    return {name: [" ".join(rng.choices(WORDS, k=rng.randint(2, 9))) for _ in range(20)] for name in GJG15_SYSTEMS}


@pytest.fixture(scope="module")
def parts(model, outputs) -> np.ndarray:
    """Sub-scores [systems, sentences, 3]."""
    scorer = Some(Settings(model=model))
    found = [scorer.score(outputs["INPUT"], texts).details for texts in outputs.values()]
    return np.array([[details[f"{part}_scores"] for part in PARTS] for details in found]).swapaxes(1, 2)


@pytest.fixture(scope="module")
def checkout(outputs, parts, tmp_path_factory) -> Path:
    """A checkout of GJG15 whose only annotator ranks every output by the weighted sum."""
    liked = parts @ TASTE
    items = []
    for sentence in range(20):
        order = sorted(range(13), key=lambda system: -liked[system, sentence])  # noqa: B023 - used at once
        rows = (f'<translation system="{GJG15_SYSTEMS[s]}" rank="{rank}"/>' for rank, s in enumerate(order, start=1))
        items.append(f'<ranking-item src-id="{sentence}" user="u">{"".join(rows)}</ranking-item>')
    return write_gjg15(tmp_path_factory.mktemp("data") / "gjg15", outputs, "".join(items))


@pytest.fixture
def files(outputs, parts, tmp_path) -> list[str]:
    """Options that name the files of sources and systems, and one of human scores in the weighted sum's order."""
    for name, lines in outputs.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    liked = dict(zip(outputs, 5 + 10 * parts.mean(axis=1) @ TASTE, strict=True))
    (tmp_path / "human.tsv").write_text("".join(f"{name}\t{score}\n" for name, score in liked.items()))
    (tmp_path / "human.json").write_text(json.dumps(liked))
    names = [str(tmp_path / f"{name}.txt") for name in outputs]
    return ["-s", str(tmp_path / "INPUT.txt"), "-p", *names, "--human", str(tmp_path / "human.tsv")]


@pytest.fixture
def answer(answer, model):
    """Run `geceval meta tune-weights` with the model; its JSON."""
    return functools.partial(answer, "meta", "tune-weights", "-o", f"some.model={model}")


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_a_file_of_human_scores(files, answer, form):
    found = answer(*files[:-1], files[-1].replace("tsv", form))
    tuned, sentence, system = found["rows"]
    assert [row["weights"] for row in found["rows"]] == ["tuned", "sentence", "system"]
    assert [tuned[part] for part in PARTS] == TASTE.tolist()
    assert tuned["pearson"] == pytest.approx(1.0)
    assert max(sentence["pearson"], system["pearson"]) < 0.999
    # Table 1 of the paper.
    assert [[row[part] for part in PARTS] for row in (sentence, system)] == [[0.55, 0.43, 0.02], [0.01, 0.98, 0.01]]
    assert found["notes"][0] == "-o some.weights=0.2,0.5,0.3"
    assert "|weights:0.2,0.5,0.3|" in found["notes"][1]


def test_the_option_it_prints_is_one_that_other_verbs_take(files, model, outputs, parts, answer):
    found = answer(*files)
    option = found["notes"][0].removeprefix("-o ")
    scorer = registry.make_scorer("some", metric_options(["some"], [f"model={model}", option])["some"])
    result = scorer.score(outputs["INPUT"], outputs["AMU"])
    assert result.score == pytest.approx(float(parts[0].mean(axis=0) @ TASTE), abs=1e-6)
    assert result.signature == found["notes"][1]


def test_sentences_are_tuned_on_a_part_and_reported_on_the_rest(checkout, answer):
    data = ["--data", str(checkout), "--level", "sentence", "--share", "0.4", "--seed", "2"]
    found = answer(*data)
    tuned, sentence, _ = found["rows"]
    assert tuned["kendall tuned on"] > 0.97
    assert 1 >= tuned["kendall"] > 0.9 > sentence["kendall"]
    assert tuned["accuracy"] == pytest.approx((1 + tuned["kendall"]) / 2, abs=0.01)
    assert tuned["pairs"] == 12 * 78  # 12 of 20 sentences with 13 * 12 / 2 pairs each
    assert [tuned[part] for part in PARTS] == pytest.approx(TASTE, abs=0.1)
    assert found["caption"].startswith("gjg15 all, 13 systems; the best of 4851 triples")
    other = answer(*data[:-1], "3")["rows"][1]
    assert other["kendall tuned on"] != sentence["kendall tuned on"]


def test_systems_of_a_checkout(checkout, answer):
    found = answer("--data", str(checkout), "--human", "ew")
    tuned, *others = found["rows"]
    assert all(tuned["pearson"] >= row["pearson"] for row in others)
    assert found["caption"].startswith("gjg15 ew, 13 systems; the best of 4851 triples")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FILES", "-o", "weights=system"], "finds the weights itself"),
        (["FILES", "--data", "DATA"], "either --data or -s and -p"),
        (["FILES", "--level", "sentence"], "--level sentence needs --data"),
        (["FILES", "--systems", "all"], "--systems needs --data"),
        (["-p", "a.txt"], "takes --data FOLDER, or all of -s FILE, -p FILE... and --human FILE"),
        (["--data", "DATA", "--human", "mood"], "gjg15 has no system ranking 'mood'; choose one of ew, ts"),
        (["--data", "DATA", "--level", "sentence", "--human", "ew"], "no sentence ranking 'ew'; choose one of all"),
        # A bad share is said before anything is scored: the absence of the model would be said then.
        (["--data", "DATA", "--level", "sentence", "--share", "0", "-o", "model=./nowhere"], "must lie between 0 and"),
        (["--data", "nowhere"], "no checkout of SEEDA"),
        (["FILES", "-o", "model=./nowhere"], "nowhere: no such folder"),
    ],
)
def test_mistakes_are_one_line(checkout, files, model, fails, arguments, message):
    words = {"FILES": files, "DATA": [str(checkout)]}
    arguments = [word for argument in arguments for word in words.get(argument, [argument])]
    assert message in fails("meta", "tune-weights", "-o", f"model={model}", *arguments)


def test_a_system_without_a_human_score_is_named(files, model, tmp_path, fails):
    (tmp_path / "human.tsv").write_text("AMU\t1\n")
    assert "human.tsv: no score for RAC, CAMB" in fails("meta", "tune-weights", *files, "-o", f"model={model}")
