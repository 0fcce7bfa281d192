"""`PairEffect`: how two features act together, as numbers that can be drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from immigrate.additive.effects import Term
from immigrate.additive.levels import Levels
from immigrate.additive.sizes import CONFIDENCE
from immigrate.additive.surfaces import MOST_SHOWN_AS_LEVELS, surface
from immigrate.arrays import Array, Codes
from immigrate.interactions.findings import Effects, level_text
from immigrate.interactions.words import outcome_words
from immigrate.table import Table

OWN_COLUMNS = ("class", "value", "low", "high", "count")
TURNED = ("value", "low", "high", "counts")


@dataclass(frozen=True, eq=False)
class EffectAxis:
    """One feature of a pair.

    Attributes
    ----------
    name : str
    has_levels : bool
        Whether `values` are all levels, rather than points on a scale of numbers.
    values : ndarray
        Numbers, or the names of levels.
    samples : ndarray of shape (n,)
        Where each sample is: its number, or the place of its level; NaN where it is missing.
    """

    name: str
    has_levels: bool
    values: NDArray[Any]
    samples: Array = field(repr=False)


@dataclass(frozen=True, eq=False)
class PairEffect:
    """What two features add together to the log-odds, beyond the sum of their own effects.

    Made by :meth:`InteractionTest.effect`; drawn by :class:`PairEffectDisplay`.

    Attributes
    ----------
    axes : pair of EffectAxis
        The two features: `name`, `values` (numbers, or names of levels), `has_levels`, and in
        `samples` where each sample is.
    classes : tuple of str
        What each surface describes: the second of two classes, every class if there are more, or
        the name of a label that is a number.
    value, low, high : ndarray of shape (n_classes_shown, g, h)
        Contribution to the log-odds of the class against the others (to the label itself, where
        that is a number), and the ends of its 95 % interval, point by point.
    counts : ndarray of shape (g, h)
        Samples at, or nearest to, each point.
    size, size_low, size_high : float
        Spread of the contribution over the samples, and its 95 % interval.
    direction : str
        Which class is more likely where, in words.
    labels : ndarray of shape (n,)
        Class, or number, of each sample.
    is_number : bool
        Whether the label is a number.

    Examples
    --------
    >>> from immigrate import InteractionTest
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 4, noise=0.1, random_state=0)
    >>> effect = InteractionTest().fit(X, y).effect("a", "b")
    >>> effect.value.shape, effect.classes
    ((1, 25, 25), ('1',))
    >>> print(effect.direction)
    class 1 is more likely where a and b are both high or both low
    """

    axes: tuple[EffectAxis, EffectAxis]
    classes: tuple[str, ...]
    value: Array
    low: Array
    high: Array
    counts: Array
    size: float
    size_low: float
    size_high: float
    direction: str
    labels: NDArray[Any] = field(repr=False)
    is_number: bool = False

    def ordered(self, is_as_asked: bool) -> PairEffect:
        """The same with the features in the order in which they were asked for.

        Parameters
        ----------
        is_as_asked : bool
            Whether they stand in that order already.

        Returns
        -------
        PairEffect
        """
        if is_as_asked:
            return self
        turned = {name: getattr(self, name).swapaxes(-1, -2) for name in TURNED}
        return replace(self, axes=self.axes[::-1], **turned)

    def to_frame(self) -> pd.DataFrame:
        """One row per point and class.

        Returns
        -------
        pandas.DataFrame
            Columns: the two features, `class`, `value`, `low`, `high`, `count`. A feature that
            has one of the latter names is called `feature_1` or `feature_2`.
        """
        left, right = (axis.values for axis in self.axes)
        names = [
            f"feature_{k}" if axis.name in OWN_COLUMNS else axis.name
            for k, axis in enumerate(self.axes, 1)
        ]
        shape = self.value.shape
        c, i, j = (index.ravel() for index in np.indices(shape))
        return pd.DataFrame(
            {
                names[0]: left[i],
                names[1]: right[j],
                "class": np.array(self.classes, dtype=object)[c],
                "value": self.value.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
                "count": self.counts[i, j],
            }
        )


def pair_effect(effects: Effects, pair: Term) -> PairEffect:
    """The effect of two columns that are in the model of effects."""
    table, place = effects.source.table, effects.place(pair)
    if place is None:
        names = [str(table.reader.names[column]) for column in pair]
        raise ValueError(
            f"{names[0]} × {names[1]} has no effect to show: one of the two does not vary in the "
            "samples that effects are measured on."
        )
    found, sizes = surface(effects.model, place), effects.measured([pair])[0]
    reach = -special.ndtri((1 - CONFIDENCE) / 2) * found.standard_error
    levels = [effects.model.design.levels[a] for a in place]
    # The test counts levels by their labels, so that names do not matter; people read by name.
    orders = [np.argsort(own.value[places]) for own, places in zip(levels, found.places)]
    axes = [
        effect_axis(table, column, own, places[order])
        for column, own, places, order in zip(pair, levels, found.places, orders)
    ]
    at = np.ix_(np.arange(len(found.value)), *orders)
    return PairEffect(
        axes=(axes[0], axes[1]),
        classes=outcome_words(table.outcome).shown,
        value=found.value[at],
        low=(found.value - reach)[at],
        high=(found.value + reach)[at],
        counts=found.counts[np.ix_(*orders)],
        size=float(sizes.size[0]),
        size_low=float(sizes.low[0]),
        size_high=float(sizes.high[0]),
        direction=effects.direction(pair),
        labels=table.outcome.of_samples,
        is_number=table.outcome.numbers is not None,
    )


def effect_axis(table: Table, column: int, levels: Levels, places: Codes) -> EffectAxis:
    """A feature's shown levels in their order, with names if it has any."""
    has_levels = levels.is_nominal or levels.n_levels <= MOST_SHOWN_AS_LEVELS
    if has_levels:
        text = level_text(table, column, levels)
        values: NDArray[Any] = np.array([text(place) for place in places], dtype=object)
        # Where each level stands among the places, which hold all of them.
        # The inverse of the order in which levels are shown.
        samples = np.where(levels.code >= 0, np.argsort(places)[levels.code], np.nan)
    else:
        values, samples = levels.value[places], table.values[:, column].astype(np.float64)
    return EffectAxis(str(table.reader.names[column]), has_levels, values, samples)
