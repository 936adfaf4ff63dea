"""The share of each edit in the score of its sentence, for any metric; public as `geceval.attribute`.

With S the source, M the metric's sentence score and S+E' the source with the edits E' made, the gain of E' is
D(E') = M(S, S+E') - M(S, S). The total D(E) of all edits of a correction is divided among them. In code, a coalition
of n players is a bit mask: bit i stands for player i.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError, naming_the_extra
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.options import Options, PipelineName, Range, Seed, make_settings
from geceval.core.signature import signature
from geceval.edits.edit import Edit, apply
from geceval.scorers.base import Scorer
from geceval.text.columns import as_tokens

LARGEST_RATIO = 10.0

Method: TypeAlias = Literal["add", "sub", "shapley", "shapley_sampling"]
Rescale: TypeAlias = Literal["safe", "ratio", "none"]
Correction: TypeAlias = "str | Sequence[Edit]"
Join: TypeAlias = tuple[Sequence[int], Sequence[float]]
"""The coalitions that a player joins, and the weights of what it gains there."""


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of the division of the total.

    Attributes:
        method: `"add"`: the gain of the edit alone. `"sub"`: what is lost without the edit. Both score n + 2 texts for
            a sentence with n edits. `"shapley"`: the Shapley value, from all 2^n texts; the shares sum to the total by
            themselves. `"shapley_sampling"`: its mean over random orders of the edits; the shares sum to the total too.
        rescale: How the shares of `add` and `sub` are made to sum to the total. `"safe"` multiplies them by total / sum
            where that ratio lies in (0, 10]; elsewhere it adds the same amount to each, and `note` says so.
            `"ratio"` always multiplies, as published, and gives zeros where the sum is 0. `"none"` leaves them.
        permutations: Number of orders for `shapley_sampling`, at least 1; all n! orders if there are no more.
        max_edits: Edits of a sentence beyond which `shapley` is sampled, in [1, 20]; `method` and
            `note` of the sentence then say so. The other methods have no limit.
        seed: Seed of the random orders. A sentence gets the same orders alone and among others.
    """

    method: Method = "shapley"
    rescale: Rescale = "safe"
    permutations: Annotated[int, Range(1, 1_000_000)] = 64
    max_edits: Annotated[int, Range(1, 20)] = 10
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class Attribution:
    """The gain of one sentence, divided among its edits.

    Attributes:
        source: The source S, tokens joined by one space.
        prediction: S with all edits made, tokens joined by one space.
        edits: The edits, which are the players.
        scores: The share of each edit in the total, in the same order.
        source_score: M(S, S), the score of the unchanged source.
        total: M(S, prediction) - M(S, S), what all edits gain together.
        method: The method that gave the scores: the one asked for, or `"shapley_sampling"` in place of `"shapley"`.
        note: What is unusual about this sentence, or `""`.
        signature: The signature of M.
        how: How the total was divided, in the form of a signature.
    """

    source: str
    prediction: str
    edits: tuple[Edit, ...]
    scores: tuple[float, ...]
    source_score: float
    total: float
    method: str
    note: str
    signature: str
    how: str

    @property
    def score(self) -> float:
        """M(S, prediction)."""
        return self.source_score + self.total


def attribute(
    metric: str | Scorer,
    sources: Sequence[str],
    predictions: Sequence[Correction],
    references: References | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    nlp: PipelineName = "bundled",
    **settings: Any,
) -> list[Attribution]:
    """Divide the gain of a correction in a metric's sentence score, over the source, among its edits.

    All texts of all sentences are scored in one call, each distinct text once. What is divided is always the sentence
    score, even if the corpus score is not its mean. If sentence scores depend on the other sentences of the call
    (gotoscorer with a difficulty), the shares depend on them too.

    Args:
        metric: One of `geceval.list_metrics()`, or a scorer from `geceval.registry.make_scorer`.
        sources: One string per sentence.
        predictions: For each sentence its corrected text, from which ERRANT extracts the edits; or its edits
            (`geceval.edits.edit.Edit`), in any order. A noop is a player that changes nothing.
        references: One list of references per sentence, for metrics that need them.
        options: Settings and run-time options of a metric that is named.
        nlp: spaCy pipeline for ERRANT, see `geceval.edits.errant.annotator.get_annotator`.
        settings: Fields of `Settings`: `method`, `rescale`, `permutations`, `max_edits`, `seed`.

    Returns:
        One `Attribution` per sentence, in input order. A sentence without edits has no scores and the total 0.

    Raises:
        TypeError: If an option does not exist or a column or row has the wrong type.
        ValueError: If columns are empty or do not fit together, edits overlap or lie beyond their source, the metric
            takes its references or edits from an M2 file, a score is not finite, or there is no such metric.
    """
    chosen = make_settings("attribute", Settings, settings)
    scorer = metric if isinstance(metric, Scorer) else registry.make_scorer(metric, options)
    name = f"attribution of {scorer.name}"
    if (file := scorer.m2_file()) is not None:
        instead = "pass references" if file == "gold_m2" else "pass the edits as predictions"
        raise InputError(f"{name}: {file} has one entry a sentence and fits no partly corrected ones; {instead}")
    texts = predictions
    if isinstance(predictions, Sequence) and not isinstance(predictions, (str, bytes)):
        _check_edits(name, predictions)
        texts = [row if isinstance(row, str) else "" for row in predictions]
    columns = check_columns(name, sources, texts, references, needs_references=scorer.needs_references(), warn=False)
    if not any(isinstance(row, Sequence) and not isinstance(row, str) for row in predictions):
        columns = as_tokens(columns, scorer.text)
    with naming_the_extra(scorer.name):
        edits, pipeline = _extract(scorer, columns, predictions, nlp)
        games = _games(name, columns.sources, edits, chosen)
        values, metric_signature = _score(name, scorer, columns, games)
    how = signature("attribution", chosen, nlp=pipeline)
    return [_solve(game, scores, chosen, metric_signature, how) for game, scores in zip(games, values, strict=True)]


@dataclass(frozen=True, slots=True)
class _Game:
    """One sentence: its edits, and the texts of the coalitions that the method needs."""

    source: str
    edits: tuple[Edit, ...]
    method: Method
    joins: Sequence[Join]
    texts: Mapping[int, str]

    @property
    def everyone(self) -> int:
        return (1 << len(self.edits)) - 1


def _check_edits(name: str, predictions: Sequence[Any]) -> None:
    for number, row in enumerate(predictions):
        listed = isinstance(row, Sequence) and all(isinstance(edit, Edit) for edit in row)
        if not isinstance(row, str) and not listed:
            raise InputTypeError(f"{name}: predictions[{number}] must be a text or a list of Edits, got {row!r}")


def _extract(
    scorer: Scorer, columns: Columns, predictions: Sequence[Correction], nlp: PipelineName
) -> tuple[list[tuple[Edit, ...]], str]:
    """The edits of all rows, and the pipeline that extracted those of texts: `"off"` if there are no texts."""
    rows = zip(columns.sources, columns.predictions, predictions, strict=True)
    pairs = [(source, text) for source, text, row in rows if isinstance(row, str)]
    if not pairs:
        return list(map(tuple, predictions)), "off"
    from geceval.edits.errant.annotator import get_annotator

    annotator, runtime = get_annotator(nlp), scorer.runtime
    extracted = iter(annotator.edits(pairs, runtime.workers, runtime.progress, runtime.cache))
    return [tuple(next(extracted) if isinstance(row, str) else row) for row in predictions], annotator.pipeline


def _games(name: str, sources: Sequence[str], rows: Sequence[tuple[Edit, ...]], settings: Settings) -> list[_Game]:
    games = []
    for number, (source, edits) in enumerate(zip(sources, rows, strict=True)):
        try:
            apply(source, edits)
        except ValueError as error:
            raise InputError(f"{name}: predictions[{number}]: {error}") from error
        sampled = settings.method == "shapley" and len(edits) > settings.max_edits
        method: Method = "shapley_sampling" if sampled else settings.method
        joins = _joins(method, len(edits), settings)
        needed = {0, (1 << len(edits)) - 1}
        for player, (masks, _) in enumerate(joins):
            needed.update(masks, (mask | 1 << player for mask in masks))
        texts = {
            mask: apply(source, [edit for player, edit in enumerate(edits) if mask >> player & 1])
            for mask in sorted(needed)
        }
        games.append(_Game(texts[0], edits, method, joins, texts))
    return games


def _score(name: str, scorer: Scorer, columns: Columns, games: Sequence[_Game]) -> tuple[list[dict[int, float]], str]:
    """The score of each coalition of each sentence, from one call of the metric; and the metric's signature."""
    indices: dict[tuple[str, str, tuple[str, ...]], int] = {}
    rows = []
    for number, game in enumerate(games):
        references = tuple(columns.references[number]) if columns.references else ()
        keys = {mask: (game.source, text, references) for mask, text in game.texts.items()}
        rows.append({mask: indices.setdefault(key, len(indices)) for mask, key in keys.items()})
    sources, texts, references = (list(column) for column in zip(*indices, strict=True))
    repeated = [list(row) for row in references] if columns.references else None
    result = scorer.score(sources, texts, repeated)
    for number, row in enumerate(rows):
        for index in row.values():
            if not math.isfinite(result.scores[index]):
                raise InputError(f"{name}, sentence {number + 1}: {texts[index]!r} scores {result.scores[index]}")
    return [{mask: result.scores[index] for mask, index in row.items()} for row in rows], result.signature


def _solve(game: _Game, values: Mapping[int, float], settings: Settings, metric: str, how: str) -> Attribution:
    gains = {mask: value - values[0] for mask, value in values.items()}
    total = gains[game.everyone]
    parts = np.array(
        [
            np.dot(weights, [gains[mask | 1 << player] - gains[mask] for mask in masks])
            for player, (masks, weights) in enumerate(game.joins)
        ]
    )
    notes = []
    if game.method != settings.method:
        notes.append(f"{len(game.edits)} edits exceed max_edits={settings.max_edits}: Shapley values are sampled")
    if game.method in ("add", "sub"):
        parts, shifted = rescaled(parts, total, settings.rescale)
        if shifted:
            notes.append("the shares are far from the total: what is missing was divided equally")
    return Attribution(
        source=game.source,
        prediction=game.texts[game.everyone],
        edits=game.edits,
        scores=tuple(parts.tolist()),
        source_score=values[0],
        total=total,
        method=game.method,
        note="; ".join(notes),
        signature=metric,
        how=how,
    )


def _joins(method: Method, players: int, settings: Settings) -> list[Join]:
    """What a method asks of each player."""
    everyone = (1 << players) - 1
    if method == "add":
        return [([0], [1.0])] * players
    if method == "sub":
        return [([everyone ^ 1 << player], [1.0]) for player in range(players)]
    if method == "shapley":  # Shapley (1953): for each C without the player |C|! (n - |C| - 1)! / n!
        weights = [1 / (players * math.comb(players - 1, size)) for size in range(players)]
        without = ([mask for mask in range(everyone) if not mask >> player & 1] for player in range(players))
        return [(masks, [weights[mask.bit_count()] for mask in masks]) for masks in without]
    joined: list[list[int]] = [[] for _ in range(players)]
    orders = _orders(players, settings.permutations, settings.seed)
    for order in orders:
        growing = itertools.accumulate((1 << player for player in order), int.__or__, initial=0)
        for player, mask in zip(order, growing, strict=False):
            joined[player].append(mask)
    return [(masks, [1 / len(orders)] * len(orders)) for masks in joined]


def _orders(players: int, permutations: int, seed: int) -> list[Sequence[int]]:
    """Orders in which the players join: all n! orders if there are no more than `permutations`, else random ones."""
    if math.factorial(players) <= permutations:
        return list(itertools.permutations(range(players)))
    generator = np.random.default_rng(seed)
    return [generator.permutation(players).tolist() for _ in range(permutations)]


def rescaled(raw: np.ndarray, total: float, how: Rescale) -> tuple[np.ndarray, bool]:
    """Make shares sum to the total, unless `how` is `"none"`."""
    if not len(raw) or how == "none":
        return raw, False
    whole = math.fsum(raw)
    if how == "ratio":
        return raw * (total / whole if whole else 0.0), False
    if total * whole > 0 and abs(total) <= LARGEST_RATIO * abs(whole):
        return raw * (total / whole), False
    return raw + (total - whole) / len(raw), not math.isclose(whole, total, abs_tol=1e-9)
