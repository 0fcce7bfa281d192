"""Columns of terms cleared of a null model, for residuals whose variances are not known.

With R what the null model and the main effects G of a term leave of a column,

    R = I - N (N'WN + D)^-1 N'W,   N = [Z, G],   D = 0 for G,

a term is RC, RRC, the residuals r = Re and the share of equal variances that R leaves of every
sample, the diagonal of RR', on any rows. A table that fits in memory is one block of rows, made
once; of a long one blocks are made for every sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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


class Left(NamedTuple):
    """Rows a on some samples, and what the null model leaves of them once and twice."""

    a: Array  # (u, n_rows)
    once: Array  # Ra, without main effects of their own
    twice: Array  # RRa


@dataclass(frozen=True, eq=False)
class LeftRows:
    """Rows a (u, n), and what the null model of a contrast leaves of them on any samples.

    Attributes
    ----------
    contrast : EstimatedContrast
    rows : callable
        From samples to a (u, n_rows).
    products : ndarray of shape (u, p)
        aZ.
    U : ndarray of shape (u, d)
    kept : Left or None
        All samples of a short table.
    """

    contrast: EstimatedContrast
    rows: Callable[[Rows], Array]
    products: Array
    U: Array
    kept: Left | None = None

    def on(self, rows: Rows) -> Left:
        """Those of some samples."""
        if self.kept is not None:
            return self.kept
        a, Z = self.rows(rows), self.contrast.Z[rows].T
        return Left(a, *(a - (self.products @ one) @ Z for one in self.contrast.once_and_twice))


def left_rows(
    rows: Callable[[Rows], Array], contrast: EstimatedContrast, run: Run, is_short: bool
) -> LeftRows:
    """Rows with their products with Z and the residuals."""
    weight = contrast.weight

    def sums(samples: Rows) -> tuple[Array, ...]:
        a = rows(samples)
        return (a * weight[samples]) @ contrast.Z[samples], a @ contrast.residual[samples]

    slices = [ALL] if is_short else row_slices(len(weight), len(contrast.inverse))
    products, U = added(mapped_rows(sums, slices, run))
    left = LeftRows(contrast, rows, products, U)
    return replace(left, kept=left.on(ALL)) if is_short else left


@dataclass(frozen=True, eq=False)
class TermRows:
    """What takes the null model and the main effects out of the columns of terms.

    Attributes
    ----------
    columns, main_effects : LeftRows
        Rows of C of all terms, one after another; different rows of G.
    place : ndarray of shape (b, m)
        Which of the latter are G of each term.
    GRG, GRRG : ndarray of shape (b, m, m)
    slope : ndarray of shape (b, k, m)
        Of C on G.
    cross : ndarray of shape (b, k, m)
        C'RRG, without main effects.
    effect : ndarray of shape (b, m)
        What the residuals still have of the main effects.
    """

    columns: LeftRows
    main_effects: LeftRows
    place: Codes
    GRG: Array
    GRRG: Array
    slope: Array
    cross: Array
    effect: Array

    def __call__(self, rows: Rows) -> OnRows:
        """The terms on some rows."""
        contrast, C, G = self.columns.contrast, self.columns.on(rows), self.main_effects.on(rows)
        RG, RRG = G.once[self.place], G.twice[self.place]
        explained = np.linalg.solve(self.GRG, RG)  # (G'RG)^-1 G'R
        own = contrast.residual[rows, 0] / contrast.weight[rows]
        r = own - np.einsum("bm,bmn->bn", self.effect, RG)
        left = contrast.left[rows] - 2 * np.einsum("bmn,bmn->bn", explained, RRG)
        left += np.einsum("bmn,bmn->bn", explained, np.matmul(self.GRRG, explained))
        RC, RRC = (one.reshape(*self.slope.shape[:2], -1) for one in (C.once, C.twice))
        twice = RRC - np.matmul(self.slope, RRG) - np.matmul(self.cross, explained)
        return OnRows(RC - np.matmul(self.slope, RG), twice, r, left)


def cleared_terms(
    columns: Callable[[Rows], Array],
    main_effects: LeftRows,
    place: Codes,
    run: Run,
    is_short: bool,
) -> Cleared:
    """Columns C (b, k, n_rows) of terms, cleared of the main effects G (b, m, n_rows).

    `place` (b, m) says which rows of `main_effects` are G of each term.
    """
    contrast = main_effects.contrast
    weight, (n_terms, k, _) = contrast.weight, columns(ALL if is_short else slice(0, 1)).shape

    def flat(rows: Rows) -> Array:
        return columns(rows).reshape(n_terms * k, -1)

    C = left_rows(flat, contrast, run, is_short)

    def products(rows: Rows) -> tuple[Array]:
        a, G = C.on(rows).a.reshape(n_terms, k, -1), main_effects.on(rows).a[place]
        A = np.concatenate([a, G], axis=1)
        return (np.matmul(A * weight[rows], A.transpose(0, 2, 1)),)

    slices = [ALL] if is_short else row_slices(len(weight), len(contrast.inverse))
    (AA,) = added(mapped_rows(products, slices, run))
    X, AU = (
        np.concatenate([own.reshape(n_terms, k, -1), of_G[place]], axis=1)
        for own, of_G in ((C.products, main_effects.products), (C.U, main_effects.U))
    )
    inner, squared = (
        AA - np.matmul(X @ one, X.transpose(0, 2, 1)) for one in contrast.once_and_twice
    )
    g, own = slice(k, None), np.arange(place.shape[1])
    GRG, size = inner[:, g, g].copy(), np.einsum("bkk->bk", AA)[:, g]
    # 1 for rows of padding, which are 0: the matrix stays regular and their slope 0.
    GRG[:, own, own] += np.where(size > 0, SMALLEST_MAIN_EFFECT * size, 1.0)
    solved = np.linalg.solve(GRG, np.concatenate([inner[:, g, :k], AU[:, g]], axis=2))
    slope = solved[..., :k].transpose(0, 2, 1)
    # [1, -slope] takes the main effects out of whatever the columns have become.
    out = np.concatenate([np.broadcast_to(np.eye(k), (n_terms, k, k)), -slope], axis=2)
    cross = np.matmul(out, squared[:, :, g])
    on = TermRows(C, main_effects, place, GRG, squared[:, g, g], slope, cross, solved[:, :, k])
    left = np.matmul(out, squared[:, :, :k]) - np.matmul(cross, slope.transpose(0, 2, 1))
    sizes = (np.matmul(out, AU), np.matmul(out, inner[:, :, :k]), left, AA[:, :k, :k])
    return Cleared(on, *sizes, weight, run, is_short)
