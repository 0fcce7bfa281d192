"""`Table`, the user's table as it was read, and `Reader`, which reads every later one like it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import FROM_DTYPE, chosen_mask
from immigrate.kinds import KINDS, Circular, Flag, Kind, Number, fitted_kind
from immigrate.kinds.circular import chosen_periods
from immigrate.kinds.column import Column, Content, Levels
from immigrate.outcomes.classes import Labels, check_class_sizes
from immigrate.table.notes import Note, Reason, column_ranges, table_notes
from immigrate.table.open import Opened, opened
from immigrate.table.weights import SampleWeight


@dataclass(frozen=True)
class Reader:
    """Reads a table as numbers, by kinds and levels that were learned once.

    Numbers stay what they are, flags are 0 and 1, ordered categories 0, 1, ... in their order,
    and nominal columns the index of their level. A level that was not there in fit has the next
    free index, and so differs from all known ones. Missing values are NaN. Columns that are no
    feature (dates and numbers written as text, identifiers, columns without a value) read as 0
    in every row: no two samples differ in them, so that no method can give them a weight.

    Attributes
    ----------
    names : tuple of str
        Distinct names; x0, x1, ... where the table has none.
    kinds : tuple of Kind
        What the values of each column mean, with its levels or its period.
    notes : tuple of Note
        What fit has to say about columns.
    levels : tuple of tuple
        Levels of nominal and ordered columns, empty for the others.
    period : ndarray of shape (p,) or None
        Periods of circular columns, infinite for the others; None where no column is circular.
    is_number : ndarray of bool
        Columns whose values are numbers that were given.
    is_nominal : ndarray of bool
        Columns whose values are codes without order.
    n_levels : ndarray of int
        Number of levels of nominal columns, 0 for the others.
    is_used : ndarray of bool
        Columns that a model may use.
    is_constant : ndarray of bool
        Columns that had one value in all rows in fit.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.table import Reader
    >>> table = pd.DataFrame({"size": [1.5, 2.0, None], "colour": ["red", "blue", "red"]})
    >>> reader, values = Reader.fit(table)
    >>> values
    array([[1.5, 1. ],
           [2. , 0. ],
           [nan, 1. ]])
    >>> reader.read(pd.DataFrame({"size": [1.0, 2.0], "colour": ["green", None]}))
    array([[ 1.,  2.],
           [ 2., nan]])
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    notes: tuple[Note, ...] = ()
    levels: tuple[Levels, ...] = field(init=False, repr=False, compare=False)
    period: Array | None = field(init=False, repr=False, compare=False)
    is_number: Mask = field(init=False, repr=False, compare=False)
    is_nominal: Mask = field(init=False, repr=False, compare=False)
    n_levels: Codes = field(init=False, repr=False, compare=False)
    is_used: Mask = field(init=False, repr=False, compare=False)
    is_constant: Mask = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds, period = self.kinds, np.array([kind.period for kind in self.kinds])
        is_nominal = np.array([kind.is_nominal for kind in kinds], dtype=bool)
        is_used, is_constant = np.ones_like(is_nominal), np.zeros_like(is_nominal)
        is_used[[note.column for note in self.notes if note.is_left_out]] = False
        is_constant[[n.column for n in self.notes if n.reason is Reason.CONSTANT]] = True
        # Frozen for all other code.
        vars(self).update(
            levels=tuple(kind.levels for kind in kinds),
            period=period if np.isfinite(period).any() else None,
            is_number=np.array([kind.is_number for kind in kinds], dtype=bool),
            is_nominal=is_nominal,
            n_levels=np.array([len(kind.levels) for kind in kinds], dtype=np.intp) * is_nominal,
            is_used=is_used,
            is_constant=is_constant,
        )

    @classmethod
    def fit(
        cls, X: Any, categorical_features: Any = FROM_DTYPE, circular_features: Any = None
    ) -> tuple[Reader, NDArray[Any]]:
        """The reader of tables like `X`, and the values of `X`.

        Parameters
        ----------
        X : data frame of pandas or polars, table of Arrow, or array-like of shape (n, p)
        categorical_features : "from_dtype", array-like of names, indices or bool, or None
            Columns whose levels have no order. "from_dtype" takes text and categories that
            are not ordered; None says that no column is categorical.
        circular_features : dict or None, default=None
            Columns of numbers that come round and their periods, by name or index, such as
            ``{"hour": 24}``.

        Returns
        -------
        reader : Reader
        values : ndarray of shape (n, p)
            float64, or float32 where all of `X` is.
        """
        source = opened(X)
        check_opened(source)
        first = first_reading(source, categorical_features, circular_features)
        return first.reader, first.used_values()

    def features(self, mask: Mask) -> Reader:
        """The reader of some of the columns."""
        chosen = np.flatnonzero(mask).tolist()
        place = {j: i for i, j in enumerate(chosen)}
        return Reader(
            tuple(self.names[j] for j in chosen),
            tuple(self.kinds[j] for j in chosen),
            tuple(replace(n, column=place[n.column]) for n in self.notes if n.column in place),
        )

    def read(self, X: Any) -> NDArray[Any]:
        """The values of another table with the same columns.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        values : ndarray of shape (n, p)
            `X` itself where it is an array of floats and there is nothing to do.
        """
        source = opened(X)
        check_opened(source)
        return self.values_of(source)

    def values_of(self, source: Opened) -> NDArray[Any]:
        """Every column as numbers, with levels as codes and NaN where a value is missing."""
        if len(source.names) != len(self.names):
            raise ValueError(
                f"X has {len(source.names)} columns, but {len(self.names)} were expected, as in "
                "fit. Give the columns of the table of fit."
            )
        if source.values is not None:
            return self._values_of_numbers(source)
        # A float32 of zeros takes the type of the columns beside it.
        nothing = np.zeros(source.n_rows, dtype=np.float32)
        columns = [
            kind.read(column) if is_used else nothing
            for column, kind, is_used in zip(source.columns or (), self.kinds, self.is_used)
        ]
        values = np.column_stack(columns) if columns else np.empty((source.n_rows, 0))
        return np.ascontiguousarray(values)

    def _values_of_numbers(self, source: Opened) -> NDArray[Any]:
        values = given = as_float_array(source.values)
        coded, unused = [], ~self.is_used
        if self.period is not None or not self.is_number.all():
            is_read = [kind.is_coded(source.is_frame) for kind in self.kinds]
            coded = np.flatnonzero(is_read & self.is_used).tolist()
        # The array itself: a large table of numbers is not copied.
        if not coded and not unused.any():
            return values
        # A copy, because columns are written over and the array is the user's.
        values = np.array(given)
        for j in coded:
            values[:, j] = self.kinds[j].read(number_column(self.names[j], given[:, j]))
        values[:, unused] = 0.0
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Plain values, which files of models can hold."""
        return {
            "names": self.names,
            "kinds": tuple(kind.name for kind in self.kinds),
            "levels": self.levels,
            "notes": tuple((n.column, n.name, n.reason.value, n.detail) for n in self.notes),
            "periods": tuple(
                (j, kind.period, kind.start, kind.is_whole)
                for j, kind in enumerate(self.kinds)
                if isinstance(kind, Circular)
            ),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        by_name = {kind.name: kind for kind in KINDS}
        periods = {j: circle for j, *circle in state.get("periods", ())}
        kinds = tuple(
            by_name[name](levels, *periods.get(j, ()))
            for j, (name, levels) in enumerate(zip(state["kinds"], state["levels"]))
        )
        notes = tuple(Note(j, name, Reason(why), what) for j, name, why, what in state["notes"])
        vars(self).update(names=state["names"], kinds=kinds, notes=notes)
        self.__post_init__()


@dataclass(frozen=True, eq=False)
class Table:
    """The user's table, read once: what every fit, test and report works on.

    Attributes
    ----------
    reader : Reader
        Names, kinds and levels of the columns.
    values : ndarray of shape (n, p)
        Numbers, codes of levels, NaN where missing.
    low, high : ndarray of shape (p,)
        Lowest and highest known value of each column of the whole table.
    has_gap : ndarray of shape (p,)
        Whether a value is missing there.
    outcome : Labels
    weight : SampleWeight or None
        None where all samples weigh the same.
    groups : ndarray of shape (n,) or None
        The person or group that each sample belongs to.
    feature_names : ndarray of object or None
        For `feature_names_in_`; None where the table has no names of text.
    of : Table or None
        The whole table, where these are some of its rows: units are those of all samples.
    is_plain : bool
        Whether all columns are numbers on a line without a gap.
    """

    reader: Reader
    values: NDArray[Any]
    low: Array
    high: Array
    has_gap: Mask
    outcome: Labels
    weight: SampleWeight | None = None
    groups: NDArray[Any] | None = None
    feature_names: NDArray[Any] | None = None
    of: Table | None = None
    is_plain: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reader = self.reader
        is_other = reader.is_nominal | self.has_gap | ~reader.is_used
        vars(self).update(is_plain=reader.period is None and not is_other.any())

    @classmethod
    def of_values(
        cls,
        reader: Reader,
        values: Array,
        outcome: Labels,
        weight: SampleWeight | None = None,
    ) -> Table:
        """A table of values that were read before."""
        return cls(reader, values, *column_ranges(values), outcome, weight)

    @property
    def anchor_weight(self) -> Array | None:
        """D of Eq. 10, with sum 1 over the whole table; None where all samples weigh the same."""
        if self.weight is None or self.weight.meaning == "importance":
            return None if self.weight is None else self.weight.values
        return self.weight.values / self.weight.values.sum()

    def rows(self, chosen: Codes | Mask) -> Table:
        """Some of the samples."""
        return replace(
            self,
            values=self.values[chosen],
            outcome=self.outcome.rows(chosen),
            weight=None if self.weight is None else self.weight.rows(chosen),
            groups=None if self.groups is None else self.groups[chosen],
            of=self.of or self,
        )

    def fold(self, chosen: Codes) -> Table:
        """Some of the samples, as training samples: every class is among them, with a weight."""
        part = self.rows(chosen)
        classes, codes = part.outcome.classes, part.outcome.codes
        check_class_sizes(classes, np.bincount(codes, minlength=len(classes)))
        if part.weight is not None and not part.weight.values.any():
            raise ValueError(
                "sample_weight is zero for all training samples of a fold; use a cv that spreads "
                "the weighted samples, such as a shuffled StratifiedKFold."
            )
        return part

    def features(self, mask: Mask) -> Table:
        """Some of the columns."""
        if mask.all():
            return self
        return replace(
            self,
            reader=self.reader.features(mask),
            values=self.values[:, mask],
            low=self.low[mask],
            high=self.high[mask],
            has_gap=self.has_gap[mask],
            feature_names=None if self.feature_names is None else self.feature_names[mask],
            of=None if self.of is None else self.of.features(mask),
        )

    def counted(self) -> Table:
        """The samples that were seen, as a table of its own; classes without one are gone."""
        table, labels = self, self.outcome
        if self.weight is not None and not self.weight.values.all():
            table = self.rows(self.weight.values > 0)
            labels = table.outcome
        seen, codes = np.unique(labels.codes, return_inverse=True)
        if labels.numbers is None and len(seen) < len(labels.classes):
            labels = replace(labels, classes=labels.classes[seen], codes=codes)
        return replace(table, outcome=labels, of=None)

    def keep_on(self, estimator: Any) -> None:
        """Write the fitted attributes that every estimator has; the last thing a fit does.

        Parameters
        ----------
        estimator : estimator
            Gets `classes_`, `column_reader_`, `n_features_in_` and `feature_names_in_`.
        """
        # A fit before this one may have had names, or classes.
        for name in ("classes_", "feature_names_in_"):
            vars(estimator).pop(name, None)
        if self.outcome.numbers is None:
            estimator.classes_ = self.outcome.classes
        estimator.column_reader_ = self.reader
        estimator.n_features_in_ = self.values.shape[1]
        if self.feature_names is not None:
            estimator.feature_names_in_ = self.feature_names


class FirstReading(NamedTuple):
    """A table as fit reads it: values of all columns, also of those that are no features."""

    reader: Reader
    values: NDArray[Any]
    low: Array
    high: Array
    has_gap: Mask

    def used_values(self) -> NDArray[Any]:
        """The values, 0 in columns that are no features."""
        is_used = self.reader.is_used
        if is_used.all():
            return self.values
        return np.where(is_used, self.values, self.values.dtype.type(0))


def first_reading(
    source: Opened, categorical_features: Any = FROM_DTYPE, circular_features: Any = None
) -> FirstReading:
    """The columns of an opened table as numbers, and notes on what is odd about them."""
    names, mask = source.names, None
    if not isinstance(categorical_features, str) or categorical_features != FROM_DTYPE:
        mask = chosen_mask(categorical_features, names)
    is_listed = np.zeros(len(names), dtype=bool) if mask is None else mask
    is_text = np.zeros(len(names), dtype=bool)
    periods = {} if circular_features is None else chosen_periods(circular_features, names)
    kinds: list[Kind]
    if source.columns is None:
        assert source.values is not None
        kinds = [Flag() if source.values.dtype.kind == "b" else Number()] * len(names)
        for j in {*np.flatnonzero(is_listed).tolist(), *periods}:
            column = number_column(names[j], source.values[:, j])
            kinds[j] = fitted_kind(column, bool(is_listed[j]), periods.get(j))
    else:
        kinds = []
        for j, column in enumerate(source.columns):
            listed = None if mask is None else bool(mask[j])
            kinds.append(fitted_kind(column, listed, periods.get(j)))
            is_text[j] = column.content is Content.NAMES and column.categories is None
    reader = Reader(names, tuple(kinds))
    values = reader.values_of(source)
    ranges = column_ranges(values)
    notes = table_notes(
        reader,
        values,
        ranges,
        is_text=is_text,
        is_listed=is_listed,
        repeated=source.repeated,
    )
    if notes:
        reader = replace(reader, notes=notes)
    return FirstReading(reader, values, *ranges)


def number_column(name: str, values: NDArray[Any]) -> Column:
    """A column of an array."""
    content = Content.FLAGS if values.dtype.kind == "b" else Content.NUMBERS
    return Column(name, content, as_float_array(values), str(values.dtype))


def as_float_array(array: Any) -> NDArray[Any]:
    """An array of floats; the array itself where it is one."""
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def check_opened(source: Any) -> None:
    """Refuse what is no table, where scikit-learn has not done it."""
    if isinstance(source, Opened):
        return
    described = f"a {type(source).__name__}"
    if isinstance(source, np.ndarray):
        described = f"an array of shape {source.shape} and type {source.dtype}"
    raise ValueError(
        f"A table of rows and columns was expected, got {described}. Give a data frame or an "
        "array of two dimensions."
    )
