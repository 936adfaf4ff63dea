"""Tab: a leaderboard of several systems on a named test set, or on texts that the user uploads or pastes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
from gradio_client.utils import is_file_obj_with_meta

import comparison
import meter
import named_sets
import render
import scoring
import wiring
from geceval.core.errors import UserError
from geceval.workflows.compare import Comparison, compare
from limits import Refused, polite
from uploads import MAX_ANNOTATORS, MAX_BYTES, MAX_ROWS, MAX_SYSTEMS, Corpus, Text, fit_together, pasted, uploaded

logger = logging.getLogger("geceval.demo")

MAX_SCORES = 40_000
MAX_LARGE = 2_000  # of them by the large model
LONG = {"concurrency_id": "long", "concurrency_limit": 1}
TEXT = [".txt", ".src", ".out", ".hyp", ".ref", *(f".ref{number}" for number in range(MAX_ANNOTATORS))]
UNCHANGED = "unchanged source"
BASELINES = (UNCHANGED, "first system", "best system")
TEST_SETS = "A named one has its own source and references: add the outputs of systems only."
WAITING = "A leaderboard with an interval and a rank for every score will stand here."


@polite
def compare_systems(
    source: Any,
    systems: Any,
    references: Any = None,
    metrics: Sequence[str] = scoring.DEFAULTS,
    baseline: str = UNCHANGED,
    test_set: str = named_sets.OWN,
) -> tuple[str, list[dict[str, Any]]]:
    """Score systems and test whether they differ.

    Args:
        source: An uploaded text file, or a text: one sentence per line; nothing if a test set is named.
        systems: Parallel files or texts, one per system; or a dict of names and texts.
        references: Parallel files or texts, one per annotator, or one M2 file; metrics that need none do without.
        metrics: Names of metrics.
        baseline: What the others are compared with: one of `BASELINES`.
        test_set: `"example"`, or a name of `geceval data list` that is on the server, instead of source and references.

    Returns:
        The page, and its rows.
    """
    texts = [_given(source, "source")[:1], _given(systems, "system"), _given(references, "reference")]
    corpus = _corpus(test_set, *texts)
    view, found = _compared(corpus, metrics, baseline)
    return view, comparison.rows(found)


@polite
def compare_on_page(
    source: str | None,
    systems: list[str] | None,
    references: list[str] | None,
    pasted_source: str,
    pasted_systems: str,
    pasted_references: str,
    alone: list[str],
    compared: list[str],
    large: list[str],
    baseline: str,
    test_set: str = named_sets.OWN,
    visitor: gr.Request = None,
    progress: Any = gr.Progress(),  # noqa: B008 - how gradio hands it over
) -> tuple[Any, ...]:
    """Answer the button: as `compare_systems`, with the table and the leaderboard as files."""
    corpus = _corpus(
        test_set,
        [*map(uploaded, [source] if source else []), *pasted(pasted_source, "source")],
        [*map(uploaded, systems or []), *pasted(pasted_systems, "system")],
        [*map(uploaded, references or []), *pasted(pasted_references, "reference")],
    )
    names = [*(alone or []), *(compared or []), *(large or [])]
    view, found = _compared(corpus, names, baseline, progress, visitor and visitor.session_hash)
    files = comparison.files(found, len(corpus.sources), named_sets.title(test_set))
    return (
        view,
        comparison.rows(found),
        *(gr.DownloadButton(value=file, interactive=True) for file in files),
    )


def _corpus(test_set: str, source: list[Text], systems: list[Text], references: list[Text]) -> Corpus:
    """Texts that fit together, those of a named test set where one is chosen."""
    if test_set == named_sets.OWN:
        return fit_together(source, systems, references)
    return named_sets.corpus(test_set, systems)


def _given(value: Any, name: str) -> list[Text]:
    """Texts from a program: uploaded files, texts, or a dict of names and texts."""
    if is_file_obj_with_meta(value):
        return [uploaded(value["path"])]
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in pasted(each, str(key)[:60])]
    if isinstance(value, list):
        names = [name] if len(value) == 1 else [f"{name} {number}" for number in range(1, len(value) + 1)]
        return [text for each, own in zip(value, names, strict=True) for text in _given(each, own)]
    return pasted(value, name)


def _compared(
    corpus: Corpus, metrics: Sequence[str], baseline: str, progress: Any = None, visitor: str | None = None
) -> tuple[str, dict[str, Comparison]]:
    """The page, and comparisons by metric."""
    names = _check_metrics(metrics)
    if baseline not in BASELINES:
        raise Refused(f"Compare with one of: {', '.join(BASELINES)}.")
    outputs = corpus.systems
    if baseline == UNCHANGED or len(outputs) == 1:
        outputs = {UNCHANGED: corpus.sources, **{name: text for name, text in outputs.items() if name != UNCHANGED}}
    work = len(corpus.sources) * len(outputs)
    slow = work * len(set(names) & set(scoring.large_metrics()))
    if work * len(names) > MAX_SCORES:
        raise Refused(
            f"That would be {work * len(names):,} sentence scores, and this page takes {MAX_SCORES:,}; "
            "choose fewer metrics."
        )
    if slow > MAX_LARGE:
        raise Refused(
            f"That would be {slow:,} sentence scores of the large model, and this page takes {MAX_LARGE:,} of them."
        )
    against = {"best system": "best"}.get(baseline, "first")
    missing = {name: "needs references" for name in names if scoring.needs_references(name) and not corpus.references}
    names = [name for name in names if name not in missing]
    show = _nowhere if progress is None else progress  # one of gradio is empty, and so false, until it shows something
    with meter.running(names, work, show, visitor) as watch, scoring.noticing() as warned:
        found = _compare_all(names, corpus, outputs, against, watch, missing)
    if not found:
        raise Refused(f"Nothing could be scored: {render.unscored(missing)}.")
    return comparison.page(found, missing, len(corpus.sources), baseline, warned), found


def _nowhere(*_: Any, **__: Any) -> None:
    """For programs, which see no progress."""


def _check_metrics(metrics: Any) -> list[str]:
    return scoring.check_metrics(metrics, (*scoring.metrics(), *scoring.large_metrics()))


def _compare_all(
    names: list[str],
    corpus: Corpus,
    outputs: Mapping[str, list[str]],
    against: str,
    watch: meter.Meter,
    missing: dict[str, str],
) -> dict[str, Comparison]:
    """Comparisons by metric; `missing` gets those that failed."""
    found = {}
    for name in names:
        metric = scoring.metric(name)
        try:
            with watch.metric(name):
                (found[name],) = compare(
                    [metric],
                    corpus.sources,
                    outputs,
                    corpus.references,
                    options={metric: scoring.on_corpus(name, corpus.gold_m2, corpus.named)},
                    baseline=against,
                    resamples=comparison.RESAMPLES,
                    confidence=comparison.CONFIDENCE,
                ).values()
        except (UserError, ImportError) as error:
            logger.warning("%s: %s", name, error)
            missing[name] = "not available here"
    return found


def example_files() -> tuple[str, list[str], list[str]]:
    """The corpus that comes with geceval: source, systems, references."""
    folder = scoring.EXAMPLE
    systems = [str(folder / "systems" / f"{name}.txt") for name in ("strong", "minimal", "overcorrect", "meaning")]
    return str(folder / "source.txt"), systems, [str(folder / f"reference_{number}.txt") for number in (0, 1)]


def build() -> None:
    """Lay out the tab."""
    lines = {"lines": 4, "max_lines": 12, "placeholder": "One sentence per line."}
    several = "A line “## name” begins the next one."
    example = gr.Button("Example: four systems, two references", size="sm", elem_id="compare-example")
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=300):
            test_set = gr.Dropdown(
                list(named_sets.choices().items()),
                value=named_sets.OWN,
                label="Test set",
                info=TEST_SETS,
                filterable=False,
                elem_id="compare-set",
            )
            with gr.Tab("Upload files"):
                source = gr.File(label="Source", file_types=TEXT, height=140, elem_id="compare-source")
                systems = gr.File(
                    label="Systems, one file each",
                    file_count="multiple",
                    file_types=TEXT,
                    height=300,
                    elem_id="compare-systems",
                )
                references = gr.File(
                    label="References, or an M2 file (optional)",
                    file_count="multiple",
                    file_types=[*TEXT, ".m2"],
                    height=190,
                    elem_id="compare-references",
                )
                gr.Markdown(
                    f"Text files, one sentence per line, as typed or in tokens; at most {MAX_ROWS:,} lines and "
                    f"{MAX_BYTES // 2**20} MB each, {MAX_SYSTEMS} systems, {MAX_ANNOTATORS} references."
                )
            with gr.Tab("Paste text"):
                texts = [
                    gr.Textbox(label="Pasted source", **lines),
                    gr.Textbox(label="Pasted systems", info=several, **lines),
                    gr.Textbox(label="Pasted references", info=f"Optional. {several}", **lines),
                ]
            baseline = gr.Radio(list(BASELINES), value=BASELINES[0], label="Compare with the")
        with gr.Column(scale=7, min_width=300):
            groups = scoring.metric_groups(scoring.metrics())
    with gr.Row(elem_classes="gv-start"):
        stop = gr.Button("Stop", min_width=80, scale=1, elem_id="compare-stop")
        submit = gr.Button("Compare", variant="primary", scale=4, elem_id="compare-button")
    with gr.Column(elem_classes="gv-answer"):
        view = gr.HTML(render.empty(WAITING), elem_id="compare-view", apply_default_css=False)
        with gr.Row():
            downloads = [
                gr.DownloadButton(label, interactive=False, size="sm", min_width=140)
                for label in ("Download CSV", "Download JSON", "Download HTML")
            ]
        with gr.Accordion("As JSON", open=False):
            data = gr.JSON(show_label=False)
    inputs, outputs = [source, systems, references, *texts, *groups, baseline, test_set], [view, data, *downloads]
    chosen = example.click(
        lambda: (*example_files(), "", "", "", named_sets.OWN),
        None,
        [source, systems, references, *texts, test_set],
        api_name="compare_example",
        api_visibility="undocumented",
        queue=False,
    )
    off = gr.update(value=None, interactive=False)
    shown = {"show_progress_on": view, "scroll_to_output": True, **LONG}
    starts = [submit.click]
    runs = wiring.connect(
        "compare", compare_on_page, inputs, outputs, starts, chosen, "Compare", (None, off, off, off), **shown
    )

    def stop_it(visitor: gr.Request) -> Any:
        stopped = meter.stop(visitor.session_hash)
        return (render.empty("Stopped."), None, off, off, off) if stopped else [gr.skip()] * len(outputs)

    stop.click(stop_it, None, outputs, cancels=runs, **wiring.SILENT)
    own = [source, references, texts[0], texts[2]]
    test_set.change(lambda name: [gr.update(visible=name == named_sets.OWN)] * len(own), test_set, own, **wiring.SILENT)
    gr.api(
        compare_systems,
        api_name="compare",
        api_description="Score systems on files or texts and test whether they differ.",
        **LONG,
    )
