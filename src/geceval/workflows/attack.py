"""Attacks on a metric, and how often they pay; public as `geceval.attack`."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError, naming_the_extra
from geceval.core.files import ASSETS, read_lines
from geceval.core.inputs import References, check_columns, check_references
from geceval.core.options import Count, Options, Range, Seed, make_settings
from geceval.core.progress import parts
from geceval.core.signature import signature
from geceval.core.warnings import muted
from geceval.meta.attacks import FAMILIES, FLIPS, next_row
from geceval.meta.significance.resampling import Aggregate, Confidence, bootstrap_scores, interval, ratio
from geceval.scorers.base import Scorer
from geceval.workflows.attack_search import SEARCHES, Judge, draws, flip_all, numbered

STANDARD_BUDGET = 80  # ten steps of eight proposals
HONEST = ("strong", "minimal")
"""The honest systems of the example corpus."""
Kind = Literal["static", "searched", "yours"]
_MARGIN = 1e-5  # scores of texts that are one to a metric, read in different batches, differ by less


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of attacks and of the intervals.

    Attributes:
        budget: The most texts that a searched attack may have scored for a sentence; 0 leaves these attacks out. The
            standard is 80, `STANDARD_BUDGET`.
        sentences: Attack only so many sentences, drawn at random; `None` attacks all.
        resamples: Bootstrap samples of sentences.
        confidence: Confidence level of the intervals.
        seed: Seed of searches, of the places of flips, of the sentences drawn, and of the resamples.
    """

    budget: Annotated[int, Range(0)] = 0
    sentences: Count | None = None
    resamples: Annotated[int, Range(1, 1_000_000)] = 1000
    confidence: Confidence = 0.95
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the percentile interval of the bootstrap over sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """A column of outputs under the metric: an attack, or a control that is none.

    Attributes:
        family: `"control"`, one of `geceval.meta.attacks.Family`, `"mixed"` for a search that mixes them, or `"yours"`.
        name: Its name.
        kind: `"source"`, `"reference"` or `"system"` of a control; `"static"`, `"searched"` or `"yours"` of an attack.
        score: The metric's corpus score.
        above_source: Share of sentences whose output has a higher score than the source; `None` for the source.
        above_reference: Share whose output has a higher score than each reference (of a reference, than each other);
            `None` where there are none.
        beaten: Number of honest systems with a worse corpus score; `None` where there are none.
        rivals: Number of honest systems that it is compared with: all but itself.
        changed: Number of sentences whose output is not the source.
        sentences: Number of sentences.
        example: The output for the first sentence whose output is not the source; or the first source.
    """

    family: str
    name: str
    kind: str
    score: Estimate
    above_source: Estimate | None
    above_reference: Estimate | None
    beaten: Estimate | None
    rivals: int
    changed: int
    sentences: int
    example: str

    @property
    def fails(self) -> bool:
        """Whether it is an attack that beats an honest system."""
        return self.family != "control" and self.beaten is not None and self.beaten.value > 0


@dataclass(frozen=True, slots=True)
class Missed:
    """How often a flip of meaning does not cost score.

    Attributes:
        name: The kind of flip; `"all"` for all kinds together.
        share: Share of the flips whose score is not below that of the text before.
        flips: Number of sentences where it applies; of flips, for all kinds.
    """

    name: str
    share: Estimate
    flips: int


@dataclass(frozen=True, slots=True)
class Headline:
    """The worst that attacks of one kind do.

    Attributes:
        kind: `"static"`, `"searched"` or `"yours"`.
        worst: The attack that beats most honest systems, of several that with the best score.
        ceiling: The attack that is above the references most often; `None` without references.
    """

    kind: Kind
    worst: Row
    ceiling: Row | None


@dataclass(frozen=True, slots=True)
class Resistance:
    """The results of all attacks on one metric.

    Attributes:
        metric: Its name.
        rows: The controls (source, references, honest systems), then the attacks of the first four families.
        flips: The fifth family, each kind of flip, then all together; kinds that apply to no sentence are left out.
        flipped: What was flipped, `"references"` (the first of each sentence) or `"sources"`.
        headlines: One per kind of attack.
        control: The honest system with the best score; `None` without systems.
        systems: Number of honest systems.
        sentences: Number of sentences attacked.
        reads: Number of distinct texts scored, each with its sentence.
        signature: How the scores were computed.
        test: How the attacks were made and the intervals computed, in one line.
    """

    metric: str
    rows: list[Row]
    flips: list[Missed]
    flipped: str
    headlines: list[Headline]
    control: Row | None
    systems: int
    sentences: int
    reads: int
    signature: str
    test: str


def attack(
    metrics: str | Sequence[str],
    sources: Sequence[str] | None = None,
    systems: Mapping[str, Sequence[str]] | None = None,
    references: References | None = None,
    *,
    attacks: Mapping[str, Sequence[str]] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **settings: Any,
) -> dict[str, Resistance]:
    """Attack metrics with texts that are no corrections, and count how often these beat honest ones.

    Five families, all made by rule from the texts themselves (`geceval.meta.attacks`, English): *ignore* the source,
    *drop* a part of it, *add* to it, change its *surface*; and *flips*, which make a good text say something else. With
    a `budget`, searches ask the metric which of many such texts it likes best, as a policy that learns from it would.
    A metric fails an attack whose corpus score is above that of an honest system.

    That such texts beat real systems was shown by Goto, Sakai, Watanabe (2025), "Reliability Crisis of Reference-free
    Metrics for Grammatical Error Correction", arXiv:2509.25961. These attacks and this standard are geceval's own.

    Args:
        metrics: One or more of `geceval.list_metrics()`.
        sources: One string per sentence; those that are blank are left out. `None` takes the example corpus: 44
            sentences with two references, and `HONEST` for systems.
        systems: Name of each honest system to its predictions, one string per sentence.
        references: One list of references per sentence; `None` in a list stands for a missing one. Without any, the
            columns that need them are left out, and sources are flipped. A metric that compares with references scores
            a reference, and its flips, against the others.
        attacks: Name of each attack of your own to its outputs, one string per sentence.
        options: Metric to its settings and run-time options.
        settings: Fields of `Settings`: `budget`, `sentences`, `resamples`, `confidence`, `seed`.

    Returns:
        Metric to its `Resistance`; shares lie in [0, 1], scores on the metric's own scale.

    Raises:
        TypeError: If an option does not exist or a column has the wrong type.
        ValueError: If columns do not fit together, a metric cannot score single sentences or needs references that are
            missing, or an option has a bad value.
    """
    checked = make_settings("attack", Settings, settings)
    scorers = registry.make_scorers("attack", metrics, options)
    corpus = _read_corpus(sources, systems, references, attacks, checked)
    resistances = {}
    for name in parts(scorers, str):
        scorer = _of_corrections(scorers[name], (options or {}).get(name, {}))
        if not scorer.scores_sentences_alone():
            raise InputError(f"attack: {name} scores whole corpora with these settings, not single sentences")
        if scorer.needs_references() and not corpus.references:
            raise InputError(f"attack: {name} needs references")
        with naming_the_extra(name):
            resistances[name] = _resistance(scorer, corpus, checked)
    return resistances


def _of_corrections(scorer: Scorer, options: Mapping[str, Any]) -> Scorer:
    """A metric that scores something else by default, with the settings to score corrections."""
    settings = {key: value for key, value in scorer.correction_settings.items() if key not in options}
    return type(scorer)(dataclasses.replace(scorer.settings, **settings), scorer.runtime) if settings else scorer


# --- The texts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Checked texts; `references` holds one column per annotator, `None` where there is none."""

    sources: list[str]
    systems: dict[str, list[str]]
    references: list[list[str | None]]
    attacks: dict[str, list[str]]

    def rows(self, numbers: Iterable[int]) -> _Corpus:
        """Some of the sentences."""
        chosen = list(numbers)

        def take(column: Sequence[Any]) -> list[Any]:
            return [column[number] for number in chosen]

        of_systems, of_attacks = ({k: take(v) for k, v in each.items()} for each in (self.systems, self.attacks))
        return _Corpus(take(self.sources), of_systems, [take(column) for column in self.references], of_attacks)


def _read_corpus(sources: Any, systems: Any, references: Any, attacks: Any, settings: Settings) -> _Corpus:
    if sources is None:
        if systems is not None or references is not None or attacks is not None:
            raise InputError("attack: systems, references and attacks need their sources")
        example = ASSETS / "example"
        sources, *columns = (read_lines(example / f"{name}.txt") for name in ("source", "reference_0", "reference_1"))
        references = list(zip(*columns, strict=True))
        systems = {name: read_lines(example / "systems" / f"{name}.txt") for name in HONEST}
    for name, outputs in {"systems": systems, "attacks": attacks}.items():
        if outputs is not None and not isinstance(outputs, Mapping):
            raise InputTypeError(f"attack: {name} must be a dict of names and outputs, got {type(outputs).__name__}")
    texts = check_columns("attack", sources, sources).sources
    honest, own = (
        {
            name: check_columns(f"attack: {name}", texts, outputs, warn=warn).predictions
            for name, outputs in columns.items()
        }
        for columns, warn in ((systems or {}, True), (attacks or {}, False))
    )
    corpus = _Corpus(texts, honest, _columns(references, texts), own)
    full = [number for number, text in enumerate(texts) if text.strip()]
    if not full:
        raise InputError("attack: all sources are blank")
    if settings.sentences is not None and settings.sentences < len(full):
        full = sorted(random.Random(settings.seed).sample(full, settings.sentences))
    return corpus.rows(full)


def _columns(references: References | None, sources: Sequence[str]) -> list[list[str | None]]:
    """One column per annotator."""
    if references is None:
        return []
    check_references("attack", references, sources)
    rows = [[row] if isinstance(row, str) else list(row) for row in references]
    width = max(map(len, rows))
    return [list(column) for column in zip(*(row + [None] * (width - len(row)) for row in rows), strict=True)]


# --- What the metric says of them ------------------------------------------------------------------------------------


def _resistance(scorer: Scorer, corpus: _Corpus, settings: Settings) -> Resistance:
    with muted():  # lines of what is read here are lines of no file
        measure = _Measure(scorer, corpus, settings)
        controls = measure.controls()
        rows = [*measure.static_rows(), *measure.searched_rows()]
        flipped, missed = measure.flips()
    order = [*FAMILIES, "mixed", "yours"]
    rows.sort(key=lambda row: order.index(row.family))
    honest = [row for row in controls if row.kind == "system"]
    return Resistance(
        metric=scorer.name,
        rows=[*controls, *rows],
        flips=missed,
        flipped=flipped,
        headlines=[_headline(kind, rows) for kind in get_args(Kind) if any(row.kind == kind for row in rows)],
        control=max(honest, key=lambda row: row.score.value, default=None),
        systems=len(honest),
        sentences=len(corpus.sources),
        reads=measure.judge.reads,
        signature=measure.judge.signature,
        test=signature("attack", settings),
    )


def _headline(kind: Kind, rows: Iterable[Row]) -> Headline:
    own = [row for row in rows if row.kind == kind]
    ceilings = [row for row in own if row.above_reference]
    return Headline(
        kind,
        max(own, key=lambda row: (row.beaten.value if row.beaten else 0, row.score.value)),
        max(ceilings, key=lambda row: row.above_reference.value, default=None),
    )


@dataclass(frozen=True, slots=True)
class _Corrections:
    """The texts of one annotator, and the judge of them: a metric that reads references compares with the others'."""

    judge: Judge
    texts: list[str | None]


class _Measure:
    """A metric on a corpus, and the rows of its table."""

    def __init__(self, scorer: Scorer, corpus: _Corpus, settings: Settings) -> None:
        self.scorer, self.corpus, self.settings = scorer, corpus, settings
        self.judge = Judge(scorer, corpus.sources, corpus.references)
        self._corrections = [self._of_annotator(number) for number in range(len(corpus.references))]
        self._standards: dict[tuple[Judge, bytes], dict[str, tuple[float, np.ndarray]]] = {}
        self.judge.read(numbered([corpus.sources, *corpus.systems.values()]))
        for each in self._corrections:
            each.judge.read(numbered([each.texts]))
        self._worths = [each.judge.scores(each.texts) for each in self._corrections]

    def _of_annotator(self, number: int) -> _Corrections:
        texts = self.corpus.references[number]
        if not self.scorer.needs_references():
            return _Corrections(self.judge, texts)
        others = [column for other, column in enumerate(self.corpus.references) if other != number]
        judge = Judge(self.scorer, self.corpus.sources, others)
        compared = [any(row) for row in zip(*others, strict=True)] or [False] * len(texts)
        return _Corrections(judge, [text if there else None for text, there in zip(texts, compared, strict=True)])

    # --- Rows

    def controls(self) -> list[Row]:
        """The source, each reference beside the others, each honest system."""
        rows = [self.row("control", "source", "source", self.corpus.sources)]
        for number, each in enumerate(self._corrections):
            if any(text is not None for text in each.texts):
                name = f"reference {number + 1}"
                others = self._worths[:number] + self._worths[number + 1 :]
                rows.append(self.row("control", name, "reference", each.texts, each.judge, others))
        return rows + [self.row("control", name, "system", texts) for name, texts in self.corpus.systems.items()]

    def static_rows(self) -> list[Row]:
        """The attacks by rule, and those of the user."""
        sources = self.corpus.sources
        texts = {
            (family, name): [make(source) for source in sources]
            for family, attacks in FAMILIES.items()
            for name, make in attacks.items()
        }
        texts["ignore", "next row"] = next_row(self._first_references() or sources)
        self.judge.read(numbered([*texts.values(), *self.corpus.attacks.values()]))
        rows = [self.row(family, name, "static", column) for (family, name), column in texts.items()]
        return rows + [self.row("yours", name, "yours", column) for name, column in self.corpus.attacks.items()]

    def searched_rows(self) -> Iterator[Row]:
        """The attacks that ask the metric, if there is a budget for them."""
        pool = self._first_references() or self.corpus.sources
        for search in parts(SEARCHES if self.settings.budget else (), lambda search: search.name):
            texts = search.run(self.judge, pool, self.settings.budget, draws(self.settings.seed, search.name))
            yield self.row(search.family, search.name, "searched", texts)

    def _first_references(self) -> list[str]:
        rows = zip(*self.corpus.references, strict=True)
        return [next(text for text in row if text is not None) for row in rows]

    def row(
        self,
        family: str,
        name: str,
        kind: str,
        texts: Sequence[str | None],
        judge: Judge | None = None,
        references: Sequence[np.ndarray] | None = None,
    ) -> Row:
        """One column of outputs under the metric."""
        judge = judge or self.judge
        there = np.array([text is not None for text in texts])
        sources = [text if present else None for text, present in zip(self.corpus.sources, there, strict=True)]
        judge.read(numbered([texts, sources]))
        scores = judge.scores(texts)
        score, samples = self._estimate(judge.rows(texts), self.scorer.aggregate)
        honest = self._honest(judge, there)
        rivals = [honest[system] for system in honest if (kind, name) != ("system", system)]
        changed = [text for text, source in zip(texts, self.corpus.sources, strict=True) if text not in (None, source)]
        better = _greatest(self._worths if references is None else references)
        return Row(
            family,
            name,
            kind,
            score,
            None if kind == "source" else self._share_above(scores, judge.scores(sources)),
            None if better is None else self._share_above(scores, better),
            self._beaten(score.value, samples, rivals) if honest else None,
            len(rivals),
            len(changed),
            int(there.sum()),
            changed[0] if changed else self.corpus.sources[0],
        )

    def flips(self) -> tuple[str, list[Missed]]:
        """The texts that were flipped, and the share of flips, by kind and of all, that did not cost score."""
        first = next((each for each in self._corrections if any(each.texts)), None)
        flipped = "sources" if first is None else "references"
        bases = first or _Corrections(self.judge, list(self.corpus.sources))
        flips = {name: flip_all(bases.texts, flip, draws(self.settings.seed, name)) for name, flip in FLIPS.items()}
        bases.judge.read(numbered(flips.values()))
        loss = {name: bases.judge.scores(bases.texts) - bases.judge.scores(texts) for name, texts in flips.items()}
        missed = [self._missed(name, each[:, None]) for name, each in loss.items() if not np.isnan(each).all()]
        return flipped, [*missed, self._missed("all", np.stack(list(loss.values()), axis=1))] if missed else []

    # --- Numbers

    def _missed(self, name: str, losses: np.ndarray) -> Missed:
        """The share of `[sentences][kinds of flips]` that lost nothing; NaN where a flip does not apply."""
        applies = ~np.isnan(losses)
        counts = np.stack([(losses < _MARGIN).sum(axis=1), applies.sum(axis=1)], axis=1)[applies.any(axis=1)]
        share, _ = self._estimate(counts, lambda samples: ratio(samples.sum(axis=-2)))
        return Missed(name, share, int(applies.sum()))

    def _share_above(self, scores: np.ndarray, others: np.ndarray) -> Estimate | None:
        both = ~np.isnan(scores) & ~np.isnan(others)
        return self._estimate((scores > others + _MARGIN)[both], _mean)[0] if both.any() else None

    def _honest(self, judge: Judge, there: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
        """Score and bootstrap samples of each honest system on some of the sentences."""
        key = judge, there.tobytes()
        if key not in self._standards:
            columns = {
                name: [text if present else None for text, present in zip(texts, there, strict=True)]
                for name, texts in self.corpus.systems.items()
            }
            judge.read(numbered(columns.values()))
            estimates = {
                name: self._estimate(judge.rows(texts), self.scorer.aggregate) for name, texts in columns.items()
            }
            self._standards[key] = {name: (score.value, samples) for name, (score, samples) in estimates.items()}
        return self._standards[key]

    def _beaten(self, score: float, samples: np.ndarray, rivals: Sequence[tuple[float, np.ndarray]]) -> Estimate:
        counts = sum((samples > others + _MARGIN).astype(int) for _, others in rivals) + np.zeros(len(samples))
        return Estimate(
            sum(score > other + _MARGIN for other, _ in rivals), *interval(counts, self.settings.confidence)
        )

    def _estimate(self, rows: np.ndarray, aggregate: Aggregate) -> tuple[Estimate, np.ndarray]:
        """A corpus score with its interval, and the bootstrap samples behind it."""
        samples = bootstrap_scores(rows, aggregate, self.settings.resamples, self.settings.seed)
        value = float(aggregate(rows[None])[0])
        return Estimate(value, *interval(samples, self.settings.confidence)), samples


def _mean(rows: np.ndarray) -> np.ndarray:
    return rows.mean(axis=-1)


def _greatest(columns: Sequence[np.ndarray]) -> np.ndarray | None:
    """The greatest of each row, NaN where there is none; `None` without columns."""
    there = [column for column in columns if not np.isnan(column).all()]
    return np.fmax.reduce(there) if there else None
