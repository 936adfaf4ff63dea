"""Measures of systems by error type, with intervals and tests; public as `geceval.error_types`."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError, did_you_mean
from geceval.core.f_score import Counts
from geceval.core.inputs import Columns, References
from geceval.core.options import Options, Range, Seed, make_settings
from geceval.core.result import Result
from geceval.core.signature import signature
from geceval.core.warnings import once
from geceval.meta.significance import resampling
from geceval.meta.significance.systems import pick_baseline
from geceval.scorers.edit_based.edit_scorer import total, type_names
from geceval.scorers.errant import Errant, Keyed, compare, keyed
from geceval.scorers.references.gold import compared_edits

logger = logging.getLogger("geceval")

Measure: TypeAlias = Literal["type", "type_only", "detection", "success", "overcorrection", "change_rate"]
MEASURES = get_args(Measure)
SHARES = MEASURES[3:]
_GRAINS = ("operation", "main", "full")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'"})


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of the rows, their intervals and p-values.

    Attributes:
        types: A selector for each row: a full type (`"R:VERB:SVA"`), a main type (`"DET"`), an operation (`"M"`), a
            pattern (`"R:VERB*"`), several with commas (`"PREP,DET"`), or `"all"`. The words `"operation"`, `"main"` and
            `"full"` stand for a row for each one that some edit has.
        baseline: The system that the others are compared with: its name, `"first"` or `"best"` (of `errant`).
        resamples: Number of bootstrap samples of sentences.
        shuffles: Number of random swaps of sentences between two systems.
        confidence: Confidence level of the intervals.
        seed: Seed of samples and swaps.
    """

    types: tuple[str, ...] = ("all", "operation", "main")
    baseline: str = "first"
    resamples: Annotated[int, Range(1, 1_000_000)] = 2000
    shuffles: Annotated[int, Range(1, 1_000_000)] = 10_000
    confidence: resampling.Confidence = 0.95
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class TypeEstimate:
    """One measure of one system in one row; what cannot be measured or tested is NaN.

    Attributes:
        measure: See `error_types`.
        type: The row: a selector, an operation, a type, or `"all"`.
        system: Its name.
        tp, fp, fn: Numbers of edits, or sentences (`detection`). Of a share, tp counts its sentences, fn the others.
        precision, recall: NaN of a share.
        value: F, F1 (`detection`) or share; NaN, like the two before it, where tp, fp and fn are 0.
        low, high: Ends of the bootstrap percentile interval; samples whose value is NaN are left out.
        difference: value - value of the baseline.
        p: P-value of that difference, two-sided, by approximate randomisation.
        p_holm: p, adjusted for all tests of this measure.
    """

    measure: str
    type: str
    system: str
    tp: int
    fp: int
    fn: int
    precision: float
    recall: float
    value: float
    low: float
    high: float
    difference: float
    p: float
    p_holm: float = math.nan


@dataclass(frozen=True, slots=True)
class ErrorTypes:
    """Systems by error type: measure by measure, row by row, system by system; how they were scored and tested."""

    estimates: list[TypeEstimate]
    baseline: str
    signature: str
    test: str


def error_types(
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    references: References | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    predictions_m2: Mapping[str, str | Path] | None = None,
    **test: Any,
) -> ErrorTypes:
    """Measure by error type what systems correct, miss and break, with intervals and tests of differences.

    The measures, for the edits T of a row (the annotators of the first two stay the same in all samples):

    - `type`: precision, recall and F of T, beside the annotator that `errant` chooses by all edits;
    - `type_only`: the same where systems and annotators have nothing but T, which also chooses the annotator;
    - `detection`: precision, recall and F1 of sentences: the system has some of T, an annotator has some;
    - `success`: of the sentences where an annotator has some of T, the share where the system has all that one has;
    - `overcorrection`: of the sentences without any edit in the references, the share where the system has some of T
      and changes more than white space and the style of quotation marks;
    - `change_rate`: the share of all sentences where it does.

    Rows in which no system has anything to measure are left out, unless `types` names them.

    Args:
        sources: One string per sentence.
        systems: Name of each system to its predictions.
        references: One list of references per sentence; not needed with the option `gold_m2`.
        options: Settings and run-time options of `errant`, which extracts and compares the edits.
        predictions_m2: Name of each system to the M2 file of its edits.
        test: Fields of `geceval.workflows.error_types.Settings`.

    Raises:
        TypeError: If an option does not exist or a column has the wrong type.
        ValueError: If columns do not fit together, or an option has a bad value.
    """
    settings = make_settings("types", Settings, test)
    if not isinstance(systems, Mapping) or not systems:
        raise InputTypeError(f"types: systems must be a dict of names and predictions, got {type(systems).__name__}")
    errant = registry.make_scorer("errant", options)
    if errant.settings.valid_edits == "judge":
        raise InputError("types: edits are compared with references, not judged; leave out valid_edits")
    scorer = ErrantWithEdits(errant.settings, errant.runtime)
    with once(set()):
        results = registry.score_systems(scorer, sources, systems, references, predictions_m2)
    baseline = pick_baseline({name: result.details["f"] for name, result in results.items()}, settings.baseline)
    sentences = {name: result.details["sentences"] for name, result in results.items()}
    families: dict[str, list[TypeEstimate]] = {}
    for row, types in _selected(sentences.values(), settings.types).items():
        counts = {system: _counts(each, types, scorer) for system, each in sentences.items()}
        for measure in MEASURES:
            of_measure = {system: each[measure] for system, each in counts.items()}
            measured = _estimates(measure, row, of_measure, baseline, settings, scorer.settings.beta)
            if row in settings.types or any(math.isfinite(each.value) for each in measured):
                families.setdefault(measure, []).extend(measured)
    adjusted = [(family, resampling.holm([each.p for each in family])) for family in families.values()]
    estimates = [replace(each, p_holm=p) for pair in adjusted for each, p in zip(*pair, strict=True)]
    line = next(iter(results.values())).signature
    return ErrorTypes(estimates, baseline, line, signature("types", settings, unit="sentence"))


@dataclass(frozen=True, slots=True)
class SentenceEdits:
    """The edits of a sentence as they are compared; `clean` says that no annotator has any."""

    source: str
    system: Keyed
    gold: Mapping[int, Keyed]
    annotator: int
    clean: bool
    changed: bool


class ErrantWithEdits(Errant):
    """ERRANT whose result also holds the edits of each sentence."""

    def _score(self, columns: Columns) -> Result:
        proposed, gold = compared_edits(self.name, self.settings, self.runtime, columns)
        result, level = self._compare(columns.sources, proposed, gold), self.settings.level
        changed = [_bare(pair[0]) != _bare(pair[1]) for pair in zip(columns.sources, columns.predictions, strict=True)]
        sentences = []
        for row, (edits, options) in enumerate(zip(proposed, gold, strict=True)):
            clean = all(edit.is_noop for annotated in options.values() for edit in annotated)
            annotations = {annotator: keyed(annotated, level) for annotator, annotated in options.items()}
            chosen = result.details["annotators"][row]
            sentences.append(
                SentenceEdits(columns.sources[row], keyed(edits, level), annotations, chosen, clean, changed[row])
            )
        return replace(result, details={**result.details, "sentences": sentences})


def _bare(text: str) -> str:
    return "".join(text.replace("``", '"').replace("''", '"').translate(_QUOTES).split())


def _selected(systems: Iterable[Sequence[SentenceEdits]], selectors: Sequence[str]) -> dict[str, set[str]]:
    """Name of each row to the full types in it."""
    edits = [each for sentences in systems for row in sentences for each in (row.system, *row.gold.values())]
    names = {kind: type_names(kind) for each in edits for kinds in each.values() for kind in kinds}
    grains = {grain: sorted({each[index] for each in names.values()}) for index, grain in enumerate(_GRAINS)}
    rows = {}
    for selector in selectors:
        for row in grains.get(selector, [selector]):
            patterns = ["*" if part.strip() == "all" else part.strip() for part in row.split(",")]
            rows[row] = {kind for kind in names if _matches(patterns, names[kind])}
        if selector not in ("all", *grains) and not rows[selector]:
            near = did_you_mean(selector, [name for of_grain in grains.values() for name in of_grain])
            logger.warning("types: no edit has a type that %r selects%s", selector, near)
    return rows


def _matches(patterns: Sequence[str], names: Sequence[str]) -> bool:
    return any(name == each or fnmatchcase(name, each) for each in patterns for name in names)


def _counts(sentences: Sequence[SentenceEdits], types: set[str], scorer: Errant) -> dict[str, np.ndarray]:
    """The counts of each measure of edits of these types, `[sentences][tp, fp, fn]`."""
    counting = scorer.settings.counting
    counts = {measure: np.zeros((len(sentences), 3)) for measure in MEASURES}
    restricted = {}
    for index, each in enumerate(sentences):
        system, gold = _only(each.system, types), {name: _only(edits, types) for name, edits in each.gold.items()}
        is_gold = any(gold.values())
        if system or is_gold:
            by_type = compare(each.system, each.gold[each.annotator], counting)
            counts["type"][index] = astuple(total({kind: by_type[kind] for kind in by_type if kind in types}))
            restricted[index] = {name: total(compare(system, edits, counting)) for name, edits in gold.items()}
            counts["detection"][index] = bool(system) and is_gold, not is_gold, not system
        if is_gold:
            done = any(edits and edits.keys() <= each.system.keys() for edits in gold.values())
            counts["success"][index] = done, 0, not done
        changed = bool(system) and each.changed
        counts["overcorrection"][index] = changed and each.clean, 0, not changed and each.clean
        counts["change_rate"][index] = changed, 0, not changed
    if restricted:
        annotators = scorer.choose(list(restricted.values())).annotators
        chosen = zip(restricted.values(), annotators, strict=True)
        counts["type_only"][list(restricted)] = [astuple(options[name]) for options, name in chosen]
    return counts


def _only(edits: Keyed, types: set[str]) -> Keyed:
    return {key: chosen for key, kinds in edits.items() if (chosen := [kind for kind in kinds if kind in types])}


def _estimates(
    measure: str, row: str, systems: Mapping[str, np.ndarray], baseline: str, settings: Settings, beta: float
) -> list[TypeEstimate]:
    """One measure of each system in one row."""

    def value(sums: np.ndarray) -> np.ndarray:
        counts = Counts.of(sums)
        values = counts.recall if measure in SHARES else counts.f(1.0 if measure == "detection" else beta)
        return np.where(sums.any(axis=-1), values, math.nan)

    values = {system: float(value(counts.sum(axis=0))) for system, counts in systems.items()}
    estimates = []
    for system, counts in systems.items():
        sums = Counts(*map(int, counts.sum(axis=0)))
        is_share = measure in SHARES or math.isnan(values[system])
        of_edits = (math.nan, math.nan) if is_share else (sums.precision, sums.recall)
        samples = value(resampling.bootstrap_sums(counts, settings.resamples, np.random.default_rng(settings.seed)))
        samples = samples[np.isfinite(samples)]
        ends = resampling.interval(samples, settings.confidence) if samples.size else (math.nan, math.nan)
        difference = math.nan if system == baseline else values[system] - values[baseline]
        p = math.nan
        if math.isfinite(difference):
            draw = np.random.default_rng(settings.seed)
            left, right = resampling.randomised_sums(systems[baseline], counts, settings.shuffles, draw)
            swapped = np.nan_to_num(value(right) - value(left), nan=math.inf)  # a side without any: no evidence
            p = resampling.p_value(difference, swapped, "randomisation", "two-sided")
        numbers = (*astuple(sums), *of_edits, values[system], *ends, difference, p)
        estimates.append(TypeEstimate(measure, row, system, *numbers))
    return estimates
