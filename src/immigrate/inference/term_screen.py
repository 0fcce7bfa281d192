"""An approximate statistic for all pairs or triples, as blocks of a matrix product.

U of every pair of two blocks of features is one product (phi_a r)(phi_b)'. Its covariance is
taken to be diagonal, as if features were independent and the residuals had one variance, but
for the trace of S, which one more product gives. Cost for p features: 16 n p^2 operations;
memory: one tile and the list of the strongest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from immigrate.core.distances import Array
from immigrate.inference.additive import Encoded
from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_three_moment_tail,
)
from immigrate.inference.residuals import Contrast
from immigrate.inference.term_statistics import N_SCORE_FUNCTIONS, products

TILE_BYTES = 16e6
LARGEST_TILE_SIDE = 512


@dataclass(frozen=True)
class ScreenedTerms:
    """Terms with their approximate evidence."""

    terms: np.ndarray  # (t, order)
    statistic: Array
    log_p: Array

    def strongest(self, count: int) -> ScreenedTerms:
        """The `count` terms of smallest p, in order."""
        if len(self.log_p) > count:
            return self._taken(np.argpartition(self.log_p, count)[:count]).strongest(count)
        return self._taken(np.lexsort((*self.terms.T[::-1], self.log_p)))

    def joined(self, other: ScreenedTerms) -> ScreenedTerms:
        """These terms and the others."""
        return ScreenedTerms(
            np.concatenate([self.terms, other.terms]),
            np.concatenate([self.statistic, other.statistic]),
            np.concatenate([self.log_p, other.log_p]),
        )

    def _taken(self, index: np.ndarray) -> ScreenedTerms:
        return ScreenedTerms(self.terms[index], self.statistic[index], self.log_p[index])


@dataclass(frozen=True)
class Side:
    """One side of a tile: single features, or pairs of features for triples.

    Attributes
    ----------
    terms : ndarray of shape (a, features per term)
    columns : ndarray of shape (a, k, n)
    sizes : ndarray of shape (a, k)
        Mean square of each column.
    """

    terms: np.ndarray
    columns: Array
    sizes: Array

    @property
    def inverse_sizes(self) -> Array:
        """1 / sizes, 0 for empty columns."""
        return np.divide(1.0, self.sizes, out=np.zeros_like(self.sizes), where=self.sizes > 0)

    @property
    def energy(self) -> Array:
        """Sum of the squared columns: (a, n)."""
        return np.sum(self.columns**2, axis=1)


def _side(functions: Array, terms: np.ndarray, weight: Array) -> Side:
    columns = products(functions, terms)
    return Side(terms, columns, columns**2 @ weight / weight.sum())


def _tile_evidence(left: Side, right: Side, contrast: Contrast, order: int) -> list[Array]:
    """U'U over its null mean (a, b), then its log p (pairs only) and that of the score."""
    (a, j, n), (b, k, _) = left.columns.shape, right.columns.shape
    weighted = left.columns * contrast.residual[:, 0]
    squares = np.square(weighted.reshape(-1, n) @ right.columns.reshape(-1, n).T)
    squares = squares.reshape(a, j, b, k)
    # Sums of powers over the product columns factor into the two sides.
    powers = [np.outer((left.sizes**i).sum(1), (right.sizes**i).sum(1)) for i in (1, 2, 3)]
    trace = (left.energy * contrast.variance) @ right.energy.T
    variance = np.where(powers[0] > 0, trace / np.maximum(powers[0], 1e-300), 1.0)
    q = squares.sum(axis=(1, 3)) / variance
    evidence = [q / np.maximum(powers[0], 1e-300)]
    if order == 2:
        evidence.append(log_three_moment_tail(q, (powers[0], powers[1], powers[2])))
    return [*evidence, _score_log_p(squares, left, right, variance)]


def _score_log_p(squares: Array, left: Side, right: Side, variance: Array) -> Array:
    """Log p of the squares over their own variances, columns with k <= 2 of either side."""
    low = slice(N_SCORE_FUNCTIONS)
    # The side of a triple that holds pairs has such columns only.
    inverse = left.inverse_sizes[:, low] if left.terms.shape[1] == 1 else left.inverse_sizes
    other = right.inverse_sizes[:, low]
    squares = squares[:, : inverse.shape[1], :, low]
    score = np.einsum("ajbk,aj,bk->ab", squares, inverse, other, optimize=True)
    df = np.outer((inverse > 0).sum(1), (other > 0).sum(1))
    log_p = log_chi2_tail(score / np.maximum(variance, 1e-300), np.maximum(df, 1))
    return np.where(df > 0, log_p, 0.0)


def _screened_tile(left: Side, right: Side, contrasts: list[Contrast]) -> ScreenedTerms:
    """All terms of a tile whose right feature comes after those on the left."""
    order = left.terms.shape[1] + 1
    evidence = [_tile_evidence(left, right, contrast, order) for contrast in contrasts]
    log_p = cauchy_combination(np.stack([part for own in evidence for part in own[1:]]))
    statistic = np.mean([own[0] for own in evidence], axis=0)
    row, column = np.nonzero(right.terms[:, 0] > left.terms[:, -1:])
    terms = np.column_stack([left.terms[row], right.terms[column]])
    return ScreenedTerms(terms, statistic[row, column], log_p[row, column])


def _screened_strip(
    functions: Array, lefts: np.ndarray, data: Encoded, contrasts: list[Contrast], count: int
) -> ScreenedTerms:
    """The strongest terms that start with one of `lefts`."""
    left = _side(functions, lefts, data.weight)
    best = ScreenedTerms(np.empty((0, lefts.shape[1] + 1), int), np.empty(0), np.empty(0))
    last = np.arange(lefts[:, -1].min() + 1, len(functions))
    for rights in _strips(last[:, None], functions):
        tile = _screened_tile(left, _side(functions, rights, data.weight), contrasts)
        best = best.joined(tile).strongest(count)
    return best


def _strips(terms: np.ndarray, functions: Array) -> Iterator[np.ndarray]:
    """Terms in strips such that a tile of two strips fits in memory."""
    n_columns = functions.shape[1] ** terms.shape[1]
    side = int(np.clip(np.sqrt(TILE_BYTES / 8) / n_columns, 1, LARGEST_TILE_SIDE))
    return (terms[start : start + side] for start in range(0, len(terms), side))


def strongest_terms(
    data: Encoded, contrasts: list[Contrast], order: int, count: int, n_jobs: int | None = None
) -> ScreenedTerms:
    """The `count` terms with the smallest approximate p-values, out of all of them."""
    functions, p = data.functions, len(data.functions)
    if order == 3:
        functions = np.ascontiguousarray(functions[:, :N_SCORE_FUNCTIONS])
        lefts = np.column_stack(np.triu_indices(p - 1, 1))
    else:
        lefts = np.arange(p - 1)[:, None]
    best = ScreenedTerms(np.empty((0, order), int), np.empty(0), np.empty(0))
    strips = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_screened_strip)(functions, strip, data, contrasts, count)
        for strip in _strips(lefts, functions)
    )
    for strip in strips:
        best = best.joined(strip).strongest(count)
    return best
