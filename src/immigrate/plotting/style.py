"""Colours and small tools shared by the displays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from immigrate.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, readable with every common colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C00", "#000000")


def require_matplotlib(name: str) -> Any:
    """pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{name} draws with matplotlib: pip install 'immigrate[plot]'"
        ) from error
    return plt


def short_names(names: Iterable[Any], most: int = 32) -> list[str]:
    """Names to write in a picture: at most so many characters each where they stay distinct."""
    names = [str(name) for name in names]
    while True:
        short = [_shortened(name, most) for name in names]
        if len(set(short)) == len(set(names)):
            # matplotlib takes what stands between dollar signs for mathematics.
            return [name.replace("$", r"\$") for name in short]
        most += 8


def _shortened(name: str, most: int) -> str:
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
        Least distance between two labels, as a fraction of the height of the axes.
    """
    low, high = ax.get_ylim()
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
