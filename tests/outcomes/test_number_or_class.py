"""Where a label is a number, where it is a class, and where nobody guesses."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.checks import InputError
from immigrate.outcomes import is_number_outcome, read_numbers


@pytest.mark.parametrize(
    ("y", "is_number"),
    [
        (["ill", "well"], False),
        ([True, False, True], False),
        ([0.5, 1.5] * 20, False),  # two numbers are two classes
        (list(range(10)) * 3, False),
        ([float(i) for i in range(10)] * 3, False),
        (list(range(40)), True),  # seen once each
        ([i + 0.5 for i in range(11)] * 3, True),
    ],
)
def test_clear_labels_are_not_asked_about(y, is_number):
    assert is_number_outcome(np.array(y)) is is_number


@pytest.mark.parametrize(
    ("y", "count"), [(list(range(11)) * 3, 11), ([0.5, 1.5, 2.5] * 5, 3), ([0.5, 1.5, 2.0], 3)]
)
def test_unclear_labels_are_asked_about_in_python_and_in_the_shell(y, count):
    with pytest.raises(InputError) as caught:
        is_number_outcome(np.array(y))
    start = f"The target has {count} different numbers in {len(y)} samples, which may be classes"
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith("Say which: outcome='class' or outcome='number'.")
    assert caught.value.shell.endswith("Say which: --outcome class or --outcome number.")


def test_numbers_are_read_up_to_the_range_of_their_powers():
    assert read_numbers([-1e140, 1.0]).numbers.tolist() == [-1e140, 1.0]
    with pytest.raises(ValueError, match=r"as large as 1\.01e\+140"):
        read_numbers([-1.01e140, 1.0])
    assert read_numbers([0.0, 1.01e-140]).numbers.tolist() == [0.0, 1.01e-140]
    with pytest.raises(ValueError, match=r"spans 9\.9e-141 only"):
        read_numbers([0.0, 9.9e-141])


def test_a_number_for_each_sample_and_not_the_same_for_all():
    with pytest.raises(ValueError, match="infinite in row 2"):
        read_numbers([1.0, 2.0, np.inf, -np.inf])
    with pytest.raises(ValueError, match="The target is 3 for all samples"):
        read_numbers([3.0, 3.0, 3.0])
    with pytest.raises(ValueError, match="to be a number for each sample; got"):
        read_numbers(["a", "b"])
    labels = read_numbers([True, False, True])
    assert labels.numbers.tolist() == [1.0, 0.0, 1.0]
    assert labels.codes.tolist() == [0, 0, 0]
    assert labels.classes.size == 0
