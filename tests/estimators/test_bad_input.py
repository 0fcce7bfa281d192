"""A clear error, or a right answer; never a silent wrong number."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from immigrate import (
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    InteractionTest,
)
from immigrate.options import L1, L2, Columns, Descent, FullSteps, Prune, Screen
from immigrate.table import ColumnWarning

CLASSIFIERS = [
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    BoostedImmigrateClassifier,
    IM4EClassifier,
    CubicImmigrateClassifier,
]
rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3))
y = np.arange(20) % 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0}, "sigma must be a number above 0"),
        ({"sigma": -1.0}, "sigma must be a number above 0"),
        ({"sigma": np.nan}, "sigma must be a number above 0"),
        ({"sigma": "large"}, "sigma"),
        ({"solver": "newton"}, r"choose one of \['monotone', 'paper'\]"),
        ({"constraint": "simplex"}, r"choose one of \['both', 'clip', 'nonnegative', 'psd'\]"),
        ({"constraint": "clip"}, "use it with the paper's full steps"),
        ({"rule": "votes"}, r"choose one of \['distance', 'energy'\]"),
        ({"solver": Descent(init="zeros")}, "init='zeros' is unknown"),
        ({"solver": Descent(init=np.eye(2))}, r"init has shape \(2, 2\); X has 3 features"),
        ({"solver": Descent(init=np.triu(np.ones((3, 3))))}, "init is not symmetric"),
        ({"solver": Descent(init=-np.eye(3))}, "init has negative weights"),
        ({"solver": Descent(init=np.zeros((3, 3)))}, "init is all zero"),
        ({"solver": Descent(init=np.full((3, 3), np.nan))}, "init holds NaN"),
        ({"penalty": "much"}, "penalty='much' is unknown"),
        ({"penalty": 0.1}, "penalty must be None, 'l1', 'l2', 'prune' or a value"),
        ({"penalty": Prune("much")}, "threshold must be a number, 0 or more"),
        ({"penalty": Prune(-0.1)}, "threshold must be a number, 0 or more"),
        ({"penalty": L1(-0.1)}, "strength must be a number, 0 or more"),
        ({"penalty": L2(np.inf)}, "strength must be a number, 0 or more"),
        ({"penalty": L1(penalise="some")}, "penalise='some' is unknown"),
        (
            {"penalty": "l1", "constraint": "clip", "solver": "paper"},
            "needs a projection and constraint='clip' is none",
        ),
        ({"solver": Descent(max_iter=0)}, "max_iter must be a whole number"),
        ({"solver": FullSteps(max_iter=2.5)}, "max_iter must be a whole number"),
        ({"solver": FullSteps(tol=-1)}, "tol must be a number, 0 or more"),
        ({"solver": Descent(init={})}, "init must be a matrix of 3 by 3 numbers, got {}"),
        ({"n_jobs": 0}, "n_jobs must be None, a whole number such as 2, or -1"),
        ({"n_jobs": 0.5}, "n_jobs must be None"),
        ({"n_jobs": "2"}, "n_jobs must be None"),
        ({"screen": Screen(keep=0.5)}, "keep lists names or indices of features, got 0.5"),
    ],
)
def test_bad_parameters_say_what_to_do(parameters, message):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("screen", [{}, 3, None, LogisticRegression])
def test_what_is_no_screen_is_named(screen):
    with pytest.raises(TypeError, match=r"by is one of \['im4e', 'pairs'\] or an estimator"):
        ImmigrateClassifier(screen=Screen(screen)).fit(X, y)


def test_bad_numbers_of_jobs_are_named():
    with pytest.raises(ValueError, match="n_jobs must be None"):
        InteractionTest(n_jobs=np.inf).fit(X, y)


def test_no_fold_at_all():
    with pytest.raises(ValueError, match=r"cv=\[\] has no fold"):
        ImmigrateClassifierCV(cv=[]).fit(X, y)


def test_one_class():
    with pytest.raises(ValueError, match="one class only"):
        ImmigrateClassifier().fit(X, np.zeros(20, int))


def test_a_class_of_one_sample_is_named():
    labels = np.where(np.arange(20) == 3, "rare", np.where(y, "a", "b"))
    with pytest.raises(ValueError, match=r"Class 'rare' has 1 sample.*Merge rare classes"):
        ImmigrateClassifier().fit(X, labels)


def test_two_samples():
    with pytest.raises(ValueError, match="has 1 sample"):
        ImmigrateClassifier().fit(X[:2], y[:2])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_infinity_is_refused_and_its_column_is_named(cls, bad):
    table = X.copy()
    table[3, 1] = bad
    with pytest.raises(ValueError, match="Column 'x1' holds infinity in row 3"):
        cls().fit(table, y)
    with pytest.raises(ValueError, match="Column 'x1' holds infinity in row 3"):
        cls().fit(X, y).predict(table)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_a_table_without_a_feature_is_refused(cls):
    words = X.astype(object).astype(str) + "g"
    with pytest.raises(ValueError, match=r"no column that can be used.*'x0'.*'x2' \(20 levels"):
        cls().fit(words, y)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1.0, 1: 1.0}, "class_weight must hold finite numbers, 0 or more"),
        ({0: np.nan, 1: 1.0}, "class_weight must hold finite numbers, 0 or more"),
        ({0: 2.0, "no such class": 1.0}, "not in class_weight"),
        ("even", "class_weight"),
    ],
)
def test_bad_class_weights(class_weight, message):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifier(class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("std", "columns must be None or a Columns value, got 'std'"),
        (
            Columns(scale="iqr"),
            r"scale='iqr' is unknown; choose None or one of \['range', 'std'\]",
        ),
        (Columns(nominal="onehot"), "nominal='onehot' is unknown"),
        (Columns(categorical_features=["sex"]), "sex"),
    ],
)
@pytest.mark.parametrize("cls", [ImmigrateClassifier, IM4EClassifier, CubicImmigrateClassifier])
def test_bad_columns(cls, columns, message):
    with pytest.raises(ValueError, match=message):
        cls(columns=columns).fit(X, y)


def test_other_feature_count_at_predict():
    with pytest.raises(ValueError, match="expecting 3 features"):
        ImmigrateClassifier().fit(X, y).predict(X[:, :2])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(20), "zero"),
        (-np.ones(20), "[Nn]egative"),
        (np.ones(3), "shape"),
        (np.ma.masked_array(np.ones(20), np.arange(20) == 3), "NaN"),
    ],
)
def test_bad_sample_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifier().fit(X, y, weight)


def tables():
    wide = rng.standard_normal((6, 15))
    few = np.array([[0.0, 1.0], [0.2, 0.8], [1.0, 0.1], [0.9, 0.0]])
    return {
        "constant column": np.column_stack([X, np.full(20, 7.0)]),
        "duplicate columns": np.column_stack([X, X]),
        "duplicate rows": np.repeat(X[:5], 4, axis=0),
        "one feature": X[:, :1],
        "more features than samples": wide,
        "four samples": few,
        "huge": 1e150 * X,
        "tiny": 1e-150 * X,
        "all over the place": X * [1e-150, 1.0, 1e150],
        "far from zero": X + 1e8,
        "integers": (10 * X).astype(int),
        "booleans": X > 0,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::immigrate.table.ColumnWarning")
@pytest.mark.parametrize("scale", ["std", None])
@pytest.mark.parametrize("constraint", ["psd", "nonnegative", "both"])
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", tables())
def test_odd_tables_give_finite_answers(name, sigma, constraint, scale):
    table = tables()[name]
    labels = np.arange(len(table)) % 2
    model = ImmigrateClassifier(sigma, constraint=constraint, columns=Columns(scale=scale))
    model.fit(table, labels)
    assert np.linalg.norm(model.weight_matrix_) == pytest.approx(1)
    assert np.isfinite(model.objective_path_).all()
    for rule in ("distance", "energy"):
        model.model_ = model.model_.with_rule(rule)
        np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)
        assert np.isfinite(model.decision_function(table)).all()
    assert np.isfinite(model.interactions()["share"]).all()


def test_nothing_to_learn_keeps_the_start_and_says_so():
    with (
        pytest.warns(ColumnWarning, match=r"Columns 'x0' \(always 1\), .*: constant"),
        pytest.warns(ConvergenceWarning, match="No admissible direction improves the margin"),
    ):
        model = ImmigrateClassifier().fit(np.ones((6, 3)), np.arange(6) % 2)
    np.testing.assert_allclose(model.weight_matrix_, np.eye(3) / np.sqrt(3))


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 1e200), (np.float32, 1e25)])
@pytest.mark.parametrize(
    "cls",
    [ImmigrateClassifier, BoostedImmigrateClassifier, IM4EClassifier, CubicImmigrateClassifier],
)
def test_new_samples_out_of_reach_are_refused(cls, dtype, far):
    model = cls().fit(X.astype(dtype), y)
    with pytest.raises(ValueError, match="distances would overflow"):
        model.predict(np.full((1, 3), far, dtype=dtype))


def test_a_fold_without_weight_is_refused():
    weight = np.where(np.arange(20) < 10, 0.0, 1.0)
    with pytest.raises(ValueError, match="zero for all training samples of a fold"):
        ImmigrateClassifierCV(cv=KFold(2)).fit(X, y, weight)


@pytest.mark.parametrize("top", [0, -1, 2.5])
def test_bad_top(top):
    with pytest.raises(ValueError, match="top must be a whole number"):
        ImmigrateClassifier().fit(X, y).interactions(top=top)


def test_unit_weights_do_not_change_a_regularised_screen():
    screen = LogisticRegression(C=0.1)
    plain = ImmigrateClassifier(screen=Screen(screen, threshold=0)).fit(X, y)
    ones = ImmigrateClassifier(screen=Screen(screen, threshold=0)).fit(X, y, np.ones(20))
    np.testing.assert_allclose(ones.screen_importances_, plain.screen_importances_, rtol=1e-6)
    again = ones.set_params(screen=None).fit(X, y)
    assert not hasattr(again, "screen_importances_")
