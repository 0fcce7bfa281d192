"""Grids of two features: counting near points, finer points, axes and shades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from immigrate.arrays import Array, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALENESS = 0.65
"""Share of white in pale colours."""

REACH = 2
"""Samples are near a point of a grid if they are at most so many points away along a number."""

N_FINE = 160


def window_sums(counts: Array, axis: int) -> Array:
    """Sums over the points within `REACH` along an axis."""
    n = counts.shape[axis]
    is_near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= REACH
    return np.asarray(np.moveaxis(np.tensordot(is_near, counts, (1, axis)), 0, axis), dtype=float)


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


def on_finer_grid(values: Array, old: tuple[Array, Array], new: tuple[Array, Array]) -> Array:
    """Values on a grid of two numbers, interpolated linearly along either."""
    along = np.array([np.interp(new[0], old[0], column) for column in values.T]).T
    return np.array([np.interp(new[1], old[1], row) for row in along])


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


def shades(mappable: Any, value: Array, is_sure: Mask) -> Array:
    """Colours of values, pale where their interval holds 0."""
    colours = np.asarray(mappable.to_rgba(value))
    return np.where(is_sure[..., None], colours, paled(colours))


def paled(colours: Array) -> Array:
    """Colours mixed with white."""
    return np.asarray(PALENESS + (1 - PALENESS) * colours)


def signed(value: float, decimals: int) -> str:
    """A number with its sign; 0 has none."""
    # Rounded first: -0.001 would be written as -0.00.
    value = round(value, decimals)
    return f"{value:+.{decimals}f}".replace("-", "−") if value else "0"


def remark(text: str) -> Any:
    """An entry of a legend without a mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=text)


def shade_below_0(ax: Axes, grid: tuple[Array, Array], values: Array, **look: Any) -> Any:
    """Shade the part of a grid where values are below 0."""
    return ax.contourf(*grid, values, levels=[min(values.min(), 0.0) - 1, 0], **look)


def frame_cells(ax: Axes, is_framed: Mask, **look: Any) -> None:
    """Draw a frame around some cells, each within its cell, so that neighbours stay apart."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    frames = [Rectangle((j - 0.48, i - 0.47), 0.96, 0.94) for i, j in np.argwhere(is_framed)]
    # One collection is drawn many times faster than as many patches.
    ax.add_collection(PatchCollection(frames, facecolor="none", **look))
