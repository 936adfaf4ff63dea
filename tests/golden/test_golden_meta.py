"""Meta-evaluation against stored values of trueskill and scipy; `make_meta.py` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from geceval.meta.agreement import agreement, judged_pairs
from geceval.meta.correlation import correlate
from geceval.meta.judgments import Item
from geceval.meta.maege_chains import Chain, chain_agreement
from geceval.meta.significance.systems import Settings, compare_rows
from geceval.meta.trueskill import TrueSkill, rate_scores

HERE = Path(__file__).parent
TRUESKILL, SCIPY = (
    json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))["values"] for name in ("trueskill", "scipy")
)
LISTS = SCIPY["correlations"]


def test_trueskill_of_scores():
    expected = TRUESKILL["scores"]
    scores = np.array(expected["scores"], dtype=float)  # None becomes NaN: a system without a score does not play
    assert rate_scores(scores) == pytest.approx(expected["mu"], abs=1e-6)


@pytest.mark.parametrize("case", TRUESKILL["games"])
def test_trueskill_of_games(case):
    means, variances = TrueSkill(**case["parameters"]).rate([tuple(game) for game in case["games"]], 3)
    # The package has an approximation of erfc that is right to about seven digits.
    assert means == pytest.approx(case["mu"], rel=1e-6, abs=2e-6)
    assert np.sqrt(variances) == pytest.approx(case["sigma"], rel=1e-6)


@pytest.mark.parametrize("name", LISTS)
def test_correlations_of_systems(name):
    found = correlate(*LISTS[name]["lists"])
    assert found.pearson == pytest.approx(LISTS[name]["pearson"], abs=1e-12)
    assert found.spearman == pytest.approx(LISTS[name]["spearman"], abs=1e-12)


@pytest.mark.parametrize("name", [name for name, case in LISTS.items() if name != "ties"])
def test_kendall_of_one_ranking_without_ties(name):
    """People rank all systems on one sentence as the first list does, the metric as the second does."""
    people, metric = LISTS[name]["lists"]
    ranks = np.argsort(np.argsort(-np.array(people))) + 1
    systems = [str(number) for number in range(len(people))]
    items = [Item(0, "a", tuple(((system,), int(rank)) for system, rank in zip(systems, ranks, strict=True)))]
    found = agreement(judged_pairs(items, systems), np.array(metric, dtype=float)[:, None])
    assert found.kendall == pytest.approx(LISTS[name]["kendall"], abs=1e-12)


def test_kendall_and_p_of_a_chain():
    case = SCIPY["chain"]
    texts = tuple(map(str, range(len(case["scores"]))))
    found = chain_agreement([Chain(0, 0, "", texts, (0.0,) * len(texts))], [case["scores"]])
    assert (found.kendall, found.p) == pytest.approx((case["kendall"], case["p"]), abs=1e-12)


def test_systems_under_a_metric():
    case = SCIPY["paired"]
    rows = {name: np.array(scores) for name, scores in zip(("first", "second"), case["systems"], strict=True)}
    found = compare_rows(rows, lambda samples: samples.mean(axis=-1), Settings(resamples=40_000))[1]
    # scipy makes all 1,024 swaps and its own bootstrap samples: four standard deviations of a share of 40,000.
    assert found.p["randomisation"] == pytest.approx(case["p"], abs=0.0046)
    assert (found.low, found.high) == pytest.approx((case["low"], case["high"]), abs=0.01)
