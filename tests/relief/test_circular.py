"""Circular columns in the Relief family: nothing depends on where the clock starts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from immigrate import IRelief, MultiSURF, Relief, ReliefF, Simba, make_margin_knn
from immigrate.kernels import neighbours_numpy
from immigrate.kinds.circular import circular_mean
from immigrate.relief.base import from_arc_starts, mixed_table
from immigrate.relief.simba import class_mean_differences

SELECTORS = [
    Relief(),
    Relief(metric="manhattan", scale=None),
    ReliefF(n_neighbors=5),
    MultiSURF(),
    IRelief(sigma=0.3),
    Simba(n_starts=2, random_state=0),
    Simba(n_starts=2, random_state=0, global_share=0.5),
]


def nights(n=80, seed=0):
    """Class 1 is around midnight; 'dose' and 'angle' say nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    hour = np.where(y == 1, rng.normal(0, 1.5, n), rng.normal(12, 3, n)) % 24
    angle = rng.uniform(0, 360, n)
    angle[rng.uniform(size=n) < 0.1] = np.nan
    X = pd.DataFrame({"dose": rng.normal(size=n), "hour": hour, "angle": angle})
    return X.round(3), y


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_turning_the_clock_changes_nothing(selector):
    X, y = nights()
    circular = {"hour": 24, "angle": 360}
    selector.set_params(circular_features=circular).fit(X, y)
    scores = selector.feature_importances_
    later = X.assign(hour=X["hour"] + 7.5, angle=X["angle"] - 100)
    turned = selector.fit(later, y).feature_importances_
    np.testing.assert_allclose(turned, scores, rtol=1e-8, atol=1e-10)
    assert scores.argmax() == 1


def test_hours_around_midnight_are_seen_on_a_circle_alone():
    X, y = nights()
    on_a_line = ReliefF(n_neighbors=5).fit(X, y).feature_importances_
    on_a_circle = ReliefF(n_neighbors=5, circular_features={1: 24}).fit(X, y).feature_importances_
    assert on_a_circle[1] > on_a_line[1]


@pytest.mark.parametrize("scale", ["range", None])
@pytest.mark.parametrize("hours", [[22.0, 23.5, 1.0, 3.0], [0.0, 6.0, 12.0, 18.0]])
def test_differences_are_those_of_the_formula(hours, scale):
    X, period = np.array(hours)[:, None], np.array([24.0])
    y, line = np.array([0, 0, 1, 1]), np.abs(X - X.T)
    expected = np.minimum(line, 24 - line)
    values = from_arc_starts(X, period)
    table = mixed_table(values, y, np.array([False]), scale=scale, period=period)
    found = np.array([neighbours_numpy.differences(table, i)[:, 0] for i in range(4)])
    unit = expected.max() if scale == "range" else 1.0
    np.testing.assert_allclose(found, expected / unit, atol=1e-12)
    np.testing.assert_allclose(table.span, found.max())
    assert ReliefF(circular_features={0: 24}).fit(X, y).difference_units_ == expected.max()


def test_a_missing_hour_differs_by_the_mean_over_its_class():
    hours = np.array([23.0, 1.0, np.nan, 12.0, 10.0, 14.0])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    table = mixed_table(hours, y, scale=None, period=np.array([24.0]))
    differences = neighbours_numpy.differences(table, 2)[:, 0]
    np.testing.assert_allclose(differences[[0, 1, 3]], [1.0, 1.0, 11.0])


def test_centres_of_classes_are_directions():
    hours = np.array([22.0, 23.0, 2.0, 12.0, 10.0])[:, None]
    y = np.array([0, 0, 0, 1, 1])
    found = class_mean_differences(hours, np.array([False]), y, np.array([24.0]))[:, :, 0]
    # The mean of 23 and 2 is 0.5, as the sample itself is left out.
    np.testing.assert_allclose(found[0], [2.5, 11.0])
    own = circular_mean(hours[:3, 0], 24.0)
    np.testing.assert_allclose(found[3], [own - 12, 2.0])


def test_centres_of_hours_that_balance_each_other_are_as_far_as_directions_on_average():
    hours = np.array([0.0, 12.0, 3.0, 4.0])[:, None]
    y = np.array([0, 0, 1, 1])
    found = class_mean_differences(hours, np.array([False]), y, np.array([24.0]))[:, :, 0]
    np.testing.assert_allclose(found[2:, 0], 6.0)


def test_nearest_neighbours_on_a_line_refuse_circles():
    X, y = nights()
    model = make_margin_knn(ReliefF(circular_features={"hour": 24}))
    with pytest.raises(ValueError, match="Column 'hour' is circular; nearest neighbours measure"):
        model.fit(X[["dose", "hour"]], y)


def test_columns_that_are_no_numbers_are_refused():
    X, y = nights()
    with pytest.raises(ValueError, match="Did you mean 'hour'"):
        Relief(circular_features={"hours": 24}).fit(X, y)
