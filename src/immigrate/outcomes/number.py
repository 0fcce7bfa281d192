"""A label that is a number: read and checked, and told from classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.checks import InputError
from immigrate.outcomes.classes import Labels, are_mostly_once, plain_labels

# Up to so many different whole numbers are classes without a question.
MOST_CLEAR_CLASSES = 10
# Squares of numbers between these, and sums of many, are floats of full precision.
LARGEST_NUMBER, SMALLEST_SPAN = 1e140, 1e-140


def read_numbers(y: Any) -> Labels:
    """A label that is a number: finite, and not the same for all samples.

    Examples
    --------
    >>> from immigrate.outcomes import read_numbers
    >>> read_numbers([3, 1.5, 2]).numbers
    array([3. , 1.5, 2. ])
    """
    plain = plain_labels(y)
    if plain.ndim != 1 or plain.dtype.kind not in "fiub":
        words = (
            f"The target is to be a number for each sample; got {plain.dtype} of shape "
            f"{plain.shape}."
        )
        raise InputError(
            f"{words} Use outcome='class' or a classifier, or give numbers.",
            shell="The target holds no numbers, but names; leave --outcome number out.",
        )
    numbers = plain.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(
            f"The target is infinite in row {row}; a finite number was expected. Drop the "
            "row, or replace the value by a limit."
        )
    if len(numbers) and np.abs(numbers).max() > LARGEST_NUMBER:
        raise ValueError(
            f"The target holds numbers as large as {np.abs(numbers).max():.3g}, whose powers "
            "leave the range of floats. Give it in larger units."
        )
    if len(numbers) and np.all(numbers == numbers[0]):
        raise ValueError(
            f"The target is {numbers[0]:g} for all samples; there is nothing to explain. Check "
            "that the right column is used."
        )
    if len(numbers) and np.ptp(numbers) < SMALLEST_SPAN:
        raise ValueError(
            f"The target spans {np.ptp(numbers):.3g} only, whose powers leave the range of "
            "floats. Give it in smaller units."
        )
    return Labels(np.empty(0), np.zeros(len(numbers), dtype=np.intp), numbers)


def is_number_outcome(y: Any) -> bool:
    """Whether a label is a number rather than classes; refuses to guess where both may be meant.

    Text, flags and numbers with up to ten different whole values are classes. Numbers with many
    values are numbers.

    Examples
    --------
    >>> from immigrate.outcomes import is_number_outcome
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
    if len(values) > MOST_CLEAR_CLASSES and (not is_whole or are_mostly_once(sizes)):
        return True
    words = (
        f"The target has {len(values)} different numbers in {len(plain)} samples, which may be "
        "classes or measurements. Say which: "
    )
    raise InputError(
        f"{words}outcome='class' or outcome='number'.",
        shell=f"{words}--outcome class or --outcome number.",
    )
