"""A report: how well metrics agree with people on SEEDA, GJG15 or GMEG, beside the numbers that papers print."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from geceval import registry
from geceval.core.errors import InputError, UserError
from geceval.core.progress import parts
from geceval.meta.agreement import agreement, judged_pairs
from geceval.meta.correlation import correlate_systems
from geceval.meta.judgments import HumanData
from geceval.meta.papers import COLUMNS, PUBLISHED, Published
from geceval.meta.scores import MetricScores, OfSystem
from geceval.meta.significance.metrics import PairedTest, compare_agreement
from geceval.workflows.analyses import scores_by_ranking
from geceval.workflows.attack import Resistance, attack
from geceval.workflows.meta_evaluation import choose_systems, read_score_files, score_metrics

RANKED_BY = {"seeda": "sent acc", "gjg15": "all acc", "gmeg": "fce acc"}
AGGREGATIONS: dict[str, dict[str, OfSystem]] = {  # prefix of a column's key to how systems are scored
    "seeda": {"": "trueskill"},
    "gjg15": {"corpus ": "corpus", "average ": "average"},
    "gmeg": {"": "average"},
}
ATTACKS = ("attacks beats", "attacks ceiling", "attacks flips")
"""Of attacks by rule on the example corpus: the share of honest systems that the worst one beats, the highest share of
sentences above each reference, and the share of flips of meaning that cost nothing; lower is better."""


@dataclass(frozen=True, slots=True)
class Report:
    """One data set with everything that the page shows about it."""

    human: HumanData
    systems: list[str]
    tables: list[MetricScores]
    values: dict[str, dict[str, float]]
    published: list[Published]
    skipped: dict[str, str]
    attacks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def make_report(
    human: HumanData,
    options: Mapping[str, dict[str, Any]],
    scores: Iterable[str],
    gold_m2: str | None,
    skipped: Mapping[str, str] | None = None,
) -> Report:
    """Score all metrics on one data set and compare each with people."""
    systems = choose_systems(human)
    failed = dict(skipped or {})
    tables = []
    for name, chosen in parts(options.items()):
        settings = {name: {**registry.scorer_class(name).correction_settings, **chosen}}
        try:
            tables += score_metrics(settings, human, systems, gold_m2)
        except (UserError, OSError) as error:
            if skipped is None:
                raise
            failed[name] = str(error)
    tables += read_score_files(scores, human, systems, taken=options)
    if not tables:
        raise InputError(f"{human.name}: no metric could be scored: {'; '.join(failed.values()) or 'none was named'}")
    values = {table.metric: measure(human, table) for table in tables}
    tables.sort(key=lambda table: -values[table.metric][RANKED_BY[human.name]])
    published = [row for row in PUBLISHED if row.data == human.name]
    return Report(human, systems, tables, values, published, failed)


def measure(human: HumanData, table: MetricScores) -> dict[str, float]:
    """The values of one metric in the columns of the report, by key."""
    # System level: TrueSkill scores on SEEDA, as in IMPARA-GED's Table 2. Sentence level: tie rule `order`, expanded
    # pairs.
    values: dict[str, float] = {}
    for prefix, how in AGGREGATIONS[human.name].items():
        for ranking, scores in scores_by_ranking(human, table, how).items():
            both = correlate_systems(scores, human.scores[ranking], table.systems)
            values |= {f"{prefix}{ranking} r": both.pearson, f"{prefix}{ranking} ρ": both.spearman}
    for kind, items in human.judgments.items():
        each = agreement(judged_pairs(items, table.systems), table.sentences)
        values |= {f"{kind} acc": each.accuracy, f"{kind} τ": each.kendall, f"{kind} ties": each.tie_share}
    shown = {key for keys in COLUMNS[human.name].values() for key in keys}
    return {key: value for key, value in values.items() if key in shown}


def resistance(options: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Metric to `ATTACKS`; those that read references, or cannot be had, are left out."""
    values = {}
    for name, chosen in parts(options.items(), lambda item: f"attacks on {item[0]}"):
        settings = {**registry.scorer_class(name).correction_settings, **chosen}
        if not registry.make_scorer(name, settings).needs_references():
            with suppress(UserError, OSError):
                values[name] = attack_values(attack(name, options={name: settings}, resamples=1)[name])
    return values


def attack_values(found: Resistance) -> dict[str, float]:
    """`ATTACKS` of one metric on the example corpus."""
    static, missed = found.headlines[0], found.flips[-1]
    shares = (static.worst.beaten.value / found.systems, static.ceiling.above_reference.value, missed.share.value)
    return dict(zip(ATTACKS, shares, strict=True))


def rivals_of_best(report: Report) -> dict[str, PairedTest]:
    """Tests of the best metric of a report, by the column that ranks it, against each other one, by name."""
    best, *rivals = report.tables
    pairs = judged_pairs(report.human.judgments[RANKED_BY[report.human.name].split()[0]], best.systems)
    return {
        other.metric: compare_agreement(pairs, other.sentences, best.sentences, alternative="two-sided")
        for other in rivals
    }


def published_values(published: Iterable[Published], metric: str) -> dict[str, tuple[float, Published]]:
    """Published values of one metric: key of a column to value and row; of several rows, the first."""
    first: dict[str, tuple[float, Published]] = {}
    for row in published:
        if row.metric == metric:
            for key, value in row.values.items():
                first.setdefault(key, (value, row))
    return first
