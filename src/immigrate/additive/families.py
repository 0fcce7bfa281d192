"""What is to be explained, and how a linear predictor belongs to it: one entry for each family.

Two classes have one logit, K > 2 classes have K logits under a softmax (the ridge penalty
makes them unique, and no class is special). In both cases the labels are a matrix Y
(n, n_logits) with residual Y - mu and covariance V_cd = mu_c [c = d] - mu_c mu_d. A number is a
Y of one column with V = 1; how much it really varies is left to its residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import special

from immigrate.arrays import Array, Codes, Mask
from immigrate.outcomes.classes import Labels

N_STRATA = 5


class Family(Protocol):
    """What the additive model needs to know of an outcome.

    A covariance is only ever asked for by what it does to columns, so that one that ties samples
    together is possible.

    Attributes
    ----------
    is_estimated : bool
        Whether variances are not known from the mean: they are then estimated from the
        residuals, sample by sample.
    """

    is_estimated: bool

    def means(self, logits: Array) -> Array:
        """Mu from the linear predictor (n, n_logits)."""
        ...

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """What a fit makes small: -2 times the log-likelihood, or a sum of squares."""
        ...

    def spread(self, mu: Array, weight: Array, c: int, d: int, columns: Array) -> Array:
        """W V_cd times columns (n, k), W the weights."""
        ...

    def moved(self, mu: Array, steps: Array) -> Array:
        """What steps (n, n_logits, d) of the linear predictor do to the means: V steps."""
        ...

    def equations(self, Z: Array, Y: Array, mu: Array, weight: Array) -> tuple[Array, Array]:
        """Both sides of a Newton step: Z'W(Y - mu), (m, n_logits), and the information."""
        return Z.T @ (weight[:, None] * (Y - mu)), self.information(Z, mu, weight)

    def information(self, Z: Array, mu: Array, weight: Array) -> Array:
        """Z'WVZ over all logits: (n_logits * m, n_logits * m), one block per pair of logits."""
        ...

    def cumulants(self, mu: Array, weight: Array, c: int) -> tuple[Array, Array]:
        """Variance and fourth cumulant of the weighted residual of logit c, each (n,)."""
        ...

    def variance_within(self, Y: Array) -> Array:
        """Variance of the single outcomes of which Y (any shape) is the mean."""
        ...

    def drawn(
        self, mu: Array, weight: Array, variance: Array, n: int, rng: np.random.Generator
    ) -> Array:
        """N outcomes of every sample with these means: (n_samples, n_logits, n).

        `variance` is that of the weighted residuals, for families that cannot know it.
        """
        ...


class Classes(Family):
    """Logistic for one logit, softmax for more."""

    is_estimated = False

    def means(self, logits: Array) -> Array:
        """Mu from logits (n, n_logits)."""
        return special.expit(logits) if logits.shape[1] == 1 else special.softmax(logits, axis=1)

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """-2 times the log-likelihood of the labels."""
        if logits.shape[1] == 1:
            # log(1 + e^z) - y z, which does not overflow where z is large.
            loss = np.logaddexp(0, logits[:, 0]) - Y[:, 0] * logits[:, 0]
        else:
            loss = special.logsumexp(logits, axis=1) - np.sum(Y * logits, axis=1)
        return float(2 * weight @ loss)

    def spread(self, mu: Array, weight: Array, c: int, d: int, columns: Array) -> Array:
        """V_cd = mu_c [c = d] - mu_c mu_d, for each sample."""
        return (weight * (mu[:, c] * ((c == d) - mu[:, d])))[:, None] * columns

    def moved(self, mu: Array, steps: Array) -> Array:
        """Mu (s - mu's)."""
        mu = mu[:, :, None]
        return mu * (steps - np.sum(mu * steps, axis=1, keepdims=True))

    def information(self, Z: Array, mu: Array, weight: Array) -> Array:
        """The blocks of all pairs of logits."""
        m, n_logits = Z.shape[1], mu.shape[1]
        information = np.empty((n_logits * m, n_logits * m))
        for c in range(n_logits):
            for d in range(c + 1):
                v = mu[:, c] * ((c == d) - mu[:, d])
                block = Z.T @ ((weight * v)[:, None] * Z)
                information[c * m : (c + 1) * m, d * m : (d + 1) * m] = block
                information[d * m : (d + 1) * m, c * m : (c + 1) * m] = block.T
        return information

    def cumulants(self, mu: Array, weight: Array, c: int) -> tuple[Array, Array]:
        """Those of a coin: v = mu (1 - mu) and v (1 - 6 v)."""
        v = mu[:, c] * (1 - mu[:, c])
        return weight * v, weight * v * (1 - 6 * v)

    def variance_within(self, Y: Array) -> Array:
        """Labels that are means over the copies of a sample vary within it."""
        return Y * (1 - Y)

    def drawn(
        self, mu: Array, weight: Array, variance: Array, n: int, rng: np.random.Generator
    ) -> Array:
        """Label sets.

        A sample of weight w is w copies, each with its own label; their mean is returned. Where w
        is no whole number the deviation of the mean is scaled to the variance V / w.
        """
        n_copies = np.maximum(np.round(weight), 1).astype(int)
        if mu.shape[1] == 1:
            counts = rng.binomial(n_copies, mu[:, 0], (n, len(mu)))[..., None]
        else:
            counts = rng.multinomial(n_copies, mu / mu.sum(axis=1, keepdims=True), (n, len(mu)))
        deviation = counts.transpose(1, 2, 0) / n_copies[:, None, None] - mu[:, :, None]
        return mu[:, :, None] + deviation * np.sqrt(n_copies / weight)[:, None, None]


class Numbers(Family):
    """The linear predictor is the mean; variances are unknown."""

    is_estimated = True

    def means(self, logits: Array) -> Array:
        """The linear predictor itself."""
        return logits

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """Sum of squares."""
        return float(weight @ np.sum((Y - logits) ** 2, axis=1))

    def spread(self, mu: Array, weight: Array, c: int, d: int, columns: Array) -> Array:
        """V is 1 for every sample."""
        return weight[:, None] * columns

    def moved(self, mu: Array, steps: Array) -> Array:
        """The steps themselves."""
        return steps

    def information(self, Z: Array, mu: Array, weight: Array) -> Array:
        """Z'WZ."""
        return np.ascontiguousarray((Z.T @ (weight[:, None] * Z)).T)

    def cumulants(self, mu: Array, weight: Array, c: int) -> tuple[Array, Array]:
        """Of normal residuals of variance 1."""
        return weight, np.zeros(len(weight))

    def variance_within(self, Y: Array) -> Array:
        """Nothing is known of it."""
        return np.zeros_like(Y)

    def drawn(
        self, mu: Array, weight: Array, variance: Array, n: int, rng: np.random.Generator
    ) -> Array:
        """The means plus residuals of random sign, each sample keeping its own variance."""
        size = np.sqrt(variance / weight)
        # Signs alone are drawn: sizes stay with their samples, and so do unequal variances.
        sign = rng.choice([-1.0, 1.0], (len(size), n))
        return (mu + size[:, None] * sign)[:, None, :]


CLASSES, NUMBERS = Classes(), Numbers()


@dataclass(frozen=True)
class Outcome:
    """What is to be explained, one row per sample, in the form that the additive model takes.

    Attributes
    ----------
    Y : ndarray of shape (n, n_logits)
        The column of class 1 for two classes, one column per class for more, or one number.
    strata : ndarray of shape (n,)
        Classes, or fifths of the numbers: folds get the same share of each.
    family : Family
    contrast : ndarray of shape (n_logits, n_logits)
        What effects are about: the log-odds of each class against the mean of the others, from
        centred logits; 1 for two classes or a number.
    unit : float
        What 1 in `Y` stands for: the standard deviation of a number, 1 for classes.
    """

    Y: Array
    strata: Codes
    family: Family
    contrast: Array
    unit: float = 1.0

    def rows(self, chosen: Codes | Mask) -> Outcome:
        """That of some of the samples, in the same unit."""
        return replace(self, Y=self.Y[chosen], strata=self.strata[chosen])


def outcome_of(labels: Labels, weight: Array) -> Outcome:
    """Labels that were read, in the form of their family."""
    if labels.numbers is not None:
        return number_outcome(labels.numbers, weight)
    return class_outcome(labels.codes, int(labels.codes.max()) + 1)


def class_outcome(codes: Codes, n_classes: int) -> Outcome:
    """Classes 0, 1, ... as indicators."""
    Y = np.eye(n_classes)[codes]
    # One logit for two classes; of more no class is singled out as the reference.
    Y = Y[:, 1:] if n_classes == 2 else Y
    return Outcome(Y, codes, CLASSES, against_others(Y.shape[1]))


def against_others(n_logits: int) -> Array:
    """The log-odds of each class against the mean of the others, from K centred logits."""
    if n_logits == 1:
        return np.ones((1, 1))
    return (n_logits * np.eye(n_logits) - 1) / (n_logits - 1)


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
    return Outcome((centred / unit)[:, None], strata, NUMBERS, np.ones((1, 1)), unit)
