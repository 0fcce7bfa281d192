"""Tables and labels of an estimator: read here, checked by scikit-learn, kept when all is done.

Nothing is written on the estimator while a table is read. `Table.keep_on` writes all of it at
once, at the end of a fit, so that a fit that is refused or interrupted leaves the model that was
there before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from immigrate.arrays import Array, Mask
from immigrate.checks import FROM_DTYPE, chosen_mask
from immigrate.kinds.column import Content
from immigrate.outcomes.classes import label_column, read_classes, warn_of_other_order
from immigrate.outcomes.number import is_number_outcome, read_numbers
from immigrate.progress import print_line, warn_user
from immigrate.scikit_learn import is_table_wanted
from immigrate.table.notes import Note, Reason, column_ranges, in_order, messages, warn_of
from immigrate.table.open import OPENERS, Opened, opened
from immigrate.table.table import Reader, Table, check_opened, first_reading
from immigrate.table.weights import anchor_weights

FLOATS = (np.float64, np.float32)


def read_weighted_table(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    class_weight: Any = None,
    **reading: Any,
) -> Table:
    """A table, its labels and the weights of its samples, read and checked.

    Other parameters are those of `read_training_table`.

    Of a table that no memory holds, a sample of its rows.
    """
    opener = OPENERS.get(type(X).__module__.partition(".")[0])
    if opener is not None:
        X, y, sample_weight, words = opener(X, y, sample_weight)
        if getattr(estimator, "verbose", False):
            print_line(words)
    table = read_training_table(estimator, X, y, **reading)
    if sample_weight is None and class_weight is None:
        return table
    weight = anchor_weights(table.outcome, table.values, sample_weight, class_weight)
    return replace(table, weight=weight)


def read_training_table(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    categorical_features: Any = FROM_DTYPE,
    circular_features: Any = None,
    allow_nan: bool = True,
    least_per_class: int = 2,
    outcome: str = "class",
) -> Table:
    """A table and its target, read and checked; warns of columns that are no features.

    Parameters
    ----------
    estimator : estimator
        Named in messages, asked for its tags, and left as it is.
    X : data frame or array-like of shape (n, p)
    y : array-like of shape (n,)
    categorical_features, circular_features : see `Reader.fit`
    allow_nan : bool, default=True
        Whether values may be missing.
    least_per_class : int, default=2
        Samples that each class needs.
    outcome : {"class", "number", "auto"}, default="class"
        What the label is; "auto" decides by its values.

    Returns
    -------
    table : Table

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.table import read_training_table
    >>> X = pd.DataFrame({"dose": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]})
    >>> table = read_training_table(BaseEstimator(), X, ["ill", "ill", "well", "well"])
    >>> table.values.T, table.reader.levels[1]
    (array([[1., 2., 3., 4.],
           [0., 1., 1., 0.]]), ('f', 'm'))
    """
    source, feature_names = _opened_for_training(X, estimator)
    # Labels without scikit-learn, whose error for a missing one does not say what to do.
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    warn_of_other_order(X, y)
    plain = label_column(y, source.n_rows)
    if outcome == "number" or (outcome == "auto" and is_number_outcome(plain)):
        labels = read_numbers(plain)
    else:
        labels = read_classes(plain, least_per_class=least_per_class)
    first = first_reading(source, categorical_features, circular_features)
    reader, low, high, has_gap = first.reader, first.low, first.high, first.has_gap
    ranges = low, high, has_gap
    check_values(first.values, reader.names, estimator, allow_nan=allow_nan, ranges=ranges)
    if not reader.is_used.any():
        raise ValueError(
            "X has no column that can be used as a feature: "
            + " ".join(messages([note for note in reader.notes if note.is_left_out]))
            + _uncut(reader.names)
        )
    if reader.notes:
        warn_of(reader.notes)
        low, high = np.where(reader.is_used, (low, high), 0.0)
        has_gap = has_gap & reader.is_used
    name = getattr(y, "name", None)
    return Table(
        reader,
        first.used_values(),
        low,
        high,
        has_gap,
        labels if name is None else replace(labels, name=str(name)),
        feature_names=feature_names,
    )


def _opened_for_training(X: Any, estimator: Any) -> tuple[Opened, NDArray[Any] | None]:
    """A table that scikit-learn takes for training, and the names of its columns."""
    source = opened(X)
    checks: dict[str, Any] = {"ensure_all_finite": False, "ensure_min_samples": 2}
    if not isinstance(source, Opened) or not (source.is_frame or source.values is None):
        given: Any = source.values if isinstance(source, Opened) else source
        if is_taken_as_it_is(given) and len(given) >= 2:
            return source, None
        # It refuses what is no table, and gives floats without a copy.
        values = check_array(given, dtype=FLOATS, estimator=estimator, input_name="X", **checks)
        check_opened(source)
        # Floats would hide that an array held flags.
        is_flags = getattr(given, "dtype", None) == np.bool_
        return source if is_flags else replace(source, values=values), None
    if source.n_rows < 2 or not source.names:
        check_array(np.empty((source.n_rows, len(source.names))), estimator=estimator, **checks)
    names = None if source.header is None else np.array(source.header, dtype=object)
    if names is not None and not all(isinstance(name, str) for name in names):
        # Refused by scikit-learn, before it writes anything on the estimator.
        validate_data(estimator, pd.DataFrame(columns=source.header), skip_check_array=True)
    return source, names


def is_taken_as_it_is(given: Any) -> bool:
    """Whether scikit-learn's checks of an array would hand it back without a word."""
    is_floats = type(given) is np.ndarray and given.dtype in FLOATS and given.ndim == 2
    return is_floats and given.size > 0


def read_table(estimator: Any, X: Any, *, allow_nan: bool = True) -> NDArray[Any]:
    """The numbers of a table, read as in fit: by the estimator's `column_reader_`.

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
    >>> from immigrate.table import read_table, read_training_table
    >>> X = pd.DataFrame({"dose": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]})
    >>> estimator = BaseEstimator()
    >>> read_training_table(estimator, X, ["ill", "ill", "well", "well"]).keep_on(estimator)
    >>> read_table(estimator, X.assign(sex=["x", "m", "f", None]))[:, 1]
    array([ 2.,  1.,  0., nan])
    """
    reader: Reader = estimator.column_reader_
    source = opened(X)
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(source, Opened) and (source.is_frame or source.values is None):
        # Names and number first: columns are read by their position.
        header = source.header
        if header is None or names is None or header != names.tolist():
            blank = np.zeros((1, len(source.names)))
            named = blank if header is None else pd.DataFrame(blank, columns=header)
            validate_data(estimator, named, reset=False, skip_check_array=True)
        if not source.n_rows:
            check_array(np.empty((0, len(source.names))), estimator=estimator)
    else:
        given: Any = source.values if isinstance(source, Opened) else source
        is_known = names is None and is_taken_as_it_is(given)
        if not is_known or given.shape[1] != estimator.n_features_in_:
            checks: dict[str, Any] = {"dtype": FLOATS, "ensure_all_finite": False}
            values = validate_data(estimator, given, reset=False, **checks)
            check_opened(source)
            source = replace(source, values=values)
    values = reader.values_of(source)
    check_values(values, reader.names, estimator, allow_nan=allow_nan)
    return values


def check_values(
    values: NDArray[Any],
    names: tuple[str, ...],
    estimator: Any,
    *,
    allow_nan: bool,
    ranges: tuple[Array, Array, Mask] | None = None,
) -> None:
    """Refuse infinity, and missing values where an estimator takes none; names the column."""
    low, high, has_gap = column_ranges(values) if ranges is None else ranges
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


def typed_table(table: Table) -> Any:
    """The table that was read, in a form that every estimator reads alike by its types.

    Nominal columns are categories of their levels, the others numbers; columns that are no
    features have no value. An array stays one where all of its columns are numbers.

    Parameters
    ----------
    table : Table

    Returns
    -------
    X : ndarray or pandas.DataFrame of shape (n, p)

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.table import read_training_table, typed_table
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


def left_out(X: Any, categorical_features: Any = FROM_DTYPE) -> tuple[Note, ...]:
    """Columns that can be no feature: dates, identifiers, constants, columns without a value.

    Parameters
    ----------
    X : data frame or array-like of shape (n, p)
    categorical_features : see `Reader.fit`

    Returns
    -------
    tuple of Note
        In the order of the columns. An estimator refuses dates and keeps constants, which do
        no harm; it leaves the others out by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.table import left_out
    >>> X = pd.DataFrame({"day": pd.date_range("2021", periods=3), "dose": [1, 2, 3]})
    >>> [(note.name, note.reason.name) for note in left_out(X.assign(unit="mg"))]
    [('day', 'DATES'), ('unit', 'CONSTANT')]
    """
    return tuple(
        note
        for note in column_notes(X, categorical_features)
        if note.is_left_out or note.reason in (Reason.DATES, Reason.CONSTANT)
    )


def column_notes(X: Any, categorical_features: Any = FROM_DTYPE) -> tuple[Note, ...]:
    """All that there is to say about the columns of a table, dates included.

    Parameters
    ----------
    X : data frame or array-like of shape (n, p)
    categorical_features : see `Reader.fit`

    Returns
    -------
    tuple of Note
        In the order of the columns.

    Examples
    --------
    >>> from immigrate.table import column_notes
    >>> [(note.name, note.reason.name) for note in column_notes([[1, 2, 1], [3, 2, 3]])]
    [('x1', 'CONSTANT'), ('x2', 'COPY')]
    """
    source = opened(X)
    check_opened(source)
    if source.columns is None:
        return first_reading(source, categorical_features).reader.notes
    # Dates are refused by the reader: the other columns are read without them.
    is_date = [column.content is Content.DATES for column in source.columns]
    others = [j for j, is_out in enumerate(is_date) if not is_out]
    place = {j: i for i, j in enumerate(others)}
    mask = chosen_mask(categorical_features, source.names)
    rest = replace(
        source,
        names=tuple(source.names[j] for j in others),
        columns=[source.columns[j] for j in others],
        repeated=tuple((place[j], place[k]) for j, k in source.repeated if {j, k} <= place.keys()),
    )
    reader = first_reading(rest, FROM_DTYPE if mask is None else mask[others]).reader
    notes = [replace(note, column=others[note.column]) for note in reader.notes]
    for j in np.flatnonzero(is_date).tolist():
        column = source.columns[j]
        notes.append(Note(j, column.name, Reason.DATES, column.type_name))
    return in_order(notes)


def chosen_columns(selector: Any, X: Any, values: Array) -> Any:
    """Columns of `X` that a fitted selector keeps, `values` being what its reader made of it.

    A pandas frame stays one, types and all, where `set_output` asks for a table. Else numbers
    are what was read, and an array of objects holds columns that are no numbers.
    """
    support = selector.get_support()
    if not support.any():
        warn_user(
            "No features were selected: either the data is too noisy or the threshold too high.",
            UserWarning,
        )
    if is_table_wanted(selector) and isinstance(X, pd.DataFrame):
        return X.iloc[:, support]
    reader: Reader = selector.column_reader_
    # What is given as what it is read as.
    if (reader.is_number & reader.is_used | ~support).all():
        return values[:, support]
    return np.asarray(X, dtype=object)[:, support]
