"""Tab: several systems on a corpus that the user uploads."""

from __future__ import annotations

import csv
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

import render
import scoring
from geceval.core.errors import UserError
from geceval.workflows.compare import Comparison, compare
from guard import Refused, polite
from uploads import MAX_ANNOTATORS, MAX_BYTES, MAX_ROWS, MAX_SYSTEMS, Corpus, read_corpus

logger = logging.getLogger("geceval.demo")

MAX_SCORES = 40_000
MAX_LARGE = 2_000  # of them by the large model
RESAMPLES = 1_000
UNCHANGED = "unchanged source"
BASELINES = (UNCHANGED, "first system", "best system")
COLUMNS = ("metric", "system", "score", "low", "high", "difference", "p_bootstrap", "p_randomisation", "signature")
WAITING = "A table with a confidence interval for every score will stand here."


@polite
def compare_systems(
    source: str | None,
    systems: list[str] | None,
    references: list[str] | None,
    metrics: list[str],
    baseline: str,
    large: list[str] | None = None,
    progress: Any = gr.Progress(),  # noqa: B008 - how gradio hands it over
) -> tuple[str, str, list[dict[str, Any]]]:
    """Score systems on uploaded files and test whether they differ.

    Args:
        source: Text file, one sentence per line.
        systems: One parallel text file per system.
        references: One parallel text file per annotator; may be empty.
        metrics: Names of metrics.
        baseline: What the others are compared with: one of `BASELINES`.
        large: Names of metrics that read the large model.
        progress: Told of each metric.

    Returns:
        The page, a CSV file, and its rows.
    """
    names = _check_metrics([*(metrics or []), *(large or [])])
    if baseline not in BASELINES:
        raise Refused(f"Compare with one of: {', '.join(BASELINES)}.")
    corpus = read_corpus(source, systems, references)
    outputs = corpus.systems
    if baseline == UNCHANGED or len(outputs) == 1:
        outputs = {UNCHANGED: corpus.sources, **{name: text for name, text in outputs.items() if name != UNCHANGED}}
    work = len(corpus.sources) * len(outputs) * len(names)
    if work > MAX_SCORES:
        raise Refused(
            f"That would be {work:,} sentence scores, and this page takes {MAX_SCORES:,}; choose fewer metrics."
        )
    work = len(corpus.sources) * len(outputs) * len(set(names) & set(scoring.large_metrics()))
    if work > MAX_LARGE:
        raise Refused(
            f"That would be {work:,} sentence scores of the large model, and this page takes {MAX_LARGE:,} of them."
        )
    against = {"best system": "best"}.get(baseline, "first")
    found, missing = _compare_all(names, corpus, outputs, against, progress)
    if not found:
        raise Refused(f"Nothing could be scored: {'; '.join(f'{name} {why}' for name, why in missing.items())}.")
    rows = _rows(found)
    return _view(found, missing, len(corpus.sources), baseline), _csv(rows), rows


def _check_metrics(metrics: Sequence[str] | None) -> list[str]:
    names = list(dict.fromkeys(metrics or []))
    if not names:
        raise Refused("Choose at least one metric.")
    for name in names:
        if name not in (*scoring.metrics(), *scoring.large_metrics()):
            raise Refused(f"There is no metric called {str(name)[:40]} here.")
    return names


def _compare_all(
    names: list[str], corpus: Corpus, outputs: Mapping[str, list[str]], against: str, progress: Any
) -> tuple[dict[str, Comparison], dict[str, str]]:
    found, missing = {}, {}
    for done, name in enumerate(names):
        progress((done, len(names)), desc=f"{name}, {len(corpus.sources):,} sentences", unit="metrics")
        if scoring.needs_references(name) and corpus.references is None:
            missing[name] = "needs references"
            continue
        options = {name: scoring.options(name)}
        try:
            found |= compare(
                [name],
                corpus.sources,
                outputs,
                corpus.references,
                options=options,
                baseline=against,
                resamples=RESAMPLES,
            )
        except (UserError, ImportError) as error:
            logger.warning("%s: %s", name, error)
            missing[name] = "is not available here"
    return found, missing


def _rows(found: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    return [
        dict(
            zip(
                COLUMNS,
                [
                    name,
                    each.system,
                    each.score,
                    each.low,
                    each.high,
                    each.difference,
                    each.p["bootstrap"],
                    each.p["randomisation"],
                    comparison.signature,
                ],
                strict=True,
            )
        )
        for name, comparison in found.items()
        for each in comparison.standings
    ]


def _view(found: Mapping[str, Comparison], missing: Mapping[str, str], sentences: int, baseline: str) -> str:
    parts = []
    for name, comparison in found.items():
        standings = comparison.standings
        span = min(each.low for each in standings), max(each.high for each in standings)
        sign = 1 if scoring.higher_is_better(name) else -1
        rows = [
            [
                render.escape(each.system),
                f"<strong>{render.number(each.score)}</strong>",
                render.interval(each.low, each.score, each.high, span)
                + f"<small>{render.number(each.low, 3)} to {render.number(each.high, 3)}</small>",
                render.number(each.difference),
                "baseline" if _is_baseline(each) else _p(each.p["bootstrap"]),
                "" if _is_baseline(each) else _p(each.p["randomisation"]),
            ]
            for each in sorted(standings, key=lambda each: -sign * each.score)
        ]
        columns = ["system", "score", "95% interval", "difference", "p bootstrap", "p randomised"]
        parts.append(render.heading(name))
        parts.append(render.table(columns, rows, f"{scoring.description(name)}; {sentences:,} sentences"))
    if missing:
        parts.append(render.note("Not scored: " + "; ".join(f"{name} {why}" for name, why in missing.items()) + "."))
    parts.append(
        render.note(
            f"Differences are from the {baseline}, p-values are two-sided; {RESAMPLES:,} resamples of sentences."
        )
    )
    return render.block(*parts)


def _is_baseline(standing: Any) -> bool:
    return standing.difference == 0 and set(standing.p.values()) == {1.0}


def _p(value: float) -> str:
    shown = render.number(value, 3)
    return f"<strong>{shown}</strong>" if value < 0.05 else shown


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A file of its own folder; names that a spreadsheet would read as formulas get an apostrophe."""
    path = Path(tempfile.mkdtemp(prefix="geceval-")) / "geceval-comparison.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return str(path)


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def example_files() -> tuple[str, list[str], list[str]]:
    """The corpus that comes with geceval: source, systems, references."""
    folder = scoring.EXAMPLE
    systems = [str(folder / "systems" / f"{name}.txt") for name in ("strong", "minimal", "overcorrect", "meaning")]
    return str(folder / "source.txt"), systems, [str(folder / f"reference_{number}.txt") for number in (0, 1)]


def build() -> None:
    """Lay out the tab."""
    text = [".txt", ".src", ".out", ".hyp", ".ref"]
    with gr.Row(equal_height=False):
        with gr.Column(scale=3, min_width=300):
            gr.Markdown(
                f"Text files, one sentence per line, words separated by spaces; at most {MAX_ROWS:,} lines and "
                f"{MAX_BYTES // 2**20} MB each, {MAX_SYSTEMS} systems, {MAX_ANNOTATORS} reference files."
            )
            source = gr.File(label="Source", file_types=text, height=110, elem_id="compare-source")
            systems = gr.File(
                label="Systems, one file each",
                file_count="multiple",
                file_types=text,
                height=130,
                elem_id="compare-systems",
            )
            references = gr.File(
                label="References, one file per annotator (optional)",
                file_count="multiple",
                file_types=text,
                height=130,
                elem_id="compare-references",
            )
            metrics = gr.CheckboxGroup(
                scoring.choices(scoring.metrics()), value=list(scoring.DEFAULTS), label="Metrics"
            )
            large = scoring.large_group()
            baseline = gr.Radio(list(BASELINES), value=BASELINES[0], label="Compare with the")
            with gr.Row():
                example = gr.Button("Use the example corpus", min_width=120)
                submit = gr.Button("Compare", variant="primary", min_width=120, elem_id="compare-button")
        with gr.Column(scale=6, min_width=300):
            view = gr.HTML(render.empty(WAITING), elem_id="compare-view", apply_default_css=False)
            download = gr.DownloadButton("Download CSV", visible=True, interactive=False, size="sm")
            with gr.Accordion("As JSON", open=False):
                data = gr.JSON(show_label=False)
    example.click(
        example_files,
        None,
        [source, systems, references],
        api_name="example_corpus",
        api_description="The files of the corpus that comes with geceval.",
        queue=False,
    )
    submit.click(
        compare_systems,
        [source, systems, references, metrics, baseline, large],
        [view, download, data],
        api_name="compare",
        api_description="Score systems on uploaded files and test whether they differ.",
        concurrency_id="long",
        concurrency_limit=1,
        show_progress_on=view,
    ).success(
        lambda: gr.DownloadButton(interactive=True),
        None,
        download,
        api_name="compare_done",
        api_visibility="undocumented",
        queue=False,
    )
