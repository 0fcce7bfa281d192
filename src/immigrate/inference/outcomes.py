"""What is to be explained: classes or a number, in the form that the additive model takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.inference.links import IDENTITY, LOGIT, Link

N_STRATA = 5


@dataclass(frozen=True)
class Outcome:
    """One row per sample.

    Attributes
    ----------
    Y : ndarray of shape (n, n_logits)
        The column of class 1 for two classes, one column per class for more, or one number.
    strata : ndarray of shape (n,)
        Classes, or fifths of the numbers: folds get the same share of each.
    link : Link
    unit : float
        What 1 in `Y` stands for: the standard deviation of a number, 1 for classes.
    """

    Y: Array
    strata: Codes
    link: Link
    unit: float = 1.0

    @property
    def is_number(self) -> bool:
        """Whether it is a number rather than classes."""
        return self.link is IDENTITY


def class_outcome(codes: Codes, n_classes: int) -> Outcome:
    """Classes 0, 1, ... as indicators."""
    Y = np.eye(n_classes)[codes]
    # One logit for two classes; of more no class is singled out as the reference.
    return Outcome(Y[:, 1:] if n_classes == 2 else Y, codes, LOGIT)


def number_outcome(values: Array, weight: Array) -> Outcome:
    """A number in units of its standard deviation."""
    centred = values - np.average(values, weights=weight)
    unit = float(np.sqrt(np.average(centred**2, weights=weight)))
    order = np.argsort(values, kind="stable")
    below = np.empty(len(values))
    # Mid-ranks by weight, so that a sample of weight two counts as two.
    below[order] = np.cumsum(weight[order]) - weight[order] / 2
    # Equal numbers belong to one fifth, whatever the order of the samples.
    _, level = np.unique(values, return_inverse=True)
    middle = np.bincount(level, below * weight) / np.bincount(level, weight)
    strata = np.minimum(middle[level] / weight.sum() * N_STRATA, N_STRATA - 1).astype(np.intp)
    return Outcome((centred / unit)[:, None], strata, IDENTITY, unit)
