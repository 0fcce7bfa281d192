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

from immigrate.inference.encoding import N_SMOOTH, Encoded, Functions
from immigrate.inference.null_distributions import log_chi2_tail, log_three_moment_tail
from immigrate.inference.residuals import Contrast
from immigrate.inference.term_columns import N_SINGLE, phi_products
from immigrate.inference.term_forms import FormResult, combined_log_p
from immigrate.inference.term_sets import TermSet, all_terms
from immigrate.typing import Array, Codes, Mask

TILE_BYTES = 16e6
LARGEST_TILE_SIDE = 512
# With this many times more terms than places in the list, terms below NOTABLE times the mean
# of every form cannot get in.
SELECTIVE_FROM = 20
NOTABLE, NOTABLE_SINGLE = 2.0, 4.0
TINY = 1e-300

Index = tuple[Codes, ...]


@dataclass(frozen=True)
class ScreenedTerms:
    """Terms with their approximate evidence."""

    terms: Codes  # (t, order)
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

    def _taken(self, index: Codes) -> ScreenedTerms:
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
    is_low : ndarray of shape (a, k)
        The columns that enter the score form.
    single : ndarray of shape (a, 2, n)
        Functions with a form of their own; 0 for pairs of features.
    """

    terms: Codes
    columns: Array
    sizes: Array
    is_low: Mask
    single: Array

    @property
    def low_inverse_sizes(self) -> Array:
        """1 / sizes of the columns that enter the score, 0 for the others and empty ones."""
        is_needed = self.is_low & (self.sizes > 0)
        return np.divide(1.0, self.sizes, out=np.zeros_like(self.sizes), where=is_needed)

    @property
    def has_single(self) -> Mask:
        """Which terms have functions with a form of their own: (a,)."""
        return np.asarray(np.any(self.single != 0, axis=(1, 2)))

    @property
    def energy(self) -> Array:
        """Sum of the squared columns: (a, n)."""
        return np.sum(self.columns**2, axis=1)


def _side(functions: Functions, terms: Codes, weight: Array) -> Side:
    columns = phi_products(functions.phi, terms)
    sizes = columns**2 @ weight / weight.sum()
    if terms.shape[1] == 1:
        own = terms[:, 0]
        return Side(terms, columns, sizes, functions.is_low[own], functions.single[own])
    # A side of pairs belongs to triples, whose columns all enter the score.
    no_single = np.zeros((len(terms), N_SINGLE, len(weight)))
    return Side(terms, columns, sizes, np.ones(sizes.shape, dtype=bool), no_single)


@dataclass(frozen=True)
class TileForms:
    """The quadratic forms of every term of a tile for one contrast, over their variance."""

    kernel: Array  # (a, b)
    score: Array  # (a, b)
    single: Array  # (2, a, b)


@dataclass(frozen=True)
class TileNull:
    """What the null distributions of a tile depend on: sums over the product columns.

    Such sums factor into the two sides, the columns being taken as uncorrelated.
    """

    powers: tuple[Array, Array, Array]  # sum of size^i, each (a, b)
    df: Array  # (a, b)
    has_single: Mask  # (a, b)

    def results(self, forms: TileForms, index: Index, order: int) -> FormResult:
        """Log p of the chosen terms by score, and for pairs by the other forms."""
        df = self.df[index]
        log_p = [log_chi2_tail(forms.score[index], np.maximum(df, 1))]
        weight = [df > 0]
        if order == 2:
            first, second, third = (power[index] for power in self.powers)
            log_p.append(log_three_moment_tail(forms.kernel[index], (first, second, third)))
            log_p += [log_chi2_tail(single[index], np.ones(len(df))) for single in forms.single]
            weight += [first > 0, *[self.has_single[index]] * N_SINGLE]
        return FormResult(np.stack(log_p), np.stack(weight).astype(np.float64))


def _tile_null(left: Side, right: Side) -> TileNull:
    powers = [np.outer((left.sizes**i).sum(1), (right.sizes**i).sum(1)) for i in (1, 2, 3)]
    n_low = [(side.low_inverse_sizes > 0).sum(axis=1) for side in (left, right)]
    has_single = left.has_single[:, None] & right.has_single
    return TileNull((powers[0], powers[1], powers[2]), np.outer(*n_low), has_single)


def _tile_forms(left: Side, right: Side, contrast: Contrast, mean: Array) -> TileForms:
    """All forms from matrix products; `mean` is that of the kernel form at variance 1."""
    (a, j, n), (b, k, _) = left.columns.shape, right.columns.shape
    weighted = left.columns * contrast.residual[:, 0]
    squares = np.square(weighted.reshape(-1, n) @ right.columns.reshape(-1, n).T)
    squares = squares.reshape(a, j, b, k)
    trace = contrast.share_left * (left.energy * contrast.variance) @ right.energy.T
    variance = np.where(trace > 0, trace / np.maximum(mean, TINY), 1.0)
    inverse = [side.low_inverse_sizes for side in (left, right)]
    j, k = (np.any(low > 0, axis=0).nonzero()[0] for low in inverse)
    low_squares = squares[:, j][:, :, :, k]
    score = np.einsum(
        "ajbk,aj,bk->ab", low_squares, inverse[0][:, j], inverse[1][:, k], optimize=True
    )
    single = [
        _single_form(left.single[:, s], right.single[:, s], contrast) for s in range(N_SINGLE)
    ]
    return TileForms(squares.sum(axis=(1, 3)) / variance, score / variance, np.stack(single))


def _single_form(left: Array, right: Array, contrast: Contrast) -> Array:
    """Squared products of two functions with the residuals, over their variance: (a, b)."""
    square = np.square((left * contrast.residual[:, 0]) @ right.T)
    variance = contrast.share_left * (left**2 * contrast.variance) @ (right**2).T
    return np.divide(square, variance, out=np.zeros_like(square), where=variance > 0)


def _screened_tile(
    left: Side, right: Side, contrasts: list[Contrast], among: TermSet, is_selective: bool
) -> ScreenedTerms:
    """Terms of a tile whose right feature comes after those on the left.

    A selective tile leaves out those whose forms are below twice their mean, p > .1 or so:
    most of the time goes into p-values.
    """
    null = _tile_null(left, right)
    mean = np.maximum(null.powers[0], TINY)
    forms = [_tile_forms(left, right, contrast, mean) for contrast in contrasts]
    is_kept = right.terms[:, 0] > left.terms[:, -1:]
    if not among.is_everything:
        pairs = np.stack(np.broadcast_arrays(left.terms, right.terms[:, 0]), axis=-1)
        is_kept &= among.holds(pairs)
    if is_selective:
        is_kept = is_kept & np.any(
            [
                (f.kernel > NOTABLE * mean)
                | (f.score > NOTABLE * null.df)
                | np.any(f.single > NOTABLE_SINGLE, axis=0)
                for f in forms
            ],
            axis=0,
        )
    index = np.nonzero(is_kept)
    return ScreenedTerms(
        terms=np.column_stack([left.terms[index[0]], right.terms[index[1]]]),
        statistic=np.mean([form.kernel[index] / mean[index] for form in forms], axis=0),
        log_p=combined_log_p([null.results(form, index, among.order) for form in forms]),
    )


def _screened_strip(
    functions: Functions, lefts: Codes, weight: Array, contrasts: list[Contrast], wanted: Wanted
) -> ScreenedTerms:
    """The strongest terms that start with one of `lefts`."""
    left = _side(functions, lefts, weight)
    among, count = wanted.among, wanted.count
    best = ScreenedTerms(np.empty((0, among.order), int), np.empty(0), np.empty(0))
    is_selective = among.n_terms > SELECTIVE_FROM * count
    last = among.features[among.features > lefts[:, -1].min()]
    for rights in _strips(last[:, None], functions):
        right = _side(functions, rights, weight)
        tile = _screened_tile(left, right, contrasts, among, is_selective)
        best = best.joined(tile).strongest(count)
    return best


def _strips(terms: Codes, functions: Functions) -> Iterator[Codes]:
    """Terms in strips such that a tile of two strips fits in memory."""
    n_columns = functions.phi.shape[1] ** terms.shape[1]
    side = int(np.clip(np.sqrt(TILE_BYTES / 8) / n_columns, 1, LARGEST_TILE_SIDE))
    return (terms[start : start + side] for start in range(0, len(terms), side))


@dataclass(frozen=True)
class Wanted:
    """Of which terms the strongest are wanted, and how many of them."""

    among: TermSet
    count: int


def strongest_terms(
    data: Encoded,
    contrasts: list[Contrast],
    among: TermSet,
    count: int,
    n_jobs: int | None = None,
) -> ScreenedTerms:
    """The `count` terms with the smallest approximate p-values, out of all of them."""
    functions, first = data.functions, among.features[:-1]
    if among.order == 3:
        low = np.ascontiguousarray(functions.phi[:, :N_SMOOTH])
        functions = Functions(low, np.ones(low.shape[:2], dtype=bool), functions.single)
        lefts = first[all_terms(len(first), 2)]
    else:
        lefts = first[:, None]
    best = ScreenedTerms(np.empty((0, among.order), int), np.empty(0), np.empty(0))
    strips = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_screened_strip)(functions, strip, data.weight, contrasts, Wanted(among, count))
        for strip in _strips(lefts, functions)
    )
    for strip in strips:
        best = best.joined(strip).strongest(count)
    return best
