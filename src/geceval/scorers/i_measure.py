"""I-measure: how much better or worse than the source a correction is (Felice and Briscoe 2015)."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geceval.core.cache import LRUCache
from geceval.core.disk_cache import cached
from geceval.core.errors import InputError, counted
from geceval.core.f_score import Counts, ratio
from geceval.core.inputs import Columns
from geceval.core.options import FilePath, Positive
from geceval.core.result import Result
from geceval.core.signature import number_range, signature
from geceval.edits.edit import Edit, correct_span, in_order, without_overlaps
from geceval.edits.three_way import KINDS, Triple, count_columns
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.references.gold import gold_facts, gold_from_m2

logger = logging.getLogger("geceval")

Tokens = tuple[str, ...]

MAX_MIXED = 256  # combinations of a sentence that are all tried
_CELLS = 2**25  # of a table of two texts: 0.7 GB while three are aligned
_COUNTED: LRUCache[Triple, np.ndarray] = LRUCache(50_000)


@dataclass(frozen=True, slots=True)
class Settings(TextOptions):
    """Settings of I-measure; each can change the score.

    Attributes:
        change_weight: Weight w of a change, right or wrong, in the weighted accuracy; the paper uses 2.
        beta: Weight of recall in F, which is reported beside the score.
        gold_m2: M2 file with the annotators' edits; `references` are then not needed. Corrections of different
            annotators are combined into new references; plain references are taken as they are.
    """

    change_weight: Positive = 2.0
    beta: Positive = 1.0
    gold_m2: FilePath | None = None


class IMeasure(Scorer):
    """WAcc of a correction related to that of its source.

    Each sentence takes the reference with the best WAcc of correction (on ties the best I, then accuracy, then the same
    for detection, then the first); a corpus sums the counts against those.
    """

    name = "i_measure"
    description = "I-measure: how much better or worse than the source a correction is."
    Settings = Settings
    bounds = (-1.0, 1.0)
    reads_edits = True

    def _score(self, columns: Columns) -> Result:
        settings = self.settings
        gold = gold_from_m2(self.name, columns, settings.gold_m2)
        if gold is None:
            choices = [plain_choices(row) for row in columns.references or []]
        else:
            choices = [annotators_choices(*row) for row in zip(columns.sources, gold, strict=True)]
        _check_lengths(columns, choices)
        kinds, base = self._best(columns, choices)
        sentences = measure(confusion(kinds), confusion(base), settings.change_weight)
        total, total_base = confusion(kinds.sum(axis=0)), confusion(base.sum(axis=0))
        corpus = {name: float(value) for name, value in measure(total, total_base, settings.change_weight).items()}
        counts = Counts(float(total["tp"]), float(total["fp"]), float(total["fn"]))
        return Result(
            score=corpus.pop("i"),
            scores=sentences["i"].tolist(),
            signature=signature(
                self.name,
                settings,
                refs=number_range(map(len, gold or columns.references or [])),
                **gold_facts(settings.gold_m2),
            ),
            details={
                **counts.to_details(settings.beta),
                "tn": float(total["tn"]),
                "fpn": float(total["fpn"]),
                **corpus,
            },
            statistics=np.stack([kinds, base], axis=1),
        )

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """I of each sample, `[samples]`."""
        kinds, base = (confusion(counts) for counts in np.moveaxis(rows.sum(axis=1), 1, 0))
        return measure(kinds, base, self.settings.change_weight)["i"]

    def _best(self, columns: Columns, choices: Sequence[Choices]) -> tuple[np.ndarray, np.ndarray]:
        """Counts of prediction and source against the best reference, both `[sentences][kinds]`."""
        search = _Search(columns, choices, self.settings.change_weight)
        bounded = [sentence for sentence, row in enumerate(choices) if row.size > MAX_MIXED]
        search.try_picks(
            (sentence, pick)
            for sentence, row in enumerate(choices)
            for pick in (row.picks if row.size > MAX_MIXED else row.all_picks())
        )
        if bounded:
            logger.warning(
                "i_measure: more than %d combinations of the annotators' corrections for %d of %s; "
                "for them the best annotator's reference was improved place by place",
                MAX_MIXED,
                len(bounded),
                counted(len(choices), "sentence"),
            )
            parts = {sentence: choices[sentence].mixed_parts() for sentence in bounded}
            for turn in range(max(map(len, parts.values()))):
                search.try_picks(
                    (sentence, pick)
                    for sentence in bounded
                    if turn < len(parts[sentence])
                    for pick in choices[sentence].changed(search.picks[sentence], parts[sentence][turn])
                )
        return search.kinds, search.base


@dataclass(frozen=True, slots=True)
class Choices:
    """The references of one sentence, cut into the parts where annotators differ and the parts between them."""

    versions: tuple[tuple[Tokens, ...], ...]
    picks: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of combinations."""
        return math.prod(len(part) for part in self.versions)

    def mixed_parts(self) -> list[int]:
        """The parts that have several versions."""
        return [part for part, versions in enumerate(self.versions) if len(versions) > 1]

    def text(self, pick: Sequence[int]) -> Tokens:
        """The reference that takes the picked version of each part."""
        return tuple(itertools.chain(*(part[number] for part, number in zip(self.versions, pick, strict=True))))

    def all_picks(self) -> Iterator[tuple[int, ...]]:
        """Every combination; those of the annotators first."""
        yield from self.picks
        combinations = itertools.product(*(range(len(part)) for part in self.versions))
        yield from (pick for pick in combinations if pick not in self.picks)

    def changed(self, pick: tuple[int, ...], part: int) -> list[tuple[int, ...]]:
        """The combinations that differ from `pick` only in one part."""
        numbers = range(len(self.versions[part]))
        return [(*pick[:part], number, *pick[part + 1 :]) for number in numbers if number != pick[part]]


def plain_choices(references: Sequence[str]) -> Choices:
    """Given references, which are not taken apart; references with the same tokens count once."""
    texts = tuple(dict.fromkeys(tuple(text.split()) for text in references))
    return Choices((texts,), tuple((number,) for number in range(len(texts))))


def annotators_choices(source: str, edits: Mapping[int, Sequence[Edit]]) -> Choices:
    """The corrections of annotators, clustered where their edits overlap or, for insertions, touch."""
    # Within a cluster a reference follows one annotator, who may have changed nothing there; different clusters may
    # follow different annotators. The first correction of an edit is used, and of two edits of one annotator that
    # overlap, the first.
    tokens = tuple(source.split())
    annotators = [in_order(without_overlaps(row)) for row in edits.values()]
    versions: list[tuple[Tokens, ...]] = []
    picks: list[list[int]] = [[] for _ in annotators]
    done = 0
    for start, end in _clusters(annotators):
        by_annotator = [tuple(correct_span(tokens, start, end, row)) for row in annotators]
        distinct = tuple(dict.fromkeys(by_annotator))
        versions += [(tokens[done:start],), distinct]
        for pick, version in zip(picks, by_annotator, strict=True):
            pick += [0, distinct.index(version)]
        done = end
    versions.append((tokens[done:],))
    return Choices(tuple(versions), tuple(dict.fromkeys((*pick, 0) for pick in picks)))


def _clusters(annotators: Sequence[Sequence[Edit]]) -> list[tuple[int, int]]:
    """Spans of the source that hold edits which cannot be combined freely, from left to right."""
    clusters: list[tuple[int, int]] = []
    inserts_at_end = False
    for start, end in sorted((edit.start, edit.end) for row in annotators for edit in row):
        touches = clusters and start == clusters[-1][1] and (inserts_at_end or start == end)
        if clusters and (start < clusters[-1][1] or touches):
            clusters[-1] = (clusters[-1][0], max(clusters[-1][1], end))
        else:
            clusters.append((start, end))
        inserts_at_end = start == end == clusters[-1][1]
    return clusters


def _check_lengths(columns: Columns, choices: Sequence[Choices]) -> None:
    for row, (source, prediction, choice) in enumerate(zip(columns.sources, columns.predictions, choices, strict=True)):
        reference = sum(max(map(len, part), default=0) for part in choice.versions)
        *_, second, first = sorted([len(source.split()), len(prediction.split()), reference])
        if (first + 1) * (second + 1) > _CELLS:
            raise InputError(
                f"i_measure: sources[{row}], its prediction and references have up to {first:,} words, too many to be "
                "aligned; split the text into sentences"
            )


class _Search:
    """The best reference of each sentence so far."""

    def __init__(self, columns: Columns, choices: Sequence[Choices], change_weight: float) -> None:
        self.choices = choices
        self.change_weight = change_weight
        self.sources = [tuple(text.split()) for text in columns.sources]
        self.predictions = [tuple(text.split()) for text in columns.predictions]
        self.picks: list[tuple[int, ...]] = [()] * len(choices)
        self.keys: list[tuple[float, ...]] = [()] * len(choices)
        self.kinds = np.zeros((len(choices), len(KINDS)), dtype=np.int64)
        self.base = np.zeros((len(choices), len(KINDS)), dtype=np.int64)

    def try_picks(self, picks: Iterable[tuple[int, tuple[int, ...]]]) -> None:
        """Align with each of these references; one that is better than the best so far takes its place."""
        jobs = list(picks)
        texts = [self.choices[sentence].text(pick) for sentence, pick in jobs]
        owners = [sentence for sentence, _ in jobs]
        kinds = _count([(self.sources[s], self.predictions[s], text) for s, text in zip(owners, texts, strict=True)])
        base = _count([(self.sources[s], self.sources[s], text) for s, text in zip(owners, texts, strict=True)])
        keys = []
        for detection in (False, True):
            values = measure(confusion(kinds, detection), confusion(base, detection), self.change_weight)
            keys += [values["wacc"], values["i"], values["acc"]]
        for job, ((sentence, pick), key) in enumerate(zip(jobs, zip(*keys, strict=True), strict=True)):
            if key > self.keys[sentence]:
                self.keys[sentence], self.picks[sentence] = key, pick
                self.kinds[sentence], self.base[sentence] = kinds[job], base[job]


def _count(triples: list[Triple]) -> np.ndarray:
    """`count_columns`, `[triples][kinds]`; triples are cached, as systems have many in common."""

    def compute(missing: list[Triple]) -> Iterable[tuple[Triple, np.ndarray]]:
        return zip(missing, map(np.copy, count_columns(missing)), strict=True)  # a view would keep them all

    counts = cached(triples, compute, _COUNTED)
    return np.array([counts[triple] for triple in triples], dtype=np.int64).reshape(-1, len(KINDS))


def confusion(kinds: np.ndarray, detection: bool = False) -> dict[str, np.ndarray]:
    """True and false positives and negatives, each `[...]`, from counts of alignment columns, `[...][kinds]`."""
    # A token that had to be changed, but not to this, is a true positive of detection. For correction it is both a
    # false positive and a false negative; `fpn` counts these tokens, so that they do not count twice.
    unchanged, missed, needless, right, other = np.moveaxis(kinds, -1, 0)
    if detection:
        return {"tp": right + other, "fp": needless, "fn": missed, "tn": unchanged, "fpn": np.zeros_like(other)}
    return {"tp": right, "fp": needless + other, "fn": missed + other, "tn": unchanged, "fpn": other}


def measure(counts: dict[str, np.ndarray], base: dict[str, np.ndarray], change_weight: float) -> dict[str, np.ndarray]:
    """Accuracy, weighted accuracy (eq. 2), the weighted accuracy of the source, and I (eq. 3)."""
    accuracy = _accuracy(counts, 1.0)
    weighted, before = _accuracy(counts, change_weight), _accuracy(base, change_weight)
    better = (weighted - before) / np.where(before < 1, 1 - before, 1)
    worse = weighted / np.where(before > 0, before, 1) - 1
    i = np.where(weighted == before, np.floor(weighted), np.where(weighted > before, better, worse))
    return {"i": i, "acc": accuracy, "wacc": weighted, "base_wacc": before}


def _accuracy(counts: dict[str, np.ndarray], weight: float) -> np.ndarray:
    tp, fp, fn, tn, fpn = (counts[name] for name in ("tp", "fp", "fn", "tn", "fpn"))
    whole = weight * (tp + fp) + tn + fn - (weight + 1) * fpn / 2
    return ratio(weight * tp + tn, whole)
