"""Transport plans as HTML, for the page of `geceval transport`; all text is escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

from geceval.core.f_score import ratio
from geceval.core.html_page import page
from geceval.edits.edit import Edit
from geceval.scorers.edit_based.transport_plans import TransportPlan
from geceval.version import __version__
from geceval.workflows.transport import SentencePlan

NOTHING = "∅"
_STYLE = """
:root { --full: #7fd0ae; --left: #f3b48c; }
@media (prefers-color-scheme: dark) { :root { --full: #1f6b50; --left: #7a3f1d; } }
body { max-width: 72rem; padding: 1.5rem 1.25rem 4rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.4rem; }
h2 { margin: 2rem 0 .35rem; font-size: .9375rem; }
h2 small { margin-left: .6rem; color: var(--faint); font-size: .8125rem; font-weight: 400; }
header p, section p { margin: .25rem 0 .6rem; max-width: 52rem; font-size: .875rem; overflow-wrap: anywhere; }
header p, th small { color: var(--faint); }
.wide { overflow-x: auto; contain: inline-size; }
.wide:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 2px; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .55rem; border-radius: .3rem; text-align: right; vertical-align: baseline; font-weight: 400; }
th { text-align: left; }
tbody th { position: sticky; left: 0; background: var(--paper); }
th span, th small { display: block; max-width: 14rem; overflow-wrap: anywhere; }
td { background: color-mix(in srgb, var(--tone, transparent) var(--share, 0%), transparent); }
.moved { --tone: var(--full); }
.left { --tone: var(--left); }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid; } .wide { overflow: visible; } }
"""


def transport_page(plans: Sequence[SentencePlan], caption: str, least: float) -> str:
    """The whole page."""
    sections = "\n".join(_section(each, least) for each in plans)
    body = f"""<header>
<h1>Which edit answers which</h1>
<p>{html.escape(caption)}. A row is an edit of the correction, a column one of the reference, a number the mass that is
transported from one to the other; the deeper the green, the larger its share of the smaller mass. What stays is in the
last column and row, in orange by its share of the edit. By geceval {__version__}.</p>
</header>
<main>
{sections}
</main>"""
    return page("Which edit answers which", _STYLE, body)


def shares(plan: TransportPlan) -> tuple[float, float]:
    """Precision and recall of one sentence; 1 where there is no mass."""
    moved = float(plan.plan.sum())
    return ratio(moved, float(plan.masses.sum())), ratio(moved, float(plan.gold_masses.sum()))


def span_text(source: str, edit: Edit) -> str:
    """An edit as `1:2 go → goes`."""
    before = " ".join(source.split()[edit.start : edit.end])
    return f"{edit.start}:{edit.end} {before or NOTHING} → {edit.correction or NOTHING}"


def _section(each: SentencePlan, least: float) -> str:
    plan = each.plan
    precision, recall = shares(plan)
    facts = f"{each.reference}, precision {precision:.3f}, recall {recall:.3f}"
    empty = len(plan.edits) + len(plan.gold) == 0
    return f"""<section>
<h2>Sentence {each.line}<small>{html.escape(facts)}</small></h2>
<p>{html.escape(each.source) or NOTHING}<br>→ {html.escape(each.prediction) or NOTHING}</p>
{"<p>Neither side has an edit.</p>" if empty else _table(each, least)}
</section>"""


def _table(each: SentencePlan, least: float) -> str:
    plan, shown = each.plan, each.plan.shown(least)
    top = "".join(_head("col", each, *both) for both in zip(plan.gold, plan.gold_masses.tolist(), strict=True))
    unanswered, missed = plan.left()
    rows = []
    for index, (edit, mass) in enumerate(zip(plan.edits, plan.masses.tolist(), strict=True)):
        cells = [
            _cell("moved", moved, min(mass, other)) if visible else "<td></td>"
            for moved, other, visible in zip(
                plan.plan[index].tolist(), plan.gold_masses.tolist(), shown[index].tolist(), strict=True
            )
        ]
        stays = _cell("left", unanswered[index], mass)
        rows.append(f"<tr>{_head('row', each, edit, mass)}{''.join(cells)}{stays}</tr>")
    last = "".join(_cell("left", *both) for both in zip(missed, plan.gold_masses.tolist(), strict=True))
    body = "\n".join(rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Plan of sentence {each.line}"><table>\n'
        f'<thead><tr><td></td>{top}<th scope="col">unanswered</th></tr></thead>\n<tbody>\n{body}\n'
        f'<tr><th scope="row">missed</th>{last}<td></td></tr>\n</tbody></table></div>'
    )


def _head(scope: str, each: SentencePlan, edit: Edit, mass: float) -> str:
    text, kind = html.escape(span_text(each.source, edit)), html.escape(edit.type)
    return f'<th scope="{scope}"><span>{text}</span><small>{kind} · {mass:.3f}</small></th>'


def _cell(kind: str, value: float, whole: float) -> str:
    share = 100 * min(max(ratio(value, whole, 0.0), 0.0), 1.0)
    return f'<td class="{kind}" style="--share: {share:.0f}%">{value:.3f}</td>'
