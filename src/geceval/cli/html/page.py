"""The page of `geceval report`: one HTML file that needs no other; all text is escaped."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from geceval.cli.html.leaderboard_table import leaderboard_table
from geceval.cli.html.numbers import NAMES, as_json
from geceval.core.page import page as frame
from geceval.version import __version__
from geceval.workflows.leaderboard import Leaderboard, published_values

_STYLE = """
body { max-width: 78rem; padding: 1.5rem 1.25rem 5rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.3rem; }
h3 { margin: 2rem 0 .25rem; font-size: 1.05rem; }
p { margin: .25rem 0 .75rem; max-width: 52rem; }
.faint, small, figcaption, th small { color: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { background: var(--head); font-weight: 600; }
th.name { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th.name { background: var(--head); }
tbody th { font-weight: 600; }
td small, th small { display: block; font-weight: 400; font-size: .78rem; line-height: 1.35; }
.group { border-left: 1px solid var(--line); }
.best { font-weight: 700; text-decoration: underline; text-underline-offset: 3px; }
.paper td, .paper th { color: var(--faint); font-weight: 400; }
th.name small { white-space: normal; min-width: 11rem; }
.divider th { padding-top: 1rem; }
figure { margin: 1rem 0 2rem; }
figure img { display: block; max-width: 100%; height: auto; box-sizing: border-box; padding: .75rem; background: #fff;
  border: 1px solid var(--line); border-radius: .5rem; }
figcaption { margin-top: .4rem; font-size: .875rem; max-width: 52rem; }
ul.signatures { padding-left: 1.1rem; font: .8rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; } figure, tr { break-inside: avoid; } .wide { overflow: visible; } }
"""


def page(title: str, boards: Sequence[Leaderboard], figures: Sequence[Sequence[tuple[str, bytes]]]) -> str:
    """The whole page.

    Args:
        title: Title and heading.
        boards: One per data set.
        figures: For each board its figures, each with a caption and the content of an SVG file.
    """
    sections = "\n".join(_section(board, own) for board, own in zip(boards, figures, strict=True))
    body = f"""<header>
<h1>{_text(title)}</h1>
<p class="faint">How well metrics of grammatical error correction agree with people, by geceval {_text(__version__)}.
In each cell the upper number was measured for this page; the lower, smaller one is what a paper reports. The best
measured number of a column is underlined.</p>
</header>
<main>
{sections}
</main>"""
    return frame(title, _STYLE, body)


def _section(board: Leaderboard, figures: Sequence[tuple[str, bytes]]) -> str:
    human = board.human
    if human.name == "seeda":
        how = "Systems: TrueSkill of the metric’s sentence scores against people’s TrueSkill."
    else:
        how = "Systems: corpus scores, or means of sentence scores, against Expected Wins (EW) and TrueSkill (TS)."
    judgments = sum(map(len, human.judgments.values()))
    about = (
        f"{len(board.systems)} systems, {len(human.sources):,} sentences, {judgments:,} rankings. {how} Pearson’s r, "
        "Spearman’s ρ. Sentences: accuracy and Kendall’s τ over the pairs that people ordered, all systems with one "
        "text counted; of two outputs with equal scores the system listed later wins, and ties says how often that "
        f"happens. Ranked by accuracy on sentences. The systems: {', '.join(board.systems)}."
    )
    parts = [
        f"<section>\n<h2>{_text(NAMES[human.name])}</h2>",
        f"<p>{_text(about)}</p>",
        _table(board),
        *(_figure(caption, image) for caption, image in figures),
        _signatures(board),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _table(board: Leaderboard) -> str:
    labels, others = {}, {}
    for table in board.tables:
        published = published_values(board.published, table.metric).values()
        labels[table.metric] = list(dict.fromkeys(f"{row.label}: {row.paper}" for _, row in published))
    for row in board.published:
        if row.metric not in board.values:
            others.setdefault((row.label, row.paper), {}).update(row.values)
    published_only = [(label, paper, values) for (label, paper), values in others.items()]
    return f'<div class="wide">{leaderboard_table(as_json(board), None, labels, published_only)}</div>'


def _figure(caption: str, image: bytes) -> str:
    data = base64.b64encode(image).decode("ascii")
    return (
        f'<figure><img alt="{_text(caption)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{_text(caption)}</figcaption></figure>"
    )


def _signatures(board: Leaderboard) -> str:
    lines = [table.signature or f"{table.metric}: from a file, without a signature" for table in board.tables]
    text = "<h3>Signatures</h3>\n" + _list(lines, "signatures")
    if board.skipped:
        text += "\n<h3>Not scored</h3>\n" + _list([f"{name}: {why}" for name, why in board.skipped.items()])
    return text


def _list(lines: Sequence[str], kind: str = "") -> str:
    items = "\n".join(f"<li>{_text(line)}</li>" for line in lines)
    return f'<ul class="{kind}">\n{items}\n</ul>' if kind else f"<ul>\n{items}\n</ul>"


def _text(text: str) -> str:
    return html.escape(text)
