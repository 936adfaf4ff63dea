"""What the page shows of a scored correction."""

from __future__ import annotations

import re

import render
import scoring
from geceval.core.result import Result
from geceval.edits.edit import Edit
from lanes import Answer

SCORES_CAPTION = (
    "Scores of this sentence. Below each metric is its range; ↑ means that higher is better. "
    "Source: the score of what the learner wrote."
)


LEAST_KEPT, FEWEST_TOKENS = 1 / 2, 5
FOREIGN = "A reference keeps less than half of the source: is it a correction of this sentence?"

DOUBTS = {
    " and cut: ": "A long text: of the source, the correction or a reference, only the first {length} tokens (word "
    "pieces) count for {names}.",
    " are not English": "The source does not look like English, and the scores of {names} are for English only: choose "
    "its language.",
}
"""What is told of the warnings of geceval, by words of theirs."""


def verdict(results: dict[str, Result], sources: dict[str, Result], changed: bool) -> str:
    """Whether the correction is better than what the learner wrote, in words, by each metric that can tell."""
    gains = {name: results[name].score - before.score for name, before in sources.items()}
    if not gains or not changed:
        return ""
    words = {
        word: [name for name, gain in gains.items() if _word(gain) == word] for word in ("better", "worse", "equal")
    }
    said = "; ".join(f"{word} according to {', '.join(names)}" for word, names in words.items() if names)
    return render.fields({"Compared with what the learner wrote, the correction is": said})


def _word(gain: float) -> str:
    return "equal" if abs(gain) < 1e-6 else "better" if gain > 0 else "worse"


def doubts(answers: dict[str, Answer]) -> str:
    """Which metrics did not read the whole text, and which do not know its language."""
    told = []
    for mark, says in DOUBTS.items():
        warned = {name: text for name, answer in answers.items() for text in answer.warnings if mark in text}
        lengths = {name: "".join(re.findall(r"longer than (\d+) tokens", text)) for name, text in warned.items()}
        for length in dict.fromkeys(lengths.values()):
            names = ", ".join(name for name in warned if lengths[name] == length)
            told.append(render.warning(says.format(names=names, length=length)))
    return "".join(told)


def _matched(edits: list[Edit], references: list[list[Edit]]) -> list[bool] | None:
    """For each edit whether a reference has it too, by span and correction."""
    if not references:
        return None
    known = {(edit.start, edit.end, edit.correction) for row in references for edit in row}
    return [(edit.start, edit.end, edit.correction) in known for edit in edits]


def edits(source: str, made: list[Edit], known: list[list[Edit]], chances: list[float] | None) -> str:
    """The edits of a correction, marked in the source."""
    marked = render.diff(source, made, _matched(made, known), chances)
    if not made:
        return marked + render.note("Nothing was changed.")
    judged = "%: how likely the edit is right, judged by a small network without references." if chances else ""
    agreed = "✓ a reference makes this very edit, ✗ none does." if known else ""
    small = " ".join(filter(None, [judged, agreed]))
    return marked + render.legend(bool(chances)) + (render.note(small) if small else "")


def references(source: str, known: list[list[Edit]]) -> str:
    """The edits of each reference, marked in the source."""
    if not known:
        return ""
    title = "Edits of the reference" if len(known) == 1 else "Edits of the references"
    foreign = render.warning(FOREIGN) if any(_kept(source, row) < LEAST_KEPT for row in known) else ""
    rows = "".join(render.diff(source, row) for row in known)
    return f'{render.heading(title)}{foreign}<div class="gv-plain">{rows}</div>'


def _kept(source: str, edits: list[Edit]) -> float:
    """The share of the source's tokens that the edits leave; 1 for a source too short to tell."""
    tokens = len(source.split())
    return 1 - sum(edit.end - edit.start for edit in edits) / tokens if tokens >= FEWEST_TOKENS else 1


def guard(results: dict[str, Result]) -> str:
    """Why a guard took points from the correction, from which metrics, and how many."""
    struck = {name: result for name, result in results.items() if result.details.get("guarded")}
    if not struck:
        return ""
    (reason,) = next(iter(struck.values())).details["guard_reasons"]
    lost = ", ".join(
        f"{name} by {render.number(each.details['unguarded_scores'][0] - each.score)}" for name, each in struck.items()
    )
    return render.warning(
        f"The guard lowered these scores, for the correction may not say what the learner wrote ({reason}): {lost}."
    )


def scores(results: dict[str, Result], sources: dict[str, Result], missing: dict[str, str]) -> str:
    """The table of scores, with those of the source below them."""
    rows = [
        [
            _named(name),
            f"<strong>{render.number(result.score)}</strong>" + _unchanged(sources.get(name)),
            render.gauge(result.score, scoring.bounds(name)),
            *(render.number(result.details.get(key), 2) for key in ("precision", "recall")),
        ]
        for name, result in results.items()
    ]
    columns = ["metric", "score", "", "precision", "recall"]
    meanings = [f"{name}: {scoring.summary(name)}" for name in (*results, *missing)]
    return (
        (render.table(columns, rows, SCORES_CAPTION) if rows else "")
        + (render.note(f"Not scored: {render.unscored(missing)}.") if missing else "")
        + render.details("What these metrics say", meanings)
    )


def _unchanged(source: Result | None) -> str:
    return f"<br><em>source {render.number(source.score, 2)}</em>" if source else ""


def _named(name: str) -> str:
    """A metric with its range below it."""
    return f"{render.escape(name)}<small>{render.escape(scoring.range_text(name))}</small>"


def times(answers: dict[str, Answer]) -> str:
    """Seconds of each metric that was not known already; the first to ask includes the loading of its model."""
    each = ", ".join(f"{name} {answer.seconds:.2f}" for name, answer in answers.items() if answer.seconds)
    return render.note(f"Seconds, loading included: {each}") if each else ""
