"""Systems under one metric: intervals and p-values beside plain loops, and what must hold of them."""

import numpy as np
import pytest

from geceval.meta.significance.systems import Settings, compare_rows, pick_baseline, rank_clusters


def mean(rows: np.ndarray) -> np.ndarray:
    return rows.mean(axis=-1)


def f_score(rows: np.ndarray) -> np.ndarray:
    """F0.5 of summed counts, [samples][sentences][3]."""
    tp, fp, fn = np.moveaxis(rows.sum(axis=1), -1, 0)
    return 1.25 * tp / (1.25 * tp + fp + 0.25 * fn)


def counts(seed: int, hits: float, size: int = 40) -> np.ndarray:
    return np.random.default_rng(seed).poisson([hits, 1, 1], size=(size, 3)).astype(float)


SYSTEMS = {"worse": counts(1, 1.0), "better": counts(2, 3.0), "same": counts(1, 1.0)}
SETTINGS = Settings(resamples=300, seed=4)


def test_equals_a_plain_loop():
    """The definitions, resample by resample, on the documented draws."""
    found = {each.system: each for each in compare_rows(SYSTEMS, f_score, SETTINGS)}
    worse, better = SYSTEMS["worse"], SYSTEMS["better"]
    observed = float(f_score(better[None])[0] - f_score(worse[None])[0])
    draw, scores, shifted = np.random.default_rng(4), [], 0
    for _ in range(300):
        sample = sorted(draw.integers(40, size=40))
        one, two = (float(f_score(rows[sample][None])[0]) for rows in (worse, better))
        scores.append(two)
        shifted += abs(two - one - observed) >= abs(observed) - 1e-12
    assert (found["better"].low, found["better"].high) == pytest.approx(tuple(np.quantile(scores, [0.025, 0.975])))
    assert found["better"].p["bootstrap"] == (1 + shifted) / 301
    draw, reached = np.random.default_rng(4), 0
    for _ in range(300):
        swap = draw.random(40) < 0.5
        one, two = (np.where(swap[:, None], *pair)[None] for pair in ((better, worse), (worse, better)))
        reached += abs(float(f_score(two)[0] - f_score(one)[0])) >= abs(observed) - 1e-12
    assert found["better"].p["randomisation"] == (1 + reached) / 301
    assert found["better"].difference == observed


def test_scores_ranks_and_identical_systems():
    found = {each.system: each for each in compare_rows(SYSTEMS, f_score, SETTINGS)}
    assert {name: each.rank for name, each in found.items()} == {"better": 1, "worse": 2, "same": 2}
    for name, rows in SYSTEMS.items():
        assert found[name].score == float(f_score(rows[None])[0])
        assert found[name].low < found[name].score < found[name].high
    assert found["same"].p == found["worse"].p == {"bootstrap": 1.0, "randomisation": 1.0}
    assert max(found["better"].p.values()) < 0.01
    assert (found["same"].low, found["same"].high) == (found["worse"].low, found["worse"].high)


def test_another_seed_and_one_method():
    assert compare_rows(SYSTEMS, f_score, Settings(resamples=300, seed=5)) != compare_rows(SYSTEMS, f_score, SETTINGS)
    (_, better, _) = compare_rows(SYSTEMS, f_score, Settings(methods="randomisation", resamples=20))
    assert list(better.p) == ["randomisation"]


def test_portions_in_which_resamples_are_made_change_nothing():
    """Rows of 1.9 MB: 33 samples fill the memory that resamples may take, 16 the memory of two systems."""
    wide = {name: np.pad(rows, ((0, 0), (0, 6000))) for name, rows in SYSTEMS.items()}
    found = compare_rows(wide, lambda rows: f_score(rows[..., :3]), SETTINGS)
    assert found == compare_rows(SYSTEMS, f_score, SETTINGS)


def test_baseline():
    scores = {"a": 0.1, "b": 0.3, "c": 0.3}
    assert [pick_baseline(scores, name) for name in ("first", "best", "c")] == ["a", "b", "c"]
    assert pick_baseline(scores, "best", higher_is_better=False) == "a"
    with pytest.raises(ValueError, match="choose first, best, or one of a, b, c"):
        pick_baseline(scores, "d")


def test_constant_scores_do_not_differ():
    one, two = compare_rows({"a": np.ones(5), "b": np.ones(5)}, mean, SETTINGS)
    assert (one.low, one.high, two.p) == (1.0, 1.0, {"bootstrap": 1.0, "randomisation": 1.0})


@pytest.mark.parametrize(
    ("options", "message"),
    [({"methods": ()}, "at least one of bootstrap, randomisation"), ({"methods": ("t",)}, "method must be one of")],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**options)


def test_systems_that_do_not_differ_share_a_rank():
    """a and b overlap, b and c overlap, a and c do not: one cluster, as no cut leaves only differing pairs."""
    draw = np.random.default_rng(2)
    noise = {name: draw.normal(0, 1, 2000) for name in "abcd"}
    scores = {"d": -9.0, "c": 0.0, "b": 2.0, "a": 4.0}
    samples = {name: scores[name] + noise[name] for name in scores}

    def p(one, other):
        difference = scores[one] - scores[other]
        return (1 + np.sum(abs(samples[one] - samples[other] - difference) >= abs(difference))) / 2001

    assert p("a", "b") > 0.05 and p("b", "c") > 0.05 and p("a", "c") < 0.05 and p("c", "d") < 0.05
    assert rank_clusters(scores, samples, 0.05) == {"a": 1, "b": 1, "c": 1, "d": 4}
    assert rank_clusters(scores, samples, 0.05, higher_is_better=False) == {"d": 1, "c": 2, "b": 2, "a": 2}
    del scores["b"]
    assert rank_clusters(scores, samples, 0.05) == {"a": 1, "c": 2, "d": 3}
