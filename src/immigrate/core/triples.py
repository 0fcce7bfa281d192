"""Where W and T live together: a cone for the matrix, T >= 0, and one sphere for both.

    minimise C(W, T) + strength sum T          over |W|^2 + |T|^2 = 1, W of a cone, T >= 0

Triples outnumber samples soon: 1,140 of 20 features. Without the penalty most of the norm goes to
triples of noise, each with little; with it a triple needs a slope steeper than the strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immigrate.arrays import Array
from immigrate.core.cones import Aim, Answer, Approach, WeightSet, nonnegative_part, norm, unit


@dataclass(frozen=True)
class WithTriples:
    """Weights of features and pairs from some set, those of triples not negative, norm 1 together.

    A product of two cones is a cone, and its projection is that of each of them.

    Attributes
    ----------
    matrices : WeightSet
        The set of W.
    n_features : int
        p; W is the first p^2 numbers of a vector of weights (``forms.Cubic``).
    strength : float
        What a weight of 1 in the rest of the vector costs.
    """

    matrices: WeightSet
    n_features: int
    strength: float = 0.0
    has_formula: ClassVar[bool] = True

    @property
    def is_projection(self) -> bool:
        """Whether that of the matrices is one."""
        return self.matrices.is_projection

    @property
    def can_warm_start(self) -> bool:
        """Whether that of the matrices can."""
        return self.matrices.can_warm_start

    def prox(self, W: Array, step: float) -> Array:
        """The V of the set that minimises |V - W|^2 / 2 + step * value(V)."""
        matrix, of_triples = self._parts(W)
        shifted = self._shifted(of_triples, step)
        return np.concatenate([self.matrices.prox(matrix, step).ravel(), shifted])

    def best(self, A: Array, step: float) -> Answer:
        """The proximal point, and what <A, V> - step * value(V) is at most for V of norm 1."""
        matrix, of_triples = self._parts(A)
        found, shifted = self.matrices.best(matrix, step), self._shifted(of_triples, step)
        # Over a product of cones the largest values of the parts add up as sides of a triangle do.
        most = None if found.most is None else float(np.hypot(max(found.most, 0), norm(shifted)))
        return Answer(np.concatenate([found.point().ravel(), shifted]), most)

    def approach(self, A: Array, step: float, aim: Aim) -> Approach:
        """The best answer: none of the matrices with triples has a splitting."""
        found = self.best(A, step)
        return Approach(found.point(), found.most)

    def value(self, W: Array) -> float:
        """The penalties of both, homogeneous of degree 1."""
        matrix, of_triples = self._parts(W)
        return self.matrices.value(matrix) + self.strength * float(of_triples.sum())

    def scaled(self, W: Array) -> Array:
        """Scaled to norm 1."""
        return unit(W)

    def _shifted(self, of_triples: Array, step: float) -> Array:
        """On T >= 0 the penalty is linear, and its proximal map a shift."""
        return nonnegative_part(of_triples - step * self.strength)

    def _parts(self, W: Array) -> tuple[Array, Array]:
        p = self.n_features
        return W[: p * p].reshape(p, p), W[p * p :]
