"""Token-level detection of errors: precision, recall and F0.5 over labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geceval.core.result import f_beta


def detection_scores(predicted: np.ndarray, gold: np.ndarray, classes: int) -> dict[str, float]:
    """Token-level precision, recall and F0.5.

    Args:
        predicted: Ids of labels, [tokens].
        gold: Ids of labels, [tokens].
        classes: How many labels there are; id 0 is CORRECT.

    Returns:
        `precision`, `recall` and `f` of errors against correct tokens, whatever their class, and `macro_precision`,
        `macro_recall` and `macro_f`: F0.5 from the means over the classes that occur in either, CORRECT included.
    """
    tp = np.bincount(gold[predicted == gold], minlength=classes)
    proposed, present = np.bincount(predicted, minlength=classes), np.bincount(gold, minlength=classes)
    seen = (proposed + present) > 0
    precisions = np.divide(tp, proposed, out=np.zeros(classes), where=proposed > 0)
    recalls = np.divide(tp, present, out=np.zeros(classes), where=present > 0)
    precision, recall = float(precisions[seen].mean()), float(recalls[seen].mean())
    hits = int(((predicted > 0) & (gold > 0)).sum())
    found, errors = int((predicted > 0).sum()), int((gold > 0).sum())
    binary = (hits / found if found else 0.0, hits / errors if errors else 0.0)
    return {
        "precision": binary[0],
        "recall": binary[1],
        "f": f_beta(*binary),
        "macro_precision": precision,
        "macro_recall": recall,
        "macro_f": f_beta(precision, recall),
    }


def class_scores(predicted: np.ndarray, gold: np.ndarray, labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Precision, recall and F0.5 of each class against all others.

    Args:
        predicted: Ids of labels, [tokens].
        gold: Ids of labels, [tokens].
        labels: Their names by id.

    Returns:
        Label to `precision`, `recall`, `f` and `tokens`, how many tokens have it in `gold`; labels that occur in
        neither are left out.
    """
    found = {}
    for number, label in enumerate(labels):
        hits = int(((predicted == number) & (gold == number)).sum())
        proposed, present = int((predicted == number).sum()), int((gold == number).sum())
        if proposed or present:
            precision, recall = hits / proposed if proposed else 0.0, hits / present if present else 0.0
            found[label] = {
                "precision": precision,
                "recall": recall,
                "f": f_beta(precision, recall),
                "tokens": present,
            }
    return found
