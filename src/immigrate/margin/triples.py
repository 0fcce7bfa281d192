"""Which triples of features have a weight, where the weights live, and tables of what they got.

A cone for the matrix, T >= 0, and one sphere for both:

    minimise C(W, T) + strength sum T          over |W|^2 + |T|^2 = 1, W of a cone, T >= 0

Triples outnumber samples soon: 1,140 of 20 features. Without the penalty most of the norm goes to
triples of noise, each with little; with it a triple needs a slope steeper than the strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, named_position
from immigrate.core.cones import Aim, Answer, Approach, WeightSet, nonnegative_part, norm, unit

# All triples of up to so many features: 9,880 weights. A list may be as long.
MOST_FEATURES = 40
MOST_TRIPLES = comb(MOST_FEATURES, 3)
NAMES = ["feature_1", "feature_2", "feature_3"]
TRIPLES = (
    "triples must be 'all', a list of triples of names or indices such as [('a', 'b', 'c')], or a "
    "table with the columns feature_1, feature_2 and feature_3, as InteractionTest(order=3) has "
    "in selected_ and table_; got {}."
)
FROM_TEST = "triples=InteractionTest(order=3).fit(X, y).selected_"


def chosen_triples(triples: Any, names: Sequence[str], is_used: Mask) -> Codes:
    """Triples a < b < c of the columns in use, counted among these, (m, 3).

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.margin.triples import chosen_triples
    >>> chosen_triples([("d", "a", 2)], ["a", "b", "c", "d"], np.array([True, False, True, True]))
    array([[0, 1, 2]])
    """
    n_used = int(is_used.sum())
    if isinstance(triples, str):
        check_option("triples", triples, ("all",))
        if n_used > MOST_FEATURES:
            raise ValueError(
                f"triples='all' of {n_used} features would be {comb(n_used, 3):,} weights; it is "
                f"meant for up to {MOST_FEATURES} features. Give the triples that a test finds, "
                f"{FROM_TEST}, or fewer features."
            )
        every = list(combinations(range(n_used), 3))
        return np.array(every, dtype=np.intp).reshape(-1, 3)
    listed = [_positions(triple, names, is_used) for triple in _listed(triples)]
    if len(listed) > MOST_TRIPLES:
        raise ValueError(
            f"triples lists {len(listed):,} triples; at most {MOST_TRIPLES:,} have a weight. Take "
            "the first rows of the table, which are those with the most evidence."
        )
    found = np.array(listed, dtype=np.intp).reshape(-1, 3)
    # From columns of the table to columns in use; those that are left out were refused above.
    place = np.cumsum(is_used) - 1
    return np.unique(np.sort(place[found], axis=1), axis=0)


def _listed(triples: Any) -> list[list[Any]]:
    """Triples as lists of three names or indices."""
    if isinstance(triples, pd.DataFrame):
        if not set(NAMES) <= set(triples):
            raise ValueError(TRIPLES.format(f"a table with the columns {list(triples)}"))
        listed: list[list[Any]] = triples[NAMES].to_numpy(dtype=object).tolist()
        return listed
    if hasattr(triples, "fit"):
        raise ValueError(f"triples must be what a test has found, not the test: {FROM_TEST}.")
    try:
        listed = [list(triple) for triple in triples if not isinstance(triple, str)]
        is_right = len(listed) == len(triples) and all(len(triple) == 3 for triple in listed)
    except TypeError:
        is_right = False
    if not is_right:
        raise ValueError(TRIPLES.format(repr(triples)))
    return listed


def _positions(triple: list[Any], names: Sequence[str], is_used: Mask) -> list[int]:
    positions = [named_position(item, names, "triples") for item in triple]
    if len(set(positions)) < 3:
        raise ValueError(f"triples lists {triple!r}; a triple has three different features.")
    left_out = [names[j] for j in positions if not is_used[j]]
    if left_out:
        raise ValueError(
            f"triples names {left_out[0]!r}, which is left out because it is no feature (see "
            "column_reader_ of a fit without it)."
        )
    return positions


def dense_tensor(triples: Codes, weights: Array, n_features: int) -> Array:
    """T as a symmetric tensor, (p, p, p)."""
    T = np.zeros((n_features,) * 3)
    # All six orders of a triple, so that the tensor is symmetric.
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        T[tuple(triples[:, order].T)] = weights
    return T


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
