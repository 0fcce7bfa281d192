"""How two features act together, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from immigrate.estimators import InteractionTest, PairEffect
from immigrate.interactions.words import class_text
from immigrate.plotting.pair_panels import Panels, panels_of
from immigrate.plotting.style import require_matplotlib, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 8.0
"""Inches: a wider picture cannot be read on a narrow screen."""

NARROWEST = 5.0
BESIDE = 1.7  # inches for what stands beside the panels: a name and the colour bar
LINE, KEY_LINES = 0.2, 4  # inches, and lines of a usual legend
MOST_PANELS = 9
LETTERS_PER_INCH = 12.5  # of the usual font, at its medium size


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
    >>> from immigrate import InteractionTest
    >>> from immigrate.plotting import PairEffectDisplay
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 4, noise=0.1, random_state=0)
    >>> test = InteractionTest().fit(X, y)
    >>> display = PairEffectDisplay.from_estimator(test, "a", "b")
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('a', 'b')
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
        classes : sequence, optional
            As in `plot`.
        ax : matplotlib Axes, optional
            As in `plot`.

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
            Drawn into these; by default a new figure. A figure with ``layout="constrained"``
            makes room for the legend.

        Returns
        -------
        self
        """
        plt = require_matplotlib("PairEffectDisplay")
        panels = panels_of(self.effect, self._shown(classes))
        axes = self._new_axes(plt, panels) if ax is None else given_axes(ax, panels)
        for place, c in zip(axes, panels.shown):
            panels.draw(place, c)
            self._name(place, c, panels)
        # A figure of ours has the title above all panels.
        if len(axes) == 1 and ax is not None:
            axes[0].set_title(self._title(inches_wide(axes[0])), fontsize="medium")
        if panels.has_colours:
            self._add_colour_bar(axes, panels)
        add_key(axes, panels)
        self.axes_, self.ax_, self.figure_ = np.array(axes), axes[0], axes[0].figure
        return self

    def _shown(self, classes: Sequence[Any] | None) -> list[int]:
        """Places of the classes that have a panel."""
        known = self.effect.classes
        if classes is None:
            # Weighed by samples: a large value far from all samples makes no large effect.
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
        beside = BESIDE + panels.width_of_names
        n_columns = int(np.clip((WIDEST - beside) // width, 1, min(n, 2 if n <= 4 else 3)))
        n_rows = -(-n // n_columns)
        whole_width = max(n_columns * width + beside, NARROWEST)
        title = self._title(whole_width)
        whole_height = n_rows * (height + 0.5) + LINE * (title.count("\n") + 1 + KEY_LINES)
        figure = plt.figure(figsize=(whole_width, whole_height), layout="constrained")
        figure.suptitle(title, fontsize="medium")
        axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
        for unused in axes[n:]:
            unused.remove()
        for i, ax in enumerate(axes[:n]):
            # Under the last panel of a column there may be an empty place.
            ax.tick_params(labelbottom=i + n_columns >= n)
            ax.xaxis.label.set_visible(i + n_columns >= n)
            ax.yaxis.label.set_visible(i % n_columns == 0)
        return list(axes[:n])

    def _title(self, width: float) -> str:
        """The pair, and in words which way it goes, in lines that fit into so many inches."""
        names = [axis.name for axis in self.effect.axes]
        levels = [str(v) for axis in self.effect.axes if axis.has_levels for v in axis.values]
        words = self.effect.direction.replace("$", r"\$")
        for name, short in zip([*names, *levels], [*short_names(names), *short_names(levels)]):
            # A name that was short enough stays; a letter must not be replaced within words.
            if len(short) < len(name):
                words = words.replace(name.replace("$", r"\$"), short)
        parts = (" × ".join(short_names(names)), words)
        return "\n".join(wrapped(part, width) for part in parts if part)

    def _name(self, ax: Axes, c: int, panels: Panels) -> None:
        """Names of the features beside a panel, and of its class above."""
        right, up = panels.names if panels.has_colours else (panels.names[0], self._adds(panels))
        if len(self.effect.classes) > 1:
            ax.set_title(short_names([self.effect.classes[c]], most=24)[0], fontsize="medium")
        width, height = panels.panel_size()
        ax.set_xlabel(wrapped(right, width))
        ax.set_ylabel(wrapped(up, height))

    def _adds(self, panels: Panels) -> str:
        """What the values are."""
        if self.effect.is_number:
            text = f"adds to {short_names(self.effect.classes)[0]}"
        elif len(panels.shown) > 1:
            text = "adds to the log-odds of the class"
        else:
            name = short_names([self.effect.classes[panels.shown[0]]])[0]
            text = f"adds to the log-odds of {class_text(name)}"
        return text

    def _add_colour_bar(self, axes: list[Axes], panels: Panels) -> None:
        extend = "both" if panels.is_cut else "neither"
        figure: Any = axes[0].figure
        # The width of the bar and its points is a seventh of an inch, however long it is.
        widths = max(5.6 * figure.get_figheight(), 20)
        bar = figure.colorbar(
            panels.mappable(),
            ax=axes,
            extend=extend,
            aspect=widths,
            extendfrac=1 / widths,
            shrink=0.8,
        )
        bar.set_label(wrapped(self._adds(panels), panels.panel_size()[1]))
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


def wrapped(text: str, inches: float) -> str:
    """The text in lines of at most so many inches."""
    return fill(text, max(int(LETTERS_PER_INCH * inches), 16))


def inches_wide(ax: Axes) -> float:
    """Width of a panel in inches."""
    return float(ax.bbox.width / ax.figure.dpi)


def add_key(axes: list[Axes], panels: Panels) -> None:
    """A legend under the panels."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure: Any = axes[0].figure
    look: dict[str, Any] = {
        "handles": panels.key(),
        "title": panels.key_title,
        "frameon": False,
        "fontsize": "small",
        "ncols": 2,
        "alignment": "left",
    }
    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.legend(loc="outside lower center", **look)
        return
    last: Any = axes[-1]
    below = last.get_tightbbox().transformed(last.transAxes.inverted())
    last.legend(loc="upper left", bbox_to_anchor=(0, below.y0), **look)
