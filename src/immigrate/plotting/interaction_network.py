"""The strongest pairs as a network of features."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from immigrate.arrays import Array
from immigrate.checks import check_count
from immigrate.plotting.style import (
    FIT_ONE,
    PALETTE,
    check_has,
    on_paper,
    require_matplotlib,
    short_names,
    spaced,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOUND, NOT_FOUND, POSITIVE, NEGATIVE = PALETTE[1], "0.85", PALETTE[0], PALETTE[4]
SHOWN, NOT_SHOWN = "0.25", "0.65"
POINTS = 72  # in an inch
WIDTH, HEIGHT = 2.1, 1.35  # half of the picture; the circle has radius 1
LARGEST_NODE, SMALLEST_NODE = 700.0, 25.0  # areas in points squared, where there is room
ROOM = 1.2  # inches of the circle's radius from which on there is
LONGEST_LINE = 24  # characters of a name
THICKEST, THINNEST = 7.0, 0.8  # points
THINNEST_FOUND = 2.5  # a pair that acts together is seen, however small its weight
MANY_PAIRS = 12  # from here on lines get thinner, so that they can be told apart


class InteractionNetworkDisplay:
    """Features as circles, pairs that act together and the strongest others as lines.

    The area of a circle is the size of the feature's own weight, the width of a line that of
    the pair's. A weight says what the model uses; where there was a test, solid colours say what
    is shown: circles of features with an effect of their own are solid, lines of pairs that act
    together coloured. All others are pale.

    Use :meth:`from_estimator`; the constructor takes the data behind the picture.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns `feature_1`, `feature_2`, `kind` ("main" or "pair"), `weight`, and where tested
        `is_found`: what `interactions` of an estimator returns.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    pairs_ : pandas.DataFrame
        The pairs in the picture.

    See Also
    --------
    WeightMatrixDisplay : All weights as a heat map.
    InteractionTest : What finds pairs that act together.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifierCV, InteractionTest
    >>> from immigrate.plotting import InteractionNetworkDisplay
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()
    >>> model = ImmigrateClassifierCV().fit(X, y)
    >>> test = InteractionTest().fit(X, y)
    >>> display = InteractionNetworkDisplay.from_estimator(model, test=test)
    >>> found = display.pairs_[display.pairs_["is_found"]]
    >>> found[["feature_1", "feature_2"]].values.tolist()
    [['head_shape', 'body_shape']]
    """

    def __init__(self, *, table: pd.DataFrame) -> None:
        self.table = table

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, test: Any = None, top: int = 12, ax: Axes | None = None
    ) -> Self:
        """Draw the pairs of a fitted model.

        Parameters
        ----------
        estimator : estimator with `interactions`
            `ImmigrateClassifier`, `ImmigrateClassifierCV` or `BoostedImmigrateClassifier`.
        test : InteractionTest, optional
            A test that was fitted on the same table: the pairs that it found come first.
        top : int, default=12
            As in `plot`.
        ax : matplotlib Axes, optional
            As in `plot`.

        Returns
        -------
        InteractionNetworkDisplay
        """
        check_has(estimator, "interactions", "table of pairs", FIT_ONE)
        return cls(table=estimator.interactions(test=test)).plot(top=top, ax=ax)

    def plot(self, *, top: int = 12, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        top : int, default=12
            Most pairs drawn: those that act together first, then those with the largest
            weights.
        ax : matplotlib Axes, optional
            Drawn into this; by default a new figure.

        Returns
        -------
        self
        """
        plt = require_matplotlib("InteractionNetworkDisplay")
        check_count("top", top)
        if ax is None:
            _, ax = plt.subplots(figsize=(8, 6), layout="constrained")
        ax.set(xlim=(-WIDTH, WIDTH), ylim=(-HEIGHT, HEIGHT), aspect="equal")
        self.pairs_ = self._pairs(top)
        places = self._places()
        self._draw_pairs(ax, places)
        self._draw_features(ax, places)
        self._draw_legend(ax)
        ax.axis("off")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _is_tested(self) -> bool:
        return "is_found" in self.table

    def _pairs(self, top: int) -> pd.DataFrame:
        pairs = self.table[self.table["kind"] == "pair"]
        is_found = pairs["is_found"] if self._is_tested else False
        pairs = pairs.assign(is_found=is_found, strength=pairs["weight"].abs())
        # A pair can be found that did not pass the screen of the model.
        pairs = pairs[pairs["is_found"] | (pairs["strength"] > 0)]
        return pairs.sort_values(["is_found", "strength"], ascending=False, kind="stable").head(
            top
        )

    def _places(self) -> dict[str, Array]:
        """A place on the circle for each feature of the pairs, partners near each other."""
        ends = self.pairs_[["feature_1", "feature_2"]]
        codes, names = pd.factorize(ends.to_numpy().ravel())
        a, b = codes.reshape(-1, 2).T
        n = len(names)
        links = coo_array((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, a])), shape=(n, n))
        # An order in which partners are near each other, so that few lines cross the whole circle.
        order = reverse_cuthill_mckee(links.tocsr(), symmetric_mode=True) if n else []
        # Half a step aside, so that no feature is exactly at the top, between left and right.
        angles = np.pi / 2 - 2 * np.pi * (np.arange(n) + 0.5) / max(n, 1)
        circle = np.column_stack([np.cos(angles), np.sin(angles)])
        return {names[i]: place for i, place in zip(order, circle)}

    def _draw_pairs(self, ax: Axes, places: dict[str, Array]) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        largest = self.pairs_["strength"].max() or 1.0
        thickest = THICKEST * min(1.0, MANY_PAIRS / max(len(self.pairs_), 1))
        # The strongest last, on top.
        pair: Any
        for pair in self.pairs_[::-1].itertuples():
            start, end = places[pair.feature_1], places[pair.feature_2]
            # Bent towards the middle: straight lines between neighbours would run along the
            # circle.
            bend = 0.35 * (start + end) / 2
            width = THINNEST + (thickest - THINNEST) * pair.strength / largest
            curve = Path([start, bend, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
            ax.add_patch(
                PathPatch(
                    curve,
                    facecolor="none",
                    edgecolor=self._color(ax, pair),
                    linewidth=max(width, THINNEST_FOUND) if pair.is_found else width,
                    capstyle="round",
                )
            )

    def _color(self, ax: Axes, pair: Any) -> str:
        if self._is_tested:
            return FOUND if pair.is_found else on_paper(ax, NOT_FOUND)
        return POSITIVE if pair.weight > 0 else NEGATIVE

    def _draw_features(self, ax: Axes, places: dict[str, Array]) -> None:
        main = self.table[self.table["kind"] == "main"]
        is_shown = dict(zip(main["feature_1"], main["is_found"])) if self._is_tested else {}
        areas = self._areas(ax, places)
        self._draw_names(ax, places, areas)
        x, y = np.reshape(list(places.values()), (-1, 2)).T
        ax.scatter(
            x,
            y,
            s=list(areas.values()),
            color=[
                on_paper(ax, SHOWN if is_shown.get(name, True) else NOT_SHOWN) for name in places
            ],
            edgecolor=on_paper(ax, "1"),
            linewidth=1.5,
            zorder=3,
        )

    def _areas(self, ax: Axes, places: dict[str, Array]) -> dict[str, float]:
        """Of the circles, by the weight of the feature; smaller where the figure is small."""
        main = self.table[self.table["kind"] == "main"]
        size = dict(zip(main["feature_1"], main["weight"].abs()))
        largest = max([size.get(name, 0.0) for name in places], default=0.0) or 1.0
        scale = min(1.0, inches_per_unit(ax) / ROOM) ** 2
        return {
            name: scale * (SMALLEST_NODE + LARGEST_NODE * size.get(name, 0.0) / largest)
            for name in places
        }

    def _draw_names(self, ax: Axes, places: dict[str, Array], areas: dict[str, float]) -> None:
        """Names stand outside, left and right, and are moved apart on either side."""
        labels = dict(zip(places, (fill(name, LONGEST_LINE) for name in short_names(places))))
        n_lines = max((label.count("\n") + 1 for label in labels.values()), default=1)
        # From a name that had to make room to its circle.
        line = {"arrowstyle": "-", "color": on_paper(ax, NOT_SHOWN), "linewidth": 0.5}
        for side in (1, -1):
            here = [name for name in places if (places[name][0] >= 0) == (side > 0)]
            here.sort(key=lambda name: places[name][1])
            wanted = np.array([1.1 * places[name][1] for name in here])
            heights = spaced(wanted, n_lines * label_height(ax))
            for name, height in zip(here, heights):
                x, y = places[name]
                radius = np.sqrt(areas[name] / np.pi) / POINTS / inches_per_unit(ax)
                ax.annotate(
                    labels[name],
                    xy=(x, y),
                    xytext=(x + max(0.14, radius + 0.03) * side, height),
                    ha="left" if side > 0 else "right",
                    va="center",
                    fontsize="small",
                    annotation_clip=False,
                    arrowprops=line if abs(height - 1.1 * y) > label_height(ax) else None,
                )

    def _draw_legend(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        if self._is_tested:
            kinds = {
                FOUND: "act together",
                on_paper(ax, NOT_FOUND): "used together; not shown to act together",
            }
        else:
            kinds = {POSITIVE: "positive weight", NEGATIVE: "negative weight"}
        # The legend explains what is in the picture and nothing else.
        drawn = {self._color(ax, pair) for pair in self.pairs_.itertuples()}
        handles = [
            Line2D([], [], color=color, linewidth=3, label=label)
            for color, label in kinds.items()
            if color in drawn
        ]
        if not handles:
            ax.text(0, 0, "no pair has a weight", ha="center", va="center", color="0.4")
            return
        ax.legend(
            handles=handles,
            frameon=False,
            fontsize="small",
            ncols=2 if inches_per_unit(ax) >= ROOM else 1,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.03),
        )
        title = "circle: weight of a feature · line: weight of a pair"
        if self._is_tested:
            title += "\nsolid circle: the feature matters on its own"
        ax.set_title(title, fontsize="medium")


def inches_per_unit(ax: Axes) -> float:
    """Inches of the circle's radius."""
    size = ax.get_window_extent()
    pixels = min(size.width / (2 * WIDTH), size.height / (2 * HEIGHT))
    return float(pixels / ax.figure.dpi)


def label_height(ax: Axes, font_points: float = 9.0) -> float:
    """Height of a line of small text in units of the circle's radius."""
    return 1.3 * font_points / POINTS / inches_per_unit(ax)
