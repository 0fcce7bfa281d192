"""Distance from differences: q as a form in d, and its derivative in the weights.

=============  ===================================  =====================================
linear         q = w' d                             Eq. 1; IM4E and I-RELIEF
quadratic      q = d' W d                           Eq. 3; IMMIGRATE
cubic          q = sum_abc T_abc d_a d_b d_c        triples of features
=============  ===================================  =====================================

Differences come as (p, r, c): feature by feature, every row against every column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from immigrate.typing import Array


class Form(Protocol):
    """What a pass asks of a form."""

    @property
    def degree(self) -> int:
        """Power of the unit of the differences in a distance."""

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c dq/dW over the pairs, shaped like `W`."""


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


@dataclass(frozen=True)
class Cubic:
    """q = sum_abc T_abc d_a d_b d_c: three features at once."""

    degree: int = 3

    def distance(self, W: Array, d: Array) -> Array:
        """Q of every row from every column, (r, c)."""
        return np.einsum("abc,axy,bxy,cxy->xy", W, d, d, d, optimize=True)

    def scatter(self, W: Array, d: Array, c: Array) -> Array:
        """Sum of c d d d, (p, p, p)."""
        return np.einsum("xy,axy,bxy,cxy->abc", c, d, d, d, optimize=True)


LINEAR, QUADRATIC, CUBIC = Linear(), Quadratic(), Cubic()
