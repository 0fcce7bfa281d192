"""How two features act together, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from immigrate.estimators import InteractionTest, PairEffect
from immigrate.estimators.measured_effects import class_text
from immigrate.plotting._pair_panels import Panels, panels_of
from immigrate.plotting.style import require_matplotlib, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 7.6
"""Inches: a wider picture cannot be read on a narrow screen."""

MOST_PANELS = 9
LETTERS_PER_INCH = 13  # of the usual font, at its medium size


class PairEffectDisplay:
    """What two features add together, beyond the sum of their own effects.

    Two numbers are drawn as a surface with the samples on it, levels beside a number as a curve
    per level, and two features with levels as cells with counts. Solid colours say that the 95 %
    interval excludes 0, hatching that few samples are near. Three and more classes have a panel
    each, on one scale.

    Use :meth:`from_estimator`; the constructor takes the data behind the picture.

    Parameters
    ----------
    effect : PairEffect
        What :meth:`InteractionTest.effect` returns.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of matplotlib Axes
        All panels, one per class shown.

    See Also
    --------
    InteractionTest : Says which pairs act together, and how sure that is.

    Examples
    --------
    >>> from immigrate import InteractionTest, PairEffectDisplay
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 4, noise=0.1, random_state=0)
    >>> test = InteractionTest().fit(X, y)
    >>> display = PairEffectDisplay.from_estimator(test, "x0", "x1")
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x0', 'x1')
    """

    def __init__(self, *, effect: PairEffect) -> None:
        self.effect = effect

    @classmethod
    def from_estimator(
        cls,
        estimator: InteractionTest,
        feature_1: Any,
        feature_2: Any,
        *,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the joint effect of two features.

        Parameters
        ----------
        estimator : InteractionTest
            Fitted.
        feature_1, feature_2 : str or int
            Names or indices of two features.
        classes, ax
            As in :meth:`plot`.

        Returns
        -------
        PairEffectDisplay
        """
        if not isinstance(estimator, InteractionTest):
            raise TypeError(
                f"{type(estimator).__name__} measures no joint effects; fit an InteractionTest."
            )
        display = cls(effect=estimator.effect(feature_1, feature_2))
        return display.plot(classes=classes, ax=ax)

    def plot(self, *, classes: Sequence[Any] | None = None, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        classes : sequence of classes, optional
            Which classes have a panel; by default all, the nine with the largest effects if there
            are more. Of two classes, and where the label is a number, there is one panel.
        ax : matplotlib Axes, or one per panel, optional
            Drawn into these; by default a new figure.

        Returns
        -------
        self
        """
        plt = require_matplotlib("PairEffectDisplay")
        panels = panels_of(self.effect, self._shown(classes))
        if ax is None:
            axes = self._new_axes(plt, panels)
        else:
            axes = given_axes(ax, panels)
        for place, c in zip(axes, panels.shown):
            panels.draw(place, c)
        self._name(axes, panels)
        if ax is None:
            axes[0].figure.suptitle(self._title(axes[0].figure.get_figwidth()), fontsize="medium")
        elif len(axes) == 1:
            width = axes[0].bbox.width / axes[0].figure.dpi
            axes[0].set_title(self._title(width), fontsize="medium")
        if panels.has_colours:
            self._add_colour_bar(axes, panels)
        add_key(axes, panels.key())
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _shown(self, classes: Sequence[Any] | None) -> list[int]:
        """Places of the classes that have a panel."""
        known = self.effect.classes
        if classes is None:
            squares = np.sum(self.effect.value**2 * self.effect.counts, axis=(1, 2))
            return sorted(np.argsort(-squares, kind="stable")[:MOST_PANELS].tolist())
        unknown = [str(one) for one in classes if str(one) not in known]
        if unknown or not len(classes):
            raise ValueError(
                f"classes={list(classes)!r}: choose at least one of {', '.join(known)}."
            )
        return [known.index(str(one)) for one in classes]

    def _new_axes(self, plt: Any, panels: Panels) -> list[Axes]:
        """Panels in a new figure, in as many columns as a narrow screen can show."""
        n, (width, height) = len(panels.shown), panels.panel_size()
        names = 1.0  # inches beside the panels, for names and the colour bar
        n_columns = int(np.clip((WIDEST - 2 * names) // width, 1, 1 if n == 1 else 2 + (n > 4)))
        n_rows = -(-n // n_columns)
        size = (max(n_columns * width + 2 * names, 4.6), n_rows * (height + 0.5) + 1.5)
        figure, grid = plt.subplots(
            n_rows,
            n_columns,
            figsize=size,
            sharex=True,
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        axes = list(grid.ravel())
        for unused in axes[n:]:
            unused.remove()
        return axes[:n]

    def _title(self, width: float) -> str:
        """The pair, and in words which way it goes, in lines that fit into so many inches."""
        names = [axis.name for axis in self.effect.axes]
        levels = [str(v) for axis in self.effect.axes if axis.has_levels for v in axis.values]
        words = self.effect.direction.replace("$", r"\$")
        for name, short in zip([*names, *levels], [*short_names(names), *short_names(levels)]):
            # A name that was short enough stays; a letter must not be replaced within words.
            if len(short) < len(name):
                words = words.replace(name.replace("$", r"\$"), short)
        letters = max(int(LETTERS_PER_INCH * width), 24)
        lines = [fill(part, letters) for part in (" × ".join(short_names(names)), words) if part]
        return "\n".join(lines)

    def _name(self, axes: list[Axes], panels: Panels) -> None:
        """Names of the features at the outer panels, of the classes above theirs."""
        right, up = panels.names if panels.has_colours else (panels.names[0], self._adds(panels))
        for ax, c in zip(axes, panels.shown):
            if len(self.effect.classes) > 1:
                ax.set_title(short_names([self.effect.classes[c]])[0], fontsize="medium")
            ax.set_xlabel(right)
            ax.set_ylabel(up)

    def _adds(self, panels: Panels) -> str:
        """What the values are, in one or two lines."""
        if self.effect.is_number:
            text = f"adds to {short_names(self.effect.classes)[0]}"
        elif len(panels.shown) > 1:
            text = "adds to the log-odds of the class"
        else:
            name = short_names([self.effect.classes[panels.shown[0]]])[0]
            text = f"adds to the log-odds of {class_text(name)}"
        return fill(text, 36)

    def _add_colour_bar(self, axes: list[Axes], panels: Panels) -> None:
        extend = "both" if panels.is_cut else "neither"
        bar = axes[0].figure.colorbar(
            panels.mappable(), ax=axes, extend=extend, aspect=30, shrink=0.8
        )
        bar.set_label(self._adds(panels))
        bar.outline.set_visible(False)


def given_axes(ax: Any, panels: Panels) -> list[Axes]:
    """The axes to draw into, one per panel."""
    axes = list(np.ravel(np.array(ax, dtype=object)))
    if len(axes) != len(panels.shown):
        raise ValueError(
            f"ax holds {len(axes)} axes and the picture has {len(panels.shown)} panels, one per "
            "class shown; give as many axes, or choose classes with classes=."
        )
    return axes


def add_key(axes: list[Axes], handles: list[Any]) -> None:
    """A legend under the panels."""
    figure = axes[0].figure
    look = {"handles": handles, "frameon": False, "fontsize": "small", "ncols": 2}
    engine = figure.get_layout_engine()
    if engine is not None and engine.colorbar_gridspec is False:  # constrained: makes room for it
        figure.legend(loc="outside lower center", **look)
        return
    last = axes[-1]
    below = last.get_tightbbox().transformed(last.transAxes.inverted())
    last.legend(loc="upper left", bbox_to_anchor=(0, below.y0), **look)
