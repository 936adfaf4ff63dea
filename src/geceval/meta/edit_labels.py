"""How well scores tell right edits from wrong ones."""

import numpy as np

# A tie of auc counts half. AP: average precision of right edits, the highest score first, and of wrong ones, the lowest
# first. accuracy: of the rule that edits above 0 are right, balanced: its mean on right and on wrong edits. best
# accuracy: of the threshold that is best on nine tenths of the sources, on the others.
STATISTICS = ("auc", "AP right", "AP wrong", "accuracy", "balanced", "best accuracy")
RESAMPLES = 1000


def agreement_on_edits(scores: np.ndarray, right: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Compare scores of edits with their labels, all `[edits]`: `STATISTICS` and the ends of their 95% intervals."""
    _, sources = np.unique(sources, return_inverse=True)
    count, draw = sources.max() + 1, np.random.default_rng(1)
    folds = draw.permutation(count)[sources] % min(10, count)
    thresholds = [best_threshold(scores[folds != fold], right[folds != fold]) for fold in range(folds.max() + 1)]
    best = (scores > np.array(thresholds)[folds]) == right
    values = _statistics(scores, right, best, np.ones((1, len(scores))))
    drawn = draw.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)
    # In portions, so that memory stays bounded.
    samples = [_statistics(scores, right, best, portion[:, sources]) for portion in np.split(drawn, 20)]
    return np.concatenate([values, np.nanquantile(np.concatenate(samples), [0.025, 0.975], axis=0)])


def best_threshold(scores: np.ndarray, right: np.ndarray) -> float:
    """The lowest threshold with the highest accuracy if edits above it are right: between two scores, or the last."""
    if not len(scores):
        return 0.0
    values, place = np.unique(scores, return_inverse=True)
    edges = np.concatenate([values[:1] - 1, values])
    thresholds = np.concatenate([(edges[1:] + edges[:-1]) / 2, values[-1:]])
    gains = np.bincount(place, weights=np.where(right, -1, 1))  # of a threshold above instead of below the value
    return float(thresholds[np.concatenate([[0], np.cumsum(gains)]).argmax()])


def _statistics(scores: np.ndarray, right: np.ndarray, best: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The statistics of weighted edits, `[samples, edits]`, as `[samples, STATISTICS]`; `best` is the last's hits."""
    order = np.argsort(scores, kind="stable")
    _, starts = np.unique(scores[order], return_index=True)
    rights = np.add.reduceat((weights * right)[:, order], starts, axis=1)  # of each distinct score, the lowest first
    wrongs = np.add.reduceat((weights * ~right)[:, order], starts, axis=1)
    n_right, n_wrong, total = weights @ right, weights @ ~right, weights.sum(axis=1)
    kept, refused = weights @ (right & (scores > 0)), weights @ (~right & (scores <= 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = [
            (rights * (np.cumsum(wrongs, axis=1) - wrongs / 2)).sum(axis=1) / (n_right * n_wrong),
            _average_precision(rights[:, ::-1], wrongs[:, ::-1]),
            _average_precision(wrongs, rights),
            (kept + refused) / total,
            (kept / n_right + refused / n_wrong) / 2,
            weights @ best / total,
        ]
    return np.stack(columns, axis=1)


def _average_precision(hits: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The mean precision at each hit, the first score first; hits of one score share their precision."""
    found = np.cumsum(hits, axis=1)
    shown = found + np.cumsum(others, axis=1)
    return (hits * found / np.where(shown > 0, shown, 1)).sum(axis=1) / found[:, -1]
