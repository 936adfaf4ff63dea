"""Requests of the page to geceval: metrics that run offline, tokens, edits, scores."""

from __future__ import annotations

import functools
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gradio as gr

from geceval import registry
from geceval.core.errors import naming_the_extra
from geceval.core.files import ASSETS
from geceval.core.options import RunTime
from geceval.core.result import Result
from geceval.edits.edit import Edit
from geceval.edits.errant.annotator import get_annotator
from geceval.text.columns import kind
from geceval.text.tokenisers import tokenise
from geceval.workflows.edit_filter import edit_judge
from geceval.workflows.test_sets import NamedTestSet
from limits import Refused, check_flag, check_references, check_sentence

logger = logging.getLogger("geceval.demo")

EXAMPLE = ASSETS / "example"
DEFAULTS = ("impara_lm", "errant", "gleu")
MAX_EDITS = 60  # of a sentence, that are weighed or judged one by one
LANGUAGES = {"English": "en", "Russian": "ru", "Chinese": "zh", "any other": "any"}
LARGE_COSTS = (
    "They read a language model of 135 million parameters, which is loaded when one of them is first asked for; "
    "this page then takes up to 3.5 GB of memory."
)


LARGE_SISTERS = {"smollm2-impara": "impara_lm", "smollm2-some": "some"}
"""Models that two metrics can read in place of the small one that comes with geceval, as metrics of the page."""


@functools.lru_cache
def metrics() -> tuple[str, ...]:
    """Metrics that run on what comes with geceval, in alphabetical order."""
    return tuple(name for name in registry.offline_metrics()[0] if name != "ged")  # it has a tab of its own


@functools.lru_cache
def large_metrics() -> tuple[str, ...]:
    """Metrics that read a large model, which is loaded when one of them is first asked for."""
    return (*LARGE_SISTERS, *registry.large_metrics()[0])


def large_group(brief: bool = False) -> gr.CheckboxGroup:
    """The choice of metrics of the large model, with its costs, or how to get it."""
    model = registry.large_metrics()[1]
    if model.obstacle:
        logger.warning("%s", model.obstacle)
    command = model.commands[0].split(" && ")[-1]  # without the extra, whose command names a folder of this machine
    return gr.CheckboxGroup(
        choices(large_metrics(), brief),
        value=[],
        label="With the large model",
        info=f"Not on this machine. To get it: {command}" if model.obstacle else LARGE_COSTS,
        interactive=not model.obstacle,
        elem_classes="gv-names" if brief else "gv-metrics",
        min_width=280,
    )


def metric(name: str) -> str:
    """The metric of geceval that a name on the page means."""
    return LARGE_SISTERS.get(name, name)


def options(name: str) -> dict[str, Any]:
    """Options of a metric on the page."""
    model = {"model": name} if name in LARGE_SISTERS else {}
    return {**registry.scorer_class(metric(name)).correction_settings, **model}


def as_typed(name: str, source: str, correction: str, language: str = "en") -> dict[str, Any]:
    """`options`; prose whose punctuation was not to be separated is scored as it stands, for so its edits are shown."""
    own = {"language": language} if language != "en" else {}
    return options(name) | own | ({"text": "tokens"} if kind([source, correction]) == "prose" else {})


def takes_language(name: str) -> bool:
    """Whether a metric can be told the language."""
    return hasattr(registry.scorer_class(metric(name)).Settings, "language")


@contextmanager
def noticing() -> Iterator[list[str]]:
    """Within the block, what geceval warns of in this thread, without the name of the metric."""
    warnings: list[str] = []
    thread = threading.get_ident()

    class Notice(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread == thread and record.name == "geceval" and record.levelno == logging.WARNING:
                warnings.append(re.sub(r"^\w+: ", "", record.getMessage()))

    handler = Notice()
    logging.getLogger("geceval").addHandler(handler)
    try:
        yield warnings
    finally:
        logging.getLogger("geceval").removeHandler(handler)


def on_corpus(name: str, gold_m2: str | None, named: NamedTestSet | None) -> dict[str, Any]:
    """`options`, with those that papers report on a test set, or the M2 file of the references where they are read."""
    if named is not None:
        return named.options(metric(name)) | options(name)
    reads = gold_m2 is not None and hasattr(registry.scorer_class(metric(name)).Settings, "gold_m2")
    return {**options(name), **({"gold_m2": gold_m2} if reads else {})}


def judges_texts(name: str) -> bool:
    """Whether a metric judges a text by itself, also that of the learner: so do those that a guard is made for."""
    return hasattr(registry.scorer_class(metric(name)).Settings, "guard")


def needs_references(name: str) -> bool:
    """Whether a metric, as the page uses it, needs references."""
    return registry.make_scorer(metric(name), options(name)).needs_references()


def of_one_sentence() -> tuple[str, ...]:
    """Metrics that say something of a sentence on its own: GoToScorer weighs edits by how many systems miss them."""
    return tuple(name for name in metrics() if name != "gotoscorer")


def check_metrics(metrics: Any, known: Sequence[str]) -> list[str]:
    """Names of metrics, each once."""
    if not isinstance(metrics, (list, tuple)) or not metrics:
        raise Refused("Choose at least one metric.")
    for name in metrics:
        if name not in known:
            raise Refused(f"There is no metric called {str(name)[:40]} here.")
    return list(dict.fromkeys(metrics))


def choices(names: Sequence[str], brief: bool = False) -> list[tuple[str, str]]:
    """Label and name of each metric: unless `brief`, what it says stands beside its name."""
    return [(name if brief else f"{name}: {summary(name)}", name) for name in names]


def summary(name: str) -> str:
    """A metric in one line, without its name, which some begin with: `GREEN: ...`."""
    first, colon, rest = description(name).partition(": ")
    named = colon and re.sub(r"\.0|\W", "", first).lower() == name.replace("_", "")
    return f"{rest[:1].upper()}{rest[1:]}" if named else description(name)


def call(name: str) -> str:
    """The line of Python that loads a metric as the page uses it."""
    settings = "".join(f", {key}={value!r}" for key, value in options(name).items())
    return f'geceval.load("{metric(name)}"{settings})'.replace("'", '"')


def metric_groups(names: Sequence[str], brief: bool = False) -> list[gr.CheckboxGroup]:
    """The choice of metrics: without references, with references, of the large model."""
    groups = []
    for label, info, needs in (
        ("Without references", "They judge a correction by itself.", False),
        ("With references", "They compare a correction with those of people.", True),
    ):
        own = [name for name in names if needs_references(name) is needs]
        value = [name for name in DEFAULTS if name in own]
        groups.append(
            gr.CheckboxGroup(
                choices(own, brief),
                value=value,
                label=label,
                info=None if brief else info,
                elem_classes="gv-names" if brief else "gv-metrics",
                scale=2 if needs else 1,
                min_width=280,
            )
        )
    return [*groups, large_group(brief)]


def read_correction(
    source: str, correction: str, references: str, separate: bool, language: str = "en"
) -> tuple[str, str, list[str]]:
    """Checked source, correction and references; with `separate`, punctuation stands alone."""
    if language not in LANGUAGES.values():
        raise Refused(f"The language is one of: {', '.join(LANGUAGES.values())}.")
    source = check_sentence("the source", source)
    correction = check_sentence("the correction", correction)
    known = check_references(references)
    if check_flag("whether to separate punctuation", separate):
        source, correction, *known = (separated(text, language) for text in (source, correction, *known))
    return source, correction, known


def separated(text: str, language: str) -> str:
    """The tokens of a text; emoji that are joined stay one."""
    tokens = tokenise(text, {"zh": "char", "en": "spacy-en"}.get(language, "ptb"))
    return re.sub("(?<=\u200d) | (?=[\u200d\ufe0f])", "", tokens)


def plain(edit: Edit) -> dict[str, Any]:
    """An edit as JSON has it."""
    return {"start": edit.start, "end": edit.end, "correction": edit.correction, "type": edit.type}


def edits(source: str, corrected: Sequence[str], language: str = "en") -> list[list[Edit]]:
    """The edits of ERRANT that turn a source into each corrected text."""
    return get_annotator(language=language).edits([(source, text) for text in corrected])


def chances(source: str, made: list[Edit], language: str = "en") -> list[float] | None:
    """How likely each edit is right; nothing outside English, or for too many edits."""
    if language != "en" or len(made) > MAX_EDITS:
        return None
    return edit_judge(RunTime()).judge([source], [made])[0].tolist()


def score(name: str, source: str, correction: str, references: list[str], language: str = "en") -> Result:
    """Score one sentence."""
    scorer = registry.make_scorer(metric(name), as_typed(name, source, correction, language))
    rows = [references] if scorer.needs_references() else None
    with naming_the_extra(name):
        return registry.score_systems(scorer, [source], {"correction": [correction]}, rows)["correction"]


def read_ahead(name: str, sentences: Sequence[tuple[str, str, list[str]]]) -> None:
    """Score sentences in one batch, so that the caches of the metric answer for each of them."""
    scorer = registry.make_scorer(metric(name), options(name))
    sources, corrections, references = map(list, zip(*sentences, strict=True))
    scorer.score(sources, corrections, references if scorer.needs_references() else None)


def bounds(name: str) -> tuple[float | None, float | None]:
    """Lowest and highest score of a metric as the page uses it; `None` for an open end."""
    return registry.make_scorer(metric(name), options(name)).bounds


def range_text(name: str) -> str:
    """Range and direction of a metric, e.g. `[0, 1] ↑`."""
    low, high = bounds(name)
    left = "(−∞" if low is None else f"[{low:g}".replace("-", "−")
    right = "∞)" if high is None else f"{high:g}]"
    return f"{left}, {right} {'↑' if registry.scorer_class(metric(name)).higher_is_better else '↓'}"


def description(name: str) -> str:
    """A metric in one line."""
    return registry.scorer_class(metric(name)).description.rstrip(".")


def higher_is_better(name: str) -> bool:
    """The direction of a metric."""
    return registry.scorer_class(metric(name)).higher_is_better
