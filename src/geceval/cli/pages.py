"""Results as HTML: whole pages of one frame, and the tables that they share with the demo Space."""

from __future__ import annotations

# A page is one file without scripts that asks for no other and follows the reader's light or dark. The templates escape
# every text.
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from geceval import registry
from geceval.cli.tables import NOTHING, RIGHT_TO_LEFT, isolated, span_text
from geceval.core.cache import lru_cache
from geceval.core.errors import counted
from geceval.core.f_score import ratio
from geceval.edits.edit import Edit
from geceval.meta.figures import inline_svg
from geceval.scorers.learned.guard import summary
from geceval.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

    from geceval.edits.gotoscorer_chunks import Chunk
    from geceval.meta.significance.systems import SystemEstimate
    from geceval.scorers.difficulty.chunk_difficulty import ReferenceDifficulty
    from geceval.scorers.edit_based.transport_plans import TransportPlan
    from geceval.workflows.attack import Resistance
    from geceval.workflows.chunks import ChunkTable
    from geceval.workflows.compare import Comparison
    from geceval.workflows.transport import SentencePlan

FRAGMENT_STYLE = Path(__file__).with_name("templates") / "fragments.css"
"""The style of chunk tables (`ck-`) and of leaderboards (`sl-`), for pages that hold them."""

MEANINGS = {
    "hit": "corrected as the reference does",
    "wrong": "corrected, but not as the reference does",
    "under": "not corrected, though the reference does",
    "over": "changed, though the reference does not",
    "varies": "one of these or another, by the reference",
    "changed": "has an edit here",
}
GUARD_LEGEND = (
    "Sentences that lose points because the correction does not seem to say what its source says, with the reasons "
    "that two texts show; guard=off leaves the points."
)
GUARDED_LINES = 50  # of a system that a page names
BOLD_FROM = 0.7  # of the systems wrong, in a heat map, as in the authors' program
_LEFT, _WIDTH, _ROW, _TOP = 128, 360, 22, 26  # of a plot, in pixels
_LONGEST = 17  # characters of a system's name beside a plot


@lru_cache(1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - it escapes
        loader=PackageLoader("geceval.cli"),
        autoescape=lambda name: name is None or name.endswith(".html"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.globals |= {"version": __version__, "nothing": NOTHING, "zip": zip, "min": min, "share": _percent}
    environment.filters |= {"number": _number, "share": _share, "css_class": _css_class, "direction": _direction}
    return environment


def _page(template: str, title: str, **values: Any) -> str:
    return _environment().get_template(template).render(title=title, **values)


def _fragment(macro: str, *values: Any) -> Markup:
    return getattr(_environment().get_template("fragments.html").module, macro)(*values)


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if math.isfinite(value) else "–"


def _share(value: float | None) -> str:
    """`.763`, without the zero as tables of papers print it; a dash for a missing value."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1).replace("-", "−")


def _percent(part: float, whole: float) -> str:
    return f"{100 * min(max(ratio(part, whole, 0.0), 0.0), 1.0):.0f}"


def _direction(text: str) -> str:
    """The direction of the first letter of a text."""
    first = next((letter for letter in text if letter.isalpha()), "")
    return "rtl" if RIGHT_TO_LEFT.match(first) else "ltr"


def _css_class(kind: str) -> Markup | str:
    return Markup(' class="{}"').format(kind) if kind else ""


# --- Chunks side by side ---------------------------------------------------------------------------------------------


def chunks_page(tables: Sequence[ChunkTable], caption: str) -> str:
    """Sentences as tables of chunks."""
    sentences = [(table, _tally(table)) for table in tables]
    return _page("chunks.html", "Chunks", sentences=sentences, caption=caption, meanings=_meanings(tables))


def chunk_table(table: ChunkTable) -> str:
    """One sentence, in a box within which it scrolls."""
    return str(_fragment("chunk_table", table))


def chunk_legend(tables: Iterable[ChunkTable]) -> str:
    """A list of the labels in the tables with their meanings; nothing if there is none."""
    meanings = _meanings(tables)
    return str(_fragment("chunk_legend", meanings)) if meanings else ""


def used_labels(tables: Iterable[ChunkTable]) -> list[str]:
    """The labels that occur in the tables."""
    used = {label for table in tables for label in table.labels()}
    return [label for label in MEANINGS if label in used]


def _meanings(tables: Iterable[ChunkTable]) -> dict[str, str]:
    return {label: MEANINGS[label] for label in used_labels(tables)}


def _tally(table: ChunkTable) -> str:
    """The number of each label in the row of the correction, as text."""
    counts = Counter(cell.label for cell in table.rows[1] if cell.label)
    return " · ".join(f"{counts[label]} {label}" for label in MEANINGS if counts[label])


# --- Leaderboard of systems ------------------------------------------------------------------------------------------


def leaderboard_page(comparisons: Mapping[str, Comparison], sentences: int, confidence: float, title: str) -> str:
    """Systems by metrics, with ranks, intervals, plots and signatures."""
    systems = len(next(iter(comparisons.values())).standings)
    every = comparisons.values()
    return _page(
        "leaderboard.html",
        title,
        counts=f"{counted(systems, 'system')}, {counted(sentences, 'sentence')}",
        summary=leaderboard_summary(comparisons),
        table=Markup(systems_table(comparisons)),
        legend=leaderboard_legend(confidence),
        plots=Markup(plots(comparisons)),
        guarded=Markup(guarded(comparisons)),
        signatures=dict.fromkeys([*(each.signature for each in every), *(each.test for each in every)]),
    )


def leaderboard_legend(confidence: float) -> str:
    """An explanation of the numbers in the table."""
    return (
        f"In front of each score its rank, below it the {100 * confidence:g}% interval of the bootstrap. Systems that "
        "do not differ share a rank: a rank ends where each system above differs from each below (paired bootstrap, "
        f"two-sided, p < {1 - confidence:.3g})."
    )


def leaderboard_summary(comparisons: Mapping[str, Comparison]) -> list[str]:
    """The best systems in words: one sentence per metric."""
    return [f"{metric}: {_best_systems(ordered(metric, each.standings))}" for metric, each in comparisons.items()]


def _best_systems(standings: Sequence[SystemEstimate]) -> str:
    first = [each.system for each in standings if each.rank == 1]
    if len(first) == 1:
        return f"{first[0]} is best, and differs from every other system."
    if len(first) == len(standings):
        return "the sentences are too few, or the systems too alike, to tell who is best."
    if len(first) > 4:
        total = counted(len(standings), "system")
        return f"{len(first)} of {total} share the first rank; {first[0]} has the best score."
    return f"{', '.join(first[:-1])} and {first[-1]} share the first rank."


def ordered(metric: str, standings: Sequence[SystemEstimate]) -> list[SystemEstimate]:
    """Systems under a metric, the best first."""
    return sorted(standings, key=lambda each: each.score, reverse=registry.scorer_class(metric).higher_is_better)


def systems_table(comparisons: Mapping[str, Comparison]) -> str:
    """Systems by metrics, in a box within which it scrolls; the first metric orders the systems."""
    estimates = [{each.system: each for each in comparison.standings} for comparison in comparisons.values()]
    first = next(iter(comparisons))
    systems = [each.system for each in ordered(first, comparisons[first].standings)]
    rows = {system: [by_system[system] for by_system in estimates] for system in systems}
    return str(_fragment("systems_table", rows, {metric: _arrow(metric) for metric in comparisons}))


def _arrow(metric: str) -> str:
    return "↑" if registry.scorer_class(metric).higher_is_better else "↓"


def plots(comparisons: Mapping[str, Comparison]) -> str:
    """A plot for each metric: scores and intervals, the best system on top; every other rank is shaded."""
    return str(_fragment("plots", [_plot(metric, comparison) for metric, comparison in comparisons.items()]))


def guarded(comparisons: Mapping[str, Comparison]) -> str:
    """The systems that the guard of a metric penalised, and why, sentence by sentence; nothing if there are none."""
    rows = [
        (f"{metric}: {system}", summary(reasons), [(line, why) for line, why in enumerate(reasons, 1) if why])
        for metric, comparison in comparisons.items()
        for system, reasons in comparison.guard_reasons.items()
    ]
    return str(_fragment("guarded", rows, GUARD_LEGEND, GUARDED_LINES)) if rows else ""


def _plot(metric: str, comparison: Comparison) -> dict[str, Any]:
    standings = ordered(metric, comparison.standings)
    low, high = min(each.low for each in standings), max(each.high for each in standings)
    ranks = list(dict.fromkeys(each.rank for each in standings))

    def x(value: float) -> str:
        return f"{_LEFT + (_WIDTH - _LEFT - 8) * ((value - low) / (high - low) if high > low else 0.5):.1f}"

    rows = [
        {
            "name": each.system if len(each.system) <= _LONGEST else f"{each.system[: _LONGEST - 1]}…",
            "y": _TOP + _ROW * number + _ROW // 2,
            "shaded": ranks.index(each.rank) % 2 == 0,
            "low": x(each.low),
            "high": x(each.high),
            "score": x(each.score),
        }
        for number, each in enumerate(standings)
    ]
    return {
        "title": f"{metric} {_arrow(metric)}",
        "label": f"{metric}: scores and intervals of {counted(len(rows), 'system')}",
        "rows": rows,
        "width": _WIDTH,
        "height": _TOP + _ROW * len(rows) + 20,
        "left": _LEFT,
        "right": _WIDTH - 8,
        "low": low,
        "high": high,
    }


# --- Report on metrics -----------------------------------------------------------------------------------------------


def report_page(title: str, sections: Sequence[Mapping[str, Any]]) -> str:
    """Metrics by their agreement with people, a section for each data set."""
    return _page("report.html", title, sections=[{**each, "table": Markup(each["table"])} for each in sections])


def report_table(
    report: Mapping[str, Any],
    ranked_by: str | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    published_only: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The measured values of each metric, with a paper's number below each, and the best of each column marked."""
    key = ranked_by or report["ranked_by"]
    groups = dict(sorted(report["columns"].items(), key=lambda group: key not in group[1]))
    columns = [_column(each, keys[0], key, report["rows"]) for keys in groups.values() for each in keys]
    keys = [column["key"] for column in columns]
    rows = [
        {
            "metric": row["metric"],
            "labels": (labels or {}).get(row["metric"], ()),
            "values": _all_keys(row["values"], keys),
            "published": _all_keys(row["published"], keys),
        }
        for row in sorted(report["rows"], key=lambda row: -_or_least(row["values"].get(key)))
    ]
    published_rows = [{**row, "values": _all_keys(row["values"], keys)} for row in published_only]
    return str(_fragment("report_table", groups, columns, rows, published_rows))


def _column(key: str, first_of_group: str, ranked_by: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    kinds = ["group"] * (key == first_of_group) + ["by"] * (key == ranked_by)
    values = [value for row in rows if (value := row["values"].get(key)) is not None]
    best = max(values) if len(values) > 1 and not key.startswith("attacks") and not key.endswith("ties") else None
    return {"key": key, "kind": " ".join(kinds), "is_key": key == ranked_by, "best": best}


def _all_keys(values: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: values.get(key) for key in keys}


def _or_least(value: float | None) -> float:
    return -math.inf if value is None else value


# --- Attacks on metrics ----------------------------------------------------------------------------------------------


def attack_page(resistances: Sequence[Resistance]) -> str:
    """The attacks on each metric: headlines, then every attack beside honest texts, then flips of meaning."""
    return _page("attack.html", "Attacks on metrics", resistances=resistances, counted=counted)


# --- Transport plans -------------------------------------------------------------------------------------------------


def transport_page(plans: Sequence[SentencePlan], caption: str) -> str:
    """Edits of corrections by edits of references, with the mass that is transported."""
    sentences = [_transport_section(each) for each in plans]
    return _page("transport.html", "Which edit answers which", sentences=sentences, caption=caption)


def transport_shares(plan: TransportPlan) -> tuple[float, float]:
    """Precision and recall of one sentence; 1 where there is no mass."""
    moved = float(plan.plan.sum())
    return ratio(moved, float(plan.masses.sum())), ratio(moved, float(plan.gold_masses.sum()))


def _transport_section(each: SentencePlan) -> dict[str, Any]:
    plan = each.plan
    precision, recall = transport_shares(plan)
    unanswered, missed = plan.remaining()

    def side(edits: Iterable[Edit], masses: Any, left: Sequence[float]) -> list[dict[str, Any]]:
        return [
            {"text": span_text(each.source, edit), "type": edit.type, "mass": mass, "left": rest}
            for edit, mass, rest in zip(edits, masses.tolist(), left, strict=True)
        ]

    rows = zip(side(plan.edits, plan.masses, unanswered), plan.plan.tolist(), plan.shown().tolist(), strict=True)
    return {
        "line": each.line,
        "source": each.source,
        "prediction": each.prediction,
        "facts": f"{each.reference}, precision {precision:.3f}, recall {recall:.3f}",
        "edits": [{**edit, "moved": moved, "shown": shown} for edit, moved, shown in rows],
        "gold": side(plan.gold, plan.gold_masses, missed),
    }


# --- Heat map of difficulty ------------------------------------------------------------------------------------------


def heat_map_page(reference: ReferenceDifficulty, title: str = "Difficulty heat map") -> str:
    """A reference whose chunks are coloured by their difficulty (GoToScorer)."""
    # Edits of the reference are red; chunks that need none but that at least one system got wrong are blue. The more
    # systems are wrong, the stronger the colour. A caret stands for an insertion.
    difficulty = reference.difficulty
    difficulty.check(reference.chunks)
    sentences = []
    for row in zip(reference.chunks, difficulty.correct, difficulty.of_chunks(), strict=True):
        pieces = [_piece(*chunk, difficulty.systems) for chunk in zip(*row, strict=True)]
        sentences.append([piece for piece in pieces if piece["classes"] or piece["text"]])
    edits = sum(chunk.is_edit for chunks in reference.chunks for chunk in chunks)
    numbers = {"system": difficulty.systems, "sentence": len(sentences), "edit": edits}
    facts = " · ".join(counted(number, noun) for noun, number in numbers.items())
    return _page("heat_map.html", title, sentences=sentences, facts=facts)


def _piece(chunk: Chunk, correct: int, weight: float, systems: int) -> dict[str, str]:
    if not chunk.is_edit and correct == systems:
        return {"text": chunk.source, "classes": ""}
    wrong = 1 - correct / systems
    classes = ["e" if chunk.is_edit else "a", "i" if chunk.is_gap else "", "b" if wrong >= BOLD_FROM else ""]
    return {
        "text": chunk.source,
        "classes": " ".join(filter(None, classes)),
        "shade": f"{max(wrong, 0.1):.3g}",
        "tip": _tip(chunk, correct, weight, systems),
    }


def _tip(chunk: Chunk, correct: int, weight: float, systems: int) -> str:
    if chunk.is_edit:
        corrections = " or ".join(isolated(text) or NOTHING for text in (chunk.correction, *chunk.alternatives))
        chunk_text = f"{chunk.type or 'edit'}: {isolated(chunk.source) or NOTHING} → {corrections}"
        outcome = f"{correct} of {counted(systems, 'system')} right"
    else:
        chunk_text = "insert nothing here" if chunk.is_gap else f"keep: {chunk.source}"
        outcome = f"{systems - correct} of {counted(systems, 'system')} wrong"
    return f"{chunk_text} · weight {weight:.2f} · {outcome}"


# --- Error types -----------------------------------------------------------------------------------------------------


def types_page(figure: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]], notes: Sequence[str]) -> str:
    """A heat map, its table, and how they came about."""
    svg = Markup(inline_svg(figure, "types"))  # noqa: S704 - matplotlib escapes
    return _page("error_types.html", "Error types", figure=svg, columns=columns, rows=rows, notes=notes)
