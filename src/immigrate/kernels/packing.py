"""Weights of each form as the compiled sweeps read them, and gradients back from there.

==========  ===================================  =============================================
linear      (p,)                                 w
quadratic   (p, p), upper triangular             U with d'Ud = d'Wd: what is below the diagonal
                                                 is added to what is above
cubic       (n_rows, p)                          q = sum_r P_r sum_c M_rc d_c, with P_r = d_a for
                                                 a row of U, P_r = d_a d_b for a pair
==========  ===================================  =============================================

The rows of a cubic form are the pairs (a, b) that some triple a < b < c begins with; what they
hold is at c. With the first column that counts they are listed in a table (a, b, first column),
b = NONE for the rows of U, in the order of the first column, so that rows that are taken together
begin at about the same column. Rows of zeros fill up the last group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.forms import LINEAR, N_ORDERS, QUADRATIC, Cubic, Form

ROWS = 4  # rows of a cubic form that are taken together
FEATURE, PARTNER, FIRST_COLUMN = 0, 1, 2  # columns of the table of rows
NONE = -1
PANEL = 32  # features in the buffer at a time where weights are a vector


class Packing(Protocol):
    """What the compiled pass asks of the layout of weights."""

    @property
    def products(self) -> Codes | None:
        """The table of rows of a cubic form; None for the others."""

    @property
    def n_together(self) -> int:
        """Features that the buffer of differences holds at a time."""

    def packed(self, Ws: Sequence[Array]) -> Array:
        """Weights of several problems, as the sweeps read them."""

    def unpacked(self, gradients: Array) -> Array:
        """Gradients of several problems, shaped like their weights."""


@dataclass(frozen=True)
class VectorPacking:
    """Weights that are a vector."""

    n_features: int
    products: None = None

    @property
    def n_together(self) -> int:
        """A panel."""
        return min(self.n_features, PANEL)

    def packed(self, Ws: Sequence[Array]) -> Array:
        """The vectors."""
        return np.array(Ws, dtype=np.float64)

    def unpacked(self, gradients: Array) -> Array:
        """The gradients."""
        return gradients


@dataclass(frozen=True)
class MatrixPacking:
    """Weights that are a symmetric matrix."""

    n_features: int
    products: None = None

    @property
    def n_together(self) -> int:
        """All."""
        return self.n_features

    @cached_property
    def _upper_half(self) -> Array:
        """1 above the diagonal, 1/2 on it: W = A + A' for A = W * _upper_half."""
        p = self.n_features
        return np.triu(np.ones((p, p))) - 0.5 * np.eye(p)

    def packed(self, Ws: Sequence[Array]) -> Array:
        """U with d'Ud = d'Wd."""
        packed: Array = np.array(Ws, dtype=np.float64)
        packed *= 2.0 * self._upper_half
        return packed

    def unpacked(self, gradients: Array) -> Array:
        """Symmetric gradients."""
        gradients *= self._upper_half
        both: Array = gradients + gradients.transpose(0, 2, 1)
        return both


@dataclass(frozen=True, eq=False)
class ProductPacking:
    """Weights of features, pairs and triples."""

    form: Cubic

    @property
    def n_together(self) -> int:
        """All."""
        return self.form.n_features

    @cached_property
    def _matrix(self) -> MatrixPacking:
        return MatrixPacking(self.form.n_features)

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes]:
        """Pairs that triples begin with, and which of them each triple has."""
        pairs, which = np.unique(self.form.triples[:, :2], axis=0, return_inverse=True)
        return pairs, which.ravel()

    @cached_property
    def _order(self) -> Codes:
        """Rows of U and then pairs, by their first column."""
        return np.argsort(self._unordered[:, FIRST_COLUMN], kind="stable")

    @cached_property
    def _unordered(self) -> Codes:
        features = np.arange(self.form.n_features)
        of_matrix = np.column_stack([features, np.full_like(features, NONE), features])
        pairs, which = self._pairs
        first = np.full(len(pairs), self.form.n_features)
        np.minimum.at(first, which, self.form.triples[:, 2])
        return np.concatenate([of_matrix, np.column_stack([pairs, first])])

    @cached_property
    def products(self) -> Codes:
        """The table of rows, (n_rows, 3)."""
        n_rows = len(self._order)
        # Filled up with the last row, whose weights are 0 here and whose gradient is never read.
        filled = np.append(self._order, np.full(-n_rows % ROWS, self._order[-1]))
        return np.ascontiguousarray(self._unordered[filled], dtype=np.int64)

    @cached_property
    def _place(self) -> Codes:
        """Where the rows of U and then the pairs are in the table."""
        return np.argsort(self._order)

    @cached_property
    def _triple_rows(self) -> Codes:
        return self._place[self.form.n_features + self._pairs[1]]

    def packed(self, Ws: Sequence[Array]) -> Array:
        """M of several problems, (n_problems, n_rows, p)."""
        p = self.form.n_features
        packed = np.zeros((len(Ws), len(self.products), p))
        packed[:, self._place[:p]] = self._matrix.packed([self.form.matrix(W) for W in Ws])
        # The tensor holds a triple in all six orders, this table once.
        of_triples = [N_ORDERS * self.form.triple_weights(W) for W in Ws]
        packed[:, self._triple_rows, self.form.triples[:, 2]] = of_triples
        return packed

    def unpacked(self, gradients: Array) -> Array:
        """Gradients as vectors, (n_problems, p^2 + m)."""
        matrices = self._matrix.unpacked(gradients[:, self._place[: self.form.n_features]])
        of_triples = gradients[:, self._triple_rows, self.form.triples[:, 2]]
        return np.array([self.form.weights(*both) for both in zip(matrices, of_triples)])


def packing_for(form: Form, n_features: int) -> Packing | None:
    """How the compiled sweeps take the weights of a form; None for forms that they do not know."""
    if form == LINEAR:
        return VectorPacking(n_features)
    if form == QUADRATIC:
        return MatrixPacking(n_features)
    return ProductPacking(form) if isinstance(form, Cubic) else None
