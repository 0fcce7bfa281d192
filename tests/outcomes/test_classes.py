from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from immigrate.outcomes import check_class_sizes, read_classes, read_numbers, warn_of_other_order
from immigrate.outcomes.classes import A_NUMBER_IS_NO_CLASS, MOST_NUMERIC_CLASSES
from immigrate.table import read_training_table

NAMES = ["ill", "well", "well", "ill"]


def polars_series(values, **options):
    return pytest.importorskip("polars").Series(values, **options)


CONTAINERS = {
    "list": lambda: NAMES,
    "array": lambda: np.array(NAMES),
    "objects": lambda: np.array(NAMES, dtype=object),
    "series": lambda: pd.Series(NAMES, index=[5, 6, 7, 5]),
    "string": lambda: pd.Series(NAMES, dtype="string"),
    "category": lambda: pd.Series(pd.Categorical(NAMES, categories=["x", "well", "ill"])),
    "polars": lambda: polars_series(NAMES),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_agree(container):
    labels = read_classes(CONTAINERS[container]())
    classes, codes = labels.classes, labels.codes
    assert classes.tolist() == ["ill", "well"]
    np.testing.assert_array_equal(codes, [0, 1, 1, 0])


@pytest.mark.parametrize(
    "flags",
    [
        [True, False, False, True],
        pd.Series([True, False, False, True], dtype="boolean"),
        np.array([True, False, False, True], dtype=object),
    ],
)
def test_flags_stay_flags(flags):
    labels = read_classes(flags)
    classes, codes = labels.classes, labels.codes
    assert classes.dtype == bool
    np.testing.assert_array_equal(codes, [1, 0, 0, 1])


@pytest.mark.parametrize(
    "numbers",
    [
        [3, -1, -1, 3],
        np.array([3, -1, -1, 3], dtype=object),
        pd.Series([3, -1, -1, 3], dtype="Int64"),
        [3.0, -1.0, -1.0, 3.0],
        np.array([3, -1.0, -1, 3.0], dtype=object),
    ],
)
def test_whole_numbers_are_classes(numbers):
    labels = read_classes(numbers)
    classes, codes = labels.classes, labels.codes
    assert classes.dtype.kind in "if"
    np.testing.assert_array_equal(classes[codes], [3, -1, -1, 3])


def test_polars_flags_and_numbers():
    assert read_classes(polars_series([True, False, False, True])).classes.dtype == bool
    assert read_classes(polars_series([1, 2, 2, 1])).classes.tolist() == [1, 2]


def test_many_classes_of_whole_numbers_are_fine_if_each_comes_back():
    n = MOST_NUMERIC_CLASSES + 10
    assert len(read_classes(np.repeat(np.arange(n), 2)).classes) == n


def test_classes_of_one_sample_are_fine_where_no_hit_is_needed():
    assert len(read_classes(["a", "a", "b"], least_per_class=1).classes) == 2


def test_a_weight_of_0_can_leave_a_class_empty():
    with pytest.raises(ValueError, match="Class 'b' has no sample"):
        check_class_sizes(np.array(["a", "b"]), np.array([3, 0]))


MISSING = (
    "The target is missing (NaN) in 1 of 4 samples, first in row 2; every sample needs one. "
    "Drop these rows, or label them."
)
MEASURED = (
    "Unknown label type: The target is continuous, with {} different numbers in {} samples; "
    f"classes were expected. {A_NUMBER_IS_NO_CLASS}"
)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["ill", "well", None, "ill"], MISSING),
        (["ill", "well", np.nan, "ill"], MISSING),
        ([1.0, 2.0, np.nan, 1.0], MISSING),
        (np.ma.masked_array([1, 2, 2, 1], [False, False, True, False]), MISSING),
        (np.ma.masked_array(["a", "b", "b", "a"], [False, False, True, False]), MISSING),
        (pd.Series(["ill", "well", None, "ill"], dtype="category"), MISSING),
        (pd.Series([1, 2, None, 1], dtype="Int64"), MISSING),
        (pd.Series([True, False, None, True], dtype="boolean"), MISSING),
        ([0.5, 1.5, 0.5, 1.5], MEASURED.format(2, 4)),
        (np.arange(30), MEASURED.format(30, 30)),
        (
            ["a", "a", "a"],
            "The target has one class only ('a'); a margin needs at least 2 classes. Check that "
            "the right column is used as the target.",
        ),
        (
            ["a", "a", "b"],
            "Class 'b' has 1 sample; a nearest hit needs at least 2. Merge rare classes or drop "
            "them.",
        ),
        (
            ["a", 1, "a", 1],
            "The target mixes values of the types int, str, which have no "
            "order. Give all classes as text or all as whole numbers.",
        ),
        (
            np.array([(1, 2), None, (1, 2)], dtype=object)[[0, 2]],
            "The target holds (1, 2) (tuple); text, flags or whole numbers "
            "were expected. Turn the classes into text.",
        ),
        (
            [["a", "b"], ["a", "b"]],
            "The target has shape (2, 2); one label per sample was expected. Choose one column.",
        ),
    ],
)
def test_bad_labels_say_what_is_wrong(y, message):
    with pytest.raises(ValueError) as caught:
        read_classes(y)
    assert str(caught.value) == message


def test_a_missing_label_of_polars_is_named():
    with pytest.raises(ValueError, match=r"missing \(NaN\) in 1 of 3 samples, first in row 1"):
        read_classes(polars_series([1, None, 2]))


@pytest.mark.parametrize(
    ("factor", "message"),
    [(1e200, r"as large as 3e\+200.*larger units"), (1e-200, "spans 2e-200 only.*smaller units")],
)
def test_numbers_whose_powers_are_no_floats_are_refused(factor, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(np.array([1.0, 2.0, 3.0]) * factor)


def test_an_index_in_another_order_is_said():
    X = pd.DataFrame({"x": range(4)}, index=list("abcd"))
    y = pd.Series([0, 1, 0, 1], index=list("abcd"))
    with pytest.warns(UserWarning, match=r"same index in another order.*y\.loc\[X\.index\]"):
        warn_of_other_order(X, y[::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (y, y.to_numpy(), y.reset_index(drop=True), y[:3], y.set_axis([*"aabc"])):
            warn_of_other_order(X, other)
        warn_of_other_order(X.to_numpy(), y)


def test_a_fit_says_that_the_index_is_in_another_order():
    X = pd.DataFrame({"x": range(8)})
    y = pd.Series([0, 1] * 4)
    with pytest.warns(UserWarning, match="same index in another order"):
        read_training_table(BaseEstimator(), X[::-1], y)
