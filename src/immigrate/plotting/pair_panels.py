"""One panel of a pair: a surface of two numbers, a curve per level, or cells of levels.

Colours are solid where the 95 % interval excludes 0 and samples stand behind it, and pale
elsewhere; hatching says that few samples are near.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Mask
from immigrate.estimators import PairEffect
from immigrate.plotting.style import (
    PALENESS,
    PALETTE,
    fine_values,
    frame_cells,
    is_dark,
    paled,
    scale_axis,
    short_names,
    signed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "RdBu_r"
REACH = 2
"""Samples are near a point of a grid if they are at most so many points away along a number."""

FEW = 5
"""Fewer samples near a point than this, and nothing should be read from it."""

MOST_POINTS = 1000
MOST_CURVES = 5
MOST_NUMBERED = (30, 8)
"""Rows and columns up to which each cell holds its value and its count."""


@dataclass(frozen=True, eq=False)
class Panels:
    """What all panels of a picture have in common.

    Attributes
    ----------
    effect : PairEffect
        Turned so that its first feature goes to the right.
    shown : list of int
        The classes that have a panel.
    """

    effect: PairEffect
    shown: list[int]

    where = " near"
    has_colours = True

    @property
    def names(self) -> list[str]:
        """Names of the feature that goes to the right, and of the one that goes up."""
        return short_names(axis.name for axis in self.effect.axes)

    @cached_property
    def support(self) -> Array:
        """Samples near each point: (g, h)."""
        near = self.effect.counts
        for k, axis in enumerate(self.effect.axes):
            if not axis.has_levels:
                # A point of a grid has hardly any sample of its own; along numbers those around it
                # count too.
                near = window_sums(near, k)
        return near

    @cached_property
    def limit(self) -> float:
        """Largest value that samples stand behind, in any panel: the end of the colours."""
        value = np.abs(self.effect.value[self.shown])  # (c, g, h)
        is_near = np.broadcast_to(self.support >= FEW, value.shape)
        # Far from all samples, values may be anything: they must not fade the colours of the
        # others.
        largest = float(value[is_near].max() if is_near.any() else value.max())
        return largest if largest > 0 else 1.0

    @property
    def is_cut(self) -> bool:
        """Whether some values are beyond the ends of the colours."""
        return bool(np.abs(self.effect.value[self.shown]).max() > self.limit * (1 + 1e-9))

    def is_sure(self, c: int) -> Mask:
        """Whether the interval of each point excludes 0."""
        return (self.effect.low[c] > 0) | (self.effect.high[c] < 0)

    @property
    def is_known(self) -> Mask:
        """Whether each sample has both values."""
        return ~np.isnan(self.effect.axes[0].samples + self.effect.axes[1].samples)

    def mappable(self) -> Any:
        """The scale of colours, for a colour bar."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        return ScalarMappable(Normalize(-self.limit, self.limit), COLOURS)

    def key(self) -> list[Any]:
        """What is drawn how, for a legend."""
        from matplotlib.lines import Line2D

        # A remark has no mark.
        remarks = [Line2D([], [], linestyle="", label=text) for text in self.remarks()]
        return [*self.marks(), *remarks]

    @property
    def key_title(self) -> str:
        """What the entries of the legend are."""
        return ""

    def remarks(self) -> list[str]:
        """What the legend says without a mark."""
        pairs = {
            "samples have both values": (int(self.is_known.sum()), len(self.is_known)),
            "classes are shown": (len(self.shown), len(self.effect.classes)),
        }
        return [f"{some} of {all_} {what}" for what, (some, all_) in pairs.items() if some < all_]

    def marks(self) -> list[Any]:
        """The kinds of shading."""
        from matplotlib.patches import Patch

        # Both ends of the colours at once would need a patch of two halves; one end is enough.
        colour = self.mappable().to_rgba(0.8 * self.limit)
        kinds = [
            Patch(facecolor=colour, edgecolor="black", label="95 % interval excludes 0"),
            Patch(facecolor=tuple(paled(np.array(colour))), label="95 % interval includes 0"),
        ]
        if np.any(self.support < FEW):
            hatched = Patch(facecolor="white", edgecolor="0.5", hatch="////", linewidth=0)
            hatched.set_label(f"fewer than {FEW} samples{self.where}")
            kinds.append(hatched)
        return kinds

    def panel_size(self) -> tuple[float, float]:
        """Width and height of a panel in inches, beside others or alone."""
        return (5.2, 4.4) if len(self.shown) == 1 else (2.9, 2.7)

    @property
    def width_of_names(self) -> float:
        """Inches that the texts at the ticks of the left panels take."""
        return 0.4

    def draw(self, ax: Axes, c: int) -> None:
        """Draw the panel of a class."""
        raise NotImplementedError


class SurfacePanels(Panels):
    """Two numbers: a surface, its contour lines, and the samples as points."""

    def draw(self, ax: Axes, c: int) -> None:
        """Draw the surface of a class."""
        x, y = (np.asarray(axis.values, dtype=np.float64) for axis in self.effect.axes)
        scale_axis(ax, "x", x)
        scale_axis(ax, "y", y)
        grid = fine_values(x), fine_values(y)
        parts = (self.effect.value[c], self.effect.low[c], self.effect.high[c], self.support)
        value, low, high, support = (on_finer_grid(part, (x, y), grid).T for part in parts)
        colours = self.mappable()
        ax.pcolormesh(
            *grid, value, cmap=colours.cmap, norm=colours.norm, shading="nearest", rasterized=True
        )
        if value.min() < value.max():
            steps = np.linspace(-self.limit, self.limit, 9)
            ax.contour(*grid, value, levels=steps, colors="0.45", linewidths=0.5, linestyles="-")
        # Above 0 where the interval excludes 0, and where samples are near.
        sureness = np.maximum(low, -high) / self.limit
        # Both are above 0 where the colour is to be solid.
        solidness = np.minimum(sureness, support / FEW - 1)
        shade_below_0(ax, grid, solidness, colors="white", alpha=PALENESS)
        if solidness.min() < 0 < solidness.max():
            ax.contour(*grid, solidness, levels=[0], colors="black", linewidths=1)
        hatched = shade_below_0(ax, grid, support - FEW, colors="none", hatches=["////"])
        hatched.set(edgecolor="0.5", linewidth=0)
        self._draw_samples(ax, c)
        ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))

    def _draw_samples(self, ax: Axes, c: int) -> None:
        """Samples of the class in black and others in white; all in black beside a number."""
        places = [axis.samples for axis in self.effect.axes]
        drawn = self.drawn_samples()
        size = float(np.clip(4000 / max(len(drawn), 1), 4, 14))
        is_class = self.is_class(c)[drawn]
        for is_in, face in ((~is_class, "white"), (is_class, "black")):
            x, y = (place[drawn][is_in] for place in places)
            ax.scatter(x, y, s=size, c=face, edgecolors="black", linewidths=0.4, alpha=0.7)

    def drawn_samples(self) -> NDArray[np.intp]:
        """Samples with both values; of very many an even choice."""
        return np.flatnonzero(self.is_known)[:: self.stride]

    @property
    def stride(self) -> int:
        """One in so many samples is drawn."""
        return -(-int(self.is_known.sum()) // MOST_POINTS) or 1

    def is_class(self, c: int) -> Mask:
        """Whether each sample is of class c."""
        if self.effect.is_number:
            return np.ones(len(self.effect.labels), dtype=bool)
        return np.asarray(self.effect.labels == self.effect.classes[c])

    def marks(self) -> list[Any]:
        """Shadings and points."""
        from matplotlib.lines import Line2D

        some = "" if self.stride == 1 else f" (1 in {self.stride})"
        words = {"black": f"samples{some}"}
        if not self.effect.is_number:
            is_alone = len(self.shown) == 1
            who = short_names([self.effect.classes[self.shown[0]]])[0] if is_alone else "the class"
            words = {"black": f"samples of {who}{some}", "white": f"other samples{some}"}
        points = [
            # Seen on white and on dark paper.
            Line2D([], [], ls="", marker="o", ms=5, mfc=face, mec="0.5", label=label)
            for face, label in words.items()
        ]
        return [*super().marks(), *points]


class CurvePanels(Panels):
    """Levels beside a number: a curve per level, with a band for its interval."""

    has_colours = False

    def draw(self, ax: Axes, c: int) -> None:
        """Draw the curves of a class, thin where few samples are near."""
        x = np.asarray(self.effect.axes[0].values, dtype=np.float64)
        scale_axis(ax, "x", x)
        ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
        strongest, others = self.ranked()
        for k in others:
            ax.plot(x, self.effect.value[c, :, k], color="0.8", linewidth=0.6, zorder=0)
        for colour, k in zip(PALETTE, strongest):
            value, low, high = (
                part[c, :, k] for part in (self.effect.value, self.effect.low, self.effect.high)
            )
            is_near = self.support[:, k] >= FEW
            ax.fill_between(x, low, high, where=is_near, color=colour, alpha=0.15, linewidth=0)
            ax.plot(x, value, color=colour, linewidth=0.8)
            # NaN interrupts a line: the thick one is drawn over the thin one where samples are
            # near.
            thick = np.where(is_near, value, np.nan)
            ax.plot(x, thick, color=colour, linewidth=2.4)
        ax.set_xlim(x[0], x[-1])
        ax.set_ylim(self.range())
        ax.spines[["top", "right"]].set_visible(False)

    def ranked(self) -> tuple[list[int], list[int]]:
        """Levels with the largest effects, in their order, and the others."""
        squares = np.sum(self.effect.value[self.shown] ** 2 * self.effect.counts, axis=(0, 1))
        strongest = sorted(np.argsort(-squares, kind="stable")[:MOST_CURVES].tolist())
        return strongest, [k for k in range(len(squares)) if k not in strongest]

    def range(self) -> tuple[float, float]:
        """Ends of the vertical axis: the curves, and the bands where samples are near."""
        strongest, _ = self.ranked()
        parts = [part[self.shown][:, :, strongest] for part in (self.effect.low, self.effect.high)]
        is_near = np.broadcast_to(self.support[:, strongest] >= FEW, parts[0].shape)
        values = self.effect.value[self.shown]
        low = min(float(values.min()), float(parts[0][is_near].min(initial=0)))
        high = max(float(values.max()), float(parts[1][is_near].max(initial=0)))
        margin = 0.04 * (high - low) or 1.0
        return low - margin, high + margin

    @property
    def key_title(self) -> str:
        """The feature whose levels have curves."""
        return self.names[1]

    def marks(self) -> list[Any]:
        """Levels, bands and widths of lines."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        strongest, others = self.ranked()
        texts = short_names(self.effect.axes[1].values, most=24)
        handles: list[Any] = [
            Line2D([], [], color=colour, linewidth=2.4, label=texts[k])
            for colour, k in zip(PALETTE, strongest)
        ]
        if others:
            label = f"{len(others)} other levels"
            handles.append(Line2D([], [], color="0.8", linewidth=0.8, label=label))
        handles.append(Patch(color="0.85", label="95 % interval"))
        if np.any(self.support[:, strongest] < FEW):
            label = f"thin: fewer than {FEW} samples near"
            handles.append(Line2D([], [], color="0.5", linewidth=0.8, label=label))
        return handles

    def panel_size(self) -> tuple[float, float]:
        """Flatter than a surface."""
        return (5.6, 3.6) if len(self.shown) == 1 else (2.9, 2.7)


class CellPanels(Panels):
    """Two features with levels: a cell per two levels, with value and count where they fit."""

    where = ""

    @property
    def is_numbered(self) -> bool:
        """Whether each cell holds its value and its count."""
        n_columns, n_rows = self.effect.counts.shape
        return n_rows <= MOST_NUMBERED[0] and n_columns <= MOST_NUMBERED[1]

    def draw(self, ax: Axes, c: int) -> None:
        """Draw the cells of a class."""
        counts = self.effect.counts.T  # (rows, columns)
        is_solid = self.is_sure(c).T & (counts >= FEW)
        n_rows, n_columns = counts.shape
        colours = np.asarray(self.mappable().to_rgba(self.effect.value[c].T))
        colours = np.where(is_solid[..., None], colours, paled(colours))
        # White: there is no sample, and no effect to colour.
        colours[counts == 0] = 1.0
        ax.pcolormesh(np.arange(n_columns), np.arange(n_rows), colours, shading="nearest")
        frame_cells(ax, counts < FEW, hatch="////", edgecolor="0.6", linewidth=0)
        frame_cells(ax, is_solid, edgecolor="black", linewidth=1.0)
        if self.is_numbered:
            self._number(ax, c, colours)
        self._name(ax)

    def _number(self, ax: Axes, c: int, colours: Array) -> None:
        """Write value and count into each cell, in the colour that can be read there."""
        # Two digits of the largest value.
        decimals = max(0, 1 - int(np.floor(np.log10(self.limit))))
        between = "\n" if self.effect.counts.shape[1] <= 10 else " "
        for (j, i), count in np.ndenumerate(self.effect.counts):
            value = signed(self.effect.value[c, j, i], decimals)
            text = f"{value}{between}({count:g})" if count else "(0)"
            # A plain ground, so that the number can be read on the hatching.
            box = {"facecolor": "white", "linewidth": 0, "pad": 0.8} if 0 < count < FEW else None
            ax.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                fontsize="x-small",
                color="black" if box or not is_dark(colours[i, j]) else "white",
                bbox=box,
            )

    def _name(self, ax: Axes) -> None:
        columns, rows = (self._level_texts(k) for k in (0, 1))
        is_long = sum(map(len, columns)) > 8 * len(columns) or len(columns) > MOST_NUMBERED[1]
        ax.set_xticks(range(len(columns)), columns, rotation=90 if is_long else 0)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.tick_params(length=0, labelsize="small" if self.is_numbered else "x-small")
        ax.spines[:].set_visible(False)

    def _level_texts(self, k: int) -> list[str]:
        """Names of levels, with their counts where the cells do not hold any."""
        texts = short_names(self.effect.axes[k].values, most=20)
        if self.is_numbered:
            return texts
        totals = self.effect.counts.sum(axis=1 - k)
        return [f"{text} ({total:g})" for text, total in zip(texts, totals)]

    def remarks(self) -> list[str]:
        """What stands in the cells, or beside them."""
        what = "samples" if self.is_numbered else "samples of the level"
        return [f"(n): {what}", *super().remarks()]

    def panel_size(self) -> tuple[float, float]:
        """As many inches as the cells need."""
        n_columns, n_rows = self.effect.counts.shape
        if not self.is_numbered:
            return max(0.17 * n_columns, 2.0), max(0.17 * n_rows, 2.0)
        row = 0.42 if n_rows <= 10 else 0.26
        return max(0.72 * n_columns, 1.8), max(row * n_rows, 1.8)

    @property
    def width_of_names(self) -> float:
        """Inches for the names of rows."""
        return 0.08 * max(map(len, self._level_texts(1)))


def panels_of(effect: PairEffect, shown: list[int]) -> Panels:
    """Panels of the kind that the two features need."""
    first, second = effect.axes
    if first.has_levels and second.has_levels:
        # The longer list goes down, where names have room.
        return CellPanels(effect.ordered(len(first.values) <= len(second.values)), shown)
    if first.has_levels or second.has_levels:
        return CurvePanels(effect.ordered(second.has_levels), shown)
    return SurfacePanels(effect, shown)


def window_sums(counts: Array, axis: int) -> Array:
    """Sums over the points within `REACH` along an axis."""
    n = counts.shape[axis]
    is_near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= REACH
    return np.asarray(np.moveaxis(np.tensordot(is_near, counts, (1, axis)), 0, axis), dtype=float)


def on_finer_grid(values: Array, old: tuple[Array, Array], new: tuple[Array, Array]) -> Array:
    """Values on a grid of two numbers, interpolated linearly along either."""
    along = np.array([np.interp(new[0], old[0], column) for column in values.T]).T
    return np.array([np.interp(new[1], old[1], row) for row in along])


def shade_below_0(ax: Axes, grid: tuple[Array, Array], values: Array, **look: Any) -> Any:
    """Shade the part of a grid where values are below 0."""
    return ax.contourf(*grid, values, levels=[min(values.min(), 0.0) - 1, 0], **look)
