"""Colours and small tools shared by the displays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, readable with every common colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C00", "#000000")

LINE_OF_SMALL_TEXT = 0.15
"""Inches."""

PALENESS = 0.65
"""Share of white in pale colours."""

FIT_ONE = "fit an ImmigrateClassifier, or pass the last step of a pipeline: pipeline[-1]"
"""What to do about an estimator without weights of pairs."""

N_FINE = 160
"""Points of a smooth surface along each side."""


def require_matplotlib(name: str) -> Any:
    """pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{name} draws with matplotlib: pip install 'immigrate[plot]'"
        ) from error
    return plt


def check_has(estimator: Any, attribute: str, what: str, remedy: str) -> None:
    """Refuse an estimator that is not fitted, or has nothing of this kind to draw."""
    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise TypeError(f"{type(estimator).__name__} has no {what} to draw; {remedy}.")


def is_dark(colour: Any) -> bool:
    """Whether white can be read on a colour better than black."""
    # The usual weights of the three colours in perceived brightness.
    return bool(np.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.5)


def has_dark_paper(ax: Axes) -> bool:
    """Whether the paper is dark; where it shows what is below, text says which it is."""
    import matplotlib as mpl
    from matplotlib.colors import to_rgba

    paper = np.array(to_rgba(ax.figure.get_facecolor()))
    return is_dark(paper if paper[3] else 1 - np.array(to_rgba(mpl.rcParams["text.color"])))


def on_paper(ax: Axes, grey: str) -> str:
    """A grey that stands out from the paper as much as this one does from white.

    Parameters
    ----------
    ax : matplotlib Axes
    grey : str
        From "0", black, to "1", white.
    """
    return f"{1 - float(grey) ** 1.5:.3g}" if has_dark_paper(ax) else grey


def line_colours(ax: Axes) -> list[str]:
    """The palette, with white in place of black on dark paper."""
    return [*PALETTE[:-1], on_paper(ax, "0")]


def short_names(names: Iterable[Any], most: int = 32) -> list[str]:
    """Names to write in a picture: at most so many characters each where they stay distinct."""
    names = [str(name) for name in names]
    while True:
        for shorten in (_shortened, _shortened_around):
            short = shorten(names, most)
            if len(set(short)) == len(set(names)):
                # matplotlib takes what stands between dollar signs for mathematics.
                return [name.replace("$", r"\$") for name in short]
        most += 8


def _shortened_around(names: Sequence[str], most: int) -> list[str]:
    """Names whose ends are alike, with what follows their common beginning."""
    alike = dict(zip(names, _shortened(names, most)))
    order = sorted(alike, key=lambda name: alike[name])
    for _, group in groupby(order, key=lambda name: alike[name]):
        some = list(group)
        if len(some) == 1:
            continue
        head, tail = most // 3, most - most // 3 - 2
        # A few signs before the first that differs, so that a word of it can be read.
        start = max(head, _alike_signs(some) - tail // 2)
        for name in some:
            end = "…" if start + tail < len(name) else ""
            alike[name] = f"{name[:head]}…{name[start : start + tail]}{end}"
    return [alike[name] for name in names]


def _alike_signs(names: Sequence[str]) -> int:
    """How many signs all begin with."""
    is_alike = [len(set(signs)) == 1 for signs in zip(*names)]
    return [*is_alike, False].index(False)


def _shortened(names: Sequence[str], most: int) -> list[str]:
    return [_with_ellipsis(name, most) for name in names]


def _with_ellipsis(name: str, most: int) -> str:
    """The name, with an ellipsis in its middle where it is longer than `most` characters."""
    if len(name) <= most:
        return name
    # Cut in the middle: names often differ in their beginnings or ends.
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - head - 1) :]}"


def spread_labels(
    ax: Axes, x: float, ends: Sequence[tuple[float, str, str]], *, height: float = 0.07
) -> None:
    """Write labels at the right end of lines, moved apart so that none overlaps.

    Parameters
    ----------
    ax : matplotlib Axes
    x : float
        Where the lines end, in data units.
    ends : list of (y, text, color)
    height : float
        Least distance between two labels, as a fraction of the height of the axes; more where
        the axes are small.
    """
    low, high = ax.get_ylim()
    inches = ax.get_window_extent().height / ax.figure.dpi
    height = max(height, LINE_OF_SMALL_TEXT / inches)
    order = sorted(range(len(ends)), key=lambda i: ends[i][0])
    wanted = np.array([(ends[i][0] - low) / (high - low) for i in order])
    placed = spaced(wanted, height)
    for i, y in zip(order, placed):
        _, text, color = ends[i]
        ax.annotate(
            text,
            xy=(x, ends[i][0]),
            xycoords="data",
            xytext=(1.02, y),
            textcoords="axes fraction",
            color=color,
            fontsize="small",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "relpos": (0, 0.5)},
        )


def spaced(wanted: Array, height: float) -> Array:
    """Sorted positions at least `height` apart, each as near as may be to where it wants to be."""
    placed = wanted.copy()
    # Each pair of neighbours that is too close is pushed apart, until none is; in a crowd that may
    # not end, and the rest stays close.
    for _ in range(200):
        gaps = np.diff(placed)
        tight = np.flatnonzero(gaps < height - 1e-9)
        if not len(tight):
            break
        for i in tight:
            push = (height - (placed[i + 1] - placed[i])) / 2
            placed[i] -= push
            placed[i + 1] += push
    return placed


def is_skewed(values: Array) -> bool:
    """Whether positive values need a logarithmic axis to be told apart."""
    middle = values[len(values) // 2]
    # The upper half of the ranks spans more than four times what the lower half does.
    return bool(values[0] > 0 and values[-1] - middle > 4 * (middle - values[0]))


def fine_values(values: Array) -> Array:
    """Many points from the first value to the last, even on the axis that they are drawn on."""
    space = np.geomspace if is_skewed(values) else np.linspace
    # geomspace may miss its ends by a rounding error, and then they would lie outside the grid.
    return np.clip(space(values[0], values[-1], N_FINE), values[0], values[-1])


def scale_axis(ax: Axes, which: Literal["x", "y"], values: Array) -> None:
    """A logarithmic axis with plain numbers where values are skewed."""
    if not is_skewed(values):
        return
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    ax.set(**{f"{which}scale": "log"})
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


def paled(colours: Array) -> Array:
    """Colours mixed with white."""
    return np.asarray(PALENESS + (1 - PALENESS) * colours)


def signed(value: float, decimals: int) -> str:
    """A number with its sign; 0 has none."""
    # Rounded first: -0.001 would be written as -0.00.
    value = round(value, decimals)
    return f"{value:+.{decimals}f}".replace("-", "−") if value else "0"


def frame_cells(ax: Axes, is_framed: Mask, **look: Any) -> None:
    """Draw a frame around some cells, each within its cell, so that neighbours stay apart."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    frames = [Rectangle((j - 0.48, i - 0.47), 0.96, 0.94) for i, j in np.argwhere(is_framed)]
    # One collection is drawn many times faster than as many patches.
    ax.add_collection(PatchCollection(frames, facecolor="none", **look))
