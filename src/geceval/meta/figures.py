"""Figures of meta-evaluation, legible in print and in grey: markers, dashes and numbers say what colours say."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from geceval.core.errors import InputError, naming_the_extra
from geceval.core.files import write_bytes
from geceval.meta.agreement import Agreement
from geceval.meta.correlation import Correlation, correlate
from geceval.meta.pair_maps import PairMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")

SUFFIXES = (".png", ".svg", ".pdf")
# Okabe and Ito's colours without yellow, dark to light and dark again, so that neighbours differ in grey as well.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
_SCHEME = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#dddddd": "color-mix(in srgb, currentColor 18%, transparent)",
}
_SMALLEST = 0.72  # of the size at which a figure is drawn: its smallest numbers are 8 pixels high then
# Black and white on coloured cells, which stay as they are in any scheme.
_ON_LIGHT, _ON_DARK = "#010101", "#fefefe"
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
_STYLE = Path(__file__).with_name("templates") / "figures.mplstyle"


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Decorate a function that draws a figure so that it runs in this style."""

    @functools.wraps(draw)
    def drawn(*arguments: Arguments.args, **options: Arguments.kwargs) -> Figure:
        check_installed()
        from matplotlib import rc_context

        with rc_context(fname=_STYLE):
            return draw(*arguments, **options)

    return drawn


def check_suffix(path: str | Path) -> None:
    """Raise a `ValueError` unless figures can be written to files with that ending; see also `check_installed`."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: figures are written to {', '.join(SUFFIXES)}; end the name in one of them")
    check_installed()


def check_installed() -> None:
    """Raise an `ImportError` that says what to install if matplotlib is missing, before any long work."""
    with naming_the_extra("a plot"):
        import matplotlib  # noqa: F401


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG (200 dots per inch), SVG or PDF, by the suffix of the name."""
    check_suffix(path)
    write_bytes(path, image(figure, Path(path).suffix[1:].lower()))


def image(figure: Figure, form: str) -> bytes:
    """The content of a file in that format; always the same bytes for the same figure."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    with rc_context(fname=_STYLE):
        figure.savefig(buffer, format=form, dpi=200, metadata=undated)
    return buffer.getvalue()


def inline_svg(figure: Figure, prefix: str) -> str:
    """A figure as SVG to stand within an HTML page, in the colours of the page."""
    # Black becomes the ink of the page (`currentColor`), white its paper (the CSS variable `--paper`), and the lines of
    # the grid something in between, so that it can be read in light and dark schemes.
    text = image(figure, "svg").decode("utf-8")
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    for colour, scheme in _SCHEME.items():
        text = text.replace(colour, scheme)
    text = re.sub(r'(\bid="|"#|url\(#)', rf"\g<1>{prefix}-", text)
    width = 4 / 3 * float(re.search(r'width="([\d.]+)pt"', text).group(1))
    style = f'style="max-width:{width:.0f}px;min-width:{_SMALLEST * width:.0f}px"'
    return re.sub(r'width="[^"]*" height="[^"]*"', f'fill="currentColor" {style}', text, count=1)


def _panels(
    rows: int, columns: int, width: float, height: float, *, left: float = 0.0, right: float = 0.0, **shared: bool
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of equal panels whose sizes are given in inches, with more room at the sides where asked for."""
    from matplotlib.figure import Figure

    total, tall = columns * (width + 0.35) + left + right + 0.35, rows * (height + 0.5) + 0.55
    figure = Figure(figsize=(total, tall), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1 - right / total, 1))
    grid = figure.subplots(rows, columns, squeeze=False, **shared)
    return figure, [list(row) for row in grid]


def _mark(number: int, marker: str | None = None) -> dict[str, object]:
    """The style of the n-th metric's points."""
    hollow = number // len(_COLOURS) % 2
    colour = _COLOURS[number % len(_COLOURS)]
    face = "white" if hollow else colour
    return {"color": colour, "marker": marker or _MARKERS[number % len(_MARKERS)], "markerfacecolor": face}


def _legend(figure: Figure, axes: Axes, count: int) -> None:
    """One legend for all panels, below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(count, 6), frameon=False, handlelength=3.2)


def _numbered_points(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Points as numbers from 1, with the least-squares line."""
    if np.ptp(x) > 0:
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), color="#888888", linewidth=1, linestyle="--", zorder=1)
    axes.scatter(x, y, s=95, facecolor="white", edgecolor="#0072B2", linewidth=0.9, zorder=2)
    for number, point in enumerate(zip(x, y, strict=True), start=1):
        axes.annotate(str(number), point, ha="center", va="center_baseline", fontsize=6.5, zorder=3)
    axes.margins(0.1)


def _draw_map(
    axes: Axes, cells: np.ndarray, title: str, limits: tuple[float, float], *, diverging: bool = False
) -> None:
    """Draw coloured cells, each with its number; cells without one stay empty."""
    picture = axes.imshow(cells, cmap="RdBu" if diverging else "cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            red, green, blue, _ = picture.cmap(picture.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = signed(value, 2) if diverging else unsigned(value, 2)
            axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=_ON_DARK if dark else _ON_LIGHT)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title)


def signed(value: float, digits: int) -> str:
    """`+.12`: a number of [-1, 1] without the zero, with its sign; a dash for NaN."""
    return "–" if np.isnan(value) else f"{value:+.{digits}f}".replace("0.", ".", 1).replace("-", "−")


def unsigned(value: float, digits: int = 3) -> str:
    """`.12`, and a dash for NaN."""
    return "–" if np.isnan(value) else signed(value, digits).removeprefix("+")


def _shared_limits(maps: Sequence[np.ndarray], *, diverging: bool = False) -> tuple[float, float]:
    """The ends of one colour scale for several maps, symmetric around 0 for differences; empty cells do not count."""
    numbers = np.concatenate([values[np.isfinite(values)] for values in maps])
    if not diverging:
        return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    largest = max(0.05, float(np.abs(numbers).max(initial=0.0)))
    return -largest, largest


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
    figure, grid = _panels(2, len(rankings), 2.9, 2.1, sharex=True, sharey=True)
    for row, kind in enumerate(("pearson", "spearman")):
        for column, ranking in enumerate(rankings):
            axes = grid[row][column]
            for number, (metric, rows) in enumerate(tables.items()):
                values = [getattr(each, kind) for each in rows[ranking]]
                dashes = _DASHES[number % len(_DASHES)]
                axes.plot(positions, values, label=metric, clip_on=False, linestyle=dashes, **_mark(number))
            axes.axhline(0, color="#666666", linewidth=0.8)
            axes.set_ylim(-1.05, 1.05)
            axes.set_xticks(positions[:: 1 + len(positions) // 14])  # whole numbers, not too many
            if row == 0:
                axes.set_title(ranking)
            if row == 1:
                axes.set_xlabel(label)
            if column == 0:
                axes.set_ylabel("Pearson's r" if kind == "pearson" else "Spearman's ρ")
    if falling:
        grid[0][0].invert_xaxis()  # shared by all
    _legend(figure, grid[0][0], len(tables))
    return figure


@styled
def scatter(
    metrics: Mapping[str, Mapping[str, Mapping[str, float]]],
    humans: Mapping[str, Mapping[str, float]],
    systems: Sequence[str],
) -> Figure:
    """Plot scores of systems by metrics, for each human ranking, and by people: a panel per metric and ranking."""
    panels = [(metric, ranking) for metric in metrics for ranking in humans]
    columns = len(humans)
    if len(metrics) > columns:
        panels, columns = [(metric, ranking) for ranking in humans for metric in metrics], len(metrics)
    figure, grid = _panels(len(panels) // columns, columns, 2.6, 2.3, right=1.5)
    for axes, (metric, ranking) in zip([axes for row in grid for axes in row], panels, strict=True):
        x, y = (np.array([each[system] for system in systems]) for each in (humans[ranking], metrics[metric][ranking]))
        _numbered_points(axes, x, y)
        correlation = correlate(y, x)
        axes.set_title(f"r = {signed(correlation.pearson, 3)}   ρ = {signed(correlation.spearman, 3)}")
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
        figure, grid = _panels(1, rows, *panel)
        grid = [[axes] for axes in grid[0]]
    else:
        figure, grid = _panels(rows, len(kinds), *panel)
    limits = _shared_limits([each.kendall for table in tables.values() for each in table.values()])
    for column, kind in enumerate(kinds):
        of_kind = "" if kind == "all" else f", {kind}"
        for row, metric in enumerate(names):
            values = tables[metric][kind].kendall
            _draw_map(grid[row][column], values[:-1, 1:], f"{metric}{of_kind}: Kendall's τ", limits)
    if rows > len(names):
        first, second = (tables[name] for name in names)
        differences = {kind: first[kind].kendall - second[kind].kendall for kind in kinds}
        limits = _shared_limits(list(differences.values()), diverging=True)
        for axes, (kind, values) in zip(grid[-1], differences.items(), strict=True):
            title = f"{names[0]} − {names[1]}" + ("" if kind == "all" else f", {kind}")
            _draw_map(axes, values[:-1, 1:], title, limits, diverging=True)
    for axes in figure.axes:  # above the diagonal: the second rank runs right, the first one down
        axes.set_xticks(range(size - 1), range(2, size + 1))
        axes.set_yticks(range(size - 1), range(1, size))
        axes.set(xlabel=f"worse {ranks} rank", ylabel=f"better {ranks} rank")
    return figure


@styled
def edit_map(values: Mapping[tuple[str, str], float], title: str) -> Figure:
    """Heat map of a share for each metric, downwards, and each kind of edits."""
    metrics, kinds = (list(dict.fromkeys(names)) for names in zip(*values, strict=True))
    figure, ((axes,),) = _panels(1, 1, 0.45 * len(kinds) + 0.3, 0.36 * len(metrics) + 0.9, left=0.9)
    cells = np.array([[values[metric, kind] for kind in kinds] for metric in metrics])
    _draw_map(axes, cells, title, _shared_limits([cells]))
    axes.set_xticks(range(len(kinds)), kinds, rotation=90)
    axes.set_yticks(range(len(metrics)), metrics)
    return figure


@styled
def agreements(tables: Mapping[str, Mapping[str, Agreement]]) -> Figure:
    """Accuracy of metrics on sentences, one column per set of judgments, with the share of tied pairs beside it."""
    kinds = list(next(iter(tables.values())))
    figure, grid = _panels(1, len(kinds), 3.3, 0.3 * len(tables) + 0.5, sharey=True, left=0.9)
    heights = np.arange(len(tables))
    for axes, kind in zip(grid[0], kinds, strict=True):
        measured = [table[kind] for table in tables.values()]
        values = np.array([each.kendall if np.isnan(each.accuracy) else each.accuracy for each in measured])
        axes.barh(heights, values, height=0.62, color="#56B4E9", edgecolor="#000000", linewidth=0.6)
        axes.plot(
            [each.tie_share for each in measured], heights, linestyle="", label="share of tied pairs", **_mark(0, "D")
        )
        for y, value in zip(heights, values, strict=True):
            axes.text(max(value, 0) + 0.015, y, unsigned(value), va="center", fontsize=8)
        only_kendall = all(np.isnan(each.accuracy) for each in measured)
        axes.axvline(0 if only_kendall else 0.5, color="#000000", linewidth=0.8, linestyle=":")
        axes.set_xlim(min(0.0, float(values.min()) - 0.1), 1.08)
        axes.set_yticks(heights, list(tables))
        axes.set_title("" if kind == "all" else kind)
        axes.set_xlabel("Kendall's τ" if only_kendall else "accuracy")
        axes.grid(axis="y", visible=False)
    grid[0][0].invert_yaxis()
    _legend(figure, grid[0][0], 1)
    return figure


@styled
def difficulty(rows: Sequence[Any]) -> Figure:
    """Difficulty of error types: mean weight of their edits, a standard deviation to either side, and their number."""
    if not rows:
        raise InputError("no edit, no error type whose difficulty could be drawn")
    figure, grid = _panels(1, 1, 4.6, 0.24 * len(rows) + 0.35, left=1.1)
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
def error_types(values: Mapping[str, Sequence[float]], types: Mapping[str, int], label: str) -> Figure:
    """Heat map of one measure: error types, each with how many there are to find, by systems, `values`."""
    if not types:
        raise InputError("no edit, no error type that could be drawn")
    longest = max(map(len, values))
    figure, grid = _panels(1, 1, max(0.62 * len(values), 1.2), 0.22 * len(types) + 0.07 * longest, left=1.3, right=0.2)
    axes = grid[0][0]
    _draw_map(axes, np.array(list(values.values())).T, "", (0.0, 1.0))
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(values)), values, rotation=90 if longest > 7 else 0)
    axes.set_yticks(range(len(types)), types)
    axes.set_xlabel(label)
    for row, text in enumerate(["to find", *(f"{number:,}" for number in types.values())], start=-1):
        axes.annotate(text, (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    return figure
