"""GREEN: an n-gram F-score for grammatical error correction (Koyama et al. 2024)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from geceval.core.f_score import f_beta, ratio
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Positive
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.scorers.base import TextOptions
from geceval.scorers.ngram.ngrams import ORDER, Corpus, NgramScorer, Unit, reference_mask, sentence_rows
from geceval.scorers.references.gold import gold_facts


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of GREEN; each can change the score.

    Attributes:
        beta: Weight of recall in F. 2 is the authors' example, the default of gec-metrics and so the beta of most
            published tables; the authors' command line defaults to 1.
        zero_recall: Whose rules apply where the definition leaves a gap. `"authors"`: the recall of an order is 0 if
            there is nothing to find, so that a sentence of fewer than 4 units scores 0; ties between references are
            broken by the F of ever fewer orders. `"gec-metrics"`: that recall is 1, and of tied references the first
            is taken.
    """

    beta: Positive = 2.0
    zero_recall: Literal["authors", "gec-metrics"] = "authors"
    unit: Unit = "word"
    gold_m2: FilePath | None = None


class Green(NgramScorer):
    """F of the geometric means of P and R over orders; each sentence takes the reference that gives it the best F."""

    name = "green"
    description = "GREEN: precision and recall of n-grams that were rightly kept, inserted or deleted."
    Settings = Settings

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        exists = reference_mask(columns)
        refs = number_range(exists.sum(axis=0).tolist())
        counts = sentence_rows(columns, settings.unit, sentence_counts)
        f = self._f(counts)
        best = self._best_references(counts, f, exists)
        rows = np.arange(counts.shape[1])
        statistics = counts[best, rows]
        totals = statistics.sum(axis=0)
        precision, recall = precision_recall(totals, settings.zero_recall)
        score = float(self.aggregate(statistics[None])[0])
        return Result(
            score=score,
            scores=f[best, rows].tolist(),
            signature=signature(self.name, settings, refs=refs, **gold_facts(settings.gold_m2)),
            details={"precision": float(precision), "recall": float(recall), "f": score},
            statistics=statistics,
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """GREEN of each sample, `[samples]`."""
        return self._f(rows.sum(axis=1))

    def _f(self, counts: np.ndarray) -> np.ndarray:
        """F_beta of counts, `[...][orders][3]` to `[...]`; 0 where P and R are 0."""
        precision, recall = precision_recall(counts, self.settings.zero_recall)
        return f_beta(precision, recall, self.settings.beta)

    def _best_references(self, counts: np.ndarray, f: np.ndarray, exists: np.ndarray) -> np.ndarray:
        """Index of the reference that each sentence is scored with, `[sentences]`."""
        candidates = exists
        for order in range(ORDER, 0, -1) if self.settings.zero_recall == "authors" else [ORDER]:
            values = np.where(candidates, f if order == ORDER else self._f(counts[..., :order, :]), -1.0)
            candidates = candidates & (values == values.max(axis=0))
        return candidates.argmax(axis=0)


def sentence_counts(corpus: Corpus) -> np.ndarray:
    """True positives, false positives and false negatives, `[R][sentences][order][3]`."""
    sentences, orders = corpus.sentences, []
    for ngrams in corpus.ngrams:
        counts = np.zeros((len(ngrams.references), sentences, 3))
        s, h = ngrams.source, ngrams.prediction
        for r, reference in enumerate(ngrams.references):
            deleted = np.maximum(s - np.maximum(reference, h), 0)
            inserted = np.maximum(np.minimum(reference, h) - s, 0)
            unchanged = np.minimum(np.minimum(s, reference), h)
            wrong = np.maximum(np.minimum(s, reference) - h, 0) + np.maximum(h - np.maximum(s, reference), 0)
            missing = np.maximum(np.minimum(s, h) - reference, 0) + np.maximum(reference - np.maximum(s, h), 0)
            for kind, values in enumerate((deleted + inserted + unchanged, wrong, missing)):
                counts[r, :, kind] = ngrams.sum(values, sentences)
        orders.append(counts)
    return np.stack(orders, axis=2)


def precision_recall(counts: np.ndarray, zero_recall: str) -> tuple[np.ndarray, np.ndarray]:
    """Geometric means of precision and recall over the orders: `[...][orders][3]` to two `[...]`."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    precision = ratio(tp, tp + fp, empty=1.0)
    recall = ratio(tp, tp + fn, empty=0.0 if zero_recall == "authors" else 1.0)
    return _geometric_mean(precision), _geometric_mean(recall)


def _geometric_mean(values: np.ndarray) -> np.ndarray:
    return np.prod(values, axis=-1) ** (1 / values.shape[-1])
