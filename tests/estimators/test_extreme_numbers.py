"""Numbers at the ends of the floats: a right answer or a clear refusal, never a NaN or a warning.

Warnings are errors in these tests, so that a fit that passes has raised none.
"""

import numpy as np
import pandas as pd
import pytest
from relief_family import selectors
from sklearn.exceptions import ConvergenceWarning

from immigrate import (
    LFE,
    BoostedImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    ImmigrateSelector,
    InteractionTest,
    IRelief,
    Relief,
    Simba,
)
from immigrate.options import Columns, Descent
from immigrate.table import ColumnWarning, SampleWeight

RAW = Columns(scale=None)
AS_THEY_ARE = [
    ImmigrateClassifier(columns=RAW),
    ImmigrateClassifierCV(ImmigrateClassifier(columns=RAW)),
    BoostedImmigrateClassifier(ImmigrateClassifier(columns=RAW), n_estimators=2),
]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_simba_without_a_useful_feature_gives_no_weight():
    with pytest.warns(ConvergenceWarning, match="no feature differs more from misses"):
        model = Simba(random_state=0).fit([[0], [1], [0], [1]], [0, 0, 1, 1])
    assert model.feature_importances_ == [0.0]
    assert model.margin_ == 0.0


@pytest.mark.parametrize("model", selectors(), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("scale", [1.0, 1e30, 5e37])
def test_single_precision_changes_no_score_of_the_relief_family(model, scale, table):
    X, y = table
    X = (X * scale).astype(np.float32)
    single = model.fit(X, y).feature_importances_
    double = model.fit(X.astype(np.float64), y).feature_importances_
    np.testing.assert_array_equal(single, double)


@pytest.mark.parametrize("model", AS_THEY_ARE, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("exponent", [-480, -300, 0, 300, 495])
def test_the_scale_of_an_unscaled_table_changes_no_weight(model, exponent, table):
    X, y = table
    expected = model.fit(X, y).feature_importances_
    found = model.fit(np.ldexp(X, exponent), y).feature_importances_
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "model",
    [*AS_THEY_ARE, Relief(scale=None), Simba(scale=None)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("scale", [1e-153, 1e-160, 1e-163, 1e-300])
def test_differences_whose_squares_vanish_are_refused(model, scale, table):
    X, y = table
    with pytest.raises(ValueError, match="would vanish"):
        model.fit(X * scale, y)


@pytest.mark.parametrize("model", [LFE(), *selectors()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e300])
def test_tables_in_units_of_their_range_may_have_any_scale(model, scale, table):
    X, y = table
    score = "weight_matrix_" if isinstance(model, LFE) else "feature_importances_"
    expected = getattr(model.fit(X, y), score)
    np.testing.assert_allclose(getattr(model.fit(X * scale, y), score), expected, rtol=1e-6)


@pytest.mark.parametrize("sigma", [1e-300, 1e-200, 1e-20, 1e20, 1e200, 1e300])
@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
@pytest.mark.parametrize("solver", ["monotone", "paper"])
def test_irelief_is_finite_for_any_width_and_weights(sigma, scale, solver, table):
    X, y = table
    weight = np.r_[0.0, 0.0, 1e300, np.ones(37)]
    model = IRelief(sigma=sigma, scale=None, solver=solver)
    try:
        model.fit(X * scale, y, sample_weight=weight)
    except ConvergenceWarning:
        return  # clear words, no NaN
    assert np.isfinite(model.feature_importances_).all()
    assert np.isfinite(model.objective_path_).all()


def test_the_cost_of_irelief_tends_to_the_hard_margin():
    X, y = np.array([[0.0], [1.0], [4.0], [6.0]]), np.array([0, 0, 1, 1])
    model = IRelief(sigma=1e-250, scale=None).fit(X, y)
    # Nearest miss less nearest hit: 4 - 1, 3 - 1, 3 - 2, 5 - 2.
    assert model.objective_path_[-1] == pytest.approx(-np.mean([3, 2, 1, 3]))


@pytest.mark.parametrize("sigma", [1e-320, 1e308])
@pytest.mark.parametrize(
    "model", [ImmigrateClassifier(), IM4EClassifier(), IRelief()], ids=lambda m: type(m).__name__
)
def test_widths_at_the_ends_of_the_floats_are_refused(model, sigma, table):
    with pytest.raises(ValueError, match="sigma must be a number between 1e-300 and 1e\\+300"):
        model.set_params(sigma=sigma).fit(*table)


@pytest.mark.parametrize(
    "model",
    [ImmigrateClassifier(), IM4EClassifier(), *selectors()],
    ids=lambda m: type(m).__name__,
)
def test_huge_weights_of_samples_and_classes_do_not_overflow_their_product(model, table):
    X, y = table
    weight = np.full(40, 1e300)
    huge = model.set_params(class_weight={0: 1e300, 1: 2e300}).fit(X, y, sample_weight=weight)
    found = huge.feature_importances_
    plain = model.set_params(class_weight={0: 1, 1: 2}).fit(X, y).feature_importances_
    model.set_params(class_weight=None)
    np.testing.assert_allclose(found, plain, rtol=1e-10)


@pytest.mark.parametrize("weight", [1e-300, 1e-10, 1e15, 1e155, 1e300, 1e308])
def test_counts_that_no_table_has_are_refused_by_the_test(weight, table):
    X, y = table
    with pytest.raises(ValueError, match="counts below 1e-06, or of more than 1e\\+12 samples"):
        InteractionTest().fit(X, y, sample_weight=np.full(40, weight))


@pytest.mark.parametrize("other", [1.0, 1e-4])
def test_weight_on_one_sample_of_each_class_is_refused_by_the_test(other, table):
    X, y = table
    weight = np.full(40, 1e-5)
    weight[[np.argmin(y), np.argmax(y)]] = 1.0, other
    with pytest.raises(ValueError, match="nearly all weight, or that of every class"):
        InteractionTest().fit(X, y, sample_weight=weight)
    ImmigrateClassifier(screen="pairs").fit(X, y, sample_weight=weight)


def test_a_feature_of_one_level_makes_no_products():
    X = pd.DataFrame({"same": ["a"] * 8, "x": np.arange(8.0), "z": [0.0, 1, 1, 0, 2, 1, 0, 1]})
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(ColumnWarning, match="'same'"):
        selector = ImmigrateSelector(pairs=True, test=False).fit(X, y)
    assert "same" not in "".join(selector.get_feature_names_out())


@pytest.mark.parametrize("model", [Relief(scale=None), IRelief(scale=None)])
def test_gaps_in_a_huge_unscaled_column_are_no_overflow(model, table):
    X, y = table
    X = X * [1e100, 1.0, 1.0]
    X[::7, 0] = np.nan
    assert np.isfinite(model.fit(X, y).feature_importances_).all()


def test_huge_weights_have_a_mean_in_the_selector(table):
    X, y = table
    plain = ImmigrateSelector(pairs=True, test=False).fit(X, y)
    huge = ImmigrateSelector(pairs=True, test=False).fit(X, y, sample_weight=np.full(40, 1e307))
    np.testing.assert_allclose(huge.transform(X), plain.transform(X), rtol=1e-9)


@pytest.mark.parametrize("exponent", [-900, 0, 900])
def test_counts_of_weights_do_not_depend_on_their_unit(exponent):
    """w sum(w) / sum(w^2), whatever the size of the squares."""
    weight = np.array([0.5, 1.0, 0.0, 3.0])
    found = SampleWeight(np.ldexp(weight, exponent), "importance").as_counts()
    np.testing.assert_array_equal(found, weight * 4.5 / 10.25)
    np.testing.assert_array_equal(SampleWeight(np.zeros(3), "importance").as_counts(), 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_drawn_class_may_weigh_next_to_nothing(table):
    """Of one class only samples below the smallest normal number are drawn; no overflow."""
    X, y = table
    weight = np.ones(40)
    weight[np.flatnonzero(y == y[0])] = 1e-310
    weight[np.flatnonzero(y == y[0])[-1]] = 1.0
    solver = Descent(n_anchors=0.5, n_references=0.7, max_iter=5)
    for seed in range(4):
        model = IM4EClassifier(solver=solver, random_state=seed).fit(X, y, sample_weight=weight)
        assert np.isfinite(model.feature_importances_).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_huge_constant_beside_a_tiny_range_is_no_overflow(table):
    """In units that show the squares of the tiny one, the constant is beyond float32."""
    X, y = table
    X = X * 1e-127
    alone = LFE().fit(X, y).weight_matrix_
    with pytest.warns(ColumnWarning, match="constant"):
        model = LFE().fit(np.column_stack([X, np.full(40, -1e18)]), y)
    found = model.weight_matrix_
    np.testing.assert_allclose(found[:3, :3] / found.max(), alone / alone.max(), atol=1e-9)
    np.testing.assert_array_equal(found[3], 0)
