"""Attacks on a metric, and how often they pay; public as `geceval.attack`."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, get_args

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.files import ASSETS, read_lines
from geceval.core.inputs import References, check_columns, check_references
from geceval.core.options import Count, Options, Range, Seed, make_settings
from geceval.core.progress import parts
from geceval.core.signature import signature
from geceval.core.warnings import muted
from geceval.meta.attacks import FAMILIES, FLIPS
from geceval.meta.significance.resampling import Aggregate, bootstrap_scores, interval, ratio
from geceval.scorers.base import Scorer
from geceval.workflows.attack_search import SEARCHES, Judge, chances

HONEST = ("strong", "minimal")  # systems of the example corpus
Kind = Literal["static", "searched", "yours"]
CONFIDENCE = 0.95
_MARGIN = 1e-5  # scores of texts that are one to a metric, read in different batches, differ by less


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Settings of attacks and of the intervals.

    Attributes:
        budget: The most texts that a searched attack may have scored for a sentence; the standard is 80, and 0 leaves
            these attacks out.
        sentences: Attack only so many sentences, drawn at random; `None` attacks all.
        resamples: Bootstrap samples of sentences.
        seed: Seed of searches, of the places of flips, of the sentences drawn, and of the resamples.
    """

    budget: Annotated[int, Range(0)] = 0
    sentences: Count | None = None
    resamples: Annotated[int, Range(1, 1_000_000)] = 1000
    seed: Seed = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the 95 % percentile interval of the bootstrap over sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """A column of outputs under the metric: an attack, or a control that is none.

    Attributes:
        family: `"control"`, one of `geceval.meta.attacks.FAMILIES`, `"mixed"` for a search that mixes them, `"yours"`.
        name: Its name.
        kind: `"source"`, `"reference"` or `"system"` of a control; `"static"`, `"searched"` or `"yours"` of an attack.
        score: The metric's corpus score.
        above_source: Share of sentences whose output has a higher score than the source; `None` for the source.
        above_reference: Share whose output has a higher score than each reference (of a reference, than each other);
            `None` where there are none.
        beaten: Number of honest systems with a worse corpus score; `None` where there are none.
        changed: Number of sentences whose output is not the source.
        example: The output for the first sentence whose output is not the source; or the first source.
    """

    family: str
    name: str
    kind: str
    score: Estimate
    above_source: Estimate | None
    above_reference: Estimate | None
    beaten: Estimate | None
    changed: int
    example: str

    @property
    def fails(self) -> bool:
        """Whether it is an attack that beats an honest system."""
        return self.family != "control" and self.beaten is not None and self.beaten.value > 0


@dataclass(frozen=True, slots=True)
class Missed:
    """Share of the flips of one kind, of `"all"` in the end, whose score is not below that of the reference."""

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
        headlines: One per kind of attack.
        control: The honest system with the best score; `None` without systems.
        systems: Number of honest systems.
        sentences: Number of sentences attacked.
        signature: How the scores were computed.
        test: How the attacks were made and the intervals computed, in one line.
    """

    metric: str
    rows: list[Row]
    flips: list[Missed]
    headlines: list[Headline]
    control: Row | None
    systems: int
    sentences: int
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
            columns that need them and the flips are left out.
        attacks: Name of each attack of your own to its outputs, one string per sentence.
        options: Metric to its settings and run-time options.
        settings: Fields of `Settings`: `budget`, `sentences`, `resamples`, `seed`.

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
        scorer = scorers[name]
        if hasattr(scorer.settings, "text") and scorer.text == "auto":  # the form of a text is an attack, too
            scorer = type(scorer)(dataclasses.replace(scorer.settings, text="tokens"), scorer.runtime)
        if not scorer.scores_sentences_alone():
            raise InputError(f"attack: {name} scores whole corpora with these settings, not single sentences")
        if scorer.needs_references() and not corpus.references:
            raise InputError(f"attack: {name} needs references")
        with muted():  # lines of what is read here are lines of no file
            resistances[name] = _Measure(scorer, corpus, checked).result()
    return resistances


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Checked texts; where a sentence has fewer references than another, its first stands for those it lacks."""

    sources: list[str]
    systems: dict[str, list[str]]
    references: list[list[str]]
    attacks: dict[str, list[str]]


def _read_corpus(sources: Any, systems: Any, references: Any, attacks: Any, settings: Settings) -> _Corpus:
    if sources is None:
        if systems is not None or references is not None or attacks is not None:
            raise InputError("attack: systems, references and attacks need their sources")
        example = ASSETS / "example"
        sources, *columns = (read_lines(example / f"{name}.txt") for name in ("source", "reference_0", "reference_1"))
        references = list(zip(*columns, strict=True))
        systems = {name: read_lines(example / "systems" / f"{name}.txt") for name in HONEST}
    texts = check_columns("attack", sources, sources).sources
    outputs = {"systems": systems or {}, "attacks": attacks or {}}
    for name, columns in outputs.items():
        if not isinstance(columns, Mapping):
            raise InputTypeError(f"attack: {name} must be a dict of names and outputs, got {type(columns).__name__}")
        for each, column in columns.items():
            check_columns(f"attack: {each}", texts, column, warn=name == "systems")
    given = [] if references is None else check_references("attack", references, texts)
    width = max(map(len, given), default=0)
    filled = [[*row, *row[:1] * (width - len(row))] for row in given]
    chosen = [number for number, text in enumerate(texts) if text.strip()]
    if not chosen:
        raise InputError("attack: all sources are blank")
    if settings.sentences is not None and settings.sentences < len(chosen):
        chosen = sorted(random.Random(settings.seed).sample(chosen, settings.sentences))

    def rows(column: Sequence[Any]) -> list[Any]:
        return [column[number] for number in chosen]

    honest, own = ({name: rows(column) for name, column in each.items()} for each in outputs.values())
    return _Corpus(rows(texts), honest, [rows(column) for column in zip(*filled, strict=True)], own)


class _Measure:
    """A metric on a corpus, and the rows of its table."""

    def __init__(self, scorer: Scorer, corpus: _Corpus, settings: Settings) -> None:
        self.scorer, self.corpus, self.settings = scorer, corpus, settings
        self.judge = Judge(scorer, corpus.sources, corpus.references)
        self.judge.read([corpus.sources, *corpus.references, *corpus.systems.values()])
        self._sources = self.judge.scores(corpus.sources)
        self._references = [self.judge.scores(texts) for texts in corpus.references]
        self._honest = [self._estimate(self.judge.rows(texts), scorer.aggregate) for texts in corpus.systems.values()]

    def result(self) -> Resistance:
        """All rows, and what sums them up."""
        order = [*FAMILIES, "mixed", "yours"]
        columns = sorted(self._attacks().items(), key=lambda item: order.index(item[0][0]))
        rows = [self._row(*names, texts) for names, texts in columns]
        honest = [self._row("control", name, "system", texts) for name, texts in self.corpus.systems.items()]
        controls = [self._row("control", "source", "source", self.corpus.sources)]
        for number, texts in enumerate(self.corpus.references):
            others = self._references[:number] + self._references[number + 1 :]
            controls.append(self._row("control", f"reference {number + 1}", "reference", texts, others))
        return Resistance(
            metric=self.scorer.name,
            rows=[*controls, *honest, *rows],
            flips=self._flips(),
            headlines=[_headline(kind, rows) for kind in get_args(Kind) if any(row.kind == kind for row in rows)],
            control=max(honest, key=lambda row: row.score.value, default=None),
            systems=len(honest),
            sentences=len(self.corpus.sources),
            signature=self.judge.signature,
            test=signature("attack", self.settings),
        )

    def _attacks(self) -> dict[tuple[str, str, str], list[str]]:
        """Family, name and kind of each attack, by rule, of the user, or searched, to its outputs."""
        sources, settings = self.corpus.sources, self.settings
        columns = {
            (family, name, "static"): [make(source) for source in sources]
            for family, attacks in FAMILIES.items()
            for name, make in attacks.items()
        }
        good = (self.corpus.references or [sources])[0]
        columns["ignore", "next row", "static"] = [*good[1:], *good[:1]]
        columns |= {("yours", name, "yours"): texts for name, texts in self.corpus.attacks.items()}
        self.judge.read(columns.values())
        for (family, name), search in parts(SEARCHES.items() if settings.budget else (), lambda item: item[0][1]):
            draws = chances(settings.seed, name, len(good))
            columns[family, name, "searched"] = search(self.judge, good, settings.budget, draws)
        return columns

    def _row(
        self, family: str, name: str, kind: str, texts: Sequence[str], references: Sequence[np.ndarray] | None = None
    ) -> Row:
        """One column of outputs under the metric, beside all references or some."""
        references = self._references if references is None else references
        scores = self.judge.scores(texts)
        score, samples = self._estimate(self.judge.rows(texts), self.scorer.aggregate)
        counts = sum(((samples > others + _MARGIN).astype(int) for _, others in self._honest), np.zeros(len(samples)))
        beaten = sum(score.value > other.value + _MARGIN for other, _ in self._honest)
        changed = [text for text, source in zip(texts, self.corpus.sources, strict=True) if text != source]
        return Row(
            family,
            name,
            kind,
            score,
            None if kind == "source" else self._share_above(scores, self._sources),
            self._share_above(scores, np.max(references, axis=0)) if references else None,
            Estimate(beaten, *interval(counts, CONFIDENCE)) if self._honest else None,
            len(changed),
            changed[0] if changed else self.corpus.sources[0],
        )

    def _flips(self) -> list[Missed]:
        """The share of flips of first references, by kind and of all, that did not cost score."""
        loss = {}
        for name, flip in FLIPS.items() if self.corpus.references else ():
            pairs = zip(self.corpus.references[0], chances(self.settings.seed, name, len(self._sources)), strict=True)
            flipped = [draw.choice(flip(text) or [None]) for text, draw in pairs]
            self.judge.read([flipped])
            loss[name] = self._references[0] - self.judge.scores(flipped)
        missed = [self._missed(name, each[:, None]) for name, each in loss.items() if not np.isnan(each).all()]
        return [*missed, self._missed("all", np.stack(list(loss.values()), axis=1))] if missed else []

    # --- Numbers

    def _missed(self, name: str, losses: np.ndarray) -> Missed:
        """The share of `[sentences][kinds of flips]` that lost nothing; NaN where a flip does not apply."""
        applies = ~np.isnan(losses)
        counts = np.stack([(losses < _MARGIN).sum(axis=1), applies.sum(axis=1)], axis=1)[applies.any(axis=1)]
        share, _ = self._estimate(counts, lambda samples: ratio(samples.sum(axis=-2)))
        return Missed(name, share, int(applies.sum()))

    def _share_above(self, scores: np.ndarray, others: np.ndarray) -> Estimate:
        return self._estimate(scores > others + _MARGIN, partial(np.mean, axis=-1))[0]

    def _estimate(self, rows: np.ndarray, aggregate: Aggregate) -> tuple[Estimate, np.ndarray]:
        """A corpus score with its interval, and the bootstrap samples behind it."""
        samples = bootstrap_scores(rows, aggregate, self.settings.resamples, self.settings.seed)
        return Estimate(float(aggregate(rows[None])[0]), *interval(samples, CONFIDENCE)), samples


def _headline(kind: Kind, rows: Iterable[Row]) -> Headline:
    own = [row for row in rows if row.kind == kind]
    ceilings = [row for row in own if row.above_reference]
    return Headline(
        kind,
        max(own, key=lambda row: (row.beaten.value if row.beaten else 0, row.score.value)),
        max(ceilings, key=lambda row: row.above_reference.value, default=None),
    )
