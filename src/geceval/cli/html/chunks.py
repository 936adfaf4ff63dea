"""Tables of chunks as HTML, for the page of `geceval chunks` and for the demo Space; all text is escaped."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence

from geceval.core.html_page import page
from geceval.version import __version__
from geceval.workflows.chunks import LABELS, ChunkCell, ChunkTable

NOTHING = "∅"
MEANINGS = {
    "hit": "corrected as the reference does",
    "wrong": "corrected, but not as the reference does",
    "under": "not corrected, though the reference does",
    "over": "changed, though the reference does not",
    "varies": "one of these or another, by the reference",
    "changed": "has an edit here",
}
# Ink and paper, light and dark.
_COLOURS = {
    "hit": ("#00553c", "#d3f0e3", "#8be3c1", "#0f3d2e"),
    "wrong": ("#8a3000", "#fbdfcf", "#ffb891", "#4d2411"),
    "under": ("#0b4a86", "#d9eafb", "#93cbff", "#12324f"),
    "over": ("#84235b", "#f7dceb", "#f5aed6", "#47203b"),
    "varies": ("#5c4a00", "#f8edc3", "#efd676", "#40370f"),
    "changed": ("inherit", "transparent", "inherit", "transparent"),
}
_RULES = """
.ck-legend { display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; margin: 0; padding: 0; font-size: .875rem;
  list-style: none; }
.ck-legend li { display: flex; align-items: baseline; gap: .4rem; }
.ck-legend b { padding: 0 .45rem; border-radius: .3rem; font-weight: 650; }
.ck-wide { overflow-x: auto; contain: inline-size; border-radius: .3rem; }
.ck-wide:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.ck table { width: auto; border-collapse: separate; border-spacing: 2px; font-size: .9375rem; line-height: 1.4; }
.ck th, .ck td { padding: .3rem .55rem; border: 0; border-radius: .3rem; text-align: left; vertical-align: baseline;
  white-space: nowrap; font-weight: 400; }
.ck thead td, .ck thead th { padding-block: .1rem; font-size: .75rem; font-variant-numeric: tabular-nums;
  opacity: .75; }
.ck tbody th { position: sticky; left: 0; z-index: 1; font-size: .8125rem; background: var(--ck-paper); }
.ck td span { display: block; width: max-content; max-width: 16rem; white-space: normal;
  overflow-wrap: anywhere; }
.ck td small { display: block; font-size: .71875rem; line-height: 1.25; letter-spacing: .02em; }
.ck .ck-same { opacity: .72; }
.ck-changed { box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 45%, transparent); }
"""
_STYLE = """
:root { --ck-paper: var(--paper); }
body { max-width: 90rem; padding: 1.5rem 1.25rem 4rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.4rem; }
h2 { margin: 1.75rem 0 .35rem; font-size: .9375rem; }
h2 small { margin-left: .6rem; color: var(--faint); font-size: .8125rem; font-weight: 400; }
header p { margin: .25rem 0 .75rem; max-width: 52rem; color: var(--faint); font-size: .875rem; }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid; } .ck-wide { overflow: visible; } }
"""


def colours(dark: str = "@media (prefers-color-scheme: dark)") -> str:
    """CSS of the tables."""
    rules = [f".ck-{label} {{ color: {ink}; background: {paper}; }}" for label, (ink, paper, *_) in _COLOURS.items()]
    night = [f".ck-{label} {{ color: {ink}; background: {paper}; }}" for label, (*_, ink, paper) in _COLOURS.items()]
    return "\n".join([_RULES, *rules, f"{dark} {{", *night, "}", ""])


def chunks_page(tables: Sequence[ChunkTable], caption: str, title: str = "Chunks") -> str:
    """The whole page."""
    sections = "\n".join(
        f"<section>\n<h2>Sentence {table.line}{_tally([table])}</h2>\n{chunk_table(table)}\n</section>"
        for table in tables
    )
    body = f"""<header>
<h1>{html.escape(title)}</h1>
<p>{html.escape(caption)}. A column is a chunk, with the offsets of its source tokens; {NOTHING} is no token.
By geceval {__version__}.</p>
{legend(tables)}
</header>
<main>
{sections}
</main>"""
    return page(title, _STYLE + colours(), body)


def legend(tables: Iterable[ChunkTable]) -> str:
    """What the labels mean that occur in the tables; nothing if there is none."""
    items = "\n".join(f'<li><b class="ck-{label}">{label}</b>{MEANINGS[label]}</li>' for label in used_labels(tables))
    return f'<ul class="ck-legend">\n{items}\n</ul>' if items else ""


def used_labels(tables: Iterable[ChunkTable]) -> list[str]:
    """The labels that occur in the tables."""
    found = {label for table in tables for label in table.labels()}
    return [label for label in LABELS if label in found]


def chunk_table(table: ChunkTable) -> str:
    """One sentence, in a box within which it scrolls."""
    top = "".join(f'<th scope="col">{start}:{end}</th>' for start, end in table.spans)
    corrected = table.corrected()
    rows = "\n".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(map(_cell, row, corrected))}</tr>'
        for name, row in zip(table.names, table.rows, strict=True)
    )
    return (
        f'<div class="ck ck-wide" tabindex="0" role="region" aria-label="Chunks of sentence {table.line}"><table>\n'
        f"<thead><tr><td></td>{top}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _cell(cell: ChunkCell, corrected: bool) -> str:
    kind = f"ck-{cell.label}" if cell.label else "" if corrected else "ck-same"
    word = f"<small>{cell.label}</small>" if cell.label else ""
    opening = f'<td class="{kind}">' if kind else "<td>"
    return f"{opening}<span>{html.escape(cell.text) or NOTHING}</span>{word}</td>"


def _tally(tables: Iterable[ChunkTable]) -> str:
    """How often each label stands in the rows of the correction."""
    found = Counter(cell.label for table in tables for cell in table.rows[1] if cell.label)
    text = " · ".join(f"{found[label]} {label}" for label in LABELS if found[label])
    return f"<small>{text}</small>" if text else ""
