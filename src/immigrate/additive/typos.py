"""Numbers that lie so far from all others that they are rather mistyped than measured.

One price with its point in the wrong place makes every variance so large that nothing is found.
A least-squares fit follows such a number; a fit of Huber's pseudo-values [1]_ does not: residuals
beyond two standard deviations count as two, and the deviation is that of the clipped residuals.
What lies further than `FAR` deviations from this fit, with a gap below it, counts as two
deviations in all that follows, and is named. Long tails have no such gap and stay as they are.

References
----------
.. [1] P. J. Huber and E. M. Ronchetti, "Robust Statistics", 2nd edition, Wiley (2009), 7.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.additive.newton import information_matrix, penalised_inverse
from immigrate.additive.null_model import NullModel
from immigrate.additive.rows import transposed_product
from immigrate.arrays import Array, Codes

# A mistyped number is further out than so many standard deviations, and than so many times the
# largest residual of all others.
FAR, GAP = 20.0, 3.0
# Residuals count as so many standard deviations at most; the mean square of a normal number that
# is clipped there is smaller than 1.
CLIPPED_AT, CLIPPED_SQUARE = 2.0, 0.7737
ROUNDS = 20
# At most this share of the samples, or one.
LARGEST_SHARE = 0.02


class Typos(NamedTuple):
    """Samples whose numbers are replaced."""

    rows: Codes
    n_deviations: Array  # how far each lies from what the features say
    values: Array  # what it counts as, in the unit of the user's numbers


def typos_of(model: NullModel, numbers: Array) -> Typos:
    """The numbers of a null model that are rather typos, usually none.

    `numbers` are those of the samples in the user's unit.
    """
    outcome, weight, Z = model.design.outcome, model.design.weight, model.Z
    Y = outcome.Y[:, 0]
    information = information_matrix(Z, model.means, weight, outcome.family)
    H = penalised_inverse(information, model.refit_penalty)
    nu = max(float(weight.sum() - np.sum(H * information)), 1.0)
    pseudo = mu = model.means[:, 0]
    # From the residuals of most samples, which one wild number does not reach.
    s = 1.4826 * float(np.median(np.abs(Y - mu)))
    for _ in range(ROUNDS):
        clipped = np.clip(Y - mu, -CLIPPED_AT * s, CLIPPED_AT * s)
        pseudo = mu + clipped
        s = max(np.sqrt(float(weight @ clipped**2) / (CLIPPED_SQUARE * nu)), np.finfo(float).tiny)
        mu = Z @ (H @ transposed_product(Z, weight * pseudo))
    e = Y - mu
    size = np.abs(e) / s
    order = np.argsort(-size, kind="stable")
    n_most = max(1, int(LARGEST_SHARE * len(Y)))
    ahead, behind = size[order[:n_most]], size[order[1 : n_most + 1]]
    gaps = np.flatnonzero((ahead[: len(behind)] > FAR) & (ahead[: len(behind)] > GAP * behind))
    rows = np.sort(order[: gaps.max(initial=-1) + 1])
    unit = outcome.unit
    # From the unit of the model back to the numbers as they were given.
    values = numbers[rows] - unit * (e[rows] - np.sign(e[rows]) * CLIPPED_AT * s)
    return Typos(rows, size[rows], values)
