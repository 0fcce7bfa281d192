"""U = C'r of terms and its null covariance S, cleared of the main effects of their own features.

C are the product columns of a term: for a pair (a, b) the C_kl = phi_ak phi_bl / (kl), the product
of the normal scores of a and b, and that of the sides of their medians. A single feature is a term
too, whose columns are its functions themselves and which has no main effects but its own.

What the main effects G of the term's own features would still explain is taken out of U and S,
as if G were in the null model without penalty: a strong ridge leaves enough of them to look like
products of correlated features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from immigrate.additive.rows import Rows, row_sum
from immigrate.arrays import Array, Mask
from immigrate.progress import ALONE, Run

MOST_EXPLAINED = 0.99
"""A column or direction of which main effects explain more has no interaction left to show,
only what the ridge left behind."""

# Excess kurtosis of a column of U beyond which one or two samples decide it.
LARGEST_KURTOSIS = 1.0
# Columns and main effects of a feature, more or less.
USUAL_COLUMNS = 48
# Of the size of a main-effect column; below that nothing of it is left to take out.
SMALLEST_MAIN_EFFECT = 1e-6


class Explained(Protocol):
    """A covariance F'F of the residuals of one logit, by what it does to rows A."""

    def partial(self, A: Array, rows: Rows) -> Array:
        """Products with rows A (b, k, n_rows) on some of the samples; they add up."""
        ...

    def covariance(self, total: Array) -> Array:
        """A F'F A', (b, k, k), from the sum of all products."""
        ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """F as it is, (k, n)."""

    F: Array

    def partial(self, A: Array, rows: Rows) -> Array:
        """A F'."""
        return flat_product(A, self.F[:, rows].T)

    def covariance(self, total: Array) -> Array:
        """Its square."""
        return np.matmul(total, total.transpose(0, 2, 1))


def flat_product(A: Array, right: Array) -> Array:
    """A (b, k, n) times a matrix (n, m), as one product."""
    return (A.reshape(-1, A.shape[-1]) @ right).reshape(*A.shape[:-1], -1)


@dataclass(frozen=True, eq=False)
class Contrast:
    """Residuals of one logit, or of a number, ready for any set of product columns.

    Attributes
    ----------
    residual : ndarray of shape (n, d)
        w * r for each of d sets of labels, the observed ones first: U = C @ residual.
    variance : ndarray of shape (n,)
        That of the weighted residuals, were they not cleared: w * V, or estimated.
    share_left : float
        Variance of the cleared residuals as a share of that of the raw ones.
    dispersion : float
        Variance of a residual over the weight that its sample has in a fit, 1 for classes.
    """

    residual: Array
    variance: Array
    share_left: float
    dispersion: float


@dataclass(frozen=True, eq=False)
class KnownContrast(Contrast):
    """Residuals whose variances follow from the means.

    Attributes
    ----------
    fourth_cumulant : ndarray of shape (n,)
        W * V (1 - 6 V), of the weighted residuals as well.
    explained : Explained
        F, or what stands for it; the null covariance of U is C V C' - (C F')(C F')', rows of C
        being columns.
    is_noise : bool
        Whether the residuals are about as large as noise is; else nothing can be tested.
    """

    fourth_cumulant: Array
    explained: Explained
    is_noise: bool = True


def known(contrasts: Sequence[Contrast]) -> list[KnownContrast]:
    """Those whose variances are known: all of them, or none."""
    return [one for one in contrasts if isinstance(one, KnownContrast)]


@dataclass(frozen=True)
class Moments:
    """U = C'r of each term and its null covariance S, zero for columns that cannot be tested.

    `raw` is what S would be, were nothing cleared: CVC'. `kurtosis` is the excess kurtosis of each
    column of U, which says how few samples decide it. Directions of which more than the share
    `most_explained` is cleared away do not count; `is_used` says which columns can be tested.
    """

    U: Array  # (b, k, d)
    S: Array  # (b, k, k)
    raw: Array  # (b, k, k)
    kurtosis: Array  # (b, k)
    most_explained: float = MOST_EXPLAINED
    is_used: Mask = field(init=False)  # (b, k)

    def __post_init__(self) -> None:
        vars(self).update(is_used=np.einsum("bkk->bk", self.S) > 0)


class Sums(NamedTuple):
    """What the moments of the rows A = [C, G] of terms are made of; each adds up over samples."""

    U: Array  # (b, k + m, d), A r
    raw: Array  # (b, k + m, k + m), AVA'
    moved: Array  # products of A with what the refit explains
    size: Array  # (b, k + m)
    kurtosis: Array  # (b, k)


def sums_of(C: Array, G: Array, contrasts: list[KnownContrast], rows: slice) -> tuple[Array, ...]:
    """Those of columns C and main effects G (b, ., n_rows), the `Sums` of all contrasts in a row.

    The rows of G are taken along in A, because their own covariance is what clears C of them.
    """
    A = np.concatenate([C, G], axis=1)
    square, found = A * A, list[Array]()
    for contrast in contrasts:
        variance = contrast.variance[rows]
        found += Sums(
            np.matmul(A, contrast.residual[rows]),
            np.matmul(A * variance, A.transpose(0, 2, 1)),
            contrast.explained.partial(A, rows),
            square @ variance,
            np.square(square[:, : C.shape[1]]) @ contrast.fourth_cumulant[rows],
        )
    return tuple(found)


def moments_of(sums: tuple[Array, ...], contrasts: list[KnownContrast]) -> list[Moments]:
    """The moments of each contrast, given what `sums_of` makes of all samples."""
    per = len(Sums._fields)
    return [cleared(Sums(*sums[per * c :][:per]), one) for c, one in enumerate(contrasts)]


def cleared(sums: Sums, contrast: KnownContrast) -> Moments:
    """U and S given G'r: what is left of C'r when the columns G may explain what they can."""
    U, size, k = sums.U, sums.size, sums.kurtosis.shape[1]
    # What the refit of the null model takes out of A'r.
    S = sums.raw - contrast.explained.covariance(sums.moved)
    inner = S[:, k:, k:].copy()
    own = np.arange(inner.shape[1])
    # 1 for rows of padding, which are 0: the matrix stays regular and their slope 0.
    inner[:, own, own] += np.where(size[:, k:] > 0, SMALLEST_MAIN_EFFECT * size[:, k:], 1.0)
    # The regression of C'r on G'r under the null model.
    slope = np.linalg.solve(inner, S[:, k:, :k])  # (b, m, k)
    U = U[:, :k] - np.matmul(slope.transpose(0, 2, 1), U[:, k:])
    S = S[:, :k, :k] - np.matmul(S[:, :k, k:], slope)
    kurtosis = sums.kurtosis if contrast.is_noise else np.full_like(sums.kurtosis, np.inf)
    return without_untestable(U, S, sums.raw[:, :k, :k], kurtosis)


def moments_by_rows(
    columns: Callable[[Rows], Array],
    main_effects: Callable[[Rows], Array],
    contrasts: list[KnownContrast],
    run: Run = ALONE,
) -> list[Moments]:
    """The moments of one set of columns, a block of rows at a time where samples are many."""

    def sums(rows: slice) -> tuple[Array, ...]:
        return sums_of(columns(rows)[None], main_effects(rows)[None], contrasts, rows)

    n = len(contrasts[0].variance)
    return moments_of(row_sum(sums, n, USUAL_COLUMNS, run), contrasts)


def without_untestable(
    U: Array, S: Array, raw: Array, kurtosis: Array, most_explained: float = MOST_EXPLAINED
) -> Moments:
    """Without the columns that are nearly explained, or that one or two samples decide.

    `kurtosis` are the fourth cumulants of the columns of U.
    """
    size = np.einsum("bkk->bk", raw)
    is_testable = np.einsum("bkk->bk", S) > (1 - most_explained) * size
    is_testable &= kurtosis <= LARGEST_KURTOSIS * size**2
    is_block = is_testable[:, :, None] & is_testable[:, None, :]
    kurtosis = np.where(is_testable, kurtosis, 0.0) / np.where(is_testable, size, 1.0) ** 2
    U, S, raw = U * is_testable[:, :, None], S * is_block, raw * is_block
    return Moments(U, S, raw, kurtosis, most_explained)
