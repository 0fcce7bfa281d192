"""What happens along the path of sigma."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.plotting.style import (
    PALETTE,
    line_colours,
    on_paper,
    require_matplotlib,
    short_names,
    spread_labels,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Curves stand this factor of sigma apart, so that their error bars can be told from each other.
BESIDE = 1.025
# The other weights are drawn in grey, the strongest so many of them.
MOST_GREY = 200


# Of more penalties than this, such as those of a path, the chosen one is drawn.
MOST_PENALTIES = 4


class SigmaPathDisplay:
    """Selection criterion, cost and strongest weights along sigma, the chosen point marked.

    The weights are those of the path, whose fits may be rougher than the final one.

    Use :meth:`from_estimator`; the constructor takes the data behind the picture.

    Parameters
    ----------
    scores : pandas.DataFrame
        Columns `sigma`, `penalty`, `rule`, `selection_score`, `standard_error`, `is_chosen`:
        `scores_path_` of the estimator.
    costs : ndarray of shape (n_sigmas,)
        Final cost at each sigma, largest sigma first.
    weights : ndarray of shape (n_sigmas, n_features, n_features)
        The weight matrix at each sigma.
    feature_names : array-like of str
        Names of the rows of the matrices.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of 3 matplotlib Axes

    See Also
    --------
    ImmigrateClassifierCV : Chooses sigma along such a path.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifierCV, SigmaPathDisplay
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = ImmigrateClassifierCV().fit(X, y)
    >>> display = SigmaPathDisplay.from_estimator(model)
    >>> len(display.axes_)
    3
    """

    def __init__(
        self, *, scores: pd.DataFrame, costs: Array, weights: Array, feature_names: Any
    ) -> None:
        self.scores = scores
        self.costs = costs
        self.weights = weights
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator: Any, *, top: int = 6, axes: Any = None) -> Self:
        """Draw the path of a fitted `ImmigrateClassifierCV`.

        Parameters
        ----------
        estimator : ImmigrateClassifierCV
        top : int, default=6
            How many of the strongest weights to follow.
        axes : sequence of 3 matplotlib Axes, optional

        Returns
        -------
        SigmaPathDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "weights_path_"):
            raise TypeError(
                f"{type(estimator).__name__} has no path of sigma to draw; "
                "fit an ImmigrateClassifierCV."
            )
        display = cls(
            scores=estimator.scores_path_,
            costs=estimator.costs_path_,
            weights=estimator.weights_path_,
            feature_names=estimator.get_feature_names_out(),
        )
        return display.plot(top=top, axes=axes)

    def plot(self, *, top: int = 6, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        top : int, default=6
            How many of the strongest weights to follow.
        axes : sequence of 3 matplotlib Axes, optional
            Drawn into these; by default a new figure.

        Returns
        -------
        self
        """
        plt = require_matplotlib("SigmaPathDisplay")
        if axes is None:
            _, axes = plt.subplots(
                3, 1, figsize=(8, 9), sharex=True, layout="constrained", height_ratios=[3, 2, 3]
            )
        self._plot_scores(axes[0])
        self._plot_costs(axes[1])
        self._plot_weights(axes[2], top)
        for ax in axes:
            chosen = self._chosen["sigma"]
            ax.axvline(chosen, color=on_paper(ax, "0.75"), linewidth=1, zorder=0)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_xscale("log")
            ax.set_xticks(self._sigmas, [f"{sigma:.3g}" for sigma in self._sigmas])
            ax.minorticks_off()
        axes[-1].set_xlabel("sigma (width of the neighbourhood)")
        self.axes_, self.figure_ = np.asarray(axes), axes[0].figure
        return self

    @property
    def _chosen(self) -> pd.Series:
        return self.scores[self.scores["is_chosen"]].iloc[0]

    def _plot_scores(self, ax: Axes) -> None:
        scores = self.scores
        if scores["penalty"].nunique() > MOST_PENALTIES:
            scores = scores[scores["penalty"] == self._chosen["penalty"]]
        curves = list(scores.groupby(["penalty", "rule"], sort=False, dropna=False))
        for k, (color, (_, curve)) in enumerate(zip(cycle(line_colours(ax)), curves)):
            sigma = curve["sigma"] * BESIDE ** (k - (len(curves) - 1) / 2)
            ax.errorbar(
                sigma,
                curve["selection_score"],
                yerr=curve["standard_error"],
                color=color,
                marker="o",
                markersize=4,
                linewidth=1.5,
                elinewidth=0.7,
                label=self._label(curve.iloc[0]),
            )
            is_chosen = curve["is_chosen"]
            if is_chosen.any():
                chosen = sigma[is_chosen], curve["selection_score"][is_chosen]
        ax.plot(
            *chosen,
            marker="o",
            markersize=13,
            markerfacecolor="none",
            markeredgecolor=on_paper(ax, "0"),
            linestyle="none",
            label=f"chosen: sigma = {self._chosen['sigma']:.3g},\n{self._label(self._chosen)}",
        )
        ax.set_ylabel("selection criterion")
        ax.set_title(
            "Used to choose sigma; not an estimate of performance", fontsize="medium", loc="left"
        )
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))

    def _label(self, candidate: pd.Series) -> str:
        """Rule, and penalty where there was a choice of it."""
        words = [f"{candidate['rule']} rule"]
        if self.scores["penalty"].nunique() > 1:
            penalty = candidate["penalty"]
            words.append("no penalty" if penalty == "None" else penalty)
        return ", ".join(words)

    def _plot_costs(self, ax: Axes) -> None:
        ax.plot(self._sigmas, self.costs, color=PALETTE[0], marker="o", markersize=4)
        ax.set_ylabel("cost at the solution")

    def _plot_weights(self, ax: Axes, top: int) -> None:
        a, b = np.triu_indices(self.weights.shape[1])
        tracks = self.weights[:, a, b]  # (n_sigmas, n_weights)
        by_size = np.argsort(-np.abs(tracks).max(axis=0), kind="stable")
        strongest = by_size[:top]
        names = short_names(self.feature_names, most=20)
        grey = on_paper(ax, "0.88")
        ax.plot(self._sigmas, tracks[:, by_size[:MOST_GREY]], color=grey, linewidth=0.6, zorder=0)
        ends = []
        for color, k in zip(cycle(line_colours(ax)), strongest):
            ax.plot(self._sigmas, tracks[:, k], color=color, marker="o", markersize=3)
            label = names[a[k]] if a[k] == b[k] else f"{names[a[k]]} × {names[b[k]]}"
            ends.append((tracks[0, k], label, color))
        ax.set_ylabel("weight along the path")
        spread_labels(ax, self._sigmas.max(), ends)

    @property
    def _sigmas(self) -> Array:
        return np.sort(self.scores["sigma"].unique())[::-1]
