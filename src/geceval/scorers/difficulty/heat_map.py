"""GoToScorer's difficulty heat map, one HTML page, and its table of chunks, plain text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from geceval.core.html_page import page
from geceval.edits.gotoscorer_chunks import Chunk
from geceval.scorers.difficulty.chunk_weights import Difficulty

BOLD_FROM = 0.7
"""A chunk is set in bold if at least this share of the systems is wrong, as in the authors' program."""

NOTHING = "∅"

_STYLE = """
:root { --edit: 214 48 38; --alarm: 52 104 220; --bar: #22242a; --bar-ink: #f4f4f6; }
@media (prefers-color-scheme: dark) { :root { --edit: 236 72 60; --alarm: 84 134 250; --bar: #ececf0;
  --bar-ink: #15161a; } }
body { max-width: 52rem; padding: 0 1.25rem 5rem; font: 1.0625rem/1.9 system-ui, sans-serif; overflow-wrap: anywhere; }
header { position: sticky; top: 0; padding: 1rem 0 .75rem; background: var(--paper);
  border-bottom: 1px solid var(--line); line-height: 1.5; z-index: 1; }
h1 { margin: 0; font-size: 1.25rem; }
header p { margin: .125rem 0 .5rem; color: var(--faint); font-size: .875rem; }
dl { display: flex; flex-wrap: wrap; gap: .375rem 1.75rem; margin: 0; font-size: .875rem; }
dl div { display: flex; align-items: center; gap: .5rem; }
dt { display: flex; gap: 2px; }
dd { margin: 0; }
ol { margin: 1rem 0 0; padding: 0 0 0 2.75rem; }
li { padding: .125rem 0 .125rem .375rem; }
li::marker { color: var(--faint); font-size: .8125rem; font-variant-numeric: tabular-nums; }
.e, .a { --rgb: var(--edit); padding: .125em .2em; border-radius: .2em; box-decoration-break: clone;
  -webkit-box-decoration-break: clone; background: rgb(var(--rgb) / calc(var(--x) * .72));
  border-bottom: 2px solid rgb(var(--rgb)); cursor: default; }
.a { --rgb: var(--alarm); border-bottom-style: dotted; }
.i::before { content: "\\2038"; padding: 0 .12em; }
.b { font-weight: 750; }
.k { padding: 0 .5em; font-size: .75rem; }
.e:hover, .a:hover, .e:focus, .a:focus { outline: 2px solid var(--ink); outline-offset: 1px; }
[data-tip]:hover::after, [data-tip]:focus::after { content: attr(data-tip); position: fixed; left: 50%; bottom: 1rem;
  transform: translateX(-50%); width: max-content; max-width: min(46rem, calc(100vw - 4rem)); padding: .5rem 1rem;
  border-radius: .5rem; background: var(--bar); color: var(--bar-ink); font: 500 .9375rem/1.5 system-ui, sans-serif;
  box-shadow: 0 2px 12px rgb(0 0 0 / .35); z-index: 2; }
@media print, (max-width: 40rem), (max-height: 30rem) { header { position: static; } }
"""


def heat_map(
    sentences: Sequence[Sequence[Chunk]],
    difficulty: Difficulty,
    weights: Sequence[Sequence[float]] | None = None,
    title: str = "Difficulty heat map",
) -> str:
    """A page that shows how hard each chunk of the reference is."""
    # Edits of the reference are red; chunks that need none but that at least one system got wrong are blue. The more
    # systems are wrong, the stronger the colour; from 70 % on the text is bold. A caret stands for an insertion.
    # Pointing at a chunk shows its type, correction, weight and how many systems are right. The page needs no script
    # and no other file, and follows the reader's choice of a light or dark theme.
    difficulty.check(sentences)
    numbers = difficulty.weights() if weights is None else weights
    rows = zip(sentences, difficulty.correct, numbers, strict=True)
    items = "\n".join(f"<li>{_sentence(*row, difficulty.systems)}</li>" for row in rows)
    edits = sum(chunk.is_edit for chunks in sentences for chunk in chunks)
    facts = [_plural(difficulty.systems, "system"), _plural(len(sentences), "sentence"), _plural(edits, "edit")]
    body = f"""<header>
<h1>{html.escape(title)}</h1>
<p>{" · ".join(facts)}. The stronger a colour, the more systems are wrong (0 to 1).
Point at a chunk for its correction and weight.</p>
<dl>
<div><dt>{_key("e")}</dt><dd>has to be corrected</dd></div>
<div><dt>{_key("a")}</dt><dd>is right, but systems changed it</dd></div>
<div><dt><span class="e i" style="--x:.5"></span></dt><dd>place of an insertion</dd></div>
</dl>
</header>
<main><ol>
{items}
</ol></main>"""
    return page(title, _STYLE, body)


def _key(kind: str) -> str:
    """The legend of one colour: from all systems right to none."""
    steps = [(0.1, "", "0"), (0.25, "", "¼"), (0.5, "", "½"), (1.0, " b", "1")]
    return "".join(f'<span class="{kind} k{bold}" style="--x:{shade:g}">{text}</span>' for shade, bold, text in steps)


def _sentence(chunks: Sequence[Chunk], correct: Sequence[int], weights: Sequence[float], systems: int) -> str:
    pieces = [_chunk(*row, systems) for row in zip(chunks, correct, weights, strict=True)]
    return " ".join(piece for piece in pieces if piece)


def _chunk(chunk: Chunk, correct: int, weight: float, systems: int) -> str:
    if not chunk.is_edit and correct == systems:
        return html.escape(chunk.source)
    wrong = 1 - correct / systems
    classes = ["e" if chunk.is_edit else "a", "i" if chunk.is_gap else "", "b" if wrong >= BOLD_FROM else ""]
    tip = html.escape(_tip(chunk, correct, weight, systems))
    return (
        f'<span class="{" ".join(filter(None, classes))}" style="--x:{max(wrong, 0.1):.3g}" tabindex="0" '
        f'data-tip="{tip}">{html.escape(chunk.source)}</span>'
    )


def _tip(chunk: Chunk, correct: int, weight: float, systems: int) -> str:
    if chunk.is_edit:
        corrections = " or ".join(text or NOTHING for text in (chunk.correction, *chunk.alternatives))
        what = f"{chunk.type or 'edit'}: {chunk.source or NOTHING} → {corrections}"
        done = f"{correct} of {_plural(systems, 'system')} right"
    else:
        what = "insert nothing here" if chunk.is_gap else f"keep: {chunk.source}"
        done = f"{systems - correct} of {_plural(systems, 'system')} wrong"
    return f"{what} · weight {weight:.2f} · {done}"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def chunk_table(sentences: Iterable[Sequence[Chunk]], weights: Iterable[Sequence[float]]) -> str:
    """Every chunk with its weight: for each sentence a block of four lines, columns aligned."""
    # The lines are `orig` (the source), `gold` (the correction), `weight` and `cat` (the error type); an empty cell is
    # a gap between tokens, or a deletion.
    blocks = []
    for number, (chunks, numbers) in enumerate(zip(sentences, weights, strict=True), start=1):
        columns = [("orig", "gold", "weight", "cat")]
        for chunk, weight in zip(chunks, numbers, strict=True):
            columns.append((chunk.source, chunk.correction, f"{weight:.2f}", chunk.type))
        widths = [max(map(len, column)) for column in columns]
        lines = [
            " | ".join(column[row].ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip()
            for row in range(4)
        ]
        blocks.append(f"# sentence {number}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)
