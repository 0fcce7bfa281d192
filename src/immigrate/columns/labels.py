"""Class labels from any container, checked with the word that it is the label."""

from __future__ import annotations

import sys
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.arrays import Codes
from immigrate.columns.objects import FLAG_TYPES, unmasked
from immigrate.progress import warn_user

# Numbers with more different values than that, some of them seen once, are measured, not given.
MOST_NUMERIC_CLASSES, LARGEST_SHARE_ONCE = 20, 0.1
# Up to so many different whole numbers are classes without a question.
MOST_CLEAR_CLASSES = 10
# Squares of numbers between these, and sums of many, are floats of full precision.
LARGEST_NUMBER, SMALLEST_SPAN = 1e140, 1e-140
WHAT_TO_DO_WITH_NUMBERS = (
    "A classifier answers with one of a few classes. Use a regression method, or cut the label "
    "into classes, for example with pandas.qcut; InteractionTest takes numbers as they are."
)


class Labels(NamedTuple):
    """Classes in sorted order, and the index of each sample's class."""

    classes: NDArray[Any]
    codes: Codes


def read_labels(y: Any, *, least_per_class: int = 2) -> Labels:
    """Classes and class codes of a label.

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
    >>> from immigrate.columns import read_labels
    >>> read_labels(["ill", "well", "ill", "well"])
    Labels(classes=array(['ill', 'well'], dtype='<U4'), codes=array([0, 1, 0, 1]))
    """
    y = plain_labels(y)
    if y.ndim != 1:
        raise ValueError(
            f"y, the label, has shape {y.shape}; one label per sample was expected. Choose one "
            "column."
        )
    labels = _sorted_classes(y)
    sizes = np.bincount(labels.codes, minlength=len(labels.classes))
    _check_not_measured(y, labels.classes, sizes)
    check_class_sizes(labels.classes, sizes, least=least_per_class)
    return labels


def read_numbers(y: Any) -> NDArray[np.float64]:
    """A label that is a number: finite, and not the same for all samples.

    Examples
    --------
    >>> from immigrate.columns import read_numbers
    >>> read_numbers([3, 1.5, 2])
    array([3. , 1.5, 2. ])
    """
    plain = plain_labels(y)
    if plain.ndim != 1 or plain.dtype.kind not in "fiub":
        raise ValueError(
            f"y, the label, is to be a number for each sample; got {plain.dtype} of shape "
            f"{plain.shape}. Use outcome='class', or give numbers."
        )
    numbers = plain.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(
            f"y, the label, is infinite in row {row}; a finite number was expected. Drop the "
            "row, or replace the value by a limit."
        )
    if len(numbers) and np.abs(numbers).max() > LARGEST_NUMBER:
        raise ValueError(
            f"y, the label, holds numbers as large as {np.abs(numbers).max():.3g}, whose powers "
            "leave the range of floats. Give it in larger units."
        )
    if len(numbers) and np.all(numbers == numbers[0]):
        raise ValueError(
            f"y, the label, is {numbers[0]:g} for all samples; there is nothing to explain. Check "
            "that the right column is used."
        )
    if len(numbers) and np.ptp(numbers) < SMALLEST_SPAN:
        raise ValueError(
            f"y, the label, spans {np.ptp(numbers):.3g} only, whose powers leave the range of "
            "floats. Give it in smaller units."
        )
    return numbers


def is_number_outcome(y: Any) -> bool:
    """Whether a label is a number rather than classes; refuses to guess where both may be meant.

    Text, flags and numbers with up to ten different whole values are classes. Numbers with many
    values are numbers.

    Examples
    --------
    >>> from immigrate.columns import is_number_outcome
    >>> is_number_outcome(["ill", "well"]), is_number_outcome([0.1 * i for i in range(30)])
    (False, True)
    """
    plain = plain_labels(y)
    if plain.dtype.kind not in "fiu":
        return False
    values, sizes = np.unique(plain, return_counts=True)
    is_whole = plain.dtype.kind != "f" or bool((values == np.floor(values)).all())
    # Two numbers are two classes, whatever they are.
    if len(values) <= 2 or (is_whole and len(values) <= MOST_CLEAR_CLASSES):
        return False
    if len(values) > MOST_CLEAR_CLASSES and (not is_whole or _are_mostly_once(sizes)):
        return True
    raise ValueError(
        f"y, the label, has {len(values)} different numbers in {len(plain)} samples, which may be "
        "classes or measurements. Say which: outcome='class' or outcome='number'."
    )


def _are_mostly_once(sizes: Codes) -> bool:
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
    is_missing = np.asarray(pd.isna(array))
    if is_missing.any():
        n_missing, row = int(is_missing.sum()), int(np.flatnonzero(is_missing.ravel())[0])
        raise ValueError(
            f"y, the label, is missing (NaN) in {n_missing} of {len(array)} samples, first in row "
            f"{row}; every sample needs one. Drop these rows, or label them."
        )
    return _of_plain_type(array) if array.dtype.kind == "O" else array


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
            f"y holds one class only ({classes.tolist()[0]!r}); a margin needs at least 2 "
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
            f"Unknown label type: y, the label, mixes values of the types {types}, which have no "
            "order. Give all classes as text or all as whole numbers."
        ) from None
    if classes.dtype.kind == "O" and not all(isinstance(label, str | bytes) for label in classes):
        example = classes[0]
        raise ValueError(
            f"Unknown label type: y, the label, holds {example!r} ({type(example).__name__}); "
            "text, flags or whole numbers were expected. Turn the classes into text."
        )
    return Labels(classes, codes.astype(np.intp))


def _check_not_measured(y: NDArray[Any], classes: NDArray[Any], sizes: Codes) -> None:
    if y.dtype.kind not in "fiu" or not len(classes):
        return
    is_whole = y.dtype.kind != "f" or bool((classes == np.floor(classes)).all())
    if not is_whole or _are_mostly_once(sizes):
        raise ValueError(
            f"Unknown label type: y, the label, is continuous, with {len(classes)} different "
            f"numbers in {len(y)} samples; classes were expected. {WHAT_TO_DO_WITH_NUMBERS}"
        )
