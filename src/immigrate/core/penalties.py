"""What weights may cost on top of the margin, and the steps that take the cost into account.

A penalty here is a sum over elements of W, or a norm of some of them: convex, and homogeneous of
degree 1. That is what makes it fit weights of fixed norm. For any such h, with the condition that
W lies in a cone counted as part of it, the best W of norm 1 for the linearised cost,

    max <G, V> - h(V)  over |V| = 1,    G = -Sigma,

is V = P / |P| with P = prox_h(G), and its value is |P| (or less than 0 where P = 0): the minimum
over V = r u of |V - G|^2 / 2 + h(V) is taken at r = <G, u> - h(u), so the best u is the same.
Theorem 3.1 is h = 0. W is stationary where 0 lies in Sigma + dh(W) + mu W, which is where W is its
own best answer, because dh does not depend on the size of W. A step W - t Sigma, mapped by
prox_th and scaled back to norm 1, gives the V that maximises <W, V> + t (<G, V> - h(V)), so that

    <Sigma, V - W> + h(V) - h(W)  <=  -|V - W|^2 / (2 t)

and for small t the penalised cost falls, as it does without a penalty.

A square of a norm has no such property: on the sphere its best answer is no proximal point. So the
l2 penalty is the norm of the pairs and not its square. Both shrink all pairs by one factor; the
norm sets them to 0 at a finite strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from immigrate.arrays import Array, Mask
from immigrate.core.cones import (
    Aim,
    Answer,
    Approach,
    Cone,
    Elements,
    approach_by_splitting,
    norm,
    unit,
)
from immigrate.core.splitting import Separable, psd_prox


class Priced(Separable, Protocol):
    """A separable function with a value."""

    def value(self, W: Array) -> float:
        """The penalty of W."""
        ...


@dataclass(frozen=True, eq=False)
class PricedElements:
    """The l1 penalty: each element costs its size times its price.

    Attributes
    ----------
    price : ndarray of shape (p, p)
        Symmetric, 0 for elements that cost nothing.
    elements : Elements
        What elements may be. Where they may not be negative, the penalty is linear.
    """

    price: Array
    elements: Elements

    def prox(self, A: Array, step: float) -> Array:
        """Every element moved towards 0 by its price, and not beyond."""
        most = step * self.price
        if self.elements.is_signed:
            most = np.minimum(np.maximum(A, -most), most)
        return self.elements.part(A - most)

    def is_held(self, A: Array, step: float) -> Mask:
        """Elements that are smaller than their price, or have to be 0."""
        size = np.abs(A) if self.elements.is_signed else A
        held: Mask = (size < step * self.price) | self.elements.is_held(A, step)
        return held

    def value(self, W: Array) -> float:
        """Sum of prices times sizes."""
        return float(np.vdot(self.price, np.abs(W)))


@dataclass(frozen=True, eq=False)
class PricedNorm:
    """The l2 penalty: the norm of the chosen elements costs its size times the price.

    Attributes
    ----------
    price : float
    is_chosen : ndarray of shape (p, p) of bool
        Symmetric.
    elements : Elements
        What elements may be.
    """

    price: float
    is_chosen: Mask
    elements: Elements

    def prox(self, A: Array, step: float) -> Array:
        """The chosen elements made smaller by one factor."""
        A = self.elements.part(A)
        size = norm(A[self.is_chosen])
        # Compared before they are divided: the quotient of a tiny size overflows.
        factor = 1 - step * self.price / size if size > step * self.price else 0.0
        return np.where(self.is_chosen, factor * A, A)

    def is_held(self, A: Array, step: float) -> None:
        """All chosen elements become 0 together or none does."""
        return None

    def value(self, W: Array) -> float:
        """Price times the norm of the chosen elements."""
        return self.price * norm(W[self.is_chosen])


@dataclass(frozen=True, eq=False)
class Penalised:
    """Matrices of norm 1 with a penalty, as a weight set.

    Attributes
    ----------
    cone : Cone
        Where the proximal map is a formula without a condition on the spectrum, and a splitting
        with it.
    penalty : Priced
        Of elements as the cone has them.
    """

    cone: Cone
    penalty: Priced
    is_projection: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.cone.is_projection:
            raise ValueError(
                "A penalty needs a projection, and this constraint only stands in for one, so "
                "that weights could not be told their price; take a constraint that is a cone."
            )

    @property
    def can_warm_start(self) -> bool:
        """Whether that of the cone can."""
        return self.cone.can_warm_start

    @property
    def has_formula(self) -> bool:
        """Without a condition on the spectrum there is one."""
        return not self.cone.is_psd

    def prox(self, W: Array, step: float) -> Array:
        """The V of the cone that minimises |V - W|^2 / 2 + step * value(V)."""
        return self.best(W, step).point()

    def best(self, A: Array, step: float) -> Answer:
        """The proximal point, and what <A, V> - step * value(V) is at most for V of norm 1."""
        if self.cone.is_psd:
            split = psd_prox(A, self.penalty, step)
            return Answer(split.point, split.most)
        point = self.penalty.prox(A, step)
        return Answer(point, norm(point))

    def approach(self, A: Array, step: float, aim: Aim) -> Approach:
        """A splitting from the multiplier of a neighbour, ended when it is good enough."""
        if not self.cone.is_psd:
            point = self.penalty.prox(A, step)
            return Approach(point, norm(point))
        return approach_by_splitting(self, self.penalty, A, step, aim)

    def value(self, W: Array) -> float:
        """The penalty."""
        return self.penalty.value(W)

    def scaled(self, W: Array) -> Array:
        """The multiple of norm 1."""
        return unit(W)


def pruned(W: Array, below: float) -> Array:
    """`W` with every weight of size below `below` set to 0, back at unit Frobenius norm.

    If no weight would survive, the largest ones stay: a zero matrix is not a distance.
    """
    size = np.abs(W)
    is_kept = size >= min(below, size.max())
    return unit(np.where(is_kept, W, 0.0))
