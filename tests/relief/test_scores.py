"""Every method against its definition written out, ties and all."""

from __future__ import annotations

import numpy as np
import pytest
import relief_oracles as oracle
from relief_family import selectors
from relief_oracles import KINDS, cases
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight

from immigrate import LFE, IRelief, Relief, ReliefF, Simba
from immigrate.core.differences import ColumnKinds
from immigrate.core.forms import LINEAR
from immigrate.margin.problem import MarginProblem
from immigrate.options import Descent, FullSteps
from immigrate.relief.base import mixed_table
from immigrate.relief.irelief import InlierProblem
from immigrate.relief.simba import Margin


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_relief(kind, n_classes, metric):
    X, y, is_categorical, weight, d = cases(kind, n_classes)
    model = Relief(metric=metric, categorical_features=is_categorical).fit(X, y, weight)
    expected = oracle.relief(d, y, weight, metric)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-12)


def test_relief_in_the_units_of_the_table_is_algorithm_1_to_the_letter():
    X, y, _ = oracle.table(3)
    d = np.abs(X[:, None] - X)
    score = Relief(scale=None).fit(X, y).feature_importances_
    np.testing.assert_allclose(score, oracle.relief(d, y, np.ones(len(y))), atol=1e-12)


def test_relief_with_some_anchors_is_relief_with_the_others_weighing_nothing():
    X, y, _ = oracle.table(1)
    some = Relief(n_anchors=7, random_state=0)
    anchors = some._anchors(len(y), None)
    assert len(set(anchors)) == 7
    weight = np.isin(np.arange(len(y)), anchors).astype(float)
    np.testing.assert_allclose(
        some.fit(X, y).feature_importances_, Relief().fit(X, y, weight).feature_importances_
    )


def test_relief_with_as_many_anchors_as_samples_uses_each_once():
    X, y, _ = oracle.table(1)
    one, other = Relief(n_anchors=len(y), random_state=0).fit(X, y), Relief().fit(X, y)
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)


@pytest.mark.parametrize("k", [1, 4, 1000])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_relieff(kind, n_classes, k):
    X, y, is_categorical, weight, d = cases(kind, n_classes)
    model = ReliefF(n_neighbors=k, categorical_features=is_categorical).fit(X, y, weight)
    expected = oracle.relieff(d, y, weight, k)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("kind", KINDS)
def test_relieff_with_missing_values(kind, metric):
    X, y, is_categorical, weight, d = cases(kind, 3, missing=0.2)
    model = ReliefF(n_neighbors=3, metric=metric, categorical_features=is_categorical)
    expected = oracle.relieff(d, y, weight, 3, metric)
    score = model.fit(X, y, weight).feature_importances_
    np.testing.assert_allclose(score, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_relief_with_missing_values(kind):
    X, y, is_categorical, weight, d = cases(kind, 3, missing=0.2)
    model = Relief(categorical_features=is_categorical).fit(X, y, weight)
    expected = oracle.relief(d, y, weight)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_simba_with_missing_values(kind):
    X, y, is_categorical, _, d = cases(kind, 2, missing=0.2)
    table = mixed_table(X, y, is_categorical)
    n = len(y)
    margin, w = Margin(table, np.full(n, 1 / n)), np.linspace(0.2, 1, X.shape[1])
    for i in range(n):
        np.testing.assert_allclose(
            margin.gradient(w, i), oracle.simba_step(d, y, w, i), atol=1e-12
        )
    expected = np.mean([oracle.simba_margin(d, y, w, i) for i in range(n)])
    assert margin.value(w) == pytest.approx(expected, rel=1e-12)
    Simba(categorical_features=is_categorical, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_irelief_with_missing_values_draws_from_all_samples(kind):
    """With one class for all, the class-wise expectation of the oracle is the overall one."""
    X, y, is_categorical = oracle.table(0, kind=kind, missing=0.2)
    d = oracle.all_differences(X, np.zeros(len(y), dtype=int), is_categorical)
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    one_step = FullSteps(max_iter=1)
    model = IRelief(solver=one_step, sigma=0.5, categorical_features=is_categorical)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y, weight)
    start = np.full(X.shape[1], X.shape[1] ** -0.5)
    expected = oracle.irelief_step(d, y, start, 0.5, weight)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-11)


@pytest.mark.parametrize("model", [*selectors(), LFE()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("class_weight", ["balanced", {"ill": 3.0, "well": 0.5}], ids=str)
def test_class_weights_multiply_sample_weights(model, class_weight):
    X, codes, _ = oracle.table(0, n=40)
    is_kept = (codes == 0) | (np.arange(40) > 15)
    X, codes = X[is_kept], codes[is_kept]
    y = np.array(["ill", "well"])[codes]
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    of_class = compute_sample_weight(class_weight, y)
    weighted = clone(model).set_params(class_weight=class_weight).fit(X, y, weight)
    expected = clone(model).fit(X, y, weight * of_class)
    name = "weight_matrix_" if isinstance(model, LFE) else "feature_importances_"
    np.testing.assert_allclose(getattr(weighted, name), getattr(expected, name), rtol=1e-9)
    plain = clone(model).fit(X, y, weight)
    assert not np.allclose(getattr(weighted, name), getattr(plain, name))


def test_relieff_weighs_miss_classes_by_their_share():
    X, y, is_categorical = oracle.table(5, n=40)
    y = np.where(np.arange(40) < 5, 2, y)
    d = oracle.all_differences(X, y, is_categorical)
    expected = oracle.relieff(d, y, np.ones(40), 10)
    np.testing.assert_allclose(ReliefF().fit(X, y).feature_importances_, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_simba_step(kind, n_classes):
    X, y, is_categorical, weight, d = cases(kind, n_classes)
    n, weight = len(y), weight / weight.sum()
    margin = Margin(mixed_table(X, y, is_categorical), weight)
    w = np.random.default_rng(1).uniform(size=X.shape[1])
    for i in range(n):
        expected = n * weight[i] * oracle.simba_step(d, y, w, i)
        np.testing.assert_allclose(margin.gradient(w, i), expected, atol=1e-12)
    value = sum(weight[i] * oracle.simba_margin(d, y, w, i) for i in range(n))
    assert margin.value(w) == pytest.approx(value)


def test_simba_steps_along_the_gradient_of_the_margin():
    X, y, is_categorical, _, d = cases("continuous", 3)
    margin = Margin(mixed_table(X, y, is_categorical), np.full(len(y), 1 / len(y)))
    w, step = np.random.default_rng(1).uniform(0.5, 1, X.shape[1]), 1e-7
    for i in range(len(y)):
        numeric = [
            (oracle.simba_margin(d, y, w + e, i) - oracle.simba_margin(d, y, w - e, i))
            / (2 * step)
            for e in step * np.eye(w.size)
        ]
        np.testing.assert_allclose(margin.gradient(w, i), numeric, atol=1e-6)


def test_simba_is_the_best_of_its_ascents():
    X, y, is_categorical, _, d = cases("mixed", 2)
    n, p = X.shape
    model = Simba(n_starts=3, n_rounds=2, categorical_features=is_categorical, random_state=7)
    model.fit(X, y)
    rng = np.random.RandomState(7)
    starts = [np.ones(p), *(1 - rng.uniform(size=(2, p)))]
    visits = [np.concatenate([rng.permutation(n) for _ in range(2)]) for _ in starts]
    ends = []
    for w, visited in zip(starts, visits):
        for i in visited:
            w = w + oracle.simba_step(d, y, w, i)
        w = np.sqrt(w**2 / (w**2).max())
        ends.append((np.mean([oracle.simba_margin(d, y, w, i) for i in range(n)]), w**2))
    value, expected = max(ends, key=lambda end: end[0])
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-10)
    assert model.margin_ == pytest.approx(value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_irelief_takes_the_steps_of_the_paper(kind, n_classes):
    X, y, is_categorical, weight, d = cases(kind, n_classes)
    model = IRelief(
        sigma=0.3, solver=FullSteps(max_iter=3, tol=0), categorical_features=is_categorical
    ).fit(X, y, weight)
    w = np.full(X.shape[1], 1 / np.sqrt(X.shape[1]))
    for _ in range(3):
        w = oracle.irelief_step(d, y, w, 0.3, weight)
    np.testing.assert_allclose(model.feature_importances_, w, atol=1e-9)


@pytest.mark.parametrize("kind", ["continuous", "mixed"])
def test_irelief_ends_at_a_fixed_point(kind):
    X, y, is_categorical, weight, d = cases(kind, 2)
    model = IRelief(sigma=0.5, solver=Descent(tol=1e-10), categorical_features=is_categorical).fit(
        X, y, weight
    )
    w = model.feature_importances_
    assert model.converged_
    assert np.diff(model.objective_path_).max() <= 0
    np.testing.assert_allclose(oracle.irelief_step(d, y, w, 0.5, weight), w, atol=1e-4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_irelief_gradient_against_central_differences(missing):
    X, y, is_nominal = oracle.table(0, n_classes=3, kind="mixed", missing=missing)
    margin = MarginProblem(X, y, form=LINEAR, kinds=ColumnKinds(is_nominal))
    problem = InlierProblem(margin, y)
    w, step = np.array([0.3, 0.5, 0.1, 0.4, 0.2]), 1e-5
    numeric = [
        (problem.evaluate(w + e, 0.7).cost - problem.evaluate(w - e, 0.7).cost) / (2 * step)
        for e in step * np.eye(5)
    ]
    np.testing.assert_allclose(problem.evaluate(w, 0.7).gradient, numeric, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["continuous", "integers"])
def test_lfe(kind, n_classes):
    X, y, _, weight, _ = cases(kind, n_classes)
    model = LFE().fit(X, y, weight)
    W = oracle.lfe_matrix(X, y, weight)
    np.testing.assert_allclose(model.weight_matrix_, W, atol=1e-10)
    np.testing.assert_allclose(model.components_.T @ model.components_, W, atol=1e-10)


def test_lfe_distances_are_the_distances_under_w():
    X, y, _ = oracle.table(0)
    model = LFE().fit(X, y)
    Z, d = model.transform(X), X[3] - X[8]
    assert ((Z[3] - Z[8]) ** 2).sum() == pytest.approx(d @ model.weight_matrix_ @ d)


@pytest.mark.parametrize("n_components", [1, 2, 50])
def test_lfe_keeps_the_strongest_components(n_components):
    X, y, _ = oracle.table(0)
    whole, cut = LFE().fit(X, y), LFE(n_components).fit(X, y)
    np.testing.assert_array_equal(cut.components_, whole.components_[:n_components])
    assert (np.diff(whole.eigenvalues_) <= 0).all()
    assert cut.transform(X).shape[1] == cut.n_components_ <= whole.n_components_


@pytest.mark.parametrize("factor", [2.0**-500, 2.0**300])
def test_lfe_does_not_depend_on_the_units(factor):
    X, y, _ = oracle.table(0)
    W = LFE().fit(X, y).weight_matrix_
    np.testing.assert_array_equal(LFE().fit(factor * X, y).weight_matrix_, W)
