"""The four pieces that a pass is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.differences import ColumnDifferences, Samples
from immigrate.core.forms import QUADRATIC, Form
from immigrate.core.pairs import Pairs
from immigrate.core.targets import ClassTarget


@dataclass(frozen=True)
class Pieces:
    """Differences, form, target and pairs, over one table of samples.

    ===============  ==============================================================
    differences      d between two samples, one number >= 0 per feature
    form             q from d and the weights, and its derivative
    target           how far a column is a hit, how far a miss, of a row
    pairs            which anchors meet which references
    ===============  ==============================================================
    """

    samples: Samples
    differences: ColumnDifferences
    form: Form
    target: ClassTarget
    pairs: Pairs

    @classmethod
    def of(
        cls,
        X: Array,
        y: Codes,
        *,
        form: Form = QUADRATIC,
        is_nominal: Mask | None = None,
        mismatch: float | Array = 1.0,
        count: Array | None = None,
        is_anchor: Mask | None = None,
    ) -> Pieces:
        """The pieces over labelled samples; by default numbers, and all pairs.

        Parameters
        ----------
        count : ndarray of shape (n,), optional
            How often each sample counts as a reference, 0 for none. 1 each by default.
        is_anchor : ndarray of shape (n,), optional
            Whose margin counts. All by default.
        """
        count = np.ones(len(X)) if count is None else count
        differences = ColumnDifferences.of(X, is_nominal, mismatch=mismatch, count=count)
        anchors = np.arange(len(X)) if is_anchor is None else np.flatnonzero(is_anchor)
        return cls(
            differences.samples(X),
            differences,
            form,
            ClassTarget(y, count),
            Pairs(anchors, np.flatnonzero(count > 0)),
        )

    @property
    def n_samples(self) -> int:
        """Number of samples in the table."""
        return len(self.samples.values)
