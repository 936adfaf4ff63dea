"""Base class of the `evaluate` modules of all metrics: texts, columns, options, checks, pickling."""

import abc
import dataclasses
import importlib
import inspect
import pickle
import re
import sys
import textwrap
import threading
import typing
from collections.abc import Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union

import datasets
import evaluate
from evaluate.naming import camelcase_to_snakecase

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import check_columns
from geceval.core.options import replace_options
from geceval.hub.folders import module_folder
from geceval.scorers.base import Scorer

_EVALUATE_ARGUMENTS = frozenset(inspect.signature(evaluate.EvaluationModule.__init__).parameters) - {"self", "kwargs"}
_COLUMNS = """
Args:
    sources (`list` of `str`): What the learner wrote, one string per sentence, in tokens or prose, see `text`.
    predictions (`list` of `str`): What the system made of it, one string per sentence.
    references{references}
"""
_REFERENCES = " (`list` of `list` of `str`): One list of references, or one string, per sentence{unless}."
_NO_REFERENCES = ": Not used; dropped if given, so that the metric can be combined with others."
_WRAP = textwrap.TextWrapper(
    120, initial_indent=" " * 4, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False
)
_EXAMPLE = """\
    signature (`str`): What was computed: the settings, the models with their hashes, the version of geceval.

Examples: those of the card show numbers.

    >>> import geceval
    >>> {name} = geceval.load("{name}")
    >>> sources, predictions = ["He go to school every days ."], ["He goes to school every days ."]
    >>> references = [["He goes to school every day .", "He goes to school each day ."]]
    >>> result = {name}.compute(sources=sources, predictions=predictions, references=references)
    >>> len(result["scores"])
    1
"""
_RUN_TIME = """
Every option is taken by `load` and by `compute`. All metrics take these run-time options, which say how to compute, and
ignore those that they have no use for:

"""


class Module(evaluate.Metric, abc.ABC):
    """A metric of geceval as an `evaluate` module."""

    # A subclass, named like its metric in camel case, is in a file with the constants `_DESCRIPTION`, `_CITATION` and
    # `_KWARGS_DESCRIPTION`. Options of either kind are taken by `load`, and by `compute` for one call. The positional
    # `config_name` of `evaluate.load` is another way to write `model=`. An option with the name of an argument of
    # `evaluate` (`seed` and `timeout` of `llm_judge`) is the metric's; `evaluate` keeps its default then.

    codebase_urls: ClassVar[list[str]] = []
    _inputs_description: ClassVar[str]

    @property
    @abc.abstractmethod
    def reference_urls(self) -> list[str]:
        """Papers that describe the metric, a class attribute of each module; the first becomes the home page."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._inputs_description = inputs_description(cls._text("_KWARGS_DESCRIPTION"), cls.scorer_class())
        cls.__doc__ = cls._text("_DESCRIPTION") + cls._inputs_description

    def __init__(self, config_name: str | None = None, **arguments: Any) -> None:
        self._arguments = {"config_name": config_name, **arguments}
        scorer_class = self.scorer_class()
        defaults = scorer_class.Settings(), scorer_class.RunTime()
        of_metric = {field.name for each in defaults for field in dataclasses.fields(each)}
        of_evaluate = _EVALUATE_ARGUMENTS - of_metric
        for_evaluate = {name: value for name, value in arguments.items() if name in of_evaluate}
        options = {name: value for name, value in arguments.items() if name not in of_evaluate}
        if config_name not in (None, "default"):
            if "model" in options:
                raise InputTypeError(f"{scorer_class.name}: config_name and model both name the model; pass one")
            options["model"] = config_name
        self._takes_references = scorer_class().needs_references()
        self.scorer = scorer_class(*replace_options(scorer_class.name, *defaults, options))
        self._lock = threading.RLock()  # the rows of two threads must not meet in one computation
        super().__init__(config_name=None, **for_evaluate)

    @classmethod
    def scorer_class(cls) -> type[Scorer]:
        """The class that computes this metric: by default the one of `geceval.scorers` that has its name."""
        return registry.scorer_class(camelcase_to_snakecase(cls.__name__))

    @classmethod
    def _text(cls, constant: str) -> str:
        """A text of the file that defines this module."""
        return getattr(sys.modules[cls.__module__], constant)

    def _info(self) -> evaluate.MetricInfo:
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
            description=self._text("_DESCRIPTION"),
            citation=self._text("_CITATION"),
            inputs_description=self._inputs_description,
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
        **unknown: Any,
    ) -> None:
        """Add sentences, to be scored by the next `compute()`.

        Args:
            predictions: One string per sentence.
            references: A list of references per sentence, or one string per sentence. Not used by metrics that need
                none, and not needed if a gold file is given (`gold_m2=`).
            sources: One string per sentence.
            unknown: Not accepted; an unknown column is a TypeError.

        Raises:
            TypeError: If a column is not a list or a row not a string; nothing has been added then.
            ValueError: If a column is empty or the lengths differ; nothing has been added then.
        """
        if unknown:
            known = ", ".join(self._feature_names())
            raise InputTypeError(f"{self.name}: unknown column {next(iter(unknown))!r}; the columns are: {known}")
        has_references = self._takes_references and references is not None
        columns = check_columns(
            self.name,
            sources,
            predictions,
            references if has_references else None,
            needs_references=has_references,
            warn=False,
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
    ) -> dict[str, Any]:
        """Score the given sentences, or those added before. Threads that share a module wait for each other.

        Args:
            predictions: One string per sentence.
            references: A list of references per sentence, or one string per sentence.
            sources: One string per sentence.
            options: Settings and run-time options for this call only; the module keeps those it was loaded with.

        Returns:
            `{"score": float, "scores": [one float per sentence], ..., "signature": str}` in plain Python values. Of
            several processes (`num_process`), all but the first get `None`, which the type leaves out.

        Raises:
            TypeError: If an option does not exist or a column has the wrong type.
            ValueError: If there is nothing to score, lengths differ, or references are missing.
        """
        if unknown := sorted(options.keys() & {"source", "prediction", "reference"}):
            raise InputTypeError(f"{self.name}: unknown column {unknown[0]!r}; did you mean '{unknown[0]}s'?")
        scorer = self._scorer(options)
        columns = {"sources": sources, "predictions": predictions, "references": references}
        has_columns = any(column is not None for column in columns.values())
        with self._lock:
            if not has_columns and self.writer is None:
                raise InputError(f"{self.name}: nothing to score; pass sources and predictions, or add_batch first")
            if has_columns and self.writer is None and self.num_process == 1:
                return scorer.score(**columns).to_dict()  # nothing else is to be scored with it, nor need it be stored
            if has_columns:
                self.add_batch(**columns)
            try:
                return super().compute(**options)
            except BaseException:
                self._release()
                raise

    def _compute(
        self, sources: list[str], predictions: list[str], references: list[list[str]] | None = None, **options: Any
    ) -> dict[str, Any]:
        rows = references if references is not None and any(references) else None
        return self._scorer(options).score(sources, predictions, rows).to_dict()

    def _scorer(self, options: dict[str, Any]) -> Scorer:
        """The scorer of one call; networks and parses are cached in the process, so another scorer costs little."""
        if not options:
            return self.scorer
        return type(self.scorer)(*replace_options(self.name, self.scorer.settings, self.scorer.runtime, options))

    def _download_and_prepare(self, dl_manager: Any) -> None:
        self.scorer.load()

    def _release(self) -> None:
        """Release what a failed `compute` still holds: rows, files, locks (evaluate does so only after success)."""
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
    """Recreate a pickled module, even in a process or on a machine that has never loaded it."""
    evaluate.loading.init_dynamic_modules()
    importlib.invalidate_caches()
    try:
        namespace = importlib.import_module(module)
    except ModuleNotFoundError:
        factory = evaluate.loading.evaluation_module_factory(str(module_folder(name)))
        namespace = importlib.import_module(factory.module_path)
    return getattr(namespace, qualified_name)(**arguments)


def inputs_description(text: str, scorer_class: type[Scorer]) -> str:
    """A module's own text, with the columns, unless it describes them itself, the settings and the run-time options."""
    columns, returns, results = text.partition("Returns:\n")
    if "Args:" not in columns:
        columns = _columns(scorer_class)
    settings = f"{columns.rstrip()}\n{_entries(scorer_class.Settings)}\n"
    example = _EXAMPLE.format(name=scorer_class.name)
    return f"{settings}\n{returns}{results}{example}{_RUN_TIME}{_entries(scorer_class.RunTime)}\n"


def _columns(scorer_class: type[Scorer]) -> str:
    if not scorer_class().needs_references():
        return _COLUMNS.format(references=_NO_REFERENCES)
    unless = "; not\n        needed with `gold_m2`" if hasattr(scorer_class.Settings(), "gold_m2") else ""
    return _COLUMNS.format(references=_REFERENCES.format(unless=unless))


def _entries(options: type) -> str:
    """One entry for each field of a dataclass: its type, its default, and what the docstrings say of it."""
    texts = {name: text for base in reversed(options.__mro__) for name, text in _attributes(base).items()}
    hints = typing.get_type_hints(options, include_extras=True)
    entries = []
    for field in dataclasses.fields(options):
        default = "" if field.default in (None, dataclasses.MISSING) else f", defaults to {_code(field.default)}"
        entry = f"{field.name} ({_type(hints[field.name])}, *optional*{default}): {texts.get(field.name, '')}"
        entries.append(_WRAP.fill(entry))
    return "\n".join(entries)


def _attributes(options: type) -> dict[str, str]:
    """The section `Attributes:` of a docstring: name to text; `a, b: text` is the text of both."""
    section = inspect.cleandoc(options.__doc__ or "").partition("Attributes:\n")[2]
    entries = re.split(r"^ {4}(\w+(?:, \w+)*): ", section, flags=re.MULTILINE)
    pairs = zip(entries[1::2], entries[2::2], strict=True)
    return {name: " ".join(text.split()) for names, text in pairs for name in names.split(", ")}


def _type(hint: Any) -> str:
    """A type annotation in words: "`str` or `Path`", the choices of a `Literal`, "`list` of `str`"."""
    kind, inner = typing.get_origin(hint), typing.get_args(hint)
    if kind is Annotated:
        return "`str`" if isinstance(inner[1], str) else _type(inner[0])  # marked as a path, a model or a pipeline
    if kind in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(part) for part in inner if part is not NoneType))
    if kind is Literal:
        *choices, last = map(_code, inner)
        return f"{', '.join(choices)} or {last}" if choices else last
    return f"`list` of {_type(inner[0])}" if inner else f"`{hint.__name__}`"


def _code(value: Any) -> str:
    return f'`"{value}"`' if isinstance(value, str) else f"`{value!r}`"
