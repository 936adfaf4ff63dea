"""Style, panels, markers, numbers and files of the figures in `geceval.meta.figures.plots`."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from geceval.core.errors import InputError, naming_the_extra
from geceval.core.files import write_bytes

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
_SHARES = {"hit": ("#009E73", ""), "wrong": ("#D55E00", "///"), "under": ("#B8DDF3", ""), "over": ("#CC79A7", "xxx")}
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.hashsalt": "geceval",
    "pdf.fonttype": 42,
}


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Decorate a function that draws a figure so that it runs in this style."""

    @functools.wraps(draw)
    def drawn(*arguments: Arguments.args, **options: Arguments.kwargs) -> Figure:
        check_installed()
        from matplotlib import rc_context

        with rc_context(_STYLE):
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
    with rc_context(_STYLE):
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


def panels(
    rows: int, columns: int, width: float, height: float, *, left: float = 0.0, right: float = 0.0, **shared: bool
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of equal panels whose sizes are given in inches, with more room at the sides where asked for."""
    from matplotlib.figure import Figure

    total, tall = columns * (width + 0.35) + left + right + 0.35, rows * (height + 0.5) + 0.55
    figure = Figure(figsize=(total, tall), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1 - right / total, 1))
    grid = figure.subplots(rows, columns, squeeze=False, **shared)
    return figure, [list(row) for row in grid]


def line(number: int) -> dict[str, object]:
    """The style of the n-th metric's curve, distinct in colour and in grey."""
    return {**mark(number), "linestyle": _DASHES[number % len(_DASHES)]}


def mark(number: int, marker: str | None = None) -> dict[str, object]:
    """The style of the n-th metric's points."""
    hollow = number // len(_COLOURS) % 2
    colour = _COLOURS[number % len(_COLOURS)]
    face = "white" if hollow else colour
    return {"color": colour, "marker": marker or _MARKERS[number % len(_MARKERS)], "markerfacecolor": face}


def share(name: str) -> dict[str, Any]:
    """How the bars of one of CLEME2.0's shares look: a colour and a hatching."""
    colour, hatch = _SHARES[name]
    return {"color": colour, "hatch": hatch, "edgecolor": "#000000", "linewidth": 0.6}


def legend(figure: Figure, axes: Axes, count: int) -> None:
    """One legend for all panels, below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(count, 6), frameon=False, handlelength=3.2)


def whole_numbers(axes: Axes, positions: Sequence[int]) -> None:
    """Ticks at whole numbers, not too many."""
    step = 1 + len(positions) // 14
    axes.set_xticks(list(positions)[::step])


def numbered_points(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Points as numbers from 1, with the least-squares line."""
    if np.ptp(x) > 0:
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, np.polyval(np.polyfit(x, y, 1), ends), color="#888888", linewidth=1, linestyle="--", zorder=1)
    axes.scatter(x, y, s=95, facecolor="white", edgecolor="#0072B2", linewidth=0.9, zorder=2)
    for number, point in enumerate(zip(x, y, strict=True), start=1):
        axes.annotate(str(number), point, ha="center", va="center_baseline", fontsize=6.5, zorder=3)
    axes.margins(0.1)


def draw_map(
    axes: Axes, values: np.ndarray, title: str, ranks: str, limits: tuple[float, float], *, diverging: bool = False
) -> None:
    """Draw the cells above the diagonal, each with its number; the second rank runs right, the first one down."""
    size = len(values)
    shown = values[:-1, 1:]
    picture = axes.imshow(shown, cmap="RdBu" if diverging else "cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    for (row, column), value in np.ndenumerate(shown):
        if np.isfinite(value):
            red, green, blue, _ = picture.cmap(picture.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            text = signed(value, 2) if diverging else unsigned(value, 2)
            axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=_ON_DARK if dark else _ON_LIGHT)
    axes.set_xticks(range(size - 1), range(2, size + 1))
    axes.set_yticks(range(size - 1), range(1, size))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title)
    axes.set_xlabel(f"worse {ranks} rank")
    axes.set_ylabel(f"better {ranks} rank")


def signed(value: float, digits: int) -> str:
    """`+.12`: a number of [-1, 1] without the zero, with its sign; a dash for NaN."""
    return "–" if np.isnan(value) else f"{value:+.{digits}f}".replace("0.", ".", 1).replace("-", "−")


def unsigned(value: float, digits: int = 3) -> str:
    """`.12`, and a dash for NaN."""
    return "–" if np.isnan(value) else signed(value, digits).removeprefix("+")


def shared_limits(maps: Sequence[np.ndarray], *, diverging: bool = False) -> tuple[float, float]:
    """The ends of one colour scale for several maps, symmetric around 0 for differences; empty cells do not count."""
    numbers = np.concatenate([values[np.isfinite(values)] for values in maps])
    if not diverging:
        return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    largest = max(0.05, float(np.abs(numbers).max(initial=0.0)))
    return -largest, largest
