"""What happens along the path of sigma, and along the strengths of a penalty."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from immigrate.arrays import Array
from immigrate.plotting.style import (
    PALETTE,
    check_has,
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
# Strengths whose values are written below the axis.
MOST_TICKS = 7
# A circle around the chosen point.
CIRCLE: dict[str, Any] = {
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "none",
    "linestyle": "none",
}


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
    >>> from immigrate import ImmigrateClassifierCV
    >>> from immigrate.plotting import SigmaPathDisplay
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
        check_has(estimator, "weights_path_", "path of sigma", "fit an ImmigrateClassifierCV")
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
        axes = new_axes("SigmaPathDisplay", axes, [3, 2, 3])
        self._plot_scores(axes[0])
        axes[1].plot(self._sigmas, self.costs, color=PALETTE[0], marker="o", markersize=4)
        axes[1].set_ylabel("cost at the solution")
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
            **CIRCLE,
            markeredgecolor=on_paper(ax, "0"),
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

    def _plot_weights(self, ax: Axes, top: int) -> None:
        a, b = np.triu_indices(self.weights.shape[1])
        names = short_names(self.feature_names, most=20)

        def label(k: int) -> str:
            return names[a[k]] if a[k] == b[k] else f"{names[a[k]]} × {names[b[k]]}"

        # The largest sigma is the first one, and stands on the right.
        draw_tracks(ax, self._sigmas, self.weights[:, a, b], label, top=top, end=0)
        ax.set_ylabel("weight along the path")

    @property
    def _sigmas(self) -> Array:
        return np.sort(self.scores["sigma"].unique())[::-1]


class PenaltyPathDisplay:
    """Selection criterion, number of pairs and weights along the strength of a penalty.

    Strengths fall from left to right, from no pairs to all, at the chosen sigma. Pairs enter from
    the left in the order in which they are worth their price to the model, which is no evidence
    of an interaction: `InteractionTest` is.

    Use :meth:`from_estimator`; the constructor takes the data behind the picture.

    Parameters
    ----------
    strengths : ndarray of shape (n_strengths,)
        Largest first; 0 is no penalty.
    weights : ndarray of shape (n_strengths, n_features, n_features)
        Weights at each strength.
    scores : pandas.DataFrame
        A row per strength, in their order, with columns `selection_score`, `standard_error` and
        `is_chosen`.
    feature_names : array-like of str
        Names of the features, in the order of the weights.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of 3 matplotlib Axes

    See Also
    --------
    PenaltyPath : The strengths.
    SigmaPathDisplay : The same along sigma.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
    >>> from immigrate.plotting import PenaltyPathDisplay
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = ImmigrateClassifierCV(
    ...     ImmigrateClassifier(constraint="nonnegative"), sigmas=[4.0, 1.0], penalties="path"
    ... )
    >>> display = PenaltyPathDisplay.from_estimator(model.fit(X, y))
    >>> len(display.axes_)
    3
    """

    def __init__(
        self, *, strengths: Array, weights: Array, scores: pd.DataFrame, feature_names: Any
    ) -> None:
        self.strengths = strengths
        self.weights = weights
        self.scores = scores
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator: Any, *, top: int = 8, axes: Any = None) -> Self:
        """Draw the path of a fitted `ImmigrateClassifierCV`.

        Parameters
        ----------
        estimator : ImmigrateClassifierCV
            With ``penalties="path"`` or a `PenaltyPath`.
        top : int, default=8
            How many of the strongest pairs to follow by name.
        axes : sequence of 3 matplotlib Axes, optional

        Returns
        -------
        PenaltyPathDisplay
        """
        remedy = "fit an ImmigrateClassifierCV(penalties='path')"
        check_has(estimator, "strengths_", "path of strengths", remedy)
        table = estimator.scores_path_
        chosen = table[table["is_chosen"]].iloc[0]
        is_shown = (table["sigma"] == chosen["sigma"]) & (table["rule"] == chosen["rule"])
        display = cls(
            strengths=estimator.strengths_,
            weights=estimator.weights_by_strength_,
            scores=table[is_shown].reset_index(drop=True),
            feature_names=estimator.get_feature_names_out(),
        )
        return display.plot(top=top, axes=axes)

    def plot(self, *, top: int = 8, axes: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        top : int, default=8
            How many of the strongest pairs to follow by name.
        axes : sequence of 3 matplotlib Axes, optional
            Drawn into these; by default a new figure.

        Returns
        -------
        self
        """
        axes = new_axes("PenaltyPathDisplay", axes, [2, 2, 4])
        self._plot_scores(axes[0])
        self._plot_counts(axes[1])
        self._plot_weights(axes[2], top)
        for ax in axes:
            ax.axvline(self._chosen, color=on_paper(ax, "0.75"), linewidth=1, zorder=0)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_xticks(*self._ticks(), rotation=45)
        axes[-1].set_xlabel("strength of the penalty")
        self.axes_, self.figure_ = np.asarray(axes), axes[0].figure
        return self

    @property
    def _chosen(self) -> int:
        return int(np.flatnonzero(self.scores["is_chosen"])[0])

    @property
    def _positions(self) -> Array:
        # Places and not values: no penalty is a strength of 0, for which a logarithm has no place.
        return np.arange(len(self.strengths), dtype=float)

    def _ticks(self) -> tuple[Array, list[str]]:
        """Some of the strengths, from the last one on, which is 0."""
        every = int(np.ceil(len(self.strengths) / MOST_TICKS))
        shown = self._positions[::-1][::every][::-1]
        labels = [f"{self.strengths[int(k)]:.2g}" for k in shown]
        return shown, [label if label != "0" else "none" for label in labels]

    def _plot_scores(self, ax: Axes) -> None:
        score = self.scores["selection_score"].to_numpy()
        ax.errorbar(
            self._positions,
            score,
            yerr=self.scores["standard_error"],
            color=PALETTE[0],
            marker="o",
            markersize=4,
            elinewidth=0.7,
        )
        ax.plot(self._chosen, score[self._chosen], **CIRCLE, markeredgecolor=on_paper(ax, "0"))
        ax.set_ylabel("selection\ncriterion")
        ax.set_title(
            f"{self._ticked(self._chosen)} chosen by this criterion,\n"
            "which is not an estimate of performance",
            fontsize="medium",
            loc="left",
        )

    def _ticked(self, k: int) -> str:
        strength = self.strengths[k]
        return f"Strength {strength:.2g}" if strength > 0 else "No penalty"

    def _plot_counts(self, ax: Axes) -> None:
        a, b = np.triu_indices(self.weights.shape[1], 1)
        n_pairs = np.count_nonzero(self.weights[:, a, b], axis=1)
        ax.step(self._positions, n_pairs, where="mid", color=PALETTE[0])
        ax.plot(self._chosen, n_pairs[self._chosen], "o", color=PALETTE[0], markersize=5)
        # Towards the middle of the picture, where there is room for the number.
        is_left = self._chosen < len(n_pairs) / 2
        ax.annotate(
            str(n_pairs[self._chosen]),
            (self._chosen, n_pairs[self._chosen]),
            xytext=(6 if is_left else -6, 6),
            textcoords="offset points",
            ha="left" if is_left else "right",
        )
        ax.set_ylabel(f"pairs\n(of {len(a)})")
        ax.set_ylim(bottom=0)

    def _plot_weights(self, ax: Axes, top: int) -> None:
        a, b = np.triu_indices(self.weights.shape[1], 1)
        names = short_names(self.feature_names, most=18)

        def label(k: int) -> str:
            return f"{names[a[k]]} × {names[b[k]]}"

        draw_tracks(ax, self._positions, self.weights[:, a, b], label, top=top, end=-1)
        ax.set_ylabel("weight of a pair")


def new_axes(name: str, axes: Any, height_ratios: list[int]) -> Any:
    """Three panels below each other, unless some are given."""
    plt = require_matplotlib(name)
    if axes is not None:
        return axes
    _, axes = plt.subplots(
        3, 1, figsize=(8, 9), sharex=True, layout="constrained", height_ratios=height_ratios
    )
    return axes


def draw_tracks(
    ax: Axes, x: Array, tracks: Array, label: Callable[[int], str], *, top: int, end: int
) -> None:
    """The `top` largest tracks with their names at one of their ends, the others in grey."""
    by_size = np.argsort(-np.abs(tracks).max(axis=0, initial=0.0), kind="stable")
    grey = on_paper(ax, "0.88")
    ax.plot(x, tracks[:, by_size[top:MOST_GREY]], color=grey, linewidth=0.6, zorder=0)
    ends = []
    for color, k in zip(cycle(line_colours(ax)), by_size[:top]):
        ax.plot(x, tracks[:, k], color=color, marker="o", markersize=3)
        ends.append((tracks[end, k], label(int(k)), color))
    spread_labels(ax, x[end], ends)
