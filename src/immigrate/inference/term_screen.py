"""An approximate statistic for all pairs or triples, as blocks of a matrix product.

U of every pair of two blocks of features is a product (phi_a r)(phi_b)' for each two functions. Its
covariance is taken to be diagonal, as if features were independent and the residuals had one
variance, but for the trace of S, which one more product gives. Cost for p features: 21 n p^2
operations, nearly all of them in matrix products; memory: one tile per thread and the list of the
strongest. P-values are computed only for terms whose forms could bring them into that list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as every_pair
from threading import Lock

import numpy as np
from joblib import Parallel, delayed
from scipy import special

from immigrate.inference.encoding import N_SINGLE, N_SMOOTH, Encoded, Functions
from immigrate.inference.null_distributions import log_chi2_tail, log_three_moment_tail
from immigrate.inference.residuals import Contrast
from immigrate.inference.rows import ALONE, Rows, Run
from immigrate.inference.term_columns import phi_products
from immigrate.inference.term_forms import FormResult, combined_log_p
from immigrate.inference.term_sets import TermSet, all_terms
from immigrate.typing import Array, Codes, Mask

TILE_BYTES = 2.2e6
LARGEST_TILE_SIDE = 512
# Bytes of the columns of one side of a tile; of more samples a block of rows at a time.
SIDE_BYTES = 64e6
# With this many times more terms than places in the list, terms below NOTABLE times the mean
# of every form cannot get in.
SELECTIVE_FROM = 20
NOTABLE, NOTABLE_SINGLE = 2.0, 4.0
# Sides of tiles that are kept for the next tile.
SIDES_KEPT = 4
# Limits of forms are a little lower than they need be, so that rounding drops no term.
A_LITTLE_LESS, KERNEL_MARGIN = 1 - 1e-9, 0.02
# P-values of the list below which limits are worth their while, and points at which that of the
# kernel form is computed.
LIMITS_FROM, N_LIMITS = 0.15, 33
FEWEST_ROWS = 256
TINY = 1e-300

Index = tuple[Codes, ...]


@dataclass(frozen=True)
class ScreenedTerms:
    """Terms with their approximate evidence."""

    terms: Codes  # (t, order)
    statistic: Array
    log_p: Array

    def strongest(self, count: int) -> ScreenedTerms:
        """The `count` terms of smallest p, in order; of equal ones the first features."""
        kept = self
        if len(self.log_p) > count:
            kept = self._taken(np.flatnonzero(self.log_p <= np.partition(self.log_p, count)[count]))
        return kept._taken(np.lexsort((*kept.terms.T[::-1], kept.log_p))[:count])

    def joined(self, *others: ScreenedTerms) -> ScreenedTerms:
        """These terms and the others."""
        every = (self, *others)
        return ScreenedTerms(
            np.concatenate([one.terms for one in every]),
            np.concatenate([one.statistic for one in every]),
            np.concatenate([one.log_p for one in every]),
        )

    def _taken(self, index: Codes) -> ScreenedTerms:
        return ScreenedTerms(self.terms[index], self.statistic[index], self.log_p[index])


class Leaders:
    """The strongest terms so far, which all threads add to.

    What a tile is asked for depends on what was seen before, the list at the end does not: a term
    that is left out is weaker than all of the list.
    """

    def __init__(self, count: int, order: int) -> None:
        self._count, self._lock, self._n_new = count, Lock(), 0
        self._best = ScreenedTerms(np.empty((0, order), int), np.empty(0), np.empty(0))
        self._new: list[ScreenedTerms] = []
        self.log_limit = 0.0

    def add(self, terms: ScreenedTerms) -> None:
        """Terms of a tile; now and then the weakest are forgotten."""
        with self._lock:
            self._new.append(terms)
            self._n_new += len(terms.log_p)
            if self._n_new > self._count:
                self._sort()

    def strongest(self) -> ScreenedTerms:
        """The list, in order."""
        with self._lock:
            self._sort()
            return self._best

    def _sort(self) -> None:
        self._best = self._best.joined(*self._new).strongest(self._count)
        self._new, self._n_new = [], 0
        if len(self._best.log_p) == self._count:
            self.log_limit = float(self._best.log_p[-1])


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


def _side(functions: Functions, terms: Codes, weight: Array, rows: Rows, k: int) -> Side:
    """`k` functions of each feature."""
    features, position = np.unique(terms, return_inverse=True)
    columns = phi_products(functions.phi_of(features, rows, k), position.reshape(terms.shape))
    squares = columns**2 @ weight[rows]
    columns = np.ascontiguousarray(columns.transpose(1, 0, 2))
    if terms.shape[1] == 1:
        own = terms[:, 0]
        single = np.zeros((0, len(terms), columns.shape[2]))
        if functions.has_single[own].any():
            single = np.ascontiguousarray(functions.single_of(own, rows).transpose(1, 0, 2))
        return Side(
            terms, columns, squares, functions.is_low[own, :k], functions.has_single[own], single
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
        return second**3 / np.maximum(third, TINY) ** 2


def _marginal(side: Side, squares: Array, total_weight: float) -> Marginal:
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
        """The smallest (q - mean) / deviation of the kernel form with this p, in all of the tile."""
        df = [side.df[side.df > 0] for side in (self.left, self.right)]
        if not all(len(one) for one in df):
            return np.inf
        ends = [float(end(df[0]) * end(df[1])) for end in (np.min, np.max)]
        grid = np.geomspace(*ends, N_LIMITS)
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
        for U, (one, other) in zip(self.products[c], every_pair(*weights)):
            square = np.square(U, out=U)
            kernel += square
            if one.any() and other.any():
                np.multiply(square, one[:, None], out=low)
                low *= other
                score += low
        trace = contrast.share_left * self.energy[c]
        variance = np.where(trace > 0, trace / mean, 1.0)
        single = [_single_form(U, contrast.share_left * V) for U, V in self.single[c]]
        return TileForms(kernel / variance, score / variance, single)


def _single_form(U: Array, variance: Array) -> Array:
    """U^2 of two functions with the residuals, over its variance: (a, b)."""
    return np.divide(U**2, variance, out=np.zeros_like(U), where=variance > 0)


def _block_products(left: Side, right: Side, contrast: Contrast, rows: Rows) -> list[Array]:
    """Products of all columns of two sides over some rows: U, the energy, singles and variances."""
    residual, variance = contrast.residual[rows, 0], contrast.variance[rows]
    weighted = [own * residual for own in left.columns]
    found = [own @ other.T for own, other in every_pair(weighted, right.columns)]
    found.append((left.energy * variance) @ right.energy.T)
    for one, other in zip(left.single, right.single):
        found.append((one * residual) @ other.T)
        found.append((one**2 * variance) @ (other**2).T)
    return found


@dataclass(frozen=True)
class Scan:
    """What all tiles share.

    Attributes
    ----------
    functions : Functions
    k : int
        Functions of a feature in the products.
    """

    functions: Functions
    weight: Array
    contrasts: list[Contrast]
    among: TermSet
    k: int

    def row_blocks(self, n_terms: int, n_columns: int) -> list[slice]:
        """All rows, or blocks of them whose columns of one side fit in memory."""
        n = len(self.weight)
        size = max(int(SIDE_BYTES / (8 * n_terms * n_columns)), FEWEST_ROWS)
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def tile(self, lefts: Codes, rights: Codes, sides: Sides) -> Tile:
        """The products of two strips."""
        n_columns = self.k ** lefts.shape[1] + N_SINGLE
        blocks = self.row_blocks(max(len(lefts), len(rights)), n_columns)
        totals: list[list[Array]] = [[] for _ in self.contrasts]
        squares: list[Array] = []
        for rows in blocks:
            left, right = (
                sides(lefts, rows, len(blocks) == 1),
                sides(rights, rows, len(blocks) == 1),
            )
            _add(squares, [left.squares, right.squares])
            for total, contrast in zip(totals, self.contrasts):
                _add(total, _block_products(left, right, contrast, rows))
        weight = float(self.weight.sum())
        null = TileNull(*(_marginal(s, q, weight) for s, q in zip((left, right), squares)))
        n = len(left.columns) * len(right.columns)
        return Tile(
            left,
            right,
            null,
            [total[:n] for total in totals],
            [total[n] for total in totals],
            [list(zip(total[n + 1 :: 2], total[n + 2 :: 2])) for total in totals],
        )

    def screened(self, tile: Tile, log_limit: float, is_selective: bool) -> ScreenedTerms:
        """Terms of a tile whose right feature comes after those on the left.

        Those whose p cannot be below the limit are left out, and so are, by a selective scan, those
        whose forms are below twice their mean, p > .1 or so: most of the time goes into p-values.
        """
        null, left, right = tile.null, tile.left, tile.right
        forms = [tile.forms(c, contrast) for c, contrast in enumerate(self.contrasts)]
        is_kept = right.terms[:, 0] > left.terms[:, -1:]
        if not self.among.is_everything:
            pairs = np.stack(np.broadcast_arrays(left.terms, right.terms[:, 0]), axis=-1)
            is_kept &= self.among.holds(pairs)
        mean = np.maximum(np.outer(null.left.powers[0], null.right.powers[0]), TINY)
        if log_limit < np.log(LIMITS_FROM):
            is_kept &= np.any([null.could_pass(own, log_limit) for own in forms], axis=0)
        elif is_selective:
            is_kept &= np.any([_is_notable(own, mean, null) for own in forms], axis=0)
        index = np.nonzero(is_kept)
        order = self.among.order
        return ScreenedTerms(
            terms=np.column_stack([left.terms[index[0]], right.terms[index[1]]]),
            statistic=np.mean([form.kernel[index] / mean[index] for form in forms], axis=0),
            log_p=combined_log_p([null.results(form, index, order) for form in forms]),
        )


def _is_notable(forms: TileForms, mean: Array, null: TileNull) -> Mask:
    """Terms of which one form is well above its mean."""
    df = np.outer(null.left.n_low, null.right.n_low)
    is_notable = (forms.kernel > NOTABLE * mean) | (forms.score > NOTABLE * df)
    for single in forms.single:
        is_notable |= single > NOTABLE_SINGLE
    return is_notable


def _add(totals: list[Array], parts: list[Array]) -> None:
    """Add parts to totals in place; the first ones are the totals."""
    if not totals:
        totals.extend(parts)
        return
    for total, part in zip(totals, parts):
        total += part


class Sides:
    """Sides of tiles; the last ones are kept, since a strip has many tiles."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._kept = lru_cache(SIDES_KEPT)(self._made)

    def __call__(self, terms: Codes, rows: slice, is_whole: bool) -> Side:
        """The side of some terms on some rows."""
        if not is_whole:
            scan = self._scan
            return _side(scan.functions, terms, scan.weight, rows, scan.k)
        return self._kept(terms.tobytes(), terms.shape[1])

    def _made(self, terms: bytes, n_features: int) -> Side:
        own = np.frombuffer(terms, dtype=np.intp).reshape(-1, n_features)
        scan = self._scan
        return _side(scan.functions, own, scan.weight, slice(0, len(scan.weight)), scan.k)


def _strips(terms: Codes, n_columns: int) -> list[Codes]:
    """Terms in strips such that the products of two strips fit in memory."""
    side = int(np.clip(np.sqrt(TILE_BYTES / 8) * 4 / n_columns, 1, LARGEST_TILE_SIDE))
    return [terms[start : start + side] for start in range(0, len(terms), side)]


def _tiles(lefts: list[Codes], rights: list[Codes]) -> Iterator[tuple[Codes, Codes]]:
    """Pairs of strips that hold at least one term."""
    for left in lefts:
        for right in rights:
            if right[-1, 0] > left[:, -1].min():
                yield left, right


def strongest_terms(
    data: Encoded,
    contrasts: list[Contrast],
    among: TermSet,
    count: int,
    run: Run = ALONE,
) -> ScreenedTerms:
    """The `count` terms with the smallest approximate p-values, out of all of them."""
    functions, first = data.functions, among.features[:-1]
    k = functions.is_low.shape[1]
    if among.order == 3:
        lefts, k = first[all_terms(len(first), 2)], min(N_SMOOTH, k)
    else:
        lefts = first[:, None]
    n_columns = k ** (among.order - 1)
    scan = Scan(functions, data.weight, contrasts, among, k)
    leaders, sides = Leaders(count, among.order), Sides(scan)
    is_selective = among.n_terms > SELECTIVE_FROM * count
    tiles = list(_tiles(_strips(lefts, n_columns), _strips(among.features[:, None], k)))

    def screen(left: Codes, right: Codes) -> None:
        tile = scan.tile(left, right, sides)
        leaders.add(scan.screened(tile, leaders.log_limit, is_selective))

    run.stage = f"screen of {among.n_terms:,} terms"
    threads = Parallel(n_jobs=run.n_jobs, prefer="threads", return_as="generator_unordered")
    for done, _ in enumerate(threads(delayed(screen)(*tile) for tile in tiles), 1):
        run.tick(done, len(tiles))
    return leaders.strongest()
