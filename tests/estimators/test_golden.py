"""The R package's numbers, through the public class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from immigrate import ImmigrateClassifier
from immigrate.core.couplings import distance_share
from immigrate.options import Columns, FullSteps

TOLERANCE = 1e-10


def r_fit(case, n_steps, sample_weight=None):
    model = ImmigrateClassifier(
        sigma=case["sigma"],
        solver=FullSteps(init=case["W0"], max_iter=n_steps, tol=0),
        constraint="clip",
        rule="distance",
        columns=Columns(scale=None),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(case["X"], case["y"], sample_weight)


@pytest.mark.parametrize(
    ("n_steps", "weighted", "expected"),
    [
        (1, False, "immigrate_one_step"),
        (10, False, "immigrate_ten_steps"),
        (1, True, "immigrate_weighted_one_step"),
    ],
)
def test_weights(golden, n_steps, weighted, expected):
    model = r_fit(golden, n_steps, golden["sample_weight"] if weighted else None)
    np.testing.assert_allclose(model.weight_matrix_, golden[expected], rtol=0, atol=TOLERANCE)


def test_new_points(golden):
    model = r_fit(golden, 10)
    share = distance_share(model.expected_distances(golden["new_X"]))
    np.testing.assert_allclose(share, golden["new_expected_distance_share"], atol=TOLERANCE)
    np.testing.assert_array_equal(model.predict(golden["new_X"]), golden["new_class"])


def test_leave_one_out(golden):
    model = r_fit(golden, 10)
    share = distance_share(model.expected_distances())
    np.testing.assert_allclose(share, golden["loo_expected_distance_share"], atol=TOLERANCE)
    np.testing.assert_array_equal(model.leave_one_out_predict(), golden["loo_class"])
