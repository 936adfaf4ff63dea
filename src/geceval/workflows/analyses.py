"""Meta-evaluation analyses (sentence, system, both, window, top-K, pairwise): the rows of each table and its figure."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from geceval.core.errors import InputError
from geceval.core.options import Options, Range
from geceval.meta import figures
from geceval.meta.agreement import TieRule, agreement, judged_pairs
from geceval.meta.correlation import Correlation, correlate_systems, top_k, windows
from geceval.meta.judgments import HumanData
from geceval.meta.pair_maps import PairMap, by_human_rank, by_metric_rank
from geceval.meta.scores import MetricScores, OfSystem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Level = Literal["system", "sentence", "both"]
Ranks = Literal["metric", "human"]
_READ = {  # the options that each analysis reads
    "system": ("aggregation",),
    "sentence": ("ties", "unexpanded"),
    "both": ("ties", "unexpanded"),
    "pairwise metric": ("unexpanded",),
    "pairwise human": ("ties", "unexpanded"),
}


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """The choice of an analysis; `ties` is `"order"` and `aggregation` `"corpus"` by default where they are read."""

    level: Level = "system"
    window: Annotated[int, Range(2)] | None = None
    top_k: bool = False
    pairwise: Ranks | None = None
    aggregation: OfSystem | None = None
    ties: TieRule | None = None
    unexpanded: bool = False

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        chosen = [name for name in ("window", "top_k", "pairwise") if getattr(self, name)]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(chosen)} are different analyses; ask for one of them")
        if self.level == "both" and chosen:
            raise InputError(f"{chosen[0]} is an analysis of one level; leave out level both")
        if self.level == "sentence" and chosen and not self.pairwise:
            raise InputError(f"{chosen[0]} is an analysis of systems, not of sentences")
        analysis = f"pairwise {self.pairwise}" if self.pairwise else self.level
        for option in ("aggregation", "ties", "unexpanded"):
            if getattr(self, option) and option not in _READ[analysis]:
                raise InputError(f"the analysis {analysis!r} reads no {option}; leave it out")


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis of several metrics."""

    columns: list[str]
    rows: list[list[Any]]
    caption: str
    draw: Callable[[], Figure]


def analyse(human: HumanData, tables: Sequence[MetricScores], settings: Settings | None = None) -> Analysis:
    """Compare metrics with people: correlations over systems, or agreement on sentences."""
    settings = settings or Settings()
    how = settings.aggregation or ("average" if human.domains else "corpus")
    ties, expand = settings.ties or "order", not settings.unexpanded
    if human.domains and how == "corpus":
        raise InputError(f"{human.name} has human scores of each domain, which no corpus score is of; choose average")
    if settings.pairwise:
        return pairwise(human, tables, settings.pairwise, ties, expand)
    if settings.level == "both":
        return both_levels(human, tables, ties, expand)
    if settings.level == "sentence":
        return sentence_level(human, tables, ties, expand)
    if settings.window or settings.top_k:
        return curves(human, tables, how, settings.window)
    return system_level(human, tables, how)


def scores_by_ranking(human: HumanData, table: MetricScores, how: OfSystem) -> dict[str, dict[str, float]]:
    """Name of each human ranking to the metric's scores of the systems on the sentences that it is of."""
    return {ranking: table.of_systems(how, human.domains.get(ranking)) for ranking in human.scores}


def system_level(human: HumanData, tables: Sequence[MetricScores], how: OfSystem) -> Analysis:
    """Correlation of each metric's system scores with each human ranking."""
    systems = tables[0].systems
    values = {table.metric: scores_by_ranking(human, table, how) for table in tables}
    rows = []
    for metric, scores in values.items():
        for ranking, target in human.scores.items():
            correlation = correlate_systems(scores[ranking], target, systems)
            rows.append([metric, ranking, correlation.pearson, correlation.spearman])
    return Analysis(
        ["metric", "human", "pearson", "spearman"],
        rows,
        f"{how} scores of the systems",
        lambda: figures.scatter(values, human.scores, systems),
    )


def curves(human: HumanData, tables: Sequence[MetricScores], how: OfSystem, window: int | None = None) -> Analysis:
    """Correlations over each run of `window` neighbours in the human ranking, or over its K best systems."""
    systems = tables[0].systems
    count = len(systems)
    compute: Callable[..., list[Correlation]]
    if window:
        compute = functools.partial(windows, systems=systems, width=window)
        positions, column, caption = list(range(1, count - window + 2)), "first rank", f"windows of {window} systems"
    else:
        smallest = min(4, max(2, count - 1))
        compute = functools.partial(top_k, systems=systems, smallest=smallest)
        positions, column, caption = list(range(count, smallest - 1, -1)), "k", "best K systems"
    correlations = {
        table.metric: {
            name: compute(scores, human.scores[name]) for name, scores in scores_by_ranking(human, table, how).items()
        }
        for table in tables
    }
    rows = [
        [metric, ranking, position, each.pearson, each.spearman]
        for metric, rankings in correlations.items()
        for ranking, values in rankings.items()
        for position, each in zip(positions, values, strict=True)
    ]
    label = f"first rank of {window} systems" if window else "K best systems"
    return Analysis(
        ["metric", "human", column, "pearson", "spearman"],
        rows,
        f"{how} scores, {caption}",
        lambda: figures.curves(correlations, positions, label, falling=not window),
    )


def sentence_level(human: HumanData, tables: Sequence[MetricScores], ties: str, expand: bool) -> Analysis:
    """Accuracy and Kendall's tau of each metric on each set of judgments."""
    pairs = {kind: judged_pairs(items, tables[0].systems, expand=expand) for kind, items in human.judgments.items()}
    agreements = {
        table.metric: {kind: agreement(of_kind, table.sentences, ties) for kind, of_kind in pairs.items()}
        for table in tables
    }
    columns = ["metric", "judgments", "accuracy", "kendall", "pairs", "ties"]
    rows = []
    for metric, kinds in agreements.items():
        for kind, each in kinds.items():
            calibrated = [each.epsilon] if ties == "calibrated" else []
            rows.append([metric, kind, each.accuracy, each.kendall, each.pairs, each.tie_share, *calibrated])
    caption = f"tie rule {ties}, {'expanded' if expand else 'unexpanded'} pairs"
    columns += ["epsilon"] if ties == "calibrated" else []
    return Analysis(columns, rows, caption, lambda: figures.agreements(agreements))


def both_levels(human: HumanData, tables: Sequence[MetricScores], ties: str, expand: bool) -> Analysis:
    """One row a metric, the best first: accuracy on each set of judgments, Pearson of TrueSkill with each human one."""
    pairs = {kind: judged_pairs(items, tables[0].systems, expand=expand) for kind, items in human.judgments.items()}
    skills = {ranking: scores for ranking, scores in human.scores.items() if ranking.startswith("ts")} or human.scores
    rows = []
    for table in tables:
        scores = scores_by_ranking(human, table, "trueskill")
        accuracies = [agreement(of_kind, table.sentences, ties).accuracy for of_kind in pairs.values()]
        pearsons = [correlate_systems(scores[name], skill, table.systems).pearson for name, skill in skills.items()]
        rows.append([table.metric, *accuracies, *pearsons])
    rows.sort(key=lambda row: -row[1])
    return Analysis(
        ["metric", *(f"accuracy {kind}" for kind in pairs), *(f"pearson {ranking}" for ranking in skills)],
        rows,
        f"accuracy on sentences, {'expanded' if expand else 'unexpanded'} pairs, tie rule {ties}; Pearson of TrueSkill",
        sentence_level(human, tables, ties, expand).draw,
    )


def pairwise(human: HumanData, tables: Sequence[MetricScores], ranks: str, ties: str, expand: bool) -> Analysis:
    """Heat maps of agreement by the metric's ranks or by the annotators'."""
    systems = tables[0].systems

    def draw_up(table: MetricScores, kind: str) -> PairMap:
        items = human.judgments[kind]
        if ranks == "human":
            return by_human_rank(items, systems, table.sentences, ties, expand=expand)
        return by_metric_rank(judged_pairs(items, systems, expand=expand), table.sentences)

    of_metrics = {table.metric: {kind: draw_up(table, kind) for kind in human.judgments} for table in tables}
    rows = []
    for metric, kinds in of_metrics.items():
        for kind, each in kinds.items():
            for a, b in itertools.combinations(range(len(each.pairs)), 2):
                cell = [float(each.share[a, b]), float(each.kendall[a, b]), int(each.pairs[a, b])]
                rows.append([metric, kind, a + 1, b + 1, *cell])
    rule = f"tie rule {ties}" if ranks == "human" else "ties ranked in the order of systems"
    return Analysis(
        ["metric", "judgments", "better", "worse", "accuracy", "kendall", "pairs"],
        rows,
        f"by {ranks} rank, {rule}, {'expanded' if expand else 'unexpanded'} pairs",
        lambda: figures.pair_maps(of_metrics, ranks),
    )
