"""A leaderboard of systems as HTML, for the page of `geceval leaderboard` and for the demo Space; texts are escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from geceval import registry
from geceval.core.errors import counted
from geceval.core.html_page import page as frame
from geceval.meta.significance.systems import SystemEstimate
from geceval.version import __version__
from geceval.workflows.compare import Comparison

RULES = """
.sl-wide { overflow-x: auto; contain: inline-size; }
.sl-wide:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.sl-wide table { width: auto; border-collapse: collapse; font-size: .9375rem; font-variant-numeric: tabular-nums; }
.sl-wide th, .sl-wide td { padding: .3rem .8rem; text-align: right; white-space: nowrap; vertical-align: baseline;
  border-bottom: 1px solid var(--sl-line); }
.sl-wide th:first-child { position: sticky; left: 0; text-align: left; background: var(--sl-paper); }
.sl-wide small { display: block; font-size: .75rem; opacity: .8; }
.sl-wide b { display: inline-block; min-width: 1.6em; margin-right: .5rem; border-radius: 1em; text-align: center;
  font-weight: 600; font-size: .8125rem; background: color-mix(in srgb, currentColor 12%, transparent); }
.sl-wide .sl-first { font-weight: 700; }
.sl-plots { display: flex; flex-wrap: wrap; gap: 1.25rem; margin: 0; }
.sl-plots svg { flex: 1 1 20rem; max-width: 26rem; height: auto; overflow: visible; font: 12px system-ui, sans-serif; }
.sl-plots rect { fill: currentColor; opacity: .07; }
.sl-plots line { stroke: currentColor; opacity: .35; }
.sl-plots text { fill: currentColor; }
.sl-plots .sl-interval { stroke: var(--sl-mark); stroke-width: 3; opacity: .55; }
.sl-plots circle { fill: var(--sl-mark); }
"""
_STYLE = """
:root { --sl-paper: var(--paper); --sl-line: var(--line); --sl-mark: light-dark(#0b5fb0, #79bdff); }
body { max-width: 78rem; padding: 1.5rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.05rem; }
p, li { max-width: 52rem; }
header p, .faint { color: var(--faint); font-size: .875rem; }
ul.signatures { padding-left: 1.1rem; font: .8rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; } .sl-wide { overflow: visible; } }
"""
_LEFT, _WIDTH, _ROW, _TOP = 128, 360, 22, 26  # of a plot, in pixels
_LONGEST = 17  # characters of a system's name beside a plot


def systems_page(found: Mapping[str, Comparison], sentences: int, confidence: float, title: str) -> str:
    """The whole page."""
    systems = len(next(iter(found.values())).standings)
    lines = dict.fromkeys([*(each.signature for each in found.values()), *(each.test for each in found.values())])
    body = f"""<header>
<h1>{_text(title)}</h1>
<p>{counted(systems, "system")}, {counted(sentences, "sentence")}, by geceval {__version__}.</p>
</header>
<main>
<ul>{"".join(f"<li>{_text(line)}</li>" for line in summary(found))}</ul>
{systems_table(found)}
<p class="faint">{_text(legend(confidence))}</p>
<h2>Scores and their intervals</h2>
{plots(found)}
<h2>Signatures</h2>
<ul class="signatures">{"".join(f"<li>{_text(line)}</li>" for line in lines)}</ul>
</main>"""
    return frame(title, RULES + _STYLE, body)


def legend(confidence: float) -> str:
    """What the numbers of the table are."""
    share = f"{100 * confidence:g}%"
    return (
        f"In front of each score its rank, below it the {share} interval of the bootstrap. Systems that do not differ "
        f"share a rank: a rank ends where each system above differs from each below (paired bootstrap, two-sided, "
        f"p < {1 - confidence:.3g})."
    )


def summary(found: Mapping[str, Comparison]) -> list[str]:
    """Who is best, in words: one sentence per metric."""
    lines = []
    for metric, comparison in found.items():
        first = [each.system for each in ordered(metric, comparison.standings) if each.rank == 1]
        names = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
        if len(first) == 1:
            lines.append(f"{metric}: {names} is best, and differs from every other system.")
        elif len(first) == len(comparison.standings):
            lines.append(f"{metric}: the sentences are too few, or the systems too alike, to tell who is best.")
        elif len(first) > 4:
            lines.append(
                f"{metric}: {len(first)} of {counted(len(comparison.standings), 'system')} share the first rank; "
                f"{first[0]} has the best score."
            )
        else:
            lines.append(f"{metric}: {names} share the first rank.")
    return lines


def ordered(metric: str, standings: Sequence[SystemEstimate]) -> list[SystemEstimate]:
    """Systems under a metric, the best first."""
    return sorted(standings, key=lambda each: each.score, reverse=registry.scorer_class(metric).higher_is_better)


def systems_table(found: Mapping[str, Comparison]) -> str:
    """Systems by metrics, in a box within which it scrolls; the first metric orders the systems."""
    cells = {metric: {each.system: each for each in own.standings} for metric, own in found.items()}
    first = next(iter(found))
    rows = "\n".join(
        f'<tr><th scope="row">{_text(each.system)}</th>'
        + "".join(_cell(own[each.system]) for own in cells.values())
        + "</tr>"
        for each in ordered(first, found[first].standings)
    )
    top = "".join(f'<th scope="col">{_text(metric)} {_arrow(metric)}</th>' for metric in found)
    return (
        '<div class="sl-wide" tabindex="0" role="region" aria-label="Leaderboard"><table>\n'
        f'<thead><tr><th scope="col">system</th>{top}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )


def _cell(each: SystemEstimate) -> str:
    kind = ' class="sl-first"' if each.rank == 1 else ""
    interval = f"{_number(each.low)} to {_number(each.high)}"
    return f"<td{kind}><b>{each.rank}</b> {_number(each.score)}<small>{interval}</small></td>"


def _arrow(metric: str) -> str:
    return "↑" if registry.scorer_class(metric).higher_is_better else "↓"


def plots(found: Mapping[str, Comparison]) -> str:
    """A plot for each metric: scores and intervals, the best system on top; every other rank is shaded."""
    return f'<figure class="sl-plots">{"".join(_plot(metric, own) for metric, own in found.items())}</figure>'


def _plot(metric: str, comparison: Comparison) -> str:
    rows = ordered(metric, comparison.standings)
    low, high = min(each.low for each in rows), max(each.high for each in rows)
    height = _TOP + _ROW * len(rows) + 20
    ranks = list(dict.fromkeys(each.rank for each in rows))

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 8) * ((value - low) / (high - low) if high > low else 0.5)

    parts = [f'<text x="0" y="12" font-weight="600">{_text(metric)} {_arrow(metric)}</text>']
    for number, each in enumerate(rows):
        y = _TOP + _ROW * number + _ROW / 2
        if ranks.index(each.rank) % 2 == 0:
            parts.append(f'<rect x="0" y="{y - _ROW / 2:g}" width="{_WIDTH}" height="{_ROW}"/>')
        name = each.system if len(each.system) <= _LONGEST else f"{each.system[: _LONGEST - 1]}…"
        parts.append(
            f'<text x="4" y="{y + 4:g}">{_text(name)}</text>'
            f'<line class="sl-interval" x1="{x(each.low):.1f}" x2="{x(each.high):.1f}" y1="{y:g}" y2="{y:g}"/>'
            f'<circle cx="{x(each.score):.1f}" cy="{y:g}" r="4"/>'
        )
    axis = height - 16
    parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{axis}" y2="{axis}"/>')
    ends = ((low, "start", _LEFT), (high, "end", _WIDTH - 8))
    parts += [f'<text x="{at}" y="{height - 2}" text-anchor="{side}">{_number(v)}</text>' for v, side, at in ends]
    label = _text(f"{metric}: scores and intervals of {counted(len(rows), 'system')}")
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if math.isfinite(value) else "–"


def _text(text: str) -> str:
    return html.escape(text)
