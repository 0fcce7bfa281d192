"""The weight matrix as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count
from immigrate.plotting.style import FIT_ONE, check_has, is_dark, require_matplotlib, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to so many features each cell shows its number.
MOST_NUMBERED = 10
POINTS = 72  # in an inch
SMALLEST_NAME, LARGEST_NAME = 4.0, 8.3  # points


class WeightMatrixDisplay:
    """Weights of features (the diagonal) and of pairs of features (the rest).

    Use :meth:`from_estimator`; the constructor takes the data behind the picture.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_features)
        The weight matrix.
    feature_names : array-like of str
        Names of its rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    im_ : matplotlib AxesImage
    shown_ : ndarray of int
        Indices of the features in the picture, in the order of its rows.

    See Also
    --------
    InteractionNetworkDisplay : The strongest pairs as a network.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.plotting import WeightMatrixDisplay
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = WeightMatrixDisplay.from_estimator(ImmigrateClassifier().fit(X, y), top=5)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'alcohol'
    """

    def __init__(self, *, weights: Array, feature_names: Any) -> None:
        self.weights = weights
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        top: int | None = 25,
        order: str = "strength",
        absolute: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : estimator with `weight_matrix_`
            `ImmigrateClassifier`, `ImmigrateClassifierCV` or `BoostedImmigrateClassifier`.
        top : int or None, default=25
            As in `plot`.
        order : {"strength", "input"}, default="strength"
            As in `plot`.
        absolute : bool, default=False
            As in `plot`.
        ax : matplotlib Axes, optional
            As in `plot`.

        Returns
        -------
        WeightMatrixDisplay
        """
        display = cls(**weights_of(estimator))
        return display.plot(top=top, order=order, absolute=absolute, ax=ax)

    def plot(
        self,
        *,
        top: int | None = 25,
        order: str = "strength",
        absolute: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        top : int or None, default=25
            Most features shown: those with the largest sum of absolute weights. None shows all.
        order : {"strength", "input"}, default="strength"
            Strongest feature first, or as in the table.
        absolute : bool, default=False
            Whether to draw absolute weights, as the paper does.
        ax : matplotlib Axes, optional
            Drawn into this; by default a new figure.

        Returns
        -------
        self
        """
        plt = require_matplotlib("WeightMatrixDisplay")
        if top is not None:
            check_count("top", top)
        if order not in ("strength", "input"):
            raise ValueError(f"order={order!r} is not known; choose 'strength' or 'input'.")
        self.shown_ = self._features(top, order)
        W = self.weights[np.ix_(self.shown_, self.shown_)]
        W = np.abs(W) if absolute else W
        if ax is None:
            side = 3.5 + 0.3 * len(W)
            _, ax = plt.subplots(figsize=(side + 1, side), layout="constrained")
        limit = np.abs(W).max()
        # Two colours that meet at 0 where weights have signs, else one that rises from 0.
        is_signed = W.min() < 0
        self.im_ = ax.imshow(
            W,
            cmap="RdBu_r" if is_signed else "viridis",
            vmin=-limit if is_signed else 0,
            vmax=limit,
        )
        self._name(ax)
        if len(W) <= MOST_NUMBERED:
            self._number(ax, W)
        bar = ax.figure.colorbar(self.im_, ax=ax, shrink=0.8)
        bar.set_label("|weight|" if absolute else "weight")
        bar.outline.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _features(self, top: int | None, order: str) -> Codes:
        strongest = np.argsort(-np.abs(self.weights).sum(axis=0), kind="stable")[:top]
        return strongest if order == "strength" else np.sort(strongest)

    def _name(self, ax: Axes) -> None:
        names = short_names(self.feature_names[i] for i in self.shown_)
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(length=0, labelsize=fitting_size(ax, len(names)))
        ax.spines[:].set_visible(False)
        n_features = len(self.weights)
        if len(names) < n_features:
            ax.set_title(f"{len(names)} strongest of {n_features} features", fontsize="medium")

    def _number(self, ax: Axes, W: Array) -> None:
        """Write each weight into its cell, in the colour that can be read there."""
        colors = np.asarray(self.im_.cmap(self.im_.norm(W)))  # (n, n, 4)
        for (i, j), weight in np.ndenumerate(W):
            color = "white" if is_dark(colors[i, j]) else "black"
            ax.text(
                j, i, f"{weight:z.2f}", ha="center", va="center", color=color, fontsize="x-small"
            )


def fitting_size(ax: Axes, n: int) -> float:
    """Points of names, one for each row, that do not touch."""
    size = ax.get_window_extent()
    points = POINTS * min(size.width, size.height) / ax.figure.dpi / n
    return float(np.clip(0.8 * points, SMALLEST_NAME, LARGEST_NAME))


def weights_of(estimator: Any) -> dict[str, Any]:
    """The weight matrix of a fitted model and the names of its features."""
    check_has(estimator, "weight_matrix_", "weight matrix", FIT_ONE)
    return {
        "weights": estimator.weight_matrix_,
        "feature_names": estimator.get_feature_names_out(),
    }
