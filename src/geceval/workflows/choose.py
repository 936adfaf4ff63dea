"""Choosing among corrections: by metrics, by what they have in common, by vote, and by the references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError, counted, did_you_mean, naming_the_extra
from geceval.core.f_score import Counts, ratio
from geceval.core.inputs import Columns, References, check_columns, listed
from geceval.core.options import Range, check_count
from geceval.core.progress import parts
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.core.warnings import once
from geceval.edits.edit import apply
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.voting import voted_edits
from geceval.meta.significance.systems import Settings, pick_baseline
from geceval.scorers.base import Scorer, TextOptions
from geceval.scorers.edit_based.edit_scorer import EditScorer
from geceval.text.columns import Reading, as_tokens, clean_answers, warn_of_answers
from geceval.text.projection import with_spaces_of
from geceval.workflows.compare import Comparison, compare_results

EditUtility = Literal["f0.5", "jaccard", "recall", "precision", "agreement"]
Candidates: TypeAlias = "Mapping[str, Sequence[str]] | Sequence[Sequence[str]]"
"""Name of each system to its predictions; or one list of texts per sentence, of any lengths."""

_DIGITS = 12  # equal utilities must tie, in whatever order they were summed


@dataclass(frozen=True, slots=True)
class Choice:
    """The texts that were chosen.

    Attributes:
        predictions: One text per sentence, as it came in, or cleaned where the texts are `"answers"`; the source where
            there was no candidate.
        indices: The chosen candidate, from 0; for a vote, the first with the text; -1 for none.
        values: Scores or utilities, `[sentences][candidates]`, the highest chosen; empty for a vote.
        signature: How texts were chosen.
    """

    predictions: list[str]
    indices: list[int]
    values: list[list[float]]
    signature: str


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates by system, or by rank in lists; a short list is filled up with its first text, or the source."""

    sources: list[str]
    systems: dict[str, list[str]]
    real: np.ndarray
    """bool [systems, sentences]; False for fillers."""

    @classmethod
    def of(cls, verb: str, sources: Sequence[str], candidates: Candidates, text: str = "auto") -> Pool:
        """Check candidates, clean them if they are `"answers"`, and put them side by side."""
        sources = check_columns(verb, sources, sources, warn=False).sources
        if not isinstance(candidates, Mapping):
            candidates = _lists(verb, candidates)
        if isinstance(candidates, Mapping):
            systems, real = candidates, np.ones((len(candidates), len(sources)), bool)
        elif len(candidates) != len(sources):
            lists = counted(len(candidates), "list")
            raise InputError(f"{verb}: {counted(len(sources), 'source')} but {lists} of candidates")
        else:
            ranks = range(max(1, *map(len, candidates)))
            rows = zip(candidates, sources, strict=True)
            filled = [[*row, *[row[0] if row else source] * len(ranks)] for row, source in rows]
            systems = {str(k + 1): [row[k] for row in filled] for k in ranks}
            real = np.array([[k < len(row) for row in candidates] for k in ranks])
        if not systems:
            raise InputError(f"{verb}: there is nothing to choose from: pass at least one system")
        named = {name: check_columns(f"{verb}, {name}", sources, texts).predictions for name, texts in systems.items()}
        if text == "answers":
            done = Reading()
            for name, texts in named.items():
                named[name], reading = clean_answers(texts, sources)
                done += reading
            warn_of_answers(verb, done)
        return cls(sources, named, real)

    def score(self, scorer: Scorer, references: References | None) -> list[Result]:
        """The result of each system; networks read equal texts, and equal beginnings of texts, once."""
        return list(registry.score_systems(scorer, self.sources, self.systems, references).values())

    def choose(self, values: np.ndarray, line: str) -> Choice:
        """The first candidate of each sentence with its highest value; `values`: [systems, sentences]."""
        values = np.where(self.real & ~np.isnan(values), values, -np.inf)
        indices = np.where(self.real.any(axis=0), values.argmax(axis=0), -1).tolist()
        columns = [*self.systems.values(), self.sources]  # the last is number -1
        texts = [columns[index][row] for row, index in enumerate(indices)]
        rows = [row[real].tolist() for row, real in zip(values.T, self.real.T, strict=True)]
        return Choice(texts, indices, rows, line)


def rerank(
    metrics: str | Sequence[str] | Mapping[str, float],
    sources: Sequence[str],
    candidates: Candidates,
    references: References | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Choice:
    """Choose the candidate of each sentence that a metric, or a weighted sum of several, scores highest.

    In `datasets`: `data.map(lambda s, c: {"best": geceval.rerank("impara_lm", s, c).predictions}, batched=True,
    input_columns=["source", "candidates"])`; likewise `mbr` and `vote`. Whether texts are prose is found out batch by
    batch, unless the option `text` says it.

    Args:
        metrics: One or more of `geceval.list_metrics()`, or metric to weight (1 by default). The sum is that of the
            sentence scores as they are, times their weights, with the sign changed where lower is better.
        sources: One string per sentence.
        candidates: Name of each system to its predictions; or one list of texts per sentence, which may be empty.
        references: One list of references per sentence, for metrics that need them.
        options: Metric to its settings and run-time options.

    Returns:
        The chosen texts; of equal scores the first candidate's.

    Raises:
        TypeError: If an option does not exist or a column has the wrong type.
        ValueError: If columns do not fit together, or an option has a bad value.
    """
    scorers = registry.make_scorers("rerank", metrics, options)
    weights = metrics if isinstance(metrics, Mapping) else dict.fromkeys(scorers, 1.0)
    for name, weight in weights.items():
        Range(-1e6, 1e6).check(f"rerank: the weight of {name}", weight)
    if not any(weights.values()):
        raise InputError("rerank: at least one of the weights must not be 0")
    answers = any(scorer.text == "answers" for scorer in scorers.values())
    pool = Pool.of("rerank", sources, candidates, "answers" if answers else "auto")
    total, lines = np.zeros(pool.real.shape), []
    with once(set()):
        for name in parts(scorers):
            results = pool.score(scorers[name], references)
            total += weights[name] * _scores(scorers[name], results)
            lines.append(f"{weights[name]:g} * {results[0].signature}")
    return pool.choose(total, " + ".join(lines))


def mbr(
    utility: str, sources: Sequence[str], candidates: Candidates, *, options: Mapping[str, Any] | None = None
) -> Choice:
    """Choose the candidate of each sentence that has most in common with the others: minimum Bayes risk.

    Raina and Gales (2023): with B the edits of a candidate and A the edits of another (an edit is a replaced text and
    its correction, wherever they stand), the utility is the sum over all others of |A∩B| (`"agreement"`), |A∩B| /
    |A∪B| (`"jaccard"`), |A∩B| / |A| (`"recall"`), |A∩B| / |B| (`"precision"`) or 1.25 |A∩B| / (.25 |A| + |B|)
    (`"f0.5"`), where 0 / 0 is 1. Edits are ERRANT's.

    Args:
        utility: One of these names; or a metric, which takes the other candidates for its references.
        sources: One string per sentence.
        candidates: See `rerank`.
        options: Settings and run-time options of the metric; for edits, those of `errant`.

    Raises:
        ValueError: If there is no such utility; see also `rerank`.
    """
    by_edits = utility in get_args(EditUtility)
    scorer = registry.make_scorer(utility_metric(utility), options)
    if not scorer.needs_references():
        raise InputError(f"mbr: {utility} takes no references, so no other candidates; `rerank` takes it")
    pool = Pool.of("mbr", sources, candidates, scorer.text)
    with once(set()), naming_the_extra("mbr"):
        table, line = _edit_utilities(utility, scorer, pool) if by_edits else _metric_utilities(scorer, pool)
    table *= pool.real
    table[range(len(table)), range(len(table))] = 0
    return pool.choose(table.sum(axis=1).round(_DIGITS), line)


def utility_metric(utility: str) -> str:
    """The metric whose options a utility of `mbr` takes."""
    by_edits = get_args(EditUtility)
    if utility not in [*by_edits, *registry.list_metrics()]:
        near = did_you_mean(utility, [*by_edits, *registry.list_metrics()])
        raise InputError(f"mbr: utility must be {', '.join(by_edits)} or a metric, got {utility!r}{near}")
    return "errant" if utility in by_edits else utility


def vote(sources: Sequence[str], candidates: Candidates, *, min_count: int | None = None, text: str = "auto") -> Choice:
    """Make the edits of each sentence that at least `min_count` candidates make (Tarnavskyi et al., 2022).

    Edits are the differences of tokens by `difflib`; of edits that exclude each other, the one that more texts
    make stays (see `geceval.edits.voting`). A vote in prose has the spaces of its candidates.

    Args:
        sources: One string per sentence.
        candidates: See `rerank`; equal ones have a vote each.
        min_count: `None` for more than half of the candidates of the sentence.
        text: What the texts are, see `geceval.scorers.base.TextOptions`.

    Raises:
        ValueError: If no sentence has `min_count` candidates; see also `rerank`.
    """
    settings = TextOptions(text=text)
    pool = Pool.of("vote", sources, candidates, text)
    if min_count is not None:
        check_count("min_count", min_count)
    most = int(pool.real.sum(axis=0).max())
    if min_count is not None and min_count > max(most, 1):
        raise InputError(f"vote: min_count is {min_count}, but no sentence has more than {counted(most, 'candidate')}")
    read = [as_tokens(Columns(pool.sources, texts), settings.text) for texts in pool.systems.values()]
    columns, texts, indices = list(pool.systems.values()), [], []
    for row, (source, real) in enumerate(zip(pool.sources, pool.real.T, strict=True)):
        tokens = " ".join(read[0].sources[row].split())
        words = {k: " ".join(read[k].predictions[row].split()) for k in np.flatnonzero(real).tolist()}
        voted = apply(tokens, voted_edits(tokens, list(words.values()), min_count or len(words) // 2 + 1))
        given = {words[k]: columns[k][row] for k in reversed(words)}
        given.setdefault(tokens, source)  # last, as the source may have another form
        indices.append(next((k for k, text in words.items() if text == voted), -1))
        texts.append(given[voted] if voted in given else with_spaces_of(voted, given))
    line = signature("vote", settings, min_count=min_count, edits="difflib")
    return Choice(texts, indices, [[] for _ in texts], line)


def oracle(
    metric: str,
    sources: Sequence[str],
    candidates: Candidates,
    references: References | None = None,
    *,
    options: Mapping[str, Any] | None = None,
) -> Choice:
    """Choose the candidates that the references like best: the upper bound of any choice; arguments as of `rerank`.

    For F of the edits of a corpus (`errant`, `m2`, ...), the candidates with the highest F of all sentences together
    (Dinkelbach 1967), each sentence with its best annotator; else the candidates with the highest sentence scores.
    """
    scorer = registry.make_scorer(metric, options)
    pool = Pool.of("oracle", sources, candidates, scorer.text)
    results = pool.score(scorer, references)
    values = _scores(scorer, results)
    if isinstance(scorer, EditScorer) and scorer.settings.average == "corpus":
        values = _for_corpus_f(np.array([result.rows() for result in results]), pool.real, scorer.settings.beta)
    return pool.choose(values, f"oracle of {results[0].signature}")


def gain(scorer: Scorer, pool: Pool, choices: Mapping[str, Choice], references: References | None) -> Comparison:
    """The scores of systems and choices, compared with the best single system."""
    outputs = pool.systems | {name: choice.predictions for name, choice in choices.items()}
    results = registry.score_systems(scorer, pool.sources, outputs, references)
    best = pick_baseline({name: results[name].score for name in pool.systems}, "best", scorer.higher_is_better)
    return compare_results(scorer, results, Settings("bootstrap", best))


def _lists(verb: str, candidates: Any) -> list[list[str]]:
    """Candidates as lists, also from arrays; `None` and texts are refused."""
    rows = [listed(row) for row in listed(candidates)] if isinstance(listed(candidates), list | tuple) else None
    for number, row in enumerate([candidates] if rows is None else rows):
        if rows is None or not isinstance(row, list | tuple):
            where = "candidates" if rows is None else f"candidates[{number}]"
            shape = "a list of texts for each sentence, or a dict of systems" if rows is None else "a list of texts"
            raise InputTypeError(f"{verb}: {where} must be {shape}, got {type(row).__name__}")
    return rows


def _scores(scorer: Scorer, results: Sequence[Result]) -> np.ndarray:
    """The sentence scores of systems, the higher the better."""
    return np.array([result.scores for result in results]) * (1 if scorer.higher_is_better else -1)


def _edit_utilities(name: str, scorer: Scorer, pool: Pool) -> tuple[np.ndarray, str]:
    """The utility of each candidate given each other one, `[systems][systems][sentences]`."""
    if scorer.settings.language != "en":
        raise InputError(f"mbr: {name} compares English edits; for other languages take a metric, such as gleu")
    pairs = []
    for texts in pool.systems.values():
        columns = as_tokens(Columns(pool.sources, texts), scorer.text)
        pairs += zip(columns.sources, columns.predictions, strict=True)
    runtime, annotator = scorer.runtime, get_annotator(scorer.settings.nlp)
    edits = annotator.edits(pairs, runtime.workers, runtime.progress, runtime.cache)
    sets = [
        frozenset((" ".join(source.split()[edit.start : edit.end]), edit.correction) for edit in row)
        for (source, _), row in zip(pairs, edits, strict=True)
    ]
    columns_of_sets = np.array(sets, object).reshape(len(pool.systems), -1)
    table = [[[*map(partial(_utility, name), own, other)] for other in columns_of_sets] for own in columns_of_sets]
    line = signature("mbr", TextOptions(text=scorer.text), utility=name, pipeline=annotator.pipeline)
    return np.array(table, float), line


def _utility(name: str, own: frozenset[Any], other: frozenset[Any]) -> float:
    """The utility of a candidate's edits, `own`, given another candidate's."""
    both = len(own & other)
    if name == "agreement":
        return both
    if name == "f0.5":
        return ratio(1.25 * both, 0.25 * len(other) + len(own))
    return ratio(both, {"jaccard": len(own | other), "recall": len(other), "precision": len(own)}[name])


def _metric_utilities(scorer: Scorer, pool: Pool) -> tuple[np.ndarray, str]:
    """Utilities by the sentence scores of a metric, with the other candidates as references."""
    results = [pool.score(scorer, [[text] for text in texts]) for texts in parts(pool.systems.values())]
    table = np.array([_scores(scorer, row) for row in results]).swapaxes(0, 1)
    return table, f"mbr by {results[0][0].signature}"


def _for_corpus_f(counts: np.ndarray, real: np.ndarray, beta: float) -> np.ndarray:
    """Values whose maximum in each sentence gives the highest F, by counts `[systems][sentences][annotators][3]`."""
    # F is N / D, two sums over sentences; at the highest ratio r, the maximum of N - r·D is 0.
    cells = Counts.of(np.where(real[..., None, None], counts, np.nan))
    above = (1 + beta**2) * cells.tp
    below = above + beta**2 * cells.fn + cells.fp
    rate, rows = 0.0, np.flatnonzero(real.any(axis=0))
    while True:
        margins = np.where(np.isnan(above), -np.inf, above - rate * below)
        system = margins.max(axis=2).argmax(axis=0)[rows]
        best = system, rows, margins[system, rows].argmax(axis=1)
        if above[best].sum() <= (rate + 1e-12) * below[best].sum():
            return margins.max(axis=2)
        rate = above[best].sum() / below[best].sum()
