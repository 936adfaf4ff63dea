"""Tab: what this page is, what it keeps, and which metrics it has."""

from __future__ import annotations

import gradio as gr

import geceval
import render
import scoring
from limits import MAX_WORDS
from uploads import MAX_ROWS

TEXT = f"""
## What this is

**geceval** scores grammatical error correction. Every metric on this page is a Hugging Face `evaluate` module, and
gives here the very numbers that it gives in Python; the table below says how each is loaded there:

```
import geceval

impara = geceval.load("impara")
impara.compute(sources=["He go to school ."], predictions=["He goes to school ."])
```

The page runs on the small models that come with the package, on a CPU and without any network; metrics of the large
model stand in a group of their own and work where it is installed. Longer texts and whole corpora are for the package;
the page takes {MAX_WORDS} words a sentence and {MAX_ROWS:,} lines a file.

## What it keeps

Nothing for long: texts are scored in memory, and forgotten as others follow; uploaded files are deleted within an
hour. There are no analytics and no requests to other servers.

## What scores mean

A score is no verdict on a writer. Metrics were made to compare systems over many sentences; on a single sentence,
they often disagree with people and with each other. The *Meta-evaluation* tab says how often. The examples on this page
were made up for it.

## Keyboard

Tab moves on, Space chooses, Shift+Enter in a text field starts the work, arrow keys move within lists and tables.

## Licence

Apache-2.0, code and bundled models. Please cite the paper of each metric that you report; its card names it, as does
`geceval.load(name).citation`.
"""


def metrics_table() -> str:
    """All metrics of the page with what they need and where their scores lie."""
    rows = [
        [
            f"<code>{render.escape(name)}</code>",
            f"{render.escape(scoring.description(name))}<br><code>{render.escape(scoring.call(name))}</code>"
            f"<br><em>needs {'source and references' if scoring.needs_references(name) else 'the source'}; "
            f"{render.escape(scoring.range_text(name)).replace(' ', '&nbsp;')}</em>",
        ]
        for name in sorted({*scoring.metrics(), *scoring.large_metrics()})
    ]
    return render.block(render.table(["metric", "what it says"], rows, "Metrics of this page", 2))


def build() -> None:
    """Lay out the tab."""
    gr.Markdown(TEXT)
    gr.HTML(metrics_table(), apply_default_css=False, elem_id="about-metrics")
    gr.Markdown(f"geceval {geceval.__version__}")
