"""Ten small cases of CLEME, worked out by hand, and slow versions of its rules written straight from the papers."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from geceval.core.result import Result
from geceval.edits.edit import Edit, apply, distinct
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.registry import make_scorer


class Sentence(NamedTuple):
    """Edits as `"START END TEXT"`, joined by `;`."""

    source: str
    hypothesis: str
    references: list[str]


LETTERS = "a b c d e f g"
CASES = {
    "boundary insert": [Sentence("a b c d e", "2 2 X", ["2 3 Y", "1 2 Z", "2 2 X"])],
    "edges": [Sentence("a b c", "0 0 X", ["3 3 Y", "0 0 X; 3 3 Y"])],
    "chain": [Sentence("a b c d e f", "1 2 X; 4 5 W", ["1 2 X", "2 4 Y Y"])],
    "split": [Sentence("a b c d e", "1 2 X; 3 4 Y", ["1 4 X c Y", "1 2 X"])],
    "identity": [
        Sentence(LETTERS, "1 2 X; 5 6 Y", ["1 2 X; 3 4 Q", "3 4 d; 5 6 Y", "3 4 R; 5 6 V"]),
        Sentence("a b c d", "1 2; 2 2 b", ["", "1 2 Z"]),
    ],
    "weights": [Sentence("a b c d", "", ["2 2 X Y Z W"]), Sentence("a b c d e f", "1 2 X; 4 5 Y", ["1 2 X"])],
    "greedy": [
        Sentence("a b c d e", "1 2 X", ["1 2 X; 3 4 Y", ""]),
        Sentence("a b c d e", "1 2 X; 3 4 Z", ["1 2 X; 3 4 Y", "3 4 Z"]),
        Sentence("a b", "", ["", "0 1 B"]),
    ],
    "empty": [Sentence("a b", "0 2", ["0 1 X", "1 2 Y"]), Sentence("c d e", "0 1 C", ["0 3", "0 1 C", ""])],
    "no reference edits": [Sentence("a b c", "1 2 X", [""])],
    "COM prefers a miss": [Sentence("a b c d e", "1 2 X", ["1 2 Y", "1 2 Z; 3 4 Q"])],
}


def edits(text: str) -> list[Edit]:
    """The edits of one target."""
    rows = [part.split() for part in text.split(";") if part.strip()]
    return [Edit(int(start), int(end), " ".join(words)) for start, end, *words in rows]


Row = tuple[str, list[Edit], list[list[Edit]]]
"""Source, edits of the hypothesis, edits of each reference."""


def score_edits(name: str, rows: list[Row], folder: Path, **options: Any) -> Result:
    """The result for source, edits of the hypothesis and of the references of each sentence, by way of M2 files."""
    files = {"predictions_m2": folder / "hypothesis.m2", "gold_m2": folder / "references.m2"}
    write_m2(files["predictions_m2"], [M2Sentence(source, {0: own}) for source, own, _ in rows])
    write_m2(files["gold_m2"], [M2Sentence(source, dict(enumerate(others))) for source, _, others in rows])
    predictions = [apply(source, distinct(own)) for source, own, _ in rows]
    return make_scorer(name, {**files, **options}).score([source for source, _, _ in rows], predictions)


def score_case(name: str, case: str, folder: Path, **options: Any) -> Result:
    """The result for one of `CASES`."""
    rows = [(each.source, edits(each.hypothesis), list(map(edits, each.references))) for each in CASES[case]]
    return score_edits(name, rows, folder, **options)


def draw_sentence(draw: random.Random, references: int = 4) -> Row:
    """A source, a hypothesis and one to so many references; few words, so that edits often touch and texts agree.

    Most hypotheses have some of the edits of a reference.
    """
    source = " ".join(draw.choices("abc", k=draw.randint(1, 7)))
    rows = [draw_edits(draw, len(source.split())) for _ in range(draw.randint(1, references))]
    if draw.random() < 0.3:
        return source, draw_edits(draw, len(source.split())), rows
    chosen = [edit for edit in draw.choice(rows) if draw.random() < 0.8]
    return source, [replace(edit, correction="X") if draw.random() < 0.2 else edit for edit in chosen], rows


def draw_sentences(seed: int, sentences: int = 30) -> list[Row]:
    """So many of them."""
    draw = random.Random(seed)
    return [draw_sentence(draw) for _ in range(sentences)]


def draw_edits(draw: random.Random, length: int) -> list[Edit]:
    """Edits in order without overlaps, at most one at each span; some change nothing."""
    found: dict[tuple[int, int], Edit] = {}
    start = draw.randint(0, 3)
    while start <= length:
        end = min(start + draw.randint(0, 2), length)
        correction = " ".join(draw.choices("abX", k=draw.randint(start == end, 2)))
        found[start, end] = Edit(start, end, correction)
        start = max(end + draw.randint(0, 3), start + 1)
    return list(found.values())


def slow_spans(targets: list[list[Edit]]) -> list[tuple[int, int]]:
    """Join any two intervals that touch until none do."""
    spans = {(edit.start, edit.end) for own in targets for edit in own}
    while True:
        pair = next(((a, b) for a in spans for b in spans if a != b and a[0] <= b[0] <= a[1]), None)
        if pair is None:
            return sorted(spans)
        spans = spans - set(pair) | {(pair[0][0], max(pair[0][1], pair[1][1]))}


def slow_counts(source: str, targets: list[list[Edit]], assumption: str, level: str) -> list[dict[str, int]]:
    """Counts of chunks beside each reference, all of weight 1, by the two tables of the papers."""
    tokens = source.split()
    spans = slow_spans(targets)
    changed = [[any(s <= e.start and e.end <= t for e in own) for s, t in spans] for own in targets]
    texts = [[_slice(tokens, own, span) for span in spans] for own in targets]
    bounds = [0, *(bound for span in spans for bound in span), len(tokens)]
    untouched = sum(bounds[at] < bounds[at + 1] for at in range(0, len(bounds), 2)) or int(not spans)
    rows = []
    for reference in range(1, len(targets)):
        row = {"tp": 0, "fp": 0, "fn": 0, "tn": untouched, "fp_ne": 0, "fp_un": 0}
        others = [reference] if assumption == "dependent" else range(1, len(targets))
        for index in range(len(spans)):
            needed = [changed[other][index] for other in others]
            same = [texts[0][index] == texts[other][index] for other in others]
            if level == "detection":
                same = [change == changed[0][index] for change in needed]
            if changed[0][index]:
                kinds = ["tp"] if any(same) else ["fp", "fp_ne" if any(needed) else "fp_un"]
            elif assumption == "dependent":
                kinds = ["tn" if same[0] else "fn"]
            else:
                kinds = ["fn" if all(needed) else "tn"]
            for kind in kinds:
                row[kind] += 1
        rows.append(row)
    return rows


def slow_options(row: Row, assumption: str, level: str) -> list[dict[str, int]]:
    """Counts beside each reference; references without text are left out, but the first if all are."""
    source, hypothesis, references = row
    others = [own for own in references if apply(source, own)] or references[:1]
    return slow_counts(source, [hypothesis, *others], assumption, level)


def slow_total(rows: list[Row], assumption: str, level: str, measure: Callable[[dict], float]) -> dict[str, int]:
    """One sentence after the other takes the reference with the best score so far, then TP, fewer FP, fewer FN, TN."""
    total = dict.fromkeys(("tp", "fp", "fn", "tn", "fp_ne", "fp_un"), 0)
    for row in rows:
        options = [{key: total[key] + each[key] for key in total} for each in slow_options(row, assumption, level)]
        total = max(options, key=lambda t: (measure(t), t["tp"], -t["fp"], -t["fn"], t["tn"]))
    return total


def _slice(tokens: list[str], own: list[Edit], span: tuple[int, int]) -> list[str]:
    """What a target has in a span: its edits made from right to left."""
    found = list(tokens)
    inside = [edit for edit in own if span[0] <= edit.start and edit.end <= span[1]]
    for edit in sorted(inside, key=lambda edit: (edit.start, edit.end), reverse=True):
        found[edit.start : edit.end] = edit.correction.split()
    return found[span[0] : len(found) - len(tokens) + span[1]]
