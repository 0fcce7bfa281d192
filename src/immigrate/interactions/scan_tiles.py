"""One tile of the scan of all terms: two strips, the products of their columns, their forms.

The covariance of U is taken to be diagonal, as if features were independent and the residuals had
one variance, but for the trace of S, which one more product gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as every_pair

import numpy as np
from scipy import special

from immigrate.additive.design import Design, phi_products
from immigrate.additive.moments import Contrast
from immigrate.additive.p_values import FormResult, log_chi2_tail, log_three_moment_tail
from immigrate.additive.rows import Rows
from immigrate.arrays import Array, Codes, Mask

# Limits of forms are a little lower than they need be, so that rounding drops no term.
A_LITTLE_LESS, KERNEL_MARGIN = 1 - 1e-9, 0.02
# Points at which the limit of the kernel form is computed.
N_LIMITS = 33
TINY = 1e-300

Index = tuple[Codes, ...]


@dataclass(frozen=True)
class Side:
    """One side of a tile on some samples: single features, or pairs of features for triples.

    Attributes
    ----------
    terms : ndarray of shape (a, features per term)
    columns : ndarray of shape (k, a, n_rows)
    squares : ndarray of shape (a, k)
        Weighted sum of the squares of each column over these samples.
    is_low : ndarray of shape (a, k)
        The columns that enter the score form.
    has_single : ndarray of shape (a,)
        Which have functions with a form of their own.
    single : ndarray of shape (2, a, n_rows)
        These functions; none for pairs of features.
    """

    terms: Codes
    columns: Array
    squares: Array
    is_low: Mask
    has_single: Mask
    single: Array

    @property
    def energy(self) -> Array:
        """Sum of the squared columns: (a, n_rows)."""
        return np.einsum("kan,kan->an", self.columns, self.columns)


def side_of(design: Design, terms: Codes, rows: Rows, k: int) -> Side:
    """`k` functions of each feature."""
    features, position = np.unique(terms, return_inverse=True)
    columns = phi_products(design.phi_of(features, rows, k), position.reshape(terms.shape))
    squares = columns**2 @ design.weight[rows]
    columns = np.ascontiguousarray(columns.transpose(1, 0, 2))
    if terms.shape[1] == 1:
        own = terms[:, 0]
        single = np.zeros((0, len(terms), columns.shape[2]))
        if design.has_single[own].any():
            single = np.ascontiguousarray(design.single_of(own, rows).transpose(1, 0, 2))
        return Side(
            terms, columns, squares, design.is_low[own, :k], design.has_single[own], single
        )
    # A side of pairs belongs to triples, whose columns all enter the score.
    nothing = np.zeros((0, len(terms), columns.shape[2]))
    has_single = np.zeros(len(terms), dtype=bool)
    return Side(terms, columns, squares, np.ones(squares.shape, dtype=bool), has_single, nothing)


@dataclass(frozen=True)
class TileForms:
    """The quadratic forms of every term of a tile for one contrast, over their variance."""

    kernel: Array  # (a, b)
    score: Array  # (a, b)
    single: list[Array]  # two of shape (a, b), or none


@dataclass(frozen=True)
class Marginal:
    """What null distributions need to know of one side: sums over the columns of each term.

    Attributes
    ----------
    powers : ndarray of shape (3, a)
        Sums of the mean squares of the columns, of their squares and of their cubes.
    low_inverse : ndarray of shape (a, k)
        One over the mean squares of the columns that enter the score, else 0.
    has_single : ndarray of shape (a,)
    """

    powers: Array
    low_inverse: Array
    has_single: Mask

    @property
    def n_low(self) -> Codes:
        """Columns in the score."""
        return np.asarray((self.low_inverse > 0).sum(axis=1))

    @property
    def df(self) -> Array:
        """Degrees of freedom of the kernel form by three moments."""
        _, second, third = self.powers
        return np.divide(second**3, third**2, out=np.zeros_like(third), where=third > 0)


def marginal(side: Side, squares: Array, total_weight: float) -> Marginal:
    """The sums of one side, given the weighted squares of its columns over all samples."""
    sizes = squares / total_weight
    is_needed = side.is_low & (sizes > 0)
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=is_needed)
    powers = np.array([(sizes**i).sum(axis=1) for i in (1, 2, 3)])
    return Marginal(powers, inverse, side.has_single)


@dataclass(frozen=True)
class TileNull:
    """The null distributions of a tile: moments are products of those of the two sides.

    The columns are taken as uncorrelated.
    """

    left: Marginal
    right: Marginal

    def results(self, forms: TileForms, index: Index, order: int) -> FormResult:
        """Log p of the chosen terms by score, and for pairs by the other forms."""
        i, j = index
        df = self.left.n_low[i] * self.right.n_low[j]
        log_p = [log_chi2_tail(forms.score[index], np.maximum(df, 1))]
        weight = [df > 0]
        if order == 2:
            first, second, third = self.left.powers[:, i] * self.right.powers[:, j]
            log_p.append(log_three_moment_tail(forms.kernel[index], (first, second, third)))
            log_p += [log_chi2_tail(single[index], np.ones(len(df))) for single in forms.single]
            has_single = self.left.has_single[i] & self.right.has_single[j]
            weight += [first > 0, *[has_single] * len(forms.single)]
        return FormResult(np.stack(log_p), np.stack(weight).astype(np.float64))

    def could_pass(self, forms: TileForms, log_limit: float) -> Mask:
        """Terms of which at least one form has a p below the limit: no combination is smaller."""
        p = np.exp(log_limit)
        n_low = [side.n_low for side in (self.left, self.right)]
        by_df = np.arange(1, max(1, *(int(np.max(one)) ** 2 for one in n_low)) + 1)
        # At place df; none passes that has no columns.
        limits = np.concatenate([[np.inf], A_LITTLE_LESS * 2 * special.gammainccinv(by_df / 2, p)])
        is_kept = forms.score > _outer_limits(limits, *n_low)
        mean, spread = (
            np.outer(self.left.powers[i] ** r, self.right.powers[i] ** r)
            for i, r in ((0, 1), (1, 0.5))
        )
        is_kept |= forms.kernel > mean + self._kernel_limit(p) * spread
        for single in forms.single:
            is_kept |= single > limits[1]
        return is_kept

    def _kernel_limit(self, p: float) -> float:
        """The smallest (q - mean) / deviation of the kernel form with this p, of all terms."""
        df = [side.df[side.df > 0] for side in (self.left, self.right)]
        if not all(len(one) for one in df):
            return np.inf
        ends = [float(end(df[0]) * end(df[1])) for end in (np.min, np.max)]
        # Degrees of freedom of a product are the product of those of both sides: between these
        # ends.
        grid = np.geomspace(ends[0], ends[1], N_LIMITS)
        limits = (2 * special.gammainccinv(grid / 2, p) - grid) / np.sqrt(grid)
        # Between two points of the grid it is hardly lower than at both.
        return float(limits.min() - KERNEL_MARGIN)


def _outer_limits(limits: Array, left: Codes, right: Codes) -> Array | float:
    """The limit of every term of a tile, one number where all are the same."""
    if np.all(left == left[0]) and np.all(right == right[0]):
        return float(limits[left[0] * right[0]])
    return limits[np.outer(left, right)]


@dataclass(frozen=True)
class Tile:
    """Two strips of terms and the products of their columns over all samples.

    Attributes
    ----------
    left, right : Side
        Of the first block of rows.
    null : TileNull
    squares : list of list of ndarray of shape (a, b)
        U^2 for each contrast and each two columns, first those of the left one.
    energy : list of ndarray of shape (a, b)
        Trace of C'VC for each contrast.
    single : list of list of pairs of ndarray of shape (a, b)
        U and its variance of the single functions, for each contrast.
    """

    left: Side
    right: Side
    null: TileNull
    products: list[list[Array]]
    energy: list[Array]
    single: list[list[tuple[Array, Array]]]

    def forms(self, c: int, contrast: Contrast) -> TileForms:
        """All forms of one contrast, over their variance."""
        mean = np.maximum(np.outer(self.null.left.powers[0], self.null.right.powers[0]), TINY)
        kernel, score, low = np.zeros_like(mean), np.zeros_like(mean), np.empty_like(mean)
        weights = [side.low_inverse.T for side in (self.null.left, self.null.right)]
        # In place: the forms of a tile are asked for once, and its products are gone afterwards.
        for U, (one, other) in zip(self.products[c], every_pair(*weights)):
            square = np.square(U, out=U)
            kernel += square
            if one.any() and other.any():
                np.multiply(square, one[:, None], out=low)
                low *= other
                score += low
        trace = contrast.share_left * self.energy[c]
        # One variance for all columns of a term, such that the trace is exact.
        variance = np.where(trace > 0, trace / mean, 1.0)
        single = [_single_form(U, contrast.share_left * V) for U, V in self.single[c]]
        return TileForms(kernel / variance, score / variance, single)


def _single_form(U: Array, variance: Array) -> Array:
    """U^2 of two functions with the residuals, over its variance: (a, b)."""
    return np.divide(U**2, variance, out=np.zeros_like(U), where=variance > 0)


def block_products(left: Side, right: Side, contrast: Contrast, rows: Rows) -> list[Array]:
    """Products of all columns of two sides over some rows: U, energy, singles and variances."""
    residual, variance = contrast.residual[rows, 0], contrast.variance[rows]
    weighted = [own * residual for own in left.columns]
    found = [own @ other.T for own, other in every_pair(weighted, right.columns)]
    found.append((left.energy * variance) @ right.energy.T)
    for one, other in zip(left.single, right.single):
        found.append((one * residual) @ other.T)
        found.append((one**2 * variance) @ (other**2).T)
    return found
