"""From a table as it was read to the columns that weights belong to, and samples of these.

    number      in its unit                                              one column
    nominal     mismatch: its level, two levels differ by 1              one column
                levels: 1 / sqrt(2) for the level of the sample, else 0  one column per level

each in its unit. Two samples of different levels are equally far apart under even weights in both,
so that the choice between them does not change where a fit starts. Beside numbers in units of
their standard deviation two levels are sqrt(2) apart, as two numbers are in the root mean square.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, check_option_or_none
from immigrate.core.differences import ColumnKinds
from immigrate.core.forms import QUADRATIC, Form
from immigrate.kernels import RUNNER
from immigrate.kinds.number import difference_units
from immigrate.margin.problem import MarginProblem
from immigrate.table import Table

SCALES = ("std", "range")
NOMINALS = ("auto", "mismatch", "levels")
LEVEL_HEIGHT = float(np.sqrt(0.5))
# The unit of levels beside numbers in units of their deviation; measured in
# docs/measurements/columns.md.
LEVEL_DEVIATION = float(np.sqrt(0.5))
# Beyond these a weight for every level is not tried: W has the square of the first, and the
# second is what the samples can pay for.
MOST_LEVEL_COLUMNS, FEWEST_SAMPLES_PER_COLUMN = 200, 2
# A unit this near to 1 is 1: standardised tables stay as they are, to the bit.
SAME_UNIT = 1e-12


class Columns(BaseEstimator):
    """How the columns of a table are read and compared.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns whose values are levels without an order: names, indices or a mask. "from_dtype"
        takes text, category and object columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Columns of numbers that come round, by name or index, and their periods, such as
        ``{"hour": 24, "month": 12}``: 23 h is next to 0 h. They are never guessed.
    scale : {"std", "range", None}, default="std"
        Unit in which differences of numbers are taken: the standard deviation or the range of
        the known values, or the numbers as they are, as in the R package. Differences of
        features are added up, so that without units the feature with the largest numbers wins.
    nominal : {"auto", "mismatch", "levels"}, default="auto"
        How levels are compared. "mismatch": two levels are 1 apart (sqrt(2) with
        ``scale="std"``), with one weight for the column. "levels": one weight per level, which
        can tell levels that matter from levels that do not where there are samples enough;
        tables of weights show their sum. "auto" lets the likelihood of leave-one-out
        predictions choose, where a column has more than two levels.

    See Also
    --------
    ImmigrateClassifier : Takes this as `columns`.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import Columns
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 4, 80), 1000 * rng.normal(size=80)])
    >>> y = (X[:, 0] == 2).astype(int)
    >>> model = ImmigrateClassifier(columns=Columns(categorical_features=[0])).fit(X, y)
    >>> model.feature_importances_.round(2)
    array([0.91, 0.09])
    """

    def __init__(
        self,
        categorical_features: Any = "from_dtype",
        *,
        circular_features: Any = None,
        scale: str | None = "std",
        nominal: str = "auto",
    ) -> None:
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.scale = scale
        self.nominal = nominal

    def check(self) -> None:
        """Refuse options that do not exist."""
        check_option_or_none("scale", self.scale, SCALES)
        check_option("nominal", self.nominal, NOMINALS)


def resolved_columns(columns: Any) -> Columns:
    """The value that None stands for; a `Columns` stays what it is."""
    if columns is None:
        return Columns()
    if not isinstance(columns, Columns):
        raise ValueError(
            f"columns must be None or a Columns value, got {columns!r}. For example "
            "columns=Columns(categorical_features=['sex'], scale=None)."
        )
    columns.check()
    return columns


@dataclass(frozen=True, eq=False)
class Encoding:
    """What each column of a table becomes.

    Attributes
    ----------
    units : ndarray of shape (p,)
        What a difference of 1 is: of numbers, and of two levels, which are 1 apart.
    n_levels : ndarray of shape (p,)
        Number of levels of nominal columns, 0 for numbers.
    by_level : bool
        Whether nominal columns of more than two levels have a column per level.
    periods : ndarray of shape (p,) or None
        After which columns come round, infinite for those that do not; None where none does.
    """

    units: Array
    n_levels: Codes
    by_level: bool = False
    periods: Array | None = None

    @classmethod
    def of(cls, table: Table, scale: str | None) -> Encoding:
        """Units and levels of all columns, by the known values of the training samples."""
        # Units of all samples in every fold: sigma means the same in each of them.
        whole, n_levels = table.of or table, table.reader.n_levels
        periods = table.reader.period
        units = difference_units(
            whole.values, whole.low, whole.high, n_levels > 0, scale=scale, period=periods
        )
        if scale == "std":
            units[n_levels > 0] = LEVEL_DEVIATION
        units = np.where(np.abs(units - 1) <= SAME_UNIT, 1.0, units)
        return cls(units, n_levels, periods=periods)

    def columns(self, chosen: Mask) -> Encoding:
        """The encoding of some of the columns."""
        periods = None if self.periods is None else self.periods[chosen]
        return Encoding(self.units[chosen], self.n_levels[chosen], self.by_level, periods)

    @cached_property
    def _is_spread(self) -> Mask:
        """Columns that become one column per level; of two levels one column says it all."""
        return self.by_level & (self.n_levels > 2)

    @cached_property
    def owner(self) -> Codes:
        """Which column of the table each column of the encoding belongs to, (q,)."""
        return np.repeat(np.arange(len(self.units)), np.where(self._is_spread, self.n_levels, 1))

    @cached_property
    def kinds(self) -> ColumnKinds:
        """How the columns of the encoding differ, each (q,), in the units of the numbers."""
        is_nominal = ((self.n_levels > 0) & ~self._is_spread)[self.owner]
        mismatch = 1.0 / np.where(is_nominal, self.units[self.owner], 1.0)
        period = None if self.periods is None else (self.periods / self.units)[self.owner]
        return ColumnKinds(is_nominal, mismatch, period)

    def table(self, values: Array) -> Array:
        """The encoded table, (n, q); the same array where nothing is to be done."""
        # Codes are compared and not subtracted: the unit of levels is in `kinds`.
        units = np.where(self.n_levels > 0, 1.0, self.units)
        if (units != 1).any():
            with np.errstate(over="ignore"):  # infinity is refused where the samples are scored
                values = (values / units).astype(values.dtype, copy=False)
        if not self._is_spread.any():
            return values
        parts = []
        for j, x in enumerate(values.T):
            part = x[:, None]
            if self._is_spread[j]:
                # None is set for an unseen level, and all are missing where the level is.
                part = LEVEL_HEIGHT * (part == np.arange(self.n_levels[j])) / self.units[j]
                part[np.isnan(x)] = np.nan
            parts.append(part)
        return np.hstack(parts).astype(values.dtype, copy=False)

    def folded(self, W: Array) -> Array:
        """Weights of the encoded columns summed up per column of the table, or pair of them."""
        if len(self.owner) == len(self.units):
            return W
        belongs = (np.arange(len(self.units))[:, None] == self.owner).astype(float)
        return belongs @ W @ belongs.T if W.ndim == 2 else belongs @ W

    def unfolded(self, W: Array) -> Array:
        """Weights per column of the table as weights of the encoded columns.

        Distances stay the same: a difference between two levels is 1 / sqrt(2) in two columns.
        """
        height = np.where(self._is_spread, LEVEL_HEIGHT, 1.0)[self.owner]
        spread = W[np.ix_(self.owner, self.owner)] * np.outer(height, height)
        is_one_column = self.owner[:, None] == self.owner
        # What a level of a column shares with another level of it is left at 0.
        own = np.diag(W.diagonal()[self.owner])
        result: Array = np.where(is_one_column, own, spread)
        return result

    @property
    def can_spread(self) -> bool:
        """Whether a weight per level differs from a weight per column."""
        return bool((self.n_levels > 2).any())

    def spread(self) -> Encoding:
        """The same with a column per level."""
        return replace(self, by_level=True)


def offered_encodings(
    encoding: Encoding, is_kept: Mask, nominal: str, n_samples: int
) -> list[Encoding]:
    """What a fit of some columns is tried with; leave-one-out chooses where there are two."""
    encoding = encoding.columns(is_kept)
    if not encoding.can_spread or nominal == "mismatch":
        return [encoding]
    if nominal == "levels":
        return [encoding.spread()]
    n_columns = len(encoding.spread().owner)
    most = min(MOST_LEVEL_COLUMNS, n_samples / FEWEST_SAMPLES_PER_COLUMN)
    return [encoding, encoding.spread()] if n_columns <= most else [encoding]


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
            kinds=self.encoding.kinds,
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
