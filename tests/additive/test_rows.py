"""A long table is visited a block of rows at a time, and gives the answers of one block."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import sklearn
from additive.problems import encoded, mixed_problem
from additive.test_newton import many_class_problem

from immigrate import InteractionTest
from immigrate.additive import ridge
from immigrate.additive.basis import MOST_TABLED, cosines
from immigrate.additive.newton import CoefficientSpace, SampleSpace
from immigrate.additive.null_model import fitted_additive_model
from immigrate.additive.ridge import sample_for_folds
from immigrate.additive.rows import LazyColumns
from immigrate.interactions import statistics

COLUMNS = ["p_value", "statistic", "size", "size_low", "size_high"]
# Columns that the null model explains nearly all of make rounding errors this large.
ROUNDING = 1e-7


def problem(kind, n=900):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 4, n)
    z = X[:, 0] + np.abs(X[:, 1]) + X[:, 2] * X[:, 1] + rng.logistic(size=n)
    if kind == "missing":
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X, z if kind == "number" else (z > 0.5).astype(int)


def test_columns_that_do_not_fit_are_never_all_there():
    X, y = problem("class")
    for memory, kind in ((1024, np.ndarray), (0.1, LazyColumns)):
        with sklearn.config_context(working_memory=memory):
            assert isinstance(fitted_additive_model(encoded(X, y)).Z, kind)


def fitted(X, y, working_memory, n_jobs=1):
    with sklearn.config_context(working_memory=working_memory):
        return InteractionTest(n_jobs=n_jobs).fit(X, y)


@pytest.mark.parametrize(
    ("kind", "block_rows"), [("class", 100), ("class", 333), ("number", 100), ("missing", 333)]
)
def test_blocks_of_rows_do_not_change_the_answer(monkeypatch, kind, block_rows):
    monkeypatch.setattr(statistics, "BLOCK_ROWS", block_rows)
    X, y = problem(kind)
    whole, blocked = fitted(X, y, 1024), fitted(X, y, 0.1)
    for one, other in ((whole.table_, blocked.table_), (whole.features_, blocked.features_)):
        names = one.filter(like="feature").columns
        assert one[names].equals(other[names])
        columns = [name for name in COLUMNS if name in one]
        np.testing.assert_allclose(one[columns], other[columns], rtol=ROUNDING, atol=1e-9)
    np.testing.assert_allclose(
        whole.effect("x1", "x2").to_frame()["value"],
        blocked.effect("x1", "x2").to_frame()["value"],
        rtol=ROUNDING,
        atol=1e-9,
    )


def test_threads_that_share_the_rows_do_not_change_a_bit():
    X, y = problem("class")
    one, two = (fitted(X, y, 0.1, n_jobs) for n_jobs in (1, 2))
    assert one.table_.equals(two.table_)
    assert one.features_.equals(two.features_)


def test_memory_does_not_grow_with_the_columns_of_the_null_model(monkeypatch):
    # An eighth of a table of 20,000 samples, of its blocks and of the memory for it.
    monkeypatch.setattr(statistics, "BLOCK_ROWS", 1024)
    X, y = problem("class", n=2500)
    fitted(X[:500], y[:500], 1024)
    tracemalloc.start()
    with sklearn.config_context(working_memory=2):
        InteractionTest(stepwise=False).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # It takes 9 MB, and 21 MB where all columns are there at once.
    assert peak < 12.5e6


def test_a_sample_for_folds_has_its_share_of_every_class(monkeypatch):
    data = mixed_problem()
    monkeypatch.setattr(ridge, "MOST_IN_FOLDS", 100)
    sample = sample_for_folds(data)
    assert len(sample.weight) == 100
    np.testing.assert_allclose(sample.outcome.Y.mean(), data.outcome.Y.mean(), atol=0.01)
    assert sample.bases == data.bases
    a, b = (fitted_additive_model(one).strength for one in (data, sample))
    assert min(a, b) > 0


def test_the_samples_of_folds_do_not_depend_on_the_order_of_samples(monkeypatch):
    monkeypatch.setattr(ridge, "MOST_IN_FOLDS", 50)
    rng = np.random.default_rng(0)
    X, y, order = rng.normal(size=(200, 2)), rng.integers(0, 2, 200), rng.permutation(200)
    one, other = (sample_for_folds(encoded(X[i], y[i])) for i in (np.arange(200), order))
    assert sorted(one.levels[0].code) == sorted(other.levels[0].code)


def test_recurred_cosines_are_the_cosines():
    u = np.random.default_rng(0).uniform(size=1000)
    np.testing.assert_allclose(cosines(u, 12, MOST_TABLED + 1), cosines(u, 12), atol=1e-12)


@pytest.mark.parametrize("space", [CoefficientSpace, SampleSpace])
def test_forms_without_a_matrix_explain_what_the_matrix_does(space):
    data = many_class_problem()
    model = fitted_additive_model(data)
    inverse = space(model.Z, model.means, data.weight, model.refit_penalty + 1e-3)
    A = np.random.default_rng(0).normal(size=(2, 3, len(data.weight)))
    matrix = CoefficientSpace(model.Z, model.means, data.weight, inverse.penalty)
    for c, (form, size) in enumerate(inverse.forms()):
        F = matrix.explained(c)
        moved = A @ F.T
        expected = moved @ moved.transpose(0, 2, 1)
        found = form.covariance(form.partial(A, slice(None)))
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(size, np.sum(F**2 / data.weight), rtol=1e-9)


def test_rows_that_are_made_again_are_the_same():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    lazy = LazyColumns((lambda rows: Z[rows].T,), Z.shape)
    for rows in (slice(0, 20), slice(20, 50), slice(0, 20)):
        np.testing.assert_array_equal(lazy[rows], Z[rows])
    np.testing.assert_array_equal(lazy.chosen(np.array([2]))[slice(0, 9)], Z[:9, [2]])
