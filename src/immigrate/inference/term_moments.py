"""U = C'r of a term and its null covariance S, cleared of the main effects of its features.

What the main effects G of the term's own features would still explain is taken out of U and S,
as if G were in the null model without penalty: a strong ridge leaves enough of them to look like
products of correlated features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from immigrate.inference.explained import explained_by
from immigrate.inference.residuals import Contrast
from immigrate.inference.rows import ALONE, Rows, Run, fits_whole, mapped_rows, row_slices
from immigrate.typing import Array, Codes, Mask

MOST_EXPLAINED = 0.99
"""A column or direction of which main effects explain more has no interaction left to show,
only what the ridge left behind."""

# Excess kurtosis of a column of U beyond which a few samples decide it, and chi2 is no guide.
LARGEST_KURTOSIS = 0.1
ALL = slice(None)
# Columns and main effects of a feature, more or less.
USUAL_COLUMNS = 48
# Of the size of a main-effect column; below that nothing of it is left to take out.
SMALLEST_MAIN_EFFECT = 1e-6


@dataclass(frozen=True)
class Moments:
    """U = C'r of each term and its null covariance S, zero for columns that cannot be tested.

    `raw` is what S would be, were nothing cleared: CVC'. Directions of which more than the share
    `most_explained` is cleared away do not count.
    """

    U: Array  # (b, k, d)
    S: Array  # (b, k, k)
    raw: Array  # (b, k, k)
    most_explained: float = MOST_EXPLAINED

    @property
    def is_used(self) -> Mask:
        """Which columns can be tested: (b, k)."""
        return np.einsum("bkk->bk", self.S) > 0

    def columns(self, chosen: Codes | slice) -> Moments:
        """Those of some of the columns."""
        S, raw = (one[:, chosen][:, :, chosen] for one in (self.S, self.raw))
        return replace(self, U=self.U[:, chosen], S=S, raw=raw)


@dataclass(frozen=True)
class Sums:
    """What the moments of the rows A = [C, G] of terms are made of; it adds up over samples.

    Attributes
    ----------
    U : ndarray of shape (b, k + m, d)
        A r.
    raw : ndarray of shape (b, k + m, k + m)
        AVA'.
    moved, added : ndarray
        Products of A with what the refit explains, and adds.
    size : ndarray of shape (b, k + m)
    kurtosis : ndarray of shape (b, k)
    """

    U: Array
    raw: Array
    moved: Array
    added: Array
    size: Array
    kurtosis: Array

    def plus(self, other: Sums) -> Sums:
        """Those of both sets of samples."""
        return Sums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def raw_covariance(A: Array, contrast: Contrast, rows: slice = ALL) -> Array:
    """Covariance AVA' of the rows A of each term with residuals that nothing was fitted to."""
    return np.matmul(A * contrast.variance[rows], A.transpose(0, 2, 1))


def explained_covariance(A: Array, contrast: Contrast) -> Array:
    """(AF')(AF')' - (AG')(AG')', the part that the refit of the null model takes out of A'r."""
    both = (contrast.explained, contrast.added)
    moved, added = (explained_by(one).partial(A, ALL) for one in both)
    return _explained(moved, added, contrast)


def _explained(moved: Array, added: Array, contrast: Contrast) -> Array:
    explained = explained_by(contrast.explained).covariance(moved)
    if not added.shape[-1]:
        return explained
    return explained - explained_by(contrast.added).covariance(added)


def sums_of(C: Array, G: Array, contrast: Contrast, rows: slice) -> Sums:
    """The sums of columns C and main effects G (b, ., n_rows) over some of the samples."""
    A = np.concatenate([C, G], axis=1)
    variance, square = contrast.variance[rows], A * A
    return Sums(
        np.matmul(A, contrast.residual[rows]),
        raw_covariance(A, contrast, rows),
        explained_by(contrast.explained).partial(A, rows),
        explained_by(contrast.added).partial(A, rows),
        square @ variance,
        np.square(square[:, : C.shape[1]]) @ contrast.fourth_cumulant[rows],
    )


def cleared(sums: Sums, contrast: Contrast) -> Moments:
    """U and S given G'r: what is left of C'r when the columns G may explain what they can."""
    U, raw, size, k = sums.U, sums.raw, sums.size, sums.kurtosis.shape[1]
    # The rows of G are taken along in A, because their own covariance is what clears C of them.
    S = raw - _explained(sums.moved, sums.added, contrast)
    inner = S[:, k:, k:].copy()
    own = np.arange(inner.shape[1])
    # 1 for rows of padding, which are 0: the matrix stays regular and their slope 0.
    inner[:, own, own] += np.where(size[:, k:] > 0, SMALLEST_MAIN_EFFECT * size[:, k:], 1.0)
    # The regression of C'r on G'r under the null model.
    slope = np.linalg.solve(inner, S[:, k:, :k])  # (b, m, k)
    U = U[:, :k] - np.matmul(slope.transpose(0, 2, 1), U[:, k:])
    S = S[:, :k, :k] - np.matmul(S[:, :k, k:], slope)
    raw = raw[:, :k, :k]
    if contrast.is_estimated:
        S = with_uncertainty(S, raw, sums.kurtosis)
    return without_untestable(U, S, raw, sums.kurtosis)


def cleared_moments(C: Array, G: Array, contrast: Contrast) -> Moments:
    """The moments of columns C (b, k, n) with main effects G (b, m, n), all samples at once."""
    return cleared(sums_of(C, G, contrast, ALL), contrast)


def moments_by_rows(
    columns: Callable[[Rows], Array],
    main_effects: Callable[[Rows], Array],
    contrasts: list[Contrast],
    run: Run = ALONE,
) -> list[Moments]:
    """The moments of one set of columns, a block of rows at a time where samples are many."""
    n = len(contrasts[0].variance)

    def sums(rows: slice) -> list[Sums]:
        C, G = (make(rows)[None] for make in (columns, main_effects))
        return [sums_of(C, G, one, rows) for one in contrasts]

    slices = row_slices(n, USUAL_COLUMNS, is_whole=fits_whole(n, USUAL_COLUMNS))
    total: list[Sums] = []
    for own in mapped_rows(sums, slices, run):
        total = [one.plus(two) for one, two in zip(total, own)] if total else own
    return [cleared(*both) for both in zip(total, contrasts)]


def with_uncertainty(S: Array, raw: Array, kurtosis: Array) -> Array:
    """S of estimated variances, enlarged where few samples decide.

    A variance that is a sum over m samples is itself uncertain by a factor of about 1 / m, and too
    small where the residuals that it is made of decide U as well. Without this the family-wise
    error of numbers with skewed or very unequal noise was about .1; with 4 / m it is at .05.
    """
    size = np.einsum("bkk->bk", raw)
    share = np.divide(kurtosis, size**2, out=np.zeros_like(size), where=size > 0)
    root = np.sqrt(1 + 2 * np.where(np.isfinite(share), share, 0.0))
    return S * root[:, :, None] * root[:, None, :]


def without_untestable(
    U: Array, S: Array, raw: Array, kurtosis: Array, most_explained: float = MOST_EXPLAINED
) -> Moments:
    """Without the columns that are nearly explained, or that rest on a few samples."""
    size = np.einsum("bkk->bk", raw)
    is_testable = np.einsum("bkk->bk", S) > (1 - most_explained) * size
    # Relative to the squared variance, as an excess kurtosis is.
    is_testable &= kurtosis <= LARGEST_KURTOSIS * size**2
    is_block = is_testable[:, :, None] & is_testable[:, None, :]
    return Moments(U * is_testable[:, :, None], S * is_block, raw * is_block, most_explained)
