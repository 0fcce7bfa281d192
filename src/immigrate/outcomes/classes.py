"""Class labels from any container, checked with the word that it is the label.

y of any container  →  `plain_labels`: one plain type, none missing  →  `read_classes`
→  `number.read_numbers`
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from immigrate.arrays import Array, Codes, Mask, unmasked
from immigrate.checks import InputError
from immigrate.kinds.column import FLAG_TYPES
from immigrate.progress import warn_user

# Numbers with more different values than that, some of them seen once, are measured, not given.
MOST_NUMERIC_CLASSES, LARGEST_SHARE_ONCE = 20, 0.1
A_NUMBER_IS_NO_CLASS = (
    "A classifier answers with one of a few classes. Use ImmigrateRegressor, or cut the target "
    "into classes, for example with pandas.qcut; InteractionTest takes numbers as they are."
)


@dataclass(frozen=True, eq=False)
class Labels:
    """The label of every sample: a class, or a number.

    Attributes
    ----------
    classes : ndarray
        In sorted order; empty where the label is a number.
    codes : ndarray of shape (n,)
        Index of each sample's class; 0 where the label is a number.
    numbers : ndarray of shape (n,) or None
        The label where it is a number.
    name : str
        What the label is called; "" where it has no name.
    """

    classes: NDArray[Any]
    codes: Codes
    numbers: Array | None = None
    name: str = ""

    @property
    def of_samples(self) -> NDArray[Any]:
        """The name of each sample's class as text, or its number."""
        if self.numbers is not None:
            return self.numbers
        return np.array([str(one) for one in self.classes], dtype=object)[self.codes]

    def with_numbers(self, rows: Codes, values: Array) -> Labels:
        """The same with other numbers for some of the samples."""
        numbers = np.array(self.numbers, dtype=np.float64)
        numbers[rows] = values
        return replace(self, numbers=numbers)

    def rows(self, chosen: Codes | Mask) -> Labels:
        """Those of some of the samples."""
        numbers = None if self.numbers is None else self.numbers[chosen]
        return replace(self, codes=self.codes[chosen], numbers=numbers)


def read_classes(y: Any, *, least_per_class: int = 2) -> Labels:
    """The classes of a target, and the class of every sample as a number.

    Parameters
    ----------
    y : array-like of shape (n,)
        Text, flags, categories or whole numbers, of NumPy, pandas or polars.
    least_per_class : int, default=2
        Samples that each class needs; 2 gives every sample a hit.

    Returns
    -------
    labels : Labels

    Examples
    --------
    >>> from immigrate.outcomes import read_classes
    >>> labels = read_classes(["ill", "well", "ill", "well"])
    >>> labels.classes, labels.codes
    (array(['ill', 'well'], dtype='<U4'), array([0, 1, 0, 1]))
    """
    y = plain_labels(y)
    if y.ndim != 1:
        raise ValueError(
            f"The target has shape {y.shape}; one label per sample was expected. Choose one "
            "column."
        )
    labels = _sorted_classes(y)
    sizes = np.bincount(labels.codes, minlength=len(labels.classes))
    _check_not_measured(y, labels.classes, sizes)
    check_class_sizes(labels.classes, sizes, least=least_per_class)
    return labels


def are_mostly_once(sizes: Codes) -> bool:
    """Whether numbers are measured: classes are seen again and again."""
    n_once = np.count_nonzero(sizes == 1)
    return len(sizes) > MOST_NUMERIC_CLASSES and bool(n_once > LARGEST_SHARE_ONCE * len(sizes))


def plain_labels(y: Any) -> NDArray[Any]:
    """Labels as an array of one plain type; a missing one is refused."""
    if isinstance(y, str):
        raise ValueError(
            f"y={y!r} is a text; one label per sample was expected. Give the column itself, and "
            f"the table without it: fit(table.drop(columns={y!r}), table[{y!r}])."
        )
    array = _array(y)
    if array.dtype.kind in "iub":
        return array
    is_missing = np.asarray(pd.isna(array))
    if is_missing.any():
        n_missing, row = int(is_missing.sum()), int(np.flatnonzero(is_missing.ravel())[0])
        raise ValueError(
            f"The target is missing (NaN) in {n_missing} of {len(array)} samples, first in row "
            f"{row}; every sample needs one. Drop these rows, or label them."
        )
    return _of_plain_type(array) if array.dtype.kind == "O" else array


def label_column(y: Any, n_samples: int) -> NDArray[Any]:
    """The same with scikit-learn's checks: one finite label for each of the samples."""
    array = plain_labels(y)
    if array.ndim != 1:
        array = column_or_1d(array, warn=True)
    if array.dtype.kind in "fc":
        array = check_array(array, ensure_2d=False, ensure_min_samples=0, input_name="y")
    if len(array) != n_samples:
        check_consistent_length(range(n_samples), array)
    return array


def warn_of_other_order(X: Any, y: Any) -> None:
    """Warn of a label whose index is that of the table in another order: rows go by position.

    Parameters
    ----------
    X, y : anything
        Only data frames and series of pandas have an index.
    """
    rows, labelled = getattr(X, "index", None), getattr(y, "index", None)
    if not isinstance(rows, pd.Index) or not isinstance(labelled, pd.Index):
        return
    if len(rows) != len(labelled) or rows.equals(labelled) or not rows.is_unique:
        return
    if labelled.is_unique and bool(labelled.isin(rows).all()):
        warn_user(
            "X and y have the same index in another order. Rows are paired by position, as "
            "everywhere in scikit-learn. Give y.loc[X.index] to pair them by index, or "
            "y.to_numpy() if the order is meant.",
            UserWarning,
        )


def check_class_sizes(classes: NDArray[Any], sizes: Codes, *, least: int = 2) -> None:
    """Refuse labels that leave a sample without a hit or without a miss."""
    if len(classes) < 2:
        raise ValueError(
            f"The target has one class only ({classes.tolist()[0]!r}); a margin needs at least 2 "
            "classes. Check that the right column is used as the target."
        )
    alone = classes[sizes < least].tolist()
    if alone:
        names = ", ".join(repr(label) for label in alone[:5]) + (", ..." if alone[5:] else "")
        raise ValueError(
            f"Class {names} has {sizes.min() or 'no'} sample; a nearest hit needs at least 2. "
            "Merge rare classes or drop them."
        )


def _array(y: Any) -> NDArray[Any]:
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(y, polars.Series | polars.DataFrame):
        # Not by its to_numpy, which gives floats for whole numbers and flags with gaps.
        series = y.to_series() if isinstance(y, polars.DataFrame) and y.width == 1 else y
        return np.asarray(series.to_list() if hasattr(series, "to_list") else y, dtype=object)
    array = unmasked(y) if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
    # NumPy makes text of everything that stands beside a text, NaN included.
    is_forced = array.dtype.kind == "U" and isinstance(y, list | tuple)
    if is_forced and not all(isinstance(label, str) for label in y):
        return np.asarray(y, dtype=object)
    return array


def _of_plain_type(array: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all flags or all numbers as such."""
    are_flags = {isinstance(label, FLAG_TYPES) for label in array.flat}
    are_numbers = {isinstance(label, Number) for label in array.flat}
    # Flags are numbers to Python; a mixture of both is left for the error about types.
    is_plain = are_flags == {True} or (are_numbers == {True} and are_flags == {False})
    return np.array(array.tolist()) if is_plain else array


def _sorted_classes(y: NDArray[Any]) -> Labels:
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        types = ", ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(
            f"The target mixes values of the types {types}, which have no "
            "order. Give all classes as text or all as whole numbers."
        ) from None
    if classes.dtype.kind == "O" and not all(isinstance(label, str | bytes) for label in classes):
        example = classes[0]
        raise ValueError(
            f"The target holds {example!r} ({type(example).__name__}); "
            "text, flags or whole numbers were expected. Turn the classes into text."
        )
    return Labels(classes, codes.astype(np.intp))


def _check_not_measured(y: NDArray[Any], classes: NDArray[Any], sizes: Codes) -> None:
    if y.dtype.kind not in "fiu" or not len(classes):
        return
    is_whole = y.dtype.kind != "f" or bool((classes == np.floor(classes)).all())
    if not is_whole or are_mostly_once(sizes):
        words = (
            f"The target is continuous, with {len(classes)} different numbers in {len(y)} "
            "samples; classes were expected."
        )
        raise InputError(
            # The first words are what scikit-learn expects.
            f"Unknown label type: {words} {A_NUMBER_IS_NO_CLASS}",
            shell=f"{words} Say --outcome number, or --outcome class if they are names.",
        )
