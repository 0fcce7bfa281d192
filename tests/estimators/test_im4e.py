from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.preprocessing import StandardScaler

from immigrate import IM4EClassifier
from immigrate.core.cones import VECTOR_SETS
from immigrate.core.forms import LINEAR
from immigrate.kernels import Pieces
from immigrate.kernels.numpy_pass import PlainPass
from immigrate.options import Columns, Descent, FullSteps
from immigrate.table import ColumnWarning

RAW = Columns(scale=None)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@pytest.mark.parametrize(("n_steps", "expected"), [(1, "im4e_one_step"), (10, "im4e_ten_steps")])
def test_r_weights(golden, n_steps, expected):
    solver = FullSteps(max_iter=n_steps, tol=0)
    model = IM4EClassifier(golden["sigma"], solver=solver, columns=RAW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(golden["X"], golden["y"])
    np.testing.assert_allclose(model.feature_weights_, golden[expected], rtol=0, atol=1e-10)


@quiet
@settings(max_examples=100)
@given(problems(form="vector", max_n=20, max_p=6))
def test_cost_never_rises_and_the_gap_certifies_convergence(problem):
    model = IM4EClassifier(problem.sigma).fit(problem.X, problem.y, problem.anchor_weight)
    assert np.diff(model.objective_path_).max(initial=0) <= 1e-13 * problem.sigma
    assert not model.converged_ or -1e-9 <= model.gap_ <= 1e-3
    assert (model.feature_weights_ >= 0).all()
    assert model.feature_weights_.sum() == pytest.approx(1)


@quiet
@settings(max_examples=50)
@given(problems(form="vector", max_n=20, max_p=6), st.randoms(use_true_random=False))
def test_no_weights_of_the_same_norm_are_lower_to_first_order(problem, random):
    model = IM4EClassifier(problem.sigma, solver=Descent(tol=1e-6), columns=RAW)
    model.fit(problem.X, problem.y)
    if not model.converged_:
        return
    w = VECTOR_SETS["sphere"].scaled(model.feature_weights_)
    even = np.full(len(problem.X), 1 / len(problem.X))
    passes = PlainPass(Pieces.of(problem.X, problem.y, form=LINEAR), even)
    gradient = passes.margin(w, problem.sigma).gradient
    rng = np.random.default_rng(random.randrange(2**32))
    for v in rng.uniform(size=(20, len(w))):
        drop = gradient @ (w - VECTOR_SETS["sphere"].scaled(v))
        assert drop <= 1e-5 * np.linalg.norm(gradient)


@quiet
def test_first_step_of_descent_is_the_papers(wine):
    """The direction is the same; the scale is that of the solver's own set."""
    X, y = wine
    paper = IM4EClassifier(4.0, solver=FullSteps(max_iter=1, tol=0)).fit(X, y)
    descent = IM4EClassifier(4.0, solver=Descent(max_iter=1, tol=0)).fit(X, y)
    np.testing.assert_allclose(descent.feature_weights_, paper.feature_weights_, rtol=1e-12)


@pytest.mark.parametrize("rule", ["distance", "energy"])
def test_prediction_is_the_rule_written_out(wine, rule):
    """Eq. 9 with w' |d|, in loops."""
    X, y = wine
    model = IM4EClassifier(0.3, rule=rule, columns=RAW).fit(X[::2], y[::2])
    w = VECTOR_SETS["sphere"].scaled(model.feature_weights_)
    for x, predicted in zip(X[1::20].to_numpy(), model.predict(X[1::20])):
        q = np.abs(X[::2].to_numpy() - x) @ w
        scores = []
        for label in model.classes_:
            q_class = q[y[::2] == label]
            factor = np.exp(-q_class / 0.3)
            expected = (factor @ q_class) / factor.sum()
            scores.append(expected if rule == "distance" else -np.log(factor.sum()))
        assert predicted == model.classes_[np.argmin(scores)]


def test_prediction_is_accurate(wine):
    X, y = wine
    assert IM4EClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) >= 0.94


def test_select_from_model_takes_the_heaviest_by_name(wine):
    X, y = wine
    selector = SelectFromModel(IM4EClassifier(), max_features=3, threshold=-np.inf).fit(X, y)
    weight = pd.Series(IM4EClassifier().fit(X, y).feature_weights_, X.columns)
    assert set(selector.get_feature_names_out()) == set(weight.nlargest(3).index)


def test_pickle_predicts_the_same(wine):
    X, y = wine
    model = IM4EClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_sample_weights_change_the_weights_by_their_ratios_only(wine):
    X, y = wine
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    one = IM4EClassifier().fit(X, y, weight).feature_weights_
    np.testing.assert_allclose(IM4EClassifier().fit(X, y, 9 * weight).feature_weights_, one)
    assert np.abs(one - IM4EClassifier().fit(X, y).feature_weights_).max() > 1e-3


def test_uninformative_features_keep_the_start_and_say_so():
    with (
        pytest.warns(ColumnWarning, match="constant"),
        pytest.warns(ConvergenceWarning, match="No admissible direction"),
    ):
        model = IM4EClassifier().fit(np.ones((6, 4)), np.arange(6) % 2)
    np.testing.assert_allclose(model.feature_weights_, 0.25)


@quiet
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("solver", ["monotone", "paper"])
def test_any_sigma_and_any_unit_give_finite_answers(sigma, scale, solver):
    X = scale * np.random.default_rng(0).standard_normal((20, 5))
    model = IM4EClassifier(sigma, solver=solver).fit(X, np.arange(20) % 2)
    assert model.feature_weights_.sum() == pytest.approx(1)
    assert np.isfinite(model.objective_path_).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "sigma must be a number above 0"),
        ({"sigma": "median"}, "sigma='median' is unknown"),
        ({"solver": "newton"}, r"choose one of \['monotone', 'paper'\]"),
        ({"rule": "votes"}, r"choose one of \['distance', 'energy'\]"),
        ({"solver": Descent(max_iter=0)}, "max_iter must be a whole number"),
        ({"solver": Descent(tol=-1)}, "tol must be a number, 0 or more"),
        ({"solver": Descent(init="random")}, "starts from even weights"),
    ],
)
def test_bad_parameters_say_what_to_do(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        IM4EClassifier(**parameters).fit(*wine)


def test_few_missing_values_change_little(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    gaps = X.where(rng.random(X.shape) > 0.1)
    one, other = IM4EClassifier().fit(X, y), IM4EClassifier().fit(gaps, y)
    assert np.abs(one.feature_weights_ - other.feature_weights_).max() < 0.03
    assert other.score(gaps, y) >= 0.95


def test_memory_grows_with_the_table_and_not_with_the_pairs():
    """A fit holds a few copies of the table; differences of all pairs would be 60 of them."""
    X = np.random.default_rng(0).standard_normal((60, 5000))
    y = np.arange(60) % 2
    IM4EClassifier().fit(X[:, :50], y)
    tracemalloc.start()
    IM4EClassifier().fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * X.nbytes


def test_the_automatic_sigma_is_an_eighth_of_the_median_distance():
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = (X[:, 0] > 0).astype(int)
    model = IM4EClassifier("auto", columns=RAW).fit(X, y)
    d = np.abs(X[:, None] - X)[np.triu_indices(60, 1)]
    assert model.sigma_ == pytest.approx(np.median(d.mean(axis=1)) / 8, rel=0.01)
    larger = IM4EClassifier("auto", columns=RAW).fit(1024 * X, y)
    assert larger.sigma_ == 1024 * model.sigma_
    np.testing.assert_allclose(larger.feature_weights_, model.feature_weights_, rtol=1e-9)


def test_the_automatic_sigma_knows_levels_and_gaps():
    X = pd.DataFrame({"a": [0.0, 1.0, np.nan, 3.0] * 10, "b": list("uvuw") * 10})
    model = IM4EClassifier("auto").fit(X, np.arange(40) % 2)
    assert 0 < model.sigma_ < 1
