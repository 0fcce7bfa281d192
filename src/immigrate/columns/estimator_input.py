"""Tables and labels of an estimator: read here, checked by scikit-learn, kept when all is done.

Nothing is written on the estimator while a table is read. `TrainingTable.keep_on` writes all of
it at once, at the end of a fit, so that a fit that is refused or interrupted leaves the model
that was there before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from immigrate.arrays import Codes
from immigrate.columns.choice import FROM_DTYPE
from immigrate.columns.labels import (
    is_number_outcome,
    plain_labels,
    read_labels,
    read_numbers,
    warn_of_other_order,
)
from immigrate.columns.notes import column_ranges, messages, warn_of
from immigrate.columns.reader import ColumnReader, read_first
from immigrate.columns.tables import Table, opened

E = TypeVar("E")
FLOATS = (np.float64, np.float32)


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """What fit works on, and what is kept of it.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        What `reader` makes of the table.
    codes : ndarray of shape (n,)
        Index of each sample's class.
    classes : ndarray
    reader : ColumnReader
    feature_names : ndarray of object or None
        For `feature_names_in_`; None where the table has no names of text.
    numbers : ndarray of shape (n,) or None
        The label where it is a number; there are no classes then.
    """

    values: NDArray[Any]
    codes: Codes
    classes: NDArray[Any]
    reader: ColumnReader
    feature_names: NDArray[Any] | None
    numbers: NDArray[np.float64] | None = None

    def keep_on(self, estimator: Any) -> None:
        """Write the fitted attributes that every estimator has; the last thing a fit does.

        Parameters
        ----------
        estimator : estimator
            Gets `classes_`, `column_reader_`, `n_features_in_` and `feature_names_in_`.
        """
        if self.numbers is None:
            estimator.classes_ = self.classes
        else:
            vars(estimator).pop("classes_", None)
        estimator.column_reader_ = self.reader
        estimator.n_features_in_ = self.values.shape[1]
        if self.feature_names is not None:
            estimator.feature_names_in_ = self.feature_names
        else:
            # A fit before this one may have had names.
            vars(estimator).pop("feature_names_in_", None)


def read_training_table(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    categorical_features: Any = FROM_DTYPE,
    allow_nan: bool = True,
    least_per_class: int = 2,
    outcome: str = "class",
) -> TrainingTable:
    """A table and its label, read and checked; warns of columns that are no features.

    Parameters
    ----------
    estimator : estimator
        Named in messages, asked for its tags, and left as it is.
    X : data frame or array-like of shape (n, p)
    y : array-like of shape (n,)
    categorical_features : see `ColumnReader.fit`
    allow_nan : bool, default=True
        Whether values may be missing.
    least_per_class : int, default=2
        Samples that each class needs.
    outcome : {"class", "number", "auto"}, default="class"
        What the label is; "auto" decides by its values.

    Returns
    -------
    table : TrainingTable

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.columns import read_training_table
    >>> X = pd.DataFrame({"dose": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]})
    >>> table = read_training_table(BaseEstimator(), X, ["ill", "ill", "well", "well"])
    >>> table.values.T, table.reader.levels[1]
    (array([[1., 2., 3., 4.],
           [0., 1., 1., 0.]]), ('f', 'm'))
    """
    source = opened(X)
    warn_of_other_order(X, y)
    # Labels first: scikit-learn would refuse a missing one in words of its own.
    y = None if y is None else plain_labels(y)
    stand_in = _stand_in(estimator)
    if isinstance(source, Table):
        first = read_first(source, categorical_features)
        _, y = _validated(stand_in, _with_header(first.values, source), y)
    else:
        # scikit-learn first: it refuses what is no table, and gives floats without a copy.
        values, y = _validated(stand_in, source, y)
        is_flags = getattr(source, "dtype", None) == np.bool_
        # Floats would hide that an array held flags.
        first = read_first(source if is_flags else values, categorical_features)
    check_values(first.values, first.reader.names, estimator, allow_nan=allow_nan)
    numbers = None
    if outcome == "number" or (outcome == "auto" and is_number_outcome(y)):
        numbers = read_numbers(y)
        classes, codes = np.empty(0), np.zeros(len(numbers), dtype=np.intp)
    else:
        classes, codes = read_labels(y, least_per_class=least_per_class)
    reader, values = first.finished()
    if not reader.is_used.any():
        raise ValueError(
            "X has no column that can be used as a feature: "
            + " ".join(messages([note for note in reader.notes if note.is_left_out]))
            + _uncut(reader.names)
        )
    warn_of(reader.notes)
    names = getattr(stand_in, "feature_names_in_", None)
    return TrainingTable(values, codes, classes, reader, names, numbers)


def typed_table(table: TrainingTable) -> Any:
    """The table that was read, in a form that every estimator reads alike by its types.

    Nominal columns are categories of their levels, the others numbers; columns that are no
    features have no value. An array stays one where all of its columns are numbers.

    Parameters
    ----------
    table : TrainingTable

    Returns
    -------
    X : ndarray or pandas.DataFrame of shape (n, p)

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.columns import read_training_table, typed_table
    >>> X = pd.DataFrame({"dose": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]})
    >>> table = read_training_table(BaseEstimator(), X, ["ill", "ill", "well", "well"])
    >>> typed_table(table).dtypes.astype(str).to_dict()
    {'dose': 'float64', 'sex': 'category'}
    """
    reader = table.reader
    if table.feature_names is None and reader.is_used.all() and not reader.is_nominal.any():
        return table.values
    X = pd.DataFrame(np.where(reader.is_used, table.values, np.nan), columns=list(reader.names))
    for j in np.flatnonzero(reader.is_nominal & reader.is_used):
        codes = np.where(np.isnan(table.values[:, j]), -1, table.values[:, j]).astype(np.intp)
        levels: pd.Index[Any] = pd.Index(reader.levels[j], tupleize_cols=False)
        X[reader.names[j]] = pd.Categorical.from_codes(codes, categories=levels)
    return X


def read_table(estimator: Any, X: Any, *, allow_nan: bool = True) -> NDArray[Any]:
    """A table like that of fit, read by the estimator's `column_reader_`.

    Parameters
    ----------
    estimator : fitted estimator
    X : data frame or array-like of shape (n, p)
    allow_nan : bool, default=True

    Returns
    -------
    values : ndarray of shape (n, p)

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.columns import read_table, read_training_table
    >>> X = pd.DataFrame({"dose": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]})
    >>> estimator = BaseEstimator()
    >>> read_training_table(estimator, X, ["ill", "ill", "well", "well"]).keep_on(estimator)
    >>> read_table(estimator, X.assign(sex=["x", "m", "f", None]))[:, 1]
    array([ 2.,  1.,  0., nan])
    """
    reader: ColumnReader = estimator.column_reader_
    source = opened(X)
    if isinstance(source, Table):
        # Names and number first: columns are read by their position.
        blank = _with_header(np.zeros((1, len(source.columns))), source)
        validate_data(estimator, blank, reset=False, skip_check_array=True)
        values = reader.read_opened(source)
        validate_data(
            estimator, _with_header(values, source), reset=False, ensure_all_finite=False
        )
    else:
        values = reader.read_opened(
            validate_data(estimator, source, reset=False, dtype=FLOATS, ensure_all_finite=False)
        )
    check_values(values, reader.names, estimator, allow_nan=allow_nan)
    return values


def check_values(
    values: NDArray[Any], names: tuple[str, ...], estimator: Any, *, allow_nan: bool
) -> None:
    """Refuse infinity, and missing values where an estimator takes none; names the column."""
    low, high, has_gap = column_ranges(values)
    # The range of a column without a value is turned around.
    is_infinite = (np.isinf(low) | np.isinf(high)) & (low <= high)
    if is_infinite.any():
        j = int(np.flatnonzero(is_infinite)[0])
        rows = np.flatnonzero(np.isinf(values[:, j]))
        raise ValueError(
            f"Column {names[j]!r} holds infinity in {_rows(rows)}; a finite number was expected. "
            "Replace it by NaN if the value is not known, or by a limit."
        )
    if not allow_nan and has_gap.any():
        j = int(np.flatnonzero(has_gap)[0])
        rows = np.flatnonzero(np.isnan(values[:, j]))
        raise ValueError(
            f"Column {names[j]!r} holds NaN in {_rows(rows)}, and {type(estimator).__name__} "
            "takes no missing values. Fill them first, or drop the rows or the column."
        )


def _rows(rows: NDArray[Any]) -> str:
    return f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows, first in row {rows[0]}"


def _uncut(names: tuple[str, ...]) -> str:
    """What to do about a text file that was read as one column."""
    delimiter = next((one for one in ";\t|" if one in names[0]), "") if len(names) == 1 else ""
    return f" All is one column; read the file with sep={delimiter!r}." if delimiter else ""


def _stand_in(estimator: E) -> E:
    """An estimator on which scikit-learn may write in place of the true one."""
    stand_in = object.__new__(type(estimator))
    vars(stand_in).update(vars(estimator))
    return stand_in


def _with_header(values: NDArray[Any], table: Table) -> Any:
    if table.header is None:
        return values
    return pd.DataFrame(values, columns=table.header, copy=False)


def _validated(stand_in: Any, X: Any, y: Any) -> tuple[NDArray[Any], Any]:
    values, y = validate_data(
        stand_in, X, y, dtype=FLOATS, ensure_all_finite=False, ensure_min_samples=2
    )
    return values, y
