"""Distance from differences: q as a form in d, and its derivative in the weights.

=============  ===================================  =====================================
linear         q = w' d                             Eq. 1; IM4E and I-RELIEF
quadratic      q = d' W d                           Eq. 3; IMMIGRATE
cubic          q = d' W d + sum T_abc d_a d_b d_c   triples of features on top of that
=============  ===================================  =====================================

Differences come as (p, r, c): feature by feature, every row against every column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from immigrate.arrays import Array, Codes

# Orders of three different features: how often a triple is in the sum over all a, b and c.
N_ORDERS = 6


class Form(Protocol):
    """What a pass asks of a form."""

    @property
    def degree(self) -> int:
        """Power of the unit of the differences in a distance."""

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c dq/dW over the pairs, shaped like `W`."""

    def own_weights(self, W: Array) -> Array:
        """How much each feature counts on its own, in units of a matrix W, (p,)."""

    def n_weights(self, n_features: int) -> int:
        """Number of weights; a pass takes n^2 / 2 multiply-adds for each of them."""


@dataclass(frozen=True)
class Linear:
    """q = w' d, the weighted Manhattan distance of Eq. 1."""

    degree: int = 1

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""
        return np.tensordot(W, d, 1)

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c d, (p,)."""
        return np.tensordot(d, c, 2)

    def own_weights(self, W: Array) -> Array:
        """Squares of the weights."""
        return W**2

    def n_weights(self, n_features: int) -> int:
        """One per feature."""
        return n_features


@dataclass(frozen=True)
class Quadratic:
    """q = d' W d, the paper's quadratic-Manhattan measurement, Eq. 3."""

    degree: int = 2

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""
        return np.einsum("arc,arc->rc", np.tensordot(W, d, 1), d)

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c d d', (p, p)."""
        flat = d.reshape(len(d), -1)
        return (flat * c.ravel()) @ flat.T

    def own_weights(self, W: Array) -> Array:
        """The diagonal."""
        return W.diagonal()

    def n_weights(self, n_features: int) -> int:
        """One per feature and ordered pair."""
        return n_features**2


@dataclass(frozen=True, eq=False)
class Cubic:
    """q = d' W d + sum_abc T_abc d_a d_b d_c: three features at once.

    W is a symmetric p x p matrix. T is a symmetric p x p x p tensor that is 0 where two of its
    indices are the same, and everywhere else but in the triples that are listed. The sum is over
    all orders of the indices, as it is in d' W d: a pair adds 2 W_ab d_a d_b to a distance, and a
    triple adds 6 T_abc d_a d_b d_c.

    A solver sees both as one vector of p^2 + m numbers,

        (W_11, W_12, ..., W_pp, sqrt(6) T_abc, ...)

    whose Euclidean norm is that of W and T together: |W|^2 + |T|^2, every entry counted.

    Attributes
    ----------
    n_features : int
        p.
    triples : ndarray of shape (m, 3)
        Features a < b < c of each triple with a weight.
    """

    n_features: int
    triples: Codes
    degree: int = 3

    def matrix(self, W: Array) -> Array:
        """The matrix in a vector of weights, (p, p)."""
        return W[: self.n_features**2].reshape(self.n_features, self.n_features)

    def triple_weights(self, W: Array) -> Array:
        """T_abc of each triple, (m,)."""
        return W[self.n_features**2 :] / np.sqrt(N_ORDERS)

    def weights(self, matrix: Array, triple_weights: Array) -> Array:
        """The vector of both."""
        return np.concatenate([matrix.ravel(), np.sqrt(N_ORDERS) * triple_weights])

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""
        q = QUADRATIC.distance(self.matrix(W), d)
        for (a, b, c), T in zip(self.triples, self.triple_weights(W)):
            q += (N_ORDERS * T) * (d[a] * d[b] * d[c])
        return q

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c d d', and of c d d d of each triple, as a vector."""
        of_pairs = QUADRATIC.scatter(self.matrix(W), d, c)
        of_triples = [np.vdot(c * d[i] * d[j], d[k]) for i, j, k in self.triples]
        # dq / d(sqrt(6) T) = 6 d d d / sqrt(6), which is what `weights` multiplies by.
        return self.weights(of_pairs, np.array(of_triples))

    def in_units(self, W: Array, exponent: int) -> Array:
        """V with q(W, 2^exponent d) = 2^(3 exponent) q(V, d); linear and symmetric in W.

        The matrix counts less in larger units: it is multiplied by one difference less.
        """
        matrix, of_triples = np.split(W, [self.n_features**2])
        return np.concatenate([np.ldexp(matrix, -exponent), of_triples])

    def own_weights(self, W: Array) -> Array:
        """The diagonal of the matrix."""
        return self.matrix(W).diagonal()

    def n_weights(self, n_features: int) -> int:
        """Those of the matrix, and two for each triple, which costs as much as a pair."""
        return n_features**2 + 2 * len(self.triples)


LINEAR, QUADRATIC = Linear(), Quadratic()
