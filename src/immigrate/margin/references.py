"""The samples, or prototypes of them, that new samples are compared with."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from immigrate.arrays import Array, Mask
from immigrate.core.forms import QUADRATIC, Form
from immigrate.kernels import RUNNER
from immigrate.margin.problem import MarginProblem

if TYPE_CHECKING:
    from immigrate.margin.encoding import Encoding


@dataclass(frozen=True, eq=False)
class References:
    """The samples that new samples are compared with.

    Laying them out for the kernel takes a hundred times as long as scoring one row, so the
    layout of the fit is kept. Files hold the plain arrays only; a model that comes from a file
    lays them out when it scores its first sample.

    Attributes
    ----------
    values : ndarray of shape (n, n_used)
        The columns in use, as they were read.
    codes : ndarray of shape (n,)
        The class of each, or its number as a float.
    is_used : ndarray of shape (n_features,)
        Which of the features of the user's table those columns are.
    encoding : Encoding
        Units and levels of those columns.
    anchor_weight : ndarray of shape (n,) or None
        How much each sample's margin counted in the fit.
    screen_importances : ndarray of shape (n_features,) or None
        What the screen said of every feature; None without a screen.
    form : Form
        How weights and differences make a distance.
    count : ndarray of shape (n,) or None
        How many samples each reference stands for; None is one each.
    is_anchor : ndarray of shape (n,) or None
        Samples whose margin counted; None is all of them.
    is_summary : bool
        Whether these are prototypes and no samples.
    """

    values: Array
    codes: np.ndarray
    is_used: Mask
    encoding: Encoding
    anchor_weight: Array | None = None
    screen_importances: Array | None = None
    form: Form = QUADRATIC
    count: Array | None = None
    is_anchor: Mask | None = None
    is_summary: bool = False

    @property
    def table(self) -> Array:
        """The encoded samples, a column for each weight."""
        return self.encoding.table(self.values)

    @property
    def anchor_codes(self) -> np.ndarray:
        """Class of each anchor, or its number."""
        return self.codes if self.is_anchor is None else self.codes[self.is_anchor]

    def rows(self, chosen: np.ndarray) -> References:
        """Some of the samples, as neighbours of others."""
        return replace(
            self,
            values=self.values[chosen],
            codes=self.codes[chosen],
            anchor_weight=None,
            count=None if self.count is None else self.count[chosen],
            is_anchor=None,
        )

    @cached_property
    def _laid_out(self) -> MarginProblem:
        return self._problem()

    def _problem(self) -> MarginProblem:
        # A count adds sigma log(count) to distances, which may leave the range of float32.
        dtype = self.values.dtype if self.count is None else np.float64
        return MarginProblem(
            self.table.astype(dtype, copy=False),
            self.codes,
            form=self.form,
            is_nominal=self.encoding.is_nominal,
            mismatch=self.encoding.mismatch,
            period=self.encoding.period,
            count=self.count,
            is_anchor=self.is_anchor,
            anchor_weight=self.anchor_weight,
        )

    def problem(self) -> MarginProblem:
        """The samples laid out: once in this process, anew for each use of a cluster."""
        # What a cluster holds is not kept by a model.
        return self._laid_out if RUNNER.get() is None else self._problem()

    def encoded(self, X: Array) -> Array:
        """New samples, as they were read, with a column for each weight."""
        return self.encoding.table(X if self.is_used.all() else X[:, self.is_used])

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
