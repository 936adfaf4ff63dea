"""The base class of all metrics."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from geceval.core import options
from geceval.core.errors import named, naming_the_extra
from geceval.core.inputs import Columns, References, check_columns
from geceval.core.progress import bar
from geceval.core.result import Result
from geceval.core.warnings import scoring
from geceval.models.checkpoints import is_listed
from geceval.scorers.references.gold import extracts, gold_sources
from geceval.text.columns import Form, Reading, TextSetting, read, read_rows, sources_of_file, warn
from geceval.text.languages import MODEL, warn_unless_english


@dataclass(frozen=True, slots=True)
class TextOptions(options.Options):
    """The setting of every metric, and what settings mean that several have; a metric describes all others itself.

    Attributes:
        text: What the columns hold. `"auto"` finds out: tokens stay as they are; predictions and references in prose
            get the tokens of their sources wherever both agree, and a tokeniser's elsewhere; where the sources are
            prose too, all columns are tokenised, or left as they are for metrics whose networks read prose. `"tokens"`
            compares texts as they stand. `"prose"` takes all columns for prose. `"answers"` is `"auto"` for predictions
            without what language models write around a correction, see `geceval.text.answers`. The name of a tokeniser
            (`"spacy-en"`, `"ptb"`, `"13a"`, `"syntok"`, `"char"`, `"whitespace"`) applies it to all columns.
        model: The network: `"bundled"`, a folder, or a Hub id, optionally with `@revision`.
        average: What `score` is: `"corpus"`, F of the counts of all sentences, or `"sentence"`, the mean of the
            sentences' F.
        beta: Weight of recall in F.
        unit: What n-grams are made of.
        gold_m2: M2 file with the gold edits; `references`, which hold them otherwise, are then not needed.
        predictions_m2: M2 file with the edits of the predictions, taken as they are.
        nlp: The spaCy pipeline behind ERRANT: `"bundled"`, `"official"` (`en_core_web_sm`, if it is installed), the
            name of another installed one, or a folder.
        language: Whose edits ERRANT extracts, see `geceval.core.options.Language`.
        valid_edits: What counts as a false positive: `"references"`, every edit that the reference lacks; `"judge"`,
            only those that the judge of `edit_quality` finds wrong. What it finds right is then no hit either, and
            misses stay.
        judge_threshold: The probability from which the judge finds an edit right.
        max_length: Tokens, special ones included, beyond which a text is cut. `None` takes as many as a language model
            reads, and of an encoder `geceval_max_length` of its `config.json`, else 128.
    """

    text: TextSetting = field(default="auto", kw_only=True)


class Scorer(abc.ABC):
    """A metric with its settings; making one costs nothing, as models are loaded when they are first needed.

    A metric defines `_score`; if its corpus score is not the mean of its sentence scores, it defines `aggregate` too.

    Attributes:
        name: The name that `geceval.load` takes.
        description: One line, as `geceval list` and the README show it.
        extra: The extras of the package that it needs, e.g. `"edits,neural"`; `""` for none.
        Settings: A frozen dataclass of all options that can change the score.
        RunTime: A frozen dataclass of the options that only say how to compute; most metrics take the common ones.
        higher_is_better: Whether a higher score is better.
        bounds: Lowest and highest value of a score; `None` for an open end.
        reads_references: Whether it compares predictions with references.
        reads_edits: Whether it takes the annotators' own edits from an M2 file. All other metrics take the corrected
            texts, including those that extract edits with ERRANT: the same extraction on both sides, as in the papers.
        correction_settings: The settings with which it scores corrections, if it does not do so by default.
        form: What it reads, see `geceval.text.columns`.
        missing_reference: The value in `Result.statistics` where a sentence has fewer references than another.
        settings: The settings of this scorer.
        runtime: Its run-time options.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    extra: ClassVar[str] = ""
    Settings: ClassVar[type]
    RunTime: ClassVar[type[options.RunTime]] = options.RunTime
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    reads_references: ClassVar[bool] = True
    reads_edits: ClassVar[bool] = False
    correction_settings: ClassVar[Mapping[str, Any]] = {}
    form: ClassVar[Form] = "tokens"
    missing_reference: ClassVar[float] = math.nan

    row_by_row = False
    """Whether what a text holds is decided row by row, as it must be where parts of a corpus are scored."""

    def __init__(self, settings: Any = None, runtime: options.RunTime | None = None) -> None:
        self.settings = self.Settings() if settings is None else settings
        self.runtime = runtime or self.RunTime()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings, self.runtime)  # what has been loaded is loaded anew

    @property
    def text(self) -> TextSetting:
        """The setting `text`; a metric without it compares texts as they stand."""
        return getattr(self.settings, "text", "tokens")

    def needs_references(self) -> bool:
        """Whether `score` needs references: not if the settings name an M2 file with the gold edits."""
        return self.reads_references and getattr(self.settings, "gold_m2", None) is None

    def scores_sentences_alone(self) -> bool:
        """Whether a sentence's score depends on nothing but its row: not with an M2 file for the whole corpus."""
        return self.m2_file() is None

    def m2_file(self) -> str | None:
        """The setting, if any, that names an M2 file; only the corpus of its sentences can be scored then."""
        names = ("gold_m2", "predictions_m2")
        return next((name for name in names if getattr(self.settings, name, None) is not None), None)

    def load(self) -> None:
        """Load models and pipelines, or take them from the cache of this process; some metrics have none.

        Raises:
            ValueError: If a checkpoint, pipeline, device or length cannot be used; the message says how to fix it.
        """
        with naming_the_extra(self.name), named(self.name):
            self._load()

    def _load(self) -> None:  # noqa: B027 - nothing to load is the common case
        pass

    def score(self, sources: Sequence[str], predictions: Sequence[str], references: References | None = None) -> Result:
        """Score one system; the columns are checked before anything is loaded.

        Args:
            sources: What the learner wrote, one string per sentence, tokens or prose.
            predictions: What the system made of it, one string per sentence.
            references: One list of references, or one string, per sentence; the lists may differ in length. Not used
                by metrics without references, or if the settings name an M2 file.

        Raises:
            TypeError: If a column or a row has the wrong type.
            ValueError: If columns are empty or do not fit together, if the M2 file does not fit the sources, if a model
                cannot be used, or if it gives something that is not a finite number.
            OSError: If a file cannot be read.
        """
        columns, reading = self.read(sources, predictions, references)
        with naming_the_extra(self.name), scoring(self.name, columns), bar(self.runtime.progress, self.name):
            warn(self.name, reading)
            if getattr(self.settings, "language", "") == "en" and extracts(self.settings):
                warn_unless_english(columns.sources)
            elif not self.needs_references() and is_listed(getattr(self.settings, "model", None) or ""):
                warn_unless_english(columns.sources, MODEL)
            result = self._score(columns)
        if not (done := reading.details()):
            return result
        line = result.signature
        if done.get("tokeniser", self.text) != self.text:
            line = line.replace(f"|text:{self.text}|", f"|text:{self.text}>{done['tokeniser']}|", 1)
        return dataclasses.replace(result, signature=line, details={**result.details, "text": done})

    def read(
        self, sources: Sequence[str], predictions: Sequence[str], references: References | None = None
    ) -> tuple[Columns, Reading]:
        """The checked columns as they are compared, by the setting `text`, and what was done to them."""
        if self.m2_file() is None:
            return self._read_texts(self._check(sources, predictions, references))
        given = check_columns(self.name, sources, predictions, warn=False).sources
        path = getattr(self.settings, self.m2_file())
        of_file = gold_sources(path)
        sources = sources_of_file(given, of_file) if self.text in ("auto", "prose", "answers") else given
        changed = sum(left.split() != right.split() for left, right in zip(given, sources, strict=True))
        columns, reading = self._read_texts(self._check(sources, predictions, references), sources_are_tokens=True)
        return columns, reading + Reading("source" if changed else "", {"sources": changed})

    def _read_texts(self, columns: Columns, sources_are_tokens: bool = False) -> tuple[Columns, Reading]:
        tokeniser = "spacy-en" if "edits" in self.extra.split(",") else "ptb"
        if getattr(self.settings, "language", "en") == "zh":
            tokeniser = "char"
        return (read_rows if self.row_by_row else read)(columns, self.text, self.form, tokeniser, sources_are_tokens)

    def _check(self, sources: Sequence[str], predictions: Sequence[str], references: References | None) -> Columns:
        needs = self.needs_references()
        return check_columns(self.name, sources, predictions, references, needs_references=needs)

    @abc.abstractmethod
    def _score(self, columns: Columns) -> Result:
        """The result of `score` for columns that have been checked."""

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """Corpus scores of samples of sentences that have been scored before.

        A sample gets exactly the score that `score` would give for a corpus of these sentences in this order.

        Args:
            rows: `[samples][sentences][...]`, rows of `Result.rows()` of this scorer, any of them in any order; rows of
                several systems may be mixed if they were scored against the same references.

        Returns:
            `[samples]`.
        """
        return rows.mean(axis=-1)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Scorer:
        """A scorer that takes all these systems, one list of predictions each, into account; most metrics do not."""
        return self
