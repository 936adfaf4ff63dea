"""The page of `geceval report`: one HTML file that needs no other; all text is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

from geceval.cli.html.report_numbers import NAMES, as_json
from geceval.cli.html.report_table import leaderboard_table
from geceval.core.html_page import page as frame
from geceval.version import __version__
from geceval.workflows.report import Leaderboard, lead, published_values

LEVEL = 0.05  # below it a difference is called significant
_STYLE = """
body { max-width: 78rem; padding: 1.5rem 1.25rem 5rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.3rem; }
h3 { margin: 2rem 0 .25rem; font-size: 1.05rem; }
p { margin: .25rem 0 .75rem; max-width: 52rem; }
.faint, small, figcaption, th small { color: var(--faint); }
.wide { overflow: auto; max-height: 90vh; contain: inline-size; }
.wide:focus-visible { outline: 2px solid currentColor; }
.summary { padding: .9rem 1.1rem; max-width: 50rem; border-left: .3rem solid currentColor; background: var(--head); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead { position: sticky; top: 0; z-index: 2; }
thead th { background: var(--head); font-weight: 600; }
th.name { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th.name { background: var(--head); }
tbody th { font-weight: 600; }
td small, th small { display: block; font-weight: 400; font-size: .78rem; line-height: 1.35; }
.group { border-left: 1px solid var(--line); }
.by { background: var(--head); }
.best { font-weight: 700; text-decoration: underline; text-underline-offset: 3px; }
.paper td, .paper th { color: var(--faint); font-weight: 400; }
th.name small { white-space: normal; min-width: 11rem; }
.divider th { padding-top: 1rem; }
figure { margin: 1rem 0 2rem; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: .4rem; font-size: .875rem; max-width: 52rem; }
ul.signatures { padding-left: 1.1rem; font: .8rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  body { padding: 1rem .75rem 3rem; }
  th, td { padding: .3rem .45rem; }
  th.name { min-width: 6.5rem; max-width: 7.5rem; white-space: normal; overflow-wrap: break-word; }
  th.name small { min-width: 0; }
  tbody tr:not(.paper) th.name small { display: none; }
}
@media print { body { max-width: none; padding: 0; } figure, tr { break-inside: avoid; }
  .wide { max-height: none; overflow: visible; } }
"""


def page(title: str, boards: Sequence[Leaderboard], figures: Sequence[Sequence[tuple[str, str]]]) -> str:
    """The whole page."""
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


def summary(board: Leaderboard) -> str:
    """Which metric agrees best with people, by how much, and whether that could be chance: two or three sentences."""
    found = lead(board)
    best = (
        f"{found.metric} agrees best with people: it orders {100 * found.accuracy:.1f}% of the pairs of outputs as "
        "they do."
    )
    if not found.others:
        return f"{best} No other metric was measured."
    (second, test), *_ = found.others
    by = f"That is {100 * test.difference:.1f} points more than {second}"
    if test.p < LEVEL:
        return f"{best} {by}, the second, a significant difference ({_p(test.p)})."
    worse = next(((name, each) for name, each in found.others if each.p < LEVEL), None)
    text = f"{best} {by}, the second, which is no significant difference ({_p(test.p)})."
    if worse is None:
        return f"{text} No metric is significantly worse than the best."
    return f"{text} The first that is significantly worse is {worse[0]}, by {100 * worse[1].difference:.1f} points."


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("0.", ".", 1)


def _section(board: Leaderboard, figures: Sequence[tuple[str, str]]) -> str:
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
        f"happens. Ranked by accuracy on sentences; differences are tested by approximate randomisation of "
        f"sentences, two-sided at {LEVEL}. The systems: {', '.join(board.systems)}."
    )
    parts = [
        f"<section>\n<h2>{_text(NAMES[human.name])}</h2>",
        f'<p class="summary">{_text(summary(board))}</p>',
        _table(board),
        f'<p class="faint">{_text(about)}</p>',
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
    opening = f'<div class="wide" tabindex="0" role="region" aria-label="{_text(NAMES[board.human.name])}">'
    return f"{opening}{leaderboard_table(as_json(board), None, labels, published_only)}</div>"


def _figure(caption: str, image: str) -> str:
    return (
        f'<figure><div class="wide" tabindex="0" role="img" aria-label="{_text(caption)}">{image}</div>'
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
