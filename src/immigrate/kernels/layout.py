"""A table of samples as the compiled sweeps read it: feature by feature, padded to whole vectors.

    values     x00 x01 x02 ... x0n  0 0 0 0 0 0 0 0      feature 0 of all samples, LANES zeros
               x10 x11 x12 ... x1n  0 0 0 0 0 0 0 0      feature 1

Rows of the table lie next to each other in memory, so that one instruction takes the differences
of LANES pairs. A run of columns may be read up to LANES - 1 samples too far: what is there is
finite and gets weight 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.arrays import Array
from immigrate.core.differences import ColumnDifferences, Samples
from immigrate.kernels.tiles import LANES

COMPLETE = -1  # of a feature without gaps


class Table(NamedTuple):
    """Samples, feature by feature."""

    values: np.ndarray  # (p, n + LANES)
    expected: np.ndarray  # (g, n + LANES): difference from a sample whose value is missing


class Kinds(NamedTuple):
    """How the difference of each feature is taken, where not all are numbers without gaps."""

    is_nominal: np.ndarray  # (p,)
    gap: np.ndarray  # (p,): row of `expected`, or COMPLETE
    mismatch: np.ndarray  # (p,): difference between two levels
    row_expected: np.ndarray  # `expected` of the table of the rows
    column_expected: np.ndarray  # and of that of the columns


def table_of(samples: Samples) -> Table:
    """Samples laid out for the sweeps."""
    return Table(_padded(samples.values.T), _padded(samples.expected))


def kinds_of(differences: ColumnDifferences, rows: Table, columns: Table) -> Kinds | None:
    """What kind of difference each feature has; None for plain numbers.

    None is a type of its own for the compiler: the sweeps over plain numbers are compiled without
    the code for other kinds, and never wait for it.
    """
    if differences.is_plain:
        return None
    is_nominal, has_gap = differences.is_nominal, differences.has_gap
    return Kinds(
        is_nominal,
        np.where(has_gap, np.cumsum(has_gap) - 1, COMPLETE),
        differences.mismatch.astype(columns.values.dtype),
        rows.expected,
        columns.expected,
    )


def _padded(rows: Array) -> Array:
    table = np.zeros((rows.shape[0], rows.shape[1] + LANES), dtype=rows.dtype)
    table[:, : rows.shape[1]] = rows
    return table
