"""`geceval meta tune-weights` on people who weigh SOME's sub-metrics in a known way."""

import functools
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from docs_corpora import write_gjg15

from geceval import registry
from geceval.cli.metric_options import metric_options
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
    return {
        name: [" ".join([*rng.choices(WORDS, k=rng.randint(2, 9)), *[f"n{row}"] * 9]) for row in range(20)]
        for name in GJG15_SYSTEMS
    }


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
def answer(answer, model):
    """Run `geceval meta tune-weights` with the model; its JSON."""
    return functools.partial(answer, "meta", "tune-weights", "-o", f"some.model={model}")


def test_the_option_it_prints_is_one_that_other_verbs_take(checkout, model, outputs, parts, answer):
    found = answer("--data", str(checkout), "--level", "sentence")
    weights = [found["rows"][0][part] for part in PARTS]
    option = found["notes"][0].removeprefix("-o ")
    scorer = registry.make_scorer("some", metric_options(["some"], [f"model={model}", option])["some"])
    result = scorer.score(outputs["INPUT"], outputs["AMU"])
    assert result.score == pytest.approx(float(parts[0].mean(axis=0) @ weights), abs=1e-6)
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
    tuned, sentence, system = found["rows"]
    # Table 1 of the paper.
    assert [[row[part] for part in PARTS] for row in (sentence, system)] == [[0.55, 0.43, 0.02], [0.01, 0.98, 0.01]]
    assert all(tuned["pearson"] >= row["pearson"] for row in (sentence, system))
    assert found["caption"].startswith("gjg15 ew, 13 systems; the best of 4851 triples")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "DATA", "-o", "weights=system"], "finds the weights itself"),
        (["--data", "DATA", "--human", "mood"], "gjg15 has no system ranking 'mood'; choose one of ew, ts"),
        (["--data", "DATA", "--level", "sentence", "--human", "ew"], "no sentence ranking 'ew'; choose one of all"),
        # A bad share is said before anything is scored: the absence of the model would be said then.
        (["--data", "DATA", "--level", "sentence", "--share", "0", "-o", "model=./nowhere"], "must lie between 0 and"),
        (["--data", "nowhere"], "nowhere: there is no such folder"),
        (["--data", "DATA", "-o", "model=./nowhere"], "nowhere: no such folder"),
    ],
)
def test_mistakes_are_one_line(checkout, model, fails, arguments, message):
    arguments = [str(checkout) if argument == "DATA" else argument for argument in arguments]
    assert message in fails("meta", "tune-weights", "-o", f"model={model}", *arguments)
