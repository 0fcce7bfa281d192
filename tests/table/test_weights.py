"""What weights of samples mean, exactly and at each limit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from immigrate.kinds.number import Number
from immigrate.outcomes import read_numbers
from immigrate.outcomes.classes import read_classes
from immigrate.table import Reader, Table
from immigrate.table.weights import (
    LEAST_SAMPLES,
    LEAST_SHARE,
    MOST_SAMPLES,
    SampleWeight,
    anchor_weights,
    effective_size,
    is_comparable,
    refuse_repeated,
    sample_counts,
    warn_if_no_counts,
)

ROWS = np.zeros((4, 1))


def two_classes():
    return read_classes(["a", "a", "b", "b"])


def test_importances_are_anchors_as_they_are_and_counts_are_shares():
    weight = np.array([1.0, 1.0, 3.0, 3.0])
    reader = Reader(("x0",), (Number(),))
    of_importances, of_counts, of_none = (
        Table.of_values(reader, ROWS, two_classes(), own).anchor_weight
        for own in (SampleWeight(weight, "importance"), SampleWeight(weight, "count"), None)
    )
    np.testing.assert_array_equal(of_importances, weight)
    np.testing.assert_array_equal(of_counts, weight / 8)
    assert of_none is None


def test_counts_of_importances_have_the_effective_size_as_sum():
    weight = np.array([1.0, 2.0, 3.0, 0.0])
    counts = SampleWeight(weight, "importance").as_counts()
    # (1 + 2 + 3)^2 / (1 + 4 + 9), in the proportions of the weights.
    np.testing.assert_allclose(counts, weight * 6 / 14)
    tiny = SampleWeight(1e-200 * weight, "importance").as_counts()
    np.testing.assert_allclose(tiny, counts, rtol=1e-12)
    np.testing.assert_array_equal(SampleWeight(weight, "count").as_counts(), weight)
    np.testing.assert_array_equal(SampleWeight(np.zeros(2), "importance").as_counts(), [0, 0])


def test_rows_keep_the_meaning():
    chosen = SampleWeight(np.array([1.0, 2.0, 3.0]), "count").rows(np.array([2, 0]))
    assert (chosen.values.tolist(), chosen.meaning) == ([3.0, 1.0], "count")


def test_anchors_are_the_product_of_both_weights_with_sum_1():
    found = anchor_weights(two_classes(), ROWS, [1.0, 2.0, 3.0, 4.0], {"a": 1.0, "b": 10.0})
    assert found.meaning == "importance"
    np.testing.assert_allclose(found.values, np.array([1, 2, 30, 40]) / 73)
    huge = anchor_weights(two_classes(), ROWS, [1e300, 2e300, 3e300, 4e300], {"a": 1e9, "b": 1e10})
    np.testing.assert_allclose(huge.values, found.values)


def test_a_sample_is_a_count_of_one_without_weights():
    for labels in (two_classes(), read_numbers([1.0, 2.0, 3.0, 4.0])):
        found = sample_counts(labels, ROWS, None)
        assert (found.values.tolist(), found.meaning) == ([1.0] * 4, "count")


@pytest.mark.parametrize(
    ("largest", "is_fine"),
    [
        (1.01 * LEAST_SAMPLES, True),
        (0.99 * LEAST_SAMPLES, False),
        (0.24 * MOST_SAMPLES, True),
        (0.26 * MOST_SAMPLES, False),
    ],
)
def test_counts_lie_between_a_millionth_and_a_trillion_samples_in_all(largest, is_fine):
    assert (LEAST_SAMPLES, MOST_SAMPLES) == (1e-6, 1e12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_fine:
            assert sample_counts(two_classes(), ROWS, np.full(4, largest)).values.max() == largest
        else:
            with pytest.raises(ValueError, match="The largest number in sample_weight is"):
                sample_counts(two_classes(), ROWS, np.full(4, largest))


def test_a_billionth_of_the_largest_count_is_none():
    assert LEAST_SHARE == 1e-9
    given = np.array([1.0, 1.0, 1.01e-9, 0.99e-9])
    found = sample_counts(read_classes(["a", "a", "b", "b"]), ROWS, given).values
    np.testing.assert_array_equal(found, [1.0, 1.0, 1.01e-9, 0.0])


def test_the_effective_size_is_that_of_equal_weights():
    assert effective_size(np.full(5, 1e-200)) == pytest.approx(5)
    assert effective_size(np.array([1.0, 2.0, 3.0])) == pytest.approx(36 / 14)


# One sample of weight 1 and one of weight w have the size (1 + w)^2 / (1 + w^2): 1.5 where w is
# 2 - sqrt(3).
BORDER = 2 - np.sqrt(3)


@pytest.mark.parametrize(("factor", "expected"), [(0.99, False), (1.01, True)])
def test_one_and_a_half_samples_are_compared(factor, expected):
    pair = np.array([1.0, factor * BORDER])
    assert is_comparable(np.array([0, 0]), pair) is expected
    # Enough in all, but in no class.
    weight, codes = np.array([1.0, factor * BORDER, 1.0]), np.array([0, 0, 1])
    assert is_comparable(codes, weight) is expected
    labels = read_numbers([1.0, 2.0])
    if expected:
        assert len(sample_counts(labels, ROWS[:2], pair).values) == 2
    else:
        with pytest.raises(ValueError, match="y is one number for all samples that have a weight"):
            sample_counts(labels, ROWS[:2], pair)


def test_a_class_of_weight_0_is_not_compared():
    assert is_comparable(np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]))


@pytest.mark.parametrize(("each", "warns"), [(0.49, True), (0.51, False)])
def test_a_sum_below_half_the_samples_is_no_count(each, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_no_counts(np.full(10, each))
    assert len(caught) == warns


def test_groups_of_several_samples_are_refused_with_the_first_of_them():
    refuse_repeated(["a", "b", "c"], 3)
    refuse_repeated([], 0)
    with pytest.raises(ValueError, match=r"3 members for 6 samples; 'b' has 2 of them"):
        refuse_repeated(["a", "b", "b", "c", "c", "c"], 6)
    with pytest.raises(ValueError, match=r"missing \(NaN\) in 2 of 4 samples, first in row 1"):
        refuse_repeated(["a", None, "b", None], 4)
    with pytest.raises(ValueError, match=r"the shape \(2,\) for 3 samples"):
        refuse_repeated(["a", "b"], 3)
