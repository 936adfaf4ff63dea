"""The base of every evaluate module: columns, options, checks, pickling."""

from __future__ import annotations

import abc
import importlib
import inspect
import pickle
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import datasets
import evaluate

from geceval.core.errors import InputError, InputTypeError
from geceval.core.extras import naming_the_extra
from geceval.core.inputs import check_columns
from geceval.core.options import RunTime, replace_options
from geceval.hub.load import module_folder

_HOUSE_ARGUMENTS = frozenset(inspect.signature(evaluate.EvaluationModule.__init__).parameters) - {"self", "kwargs"}


class Module(evaluate.Metric, abc.ABC):
    """A metric of geceval as an `evaluate` module; a subclass names its scorer and its texts.

    Options of either kind (settings, which can change the number, and run-time options, see
    `geceval.core.options.RunTime`) are taken by `load` and by `compute`; the latter hold for one call. The positional
    `config_name` of `evaluate.load` is another way to write `model=`.
    """

    reference_urls: ClassVar[list[str]] = []
    codebase_urls: ClassVar[list[str]] = []

    @abc.abstractmethod
    def scorer_class(self) -> type:
        """The class of `geceval.scorers` that computes this metric, imported here and not before."""

    @abc.abstractmethod
    def _info(self) -> evaluate.MetricInfo:
        """The texts of the module; see `describe`."""

    def __init__(self, config_name: str | None = None, **arguments: Any) -> None:
        self._arguments = {"config_name": config_name, **arguments}
        house = {name: value for name, value in arguments.items() if name in _HOUSE_ARGUMENTS}
        options = {name: value for name, value in arguments.items() if name not in _HOUSE_ARGUMENTS}
        scorer_class = self.scorer_class()
        if config_name not in (None, "default"):
            if "model" in options:
                raise InputTypeError(
                    f"{scorer_class.name}: config_name and model both name the model; pass one of them"
                )
            options["model"] = config_name
        self._takes_references = scorer_class().needs_references()
        defaults = scorer_class.Settings(), getattr(scorer_class, "RunTime", RunTime)()
        self._settings, self._runtime = replace_options(scorer_class.name, *defaults, options)
        self.scorer = scorer_class(self._settings, self._runtime)
        self._lock = threading.RLock()  # the rows of two threads must not meet in one computation
        super().__init__(config_name=None, **house)

    def describe(self, description: str, citation: str, inputs_description: str) -> evaluate.MetricInfo:
        """What `_info` returns: the given texts, the columns, the licence and the links of the class."""
        text = datasets.Value("string")
        columns = {"sources": text, "predictions": text}
        features = datasets.Features(columns)
        if self._takes_references:
            # The first alternative is also the shape in which rows are stored; see `add_batch`.
            features = [
                datasets.Features({**columns, "references": datasets.Sequence(text)}),
                datasets.Features({**columns, "references": text}),
            ]
        return evaluate.MetricInfo(
            description=description,
            citation=citation,
            inputs_description=inputs_description,
            features=features,
            homepage=next(iter(self.reference_urls), ""),
            license="Apache-2.0",
            codebase_urls=list(self.codebase_urls),
            reference_urls=list(self.reference_urls),
        )

    def add_batch(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[Any] | None = None,
        sources: Sequence[str] | None = None,
        **others: Any,
    ) -> None:
        """Add sentences, to be scored by the next `compute()`.

        Args:
            predictions: One string a sentence.
            references: A list of references per sentence, or one string per sentence. Left out by metrics that need
                none, and not needed where a gold file is given (`gold_m2=`).
            sources: One string a sentence.
            others: Nothing; an unknown column is a TypeError.

        Raises:
            TypeError: If a column is not a list or a row not a string; nothing has been added then.
            ValueError: If a column is empty or the lengths differ; nothing has been added then.
        """
        if others:
            known = ", ".join(self._feature_names())
            raise InputTypeError(f"{self.name}: unknown column {next(iter(others))!r}; the columns are: {known}")
        given = self._takes_references and references is not None
        columns = check_columns(
            self.name, sources, predictions, references if given else None, needs_references=given, warn=False
        )
        batch = {"sources": columns.sources, "predictions": columns.predictions}
        if self._takes_references:
            # Arrow wants one type a column: a sentence without references is stored as an empty list.
            batch["references"] = columns.references or [[] for _ in columns.sources]
        super().add_batch(**batch)

    def add(self, *, prediction: str | None = None, reference: Any = None, **columns: Any) -> None:
        """Add one sentence, to be scored by the next `compute()`.

        Args:
            prediction: What the system made of the sentence.
            reference: Its references, a list or one string.
            columns: `sources`, the text of the source (one string); evaluate has no singular name for a third
                column, but `source` is understood too.

        Raises:
            TypeError: If a text is not a string or a name unknown.
        """
        row = {"predictions": prediction, "references": reference, **columns}
        if "source" in row:
            row["sources"] = row.pop("source")
        if row["references"] is None:
            del row["references"]
        self.add_batch(**{name: [value] for name, value in row.items()})

    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[Any] | None = None,
        sources: Sequence[str] | None = None,
        **options: Any,
    ) -> dict[str, Any] | None:
        """Score the given sentences, or those added before. Threads that share a module are served one by one.

        Args:
            predictions: One string a sentence.
            references: A list of references per sentence, or one string per sentence.
            sources: One string a sentence.
            options: Settings and run-time options for this call only; the module keeps those it was loaded with.

        Returns:
            `{"score": float, "scores": [one float a sentence], ..., "signature": str}` in plain Python values; `None`
            on processes other than the first of several.

        Raises:
            TypeError: If an option does not exist or a column has the wrong type.
            ValueError: If there is nothing to score, lengths differ, or references are missing.
        """
        self._scorer(options)
        given = [column for column in (sources, predictions, references) if column is not None]
        with self._lock:
            if not given and self.writer is None:
                raise InputError(
                    f"{self.name}: nothing to score; pass sources and predictions, or call add_batch first"
                )
            if given:
                self.add_batch(sources=sources, predictions=predictions, references=references)
            try:
                return super().compute(**options)
            except BaseException:
                self._release()
                raise

    def _compute(
        self,
        sources: list[str],
        predictions: list[str],
        references: list[list[str]] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        scorer = self._scorer(options)
        rows = list(references) if references is not None and any(references) else None
        with naming_the_extra(self.name):
            return scorer.score(list(sources), list(predictions), rows).to_dict()

    def _scorer(self, options: dict[str, Any]) -> Any:
        """The scorer of one call; networks and parses are cached in the process, so another one costs little."""
        if not options:
            return self.scorer
        settings, runtime = replace_options(self.name, self._settings, self._runtime, options)
        return type(self.scorer)(settings, runtime)

    def _download_and_prepare(self, dl_manager: Any) -> None:
        with naming_the_extra(self.name):
            self.scorer.load()

    def _release(self) -> None:
        """Let go of what a failed `compute` still holds: rows, files, locks (evaluate does so after success only)."""
        self.data = self.writer = self.buf_writer = None
        for lock, path in zip(self.filelocks or [], self.file_paths or [], strict=True):
            if lock.is_locked:  # else another process may own a file of this name by now
                Path(path).unlink(missing_ok=True)
                lock.release()
        self.filelocks = self.file_paths = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.writer is not None:
            raise pickle.PicklingError(f"{self.name}: sentences were added but not scored; call compute() first")
        return _rebuild, (type(self).__module__, type(self).__qualname__, self.name, self._arguments)


def _rebuild(module: str, qualified_name: str, name: str, arguments: dict[str, Any]) -> Module:
    """Make a pickled module anew, also in a process, or on a machine, that has never loaded it."""
    evaluate.loading.init_dynamic_modules()
    importlib.invalidate_caches()
    try:
        namespace = importlib.import_module(module)
    except ModuleNotFoundError:
        factory = evaluate.loading.evaluation_module_factory(str(module_folder(name)))
        namespace = importlib.import_module(factory.module_path)
    return getattr(namespace, qualified_name)(**arguments)
