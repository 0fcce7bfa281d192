"""Columns of terms cleared of a null model, for residuals whose variances are not known.

With R what the null model and the main effects G of a term leave of a column,

    R = I - N (N'WN + D)^-1 N'W,   N = [Z, G],   D = 0 for G,

a term is RC, RRC, the residuals r = Re and the share of equal variances that R leaves of every
sample, the diagonal of RR', on any rows. A table that fits in memory is one block of rows, made
once; of a long one blocks are made for every sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from immigrate.additive.moments import MOST_EXPLAINED, SMALLEST_MAIN_EFFECT, Contrast
from immigrate.additive.rows import ALL, Columns, Rows, added, mapped_rows, row_slices
from immigrate.arrays import Array, Codes, Mask
from immigrate.progress import ALONE, Run


@dataclass(frozen=True, eq=False)
class EstimatedContrast(Contrast):
    """Residuals whose variances follow from nothing but themselves.

    The residual is w R e, the variance w omega of the null model alone, and the dispersion the
    mean of omega.

    Attributes
    ----------
    Z : columns (n, m)
    weight, left : ndarray of shape (n,)
    information, inverse : ndarray of shape (m, m)
        Z'WZ, and H with the penalty of the refit.
    """

    Z: Columns
    weight: Array
    left: Array
    information: Array
    inverse: Array

    @cached_property
    def once_and_twice(self) -> tuple[Array, Array]:
        """H, and 2H - H Z'WZ H: what R and R^2 take out, between Z and Z'W."""
        H = self.inverse
        return H, 2 * H - H @ self.information @ H


class OnRows(NamedTuple):
    """Terms on some rows."""

    once: Array  # (b, k, n_rows), RC
    twice: Array  # RRC
    r: Array  # (b, n_rows)
    left: Array  # (b, n_rows)


@dataclass(frozen=True, eq=False)
class Cleared:
    """Columns of terms, cleared of the null model and of their own main effects.

    Attributes
    ----------
    on : callable
        From rows to `OnRows`.
    U : ndarray of shape (b, k, d)
    inner, squared, raw : ndarray of shape (b, k, k)
        C'RC, C'RRC and C'C.
    weight : ndarray of shape (n,)
    run : Run
    is_short : bool
        Whether all rows are made at once, and kept.
    most_explained : float
        Columns and directions of which more is cleared away do not count.
    is_excluded : ndarray of shape (b, k) or None
        Columns that are not to be tested whatever is left of them.
    """

    on: Callable[[Rows], OnRows]
    U: Array
    inner: Array
    squared: Array
    raw: Array
    weight: Array
    run: Run = ALONE
    is_short: bool = True
    most_explained: float = MOST_EXPLAINED
    is_excluded: Mask | None = None
    whole: OnRows | None = field(init=False)

    def __post_init__(self) -> None:
        vars(self).update(whole=self.on(ALL) if self.is_short else None)

    def summed(self, function: Callable[[Rows, OnRows], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Sum over all rows of what a function makes of a block of them."""
        if self.whole is not None:
            return function(ALL, self.whole)
        slices = row_slices(len(self.weight), 2 * self.U.shape[0] * self.U.shape[1])
        parts = mapped_rows(lambda rows: function(rows, self.on(rows)), slices, self.run)
        return added(parts)

    @property
    def is_used(self) -> Mask:
        """Columns of which main effects leave enough to test: (b, k)."""
        size, left = (np.einsum("bkk->bk", one) for one in (self.raw, self.squared))
        is_used: Mask = (left > (1 - self.most_explained) * size) & (size > 0)
        return is_used if self.is_excluded is None else is_used & ~self.is_excluded


@dataclass(frozen=True, eq=False)
class TermRows:
    """What takes the null model and the main effects out of the rows A = [C, G] of terms.

    Attributes
    ----------
    contrast : EstimatedContrast
    stacked : callable
        From rows to all rows of C, and below them the different rows of G: (u, n_rows).
    place : ndarray of shape (b, k + m)
        Which of them are A of each term.
    once, twice : ndarray of shape (u, p)
        Of these rows a: aZ H, and aZ (2H - HIH).
    GRG, GRRG : ndarray of shape (b, m, m)
    out : ndarray of shape (b, k, k + m)
        [1, -slope'], which takes the main effects out of whatever the columns have become.
    cross : ndarray of shape (b, k, m)
        C'RRG.
    effect : ndarray of shape (b, m)
        What the residuals still have of the main effects.
    """

    contrast: EstimatedContrast
    stacked: Callable[[Rows], Array]
    place: Codes
    once: Array
    twice: Array
    GRG: Array
    GRRG: Array
    out: Array
    cross: Array
    effect: Array

    def __call__(self, rows: Rows) -> OnRows:
        """The terms on some rows."""
        a, Z, contrast = self.stacked(rows), self.contrast.Z[rows].T, self.contrast
        g = slice(self.out.shape[1], None)
        RA, RRA = ((a - one @ Z)[self.place] for one in (self.once, self.twice))
        explained = np.linalg.solve(self.GRG, RA[:, g])  # (G'RG)^-1 G'R
        own = contrast.residual[rows, 0] / contrast.weight[rows]
        r = own - np.einsum("bm,bmn->bn", self.effect, RA[:, g])
        left = contrast.left[rows] - 2 * np.einsum("bmn,bmn->bn", explained, RRA[:, g])
        left += np.einsum("bmn,bmn->bn", explained, np.matmul(self.GRRG, explained))
        twice = np.matmul(self.out, RRA) - np.matmul(self.cross, explained)
        return OnRows(np.matmul(self.out, RA), twice, r, left)


def cleared_terms(
    columns: Callable[[Rows], Array],
    main_effects: Callable[[Rows], tuple[Array, Codes]],
    contrast: EstimatedContrast,
    run: Run,
    is_short: bool,
) -> Cleared:
    """Columns C (b, k, n_rows) of terms, cleared of the main effects G (b, m, n_rows).

    G is given as its different rows, and which of them belong to each term.
    """
    weight, some = contrast.weight, ALL if is_short else slice(0, 1)
    C, (G, of_G) = columns(some), main_effects(some)
    n_terms, k, n_rows = C.shape
    of_C = np.arange(n_terms * k).reshape(n_terms, k)
    place = np.concatenate([of_C, n_terms * k + of_G], axis=1)
    kept = np.concatenate([C.reshape(-1, n_rows), G])

    def stacked(rows: Rows) -> Array:
        if is_short:
            return kept
        return np.concatenate([columns(rows).reshape(n_terms * k, -1), main_effects(rows)[0]])

    def sums(rows: Rows) -> tuple[Array, ...]:
        a = stacked(rows)
        weighted = a * weight[rows]
        products = np.matmul(weighted[place], a[place].transpose(0, 2, 1))
        return products, weighted @ contrast.Z[rows], a @ contrast.residual[rows]

    slices = [ALL] if is_short else row_slices(len(weight), len(contrast.inverse))
    AA, aZ, au = added(mapped_rows(sums, slices, run))
    X, AU = aZ[place], au[place]
    once, twice = (aZ @ one for one in contrast.once_and_twice)
    inner, squared = (AA - np.matmul(one[place], X.transpose(0, 2, 1)) for one in (once, twice))
    g, own = slice(k, None), np.arange(AA.shape[1] - k)
    GRG, size = inner[:, g, g].copy(), np.einsum("bkk->bk", AA)[:, g]
    # 1 for rows of padding, which are 0: the matrix stays regular and their slope 0.
    GRG[:, own, own] += np.where(size > 0, SMALLEST_MAIN_EFFECT * size, 1.0)
    solved = np.linalg.solve(GRG, np.concatenate([inner[:, g, :k], AU[:, g]], axis=2))
    slope = solved[..., :k].transpose(0, 2, 1)
    out = np.concatenate([np.broadcast_to(np.eye(k), (len(AA), k, k)), -slope], axis=2)
    cross = np.matmul(out, squared[:, :, g])
    of_main_effects = (GRG, squared[:, g, g], out, cross, solved[:, :, k])
    on = TermRows(contrast, stacked, place, once, twice, *of_main_effects)
    left = np.matmul(out, squared[:, :, :k]) - np.matmul(cross, slope.transpose(0, 2, 1))
    sizes = (np.matmul(out, AU), np.matmul(out, inner[:, :, :k]), left, AA[:, :k, :k])
    return Cleared(on, *sizes, weight, run, is_short)
