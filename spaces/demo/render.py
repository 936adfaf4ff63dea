"""Results as HTML; every text of a user goes through `escape`."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from geceval.edits.verdict import DOUBTFUL, RIGHT, verdict

OPERATIONS = {"M": "missing, inserted", "R": "replaced", "U": "unnecessary, deleted"}
TYPES = {
    "ADJ": "adjective",
    "ADJ:FORM": "form of the adjective",
    "ADV": "adverb",
    "CONJ": "conjunction",
    "CONTR": "contraction",
    "DET": "determiner",
    "MORPH": "form of the word",
    "NOUN": "noun",
    "NOUN:INFL": "inflection of the noun",
    "NOUN:NUM": "singular or plural",
    "NOUN:POSS": "possessive",
    "ORTH": "capitals or spaces",
    "OTHER": "other",
    "PART": "particle",
    "PREP": "preposition",
    "PRON": "pronoun",
    "PUNCT": "punctuation",
    "SPELL": "spelling",
    "VERB": "verb",
    "VERB:FORM": "form of the verb",
    "VERB:INFL": "inflection of the verb",
    "VERB:SVA": "agreement of subject and verb",
    "VERB:TENSE": "tense",
    "WO": "word order",
}
"""ERRANT's types in words."""
VERDICTS = {
    "right": ("gv-right", f"right: {RIGHT:.0%} and more"),
    "probably right": ("gv-R", f"probably right: {DOUBTFUL:.0%} and more"),
    "doubtful": ("gv-U", f"doubtful: below {DOUBTFUL:.0%}, better look again"),
}
# Signs that a template engine may read; as entities they are letters like any other.
_TEMPLATE = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;"})


def escape(text: Any) -> str:
    """A text as HTML that shows just this text, in attributes too."""
    return literal(html.escape(str(text)))


def literal(markup: str) -> str:
    """HTML in which a template engine finds nothing to fill in."""
    return markup.translate(_TEMPLATE)


def number(value: float | None, digits: int = 4) -> str:
    """A number with a real minus sign; a dash for what is not there."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")


def note(text: str) -> str:
    """A line of small print."""
    return f'<p class="gv-note">{escape(text)}</p>'


def warning(text: str) -> str:
    """A line that stands out, below what it is about."""
    return f'<p class="gv-warning" role="note">{escape(text)}</p>'


def warnings(texts: Sequence[str]) -> str:
    """What geceval warned of, each once."""
    sentences = (text if text.endswith("?") else f"{text}." for text in dict.fromkeys(texts))
    return "".join(warning(f"{text[:1].upper()}{text[1:]}") for text in sentences)


def empty(text: str) -> str:
    """A placeholder for a result to come."""
    return f'<div class="gv gv-empty">{escape(text)}</div>'


def problem(text: str) -> str:
    """A message (HTML already) in place of a result."""
    return f'<div class="gv gv-problem" role="alert">{literal(text)}</div>'


def stale_top(verb: str) -> str:
    """The opening of the box round a result whose input has changed."""
    return f'<div class="gv-stale">{note(f"The input has changed since: press {verb}.")}'


def block(*parts: str) -> str:
    """Parts of a result, one below the other."""
    return f'<div class="gv">{"".join(parts)}</div>'


def heading(text: str) -> str:
    """A heading within a result."""
    return f"<h2>{escape(text)}</h2>"


def operation(edit: Any) -> str:
    """`M`, `R` or `U`: from the type of ERRANT, or from what the edit does."""
    if edit.type[:2] in ("M:", "R:", "U:"):
        return edit.type[0]
    return "M" if edit.start == edit.end else "R" if edit.correction else "U"


def diff(
    source: str,
    edits: Sequence[Any],
    matched: Sequence[bool] | None = None,
    chances: Sequence[float] | None = None,
) -> str:
    """A sentence with its edits marked in place, with their types; coloured by how likely each is right, or by kind."""
    unknown = [None] * len(edits)
    rows = zip(edits, matched or unknown, chances or unknown, strict=True)
    return _in_place(source, edits, [_marked(_old(source, edit), edit, *facts) for edit, *facts in rows])


def _in_place(source: str, edits: Sequence[Any], marks: Sequence[str]) -> str:
    """A sentence with each edit (HTML already) where it belongs."""
    tokens, done, parts = source.split(), 0, []
    for edit, mark in zip(edits, marks, strict=True):
        parts += [escape(" ".join(tokens[done : edit.start])), mark]
        done = edit.end
    parts.append(escape(" ".join(tokens[done:])))
    return f'<p class="gv-text" dir="auto">{" ".join(part for part in parts if part)}</p>'


def _old(source: str, edit: Any) -> str:
    return " ".join(source.split()[edit.start : edit.end])


def _change(old: str, edit: Any) -> str:
    """What an edit removes and adds."""
    removed = f'<del dir="auto">{escape(old)}</del>' if old else ""
    return removed + (f'<ins dir="auto">{escape(edit.correction)}</ins>' if edit.correction else "")


def _marked(old: str, edit: Any, agreed: bool | None = None, chance: float | None = None) -> str:
    kind = operation(edit)
    name = edit.type[2:] if edit.type[1:2] == ":" else edit.type
    title = f"{edit.type or 'edit'}: {OPERATIONS[kind]}"
    look, label = f"gv-{kind}", escape(TYPES.get(name, name if len(name) > 1 else ""))  # Chinese edits have a letter
    if chance is not None:
        look = VERDICTS[verdict(chance)][0]
        title += f"; {verdict(chance)}"
        label += f"{' · ' if label else ''}{chance:.0%}"
    if agreed is not None:
        title += "; a reference has it too" if agreed else "; no reference has it"
        label += f'<span class="gv-tick" aria-hidden="true">{"✓" if agreed else "✗"}</span>'
    label = f'<small dir="ltr">{label}</small>' if label else ""
    return f'<span class="gv-edit {look}" title="{escape(title)}">{_change(old, edit)}{label}</span>'


def edit(old: str, change: Any) -> str:
    """One edit on its own, e.g. as the label of a bar."""
    return _marked(old, change)


def weights(source: str, edits: Sequence[Any], values: Sequence[float]) -> str:
    """A sentence whose edits are shaded by their weights, in one colour above zero and in another below."""
    most = max(map(abs, values), default=0.0) or 1.0
    marks = [
        f'<span class="gv-edit gv-weight gv-{"lower" if value < 0 else "higher"}" '
        f'style="--heat:{abs(value) / most:.3f}" title="{escape(change.type)}: {number(value)}">'
        f"{_change(_old(source, change), change)}</span>"
        for change, value in zip(edits, values, strict=True)
    ]
    return _in_place(source, edits, marks)


def legend(judged: bool) -> str:
    """The legend of `diff`, with chances or without."""
    kinds = VERDICTS.values() if judged else [(f"gv-{kind}", text) for kind, text in OPERATIONS.items()]
    keys = "".join(f'<span class="gv-key {kind}">{escape(text)}</span>' for kind, text in kinds)
    return f'<p class="gv-legend">{keys}</p>'


def unscored(missing: Mapping[str, str]) -> str:
    """Metrics by the reason why they have no score: `errant, gleu (needs references)`."""
    reasons = dict.fromkeys(missing.values())
    return "; ".join(f"{', '.join(name for name in missing if missing[name] == why)} ({why})" for why in reasons)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str, texts: int = 1) -> str:
    """A table of cells that are HTML already."""

    def side(column: int) -> str:
        return ' class="gv-left"' if column < texts else ""

    top = "".join(
        f'<th scope="col"{side(column)}>{escape(name)}</th>' if name else "<td></td>"
        for column, name in enumerate(columns)
    )
    body = "".join(
        "<tr>"
        + f'<th scope="row"{side(0)}>{row[0]}</th>'
        + "".join(f"<td{side(column)}>{cell}</td>" for column, cell in enumerate(row[1:], start=1))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="gv-wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{note(caption)}"
    )


def gauge(value: float, bounds: tuple[float | None, float | None]) -> str:
    """The place of a score in its range; nothing if the range is open."""
    low, high = bounds
    if low is None or high is None:
        return ""
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return f'<span class="gv-gauge" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'


def bars(rows: Sequence[tuple[str, float]], caption: str, digits: int = 4) -> str:
    """Bars by label (HTML already): right of zero what helps, left of it what harms."""
    most = max((abs(value) for _, value in rows), default=0.0) or 1.0
    signed = any(value < 0 for _, value in rows)
    cells = []
    for label, value in rows:
        share = 100 * abs(value) / most
        start = (50 if value >= 0 else 50 - share / 2) if signed else 0
        kind = "gv-minus" if value < 0 else "gv-plus"
        bar = f'<i class="{kind}" style="left:{start:.1f}%;width:{share / 2 if signed else share:.1f}%"></i>'
        cells.append([label, number(value, digits), f'<span class="gv-bar" aria-hidden="true">{bar}</span>'])
    return table(["edit", "value", ""], cells, caption)


def scale(steps: Sequence[tuple[str, float, str]]) -> str:
    """A legend in the very colours that it explains."""
    items = "".join(
        f'<span class="{kind}" style="--heat:{heat:.3f}">{escape(text)}</span>' for kind, heat, text in steps
    )
    return f'<p class="gv-scale">{items}</p>'


def weight_scale(values: Sequence[float]) -> str:
    """The legend of `weights`: from the strongest weight below zero, if there is one, to the strongest above."""
    most = max(map(abs, values), default=0.0)
    low = -2 if min(values, default=0.0) < 0 else 0
    high = 2 if max(values, default=0.0) > 0 else 0
    return scale(
        [
            (f"gv-edit gv-weight gv-{'lower' if half < 0 else 'higher'}", abs(half) / 2, number(half / 2 * most))
            for half in range(low, high + 1)
        ]
    )


def heat_scale() -> str:
    """The legend of `heat`."""
    return scale([("gv-word", quarter / 4, f"{25 * quarter}%") for quarter in range(5)])


def heat(words: Sequence[tuple[str, float, str]], threshold: float) -> str:
    """Words shaded by the probability of an error; those at or above the threshold are underlined."""
    parts = []
    for text, error, label in words:
        marked = error >= threshold
        style = f"--heat:{error:.3f}"
        title = f"{label}: {100 * error:.1f}% likely to be wrong"
        parts.append(
            f'<span class="gv-word{" gv-wrong" if marked else ""}" style="{style}" title="{escape(title)}">'
            f"{escape(text)}</span>"
        )
    return f'<p class="gv-text gv-heat" dir="auto">{" ".join(parts)}</p>'


def details(summary: str, lines: Sequence[str], kind: str = "gv-list") -> str:
    """Lines that are shown on demand."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<details><summary>{escape(summary)}</summary><ul class="{kind}">{items}</ul></details>' if lines else ""


def fields(values: Mapping[str, str]) -> str:
    """Names and values in a row, e.g. precision and recall."""
    pairs = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items())
    return f'<dl class="gv-fields">{pairs}</dl>'
