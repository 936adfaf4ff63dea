"""Figures of meta-evaluation, legible in print and in grey: markers, dashes and numbers say what colours say.

Every function returns a matplotlib `Figure` and opens no window; `geceval.meta.figures.drawing.save` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from geceval.core.errors import InputError
from geceval.meta.agreement import Agreement
from geceval.meta.correlation import Correlation, correlate
from geceval.meta.figures import drawing
from geceval.meta.figures.drawing import styled
from geceval.meta.figures.pair_maps import PairMap

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DifficultyRow(Protocol):
    """How hard the edits of one error type are; see `geceval.scorers.difficulty.chunk_weights.TypeRow`."""

    type: str
    mean: float
    sd: float
    frequency: int


@styled
def curves(
    tables: Mapping[str, Mapping[str, Sequence[Correlation]]],
    positions: Sequence[int],
    label: str,
    *,
    falling: bool = False,
) -> Figure:
    """Correlations over windows of systems or over the best K: one column per human ranking, Pearson above Spearman."""
    rankings = list(next(iter(tables.values())))
    figure, grid = drawing.panels(2, len(rankings), 2.9, 2.1, sharex=True, sharey=True)
    for row, kind in enumerate(("pearson", "spearman")):
        for column, ranking in enumerate(rankings):
            axes = grid[row][column]
            for number, (metric, found) in enumerate(tables.items()):
                values = [getattr(each, kind) for each in found[ranking]]
                axes.plot(positions, values, label=metric, clip_on=False, **drawing.line(number))
            axes.axhline(0, color="#666666", linewidth=0.8)
            axes.set_ylim(-1.05, 1.05)
            drawing.whole_numbers(axes, positions)
            if row == 0:
                axes.set_title(ranking)
            if row == 1:
                axes.set_xlabel(label)
            if column == 0:
                axes.set_ylabel("Pearson's r" if kind == "pearson" else "Spearman's ρ")
    if falling:
        grid[0][0].invert_xaxis()  # shared by all
    drawing.legend(figure, grid[0][0], len(tables))
    return figure


@styled
def scatter(
    metrics: Mapping[str, Mapping[str, float]], humans: Mapping[str, Mapping[str, float]], systems: Sequence[str]
) -> Figure:
    """Plot scores of systems by metrics and people: a panel per metric and ranking, with a fitted line."""
    panels = [(metric, ranking) for metric in metrics for ranking in humans]
    columns = len(humans)
    if len(metrics) > columns:
        panels, columns = [(metric, ranking) for ranking in humans for metric in metrics], len(metrics)
    figure, grid = drawing.panels(len(panels) // columns, columns, 2.6, 2.3, right=1.5)
    for axes, (metric, ranking) in zip([axes for row in grid for axes in row], panels, strict=True):
        x, y = (np.array([each[system] for system in systems]) for each in (humans[ranking], metrics[metric]))
        drawing.numbered_points(axes, x, y)
        found = correlate(y, x)
        axes.set_title(f"r = {drawing.signed(found.pearson, 3)}   ρ = {drawing.signed(found.spearman, 3)}")
        axes.set_xlabel(f"human: {ranking}")
        axes.set_ylabel(metric)
    names = "\n".join(f"{number:>2}  {system}" for number, system in enumerate(systems, start=1))
    width, height = figure.get_size_inches()
    figure.text(1 - 1.4 / width, 1 - 0.35 / height, names, va="top", fontsize=8, linespacing=1.45)
    return figure


@styled
def pair_maps(tables: Mapping[str, Mapping[str, PairMap]], ranks: str) -> Figure:
    """Heat maps of agreement by rank: a row per metric, a column per set of judgments."""
    names, kinds = list(tables), list(next(iter(tables.values())))
    size = len(tables[names[0]][kinds[0]].pairs)
    panel = ((0.36 if size > 6 else 0.5) * size + 0.75, (0.36 if size > 6 else 0.5) * (size - 1) + 0.75)
    rows = len(names) + (len(names) == 2)
    if len(kinds) == 1:  # side by side
        figure, grid = drawing.panels(1, rows, *panel)
        grid = [[axes] for axes in grid[0]]
    else:
        figure, grid = drawing.panels(rows, len(kinds), *panel)
    limits = drawing.shared_limits([each.kendall for table in tables.values() for each in table.values()])
    for column, kind in enumerate(kinds):
        of_kind = "" if kind == "all" else f", {kind}"
        for row, metric in enumerate(names):
            values = tables[metric][kind].kendall
            drawing.draw_map(grid[row][column], values, f"{metric}{of_kind}: Kendall's τ", ranks, limits)
    if rows > len(names):
        first, second = (tables[name] for name in names)
        differences = {kind: first[kind].kendall - second[kind].kendall for kind in kinds}
        limits = drawing.shared_limits(list(differences.values()), diverging=True)
        for axes, (kind, values) in zip(grid[-1], differences.items(), strict=True):
            title = f"{names[0]} − {names[1]}" + ("" if kind == "all" else f", {kind}")
            drawing.draw_map(axes, values, title, ranks, limits, diverging=True)
    return figure


@styled
def agreements(tables: Mapping[str, Mapping[str, Agreement]]) -> Figure:
    """Accuracy of metrics on sentences, one column per set of judgments, with the share of tied pairs beside it."""
    kinds = list(next(iter(tables.values())))
    figure, grid = drawing.panels(1, len(kinds), 3.3, 0.3 * len(tables) + 0.5, sharey=True, left=0.9)
    heights = np.arange(len(tables))
    for axes, kind in zip(grid[0], kinds, strict=True):
        found = [table[kind] for table in tables.values()]
        values = np.array([each.kendall if np.isnan(each.accuracy) else each.accuracy for each in found])
        axes.barh(heights, values, height=0.62, color="#56B4E9", edgecolor="#000000", linewidth=0.6)
        axes.plot(
            [each.tie_share for each in found],
            heights,
            linestyle="",
            label="share of tied pairs",
            **drawing.mark(0, "D"),
        )
        for y, value in zip(heights, values, strict=True):
            axes.text(max(value, 0) + 0.015, y, drawing.unsigned(value), va="center", fontsize=8)
        whole = all(np.isnan(each.accuracy) for each in found)
        axes.axvline(0 if whole else 0.5, color="#000000", linewidth=0.8, linestyle=":")
        axes.set_xlim(min(0.0, float(values.min()) - 0.1), 1.08)
        axes.set_yticks(heights, list(tables))
        axes.set_title("" if kind == "all" else kind)
        axes.set_xlabel("Kendall's τ" if whole else "accuracy")
        axes.grid(axis="y", visible=False)
    grid[0][0].invert_yaxis()
    drawing.legend(figure, grid[0][0], 1)
    return figure


@styled
def difficulty(rows: Sequence[DifficultyRow]) -> Figure:
    """How hard error types are: mean weight of their edits, one standard deviation to either side, and their number."""
    if not rows:
        raise InputError("no edit, no error type whose difficulty could be drawn")
    figure, grid = drawing.panels(1, 1, 4.6, 0.24 * len(rows) + 0.35, left=1.1)
    axes = grid[0][0]
    heights = np.arange(len(rows))
    means, deviations = (np.array([getattr(row, name) for row in rows], dtype=float) for name in ("mean", "sd"))
    axes.barh(heights, means, height=0.66, color="#56B4E9", edgecolor="#000000", linewidth=0.6)
    bounds = np.stack([np.minimum(deviations, means), deviations])
    axes.errorbar(means, heights, xerr=bounds, fmt="none", ecolor="#444444", elinewidth=1, capsize=2)
    limit = max(1.0, float((means + deviations).max()))
    for y, row in zip(heights, rows, strict=True):
        axes.text(limit * 1.02, y, f"{row.frequency:,}", va="center", ha="left", fontsize=8)
    axes.set_xlim(0, limit)
    axes.set_yticks(heights, [row.type for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("difficulty (mean weight, ± 1 standard deviation)")
    axes.text(limit * 1.02, -0.95, "edits", va="center", ha="left", fontsize=8)
    axes.grid(axis="y", visible=False)
    return figure


@styled
def chunk_shares(systems: Mapping[str, Mapping[str, float]]) -> Figure:
    """CLEME2.0's shares of each system: of needed corrections hit, wrong and under; of changes over, beside them."""
    figure, grid = drawing.panels(1, 2, 3.6, 0.27 * len(systems) + 0.45, sharey=True, left=0.9)
    needed, changes = grid[0]
    heights = np.arange(len(systems))
    starts = np.zeros(len(systems))
    for axes, names in ((needed, ("hit", "wrong", "under")), (changes, ("over",))):
        for name in names:
            values = np.array([shares[name] for shares in systems.values()])
            left = starts if axes is needed else 0
            axes.barh(heights, values, height=0.68, left=left, label=name, **drawing.share(name))
            for y, start, value in zip(heights, starts, values, strict=True):
                if axes is changes:
                    axes.text(value + 0.015, y, drawing.unsigned(value, 2), va="center", fontsize=7.5)
                elif value >= 0.07:  # wide enough for its number
                    label = axes.text(start + value / 2, y, drawing.unsigned(value, 2), va="center", ha="center")
                    label.set(fontsize=7.5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8})
            if axes is needed:
                starts = starts + values
        axes.set_yticks(heights, list(systems))
        axes.grid(axis="y", visible=False)
        axes.set_xlim(0, 1 if axes is needed else 1.08)
    needed.set_xlabel("share of the chunks that need correction")
    changes.set_xlabel("share of the changed chunks")
    needed.invert_yaxis()  # shared
    handles = [axes.get_legend_handles_labels() for axes in (needed, changes)]
    both = ([each for found, _ in handles for each in found], [name for _, names in handles for name in names])
    figure.legend(*both, loc="outside lower center", ncols=4, frameon=False, handlelength=2.6)
    return figure
