"""Weights of triples: where they live, what they mean, and which triples may have one."""

from __future__ import annotations

import os
import warnings
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles.margin import cubic_of_all
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from immigrate import CubicImmigrateClassifier, ImmigrateClassifier, InteractionTest
from immigrate.core.cones import MATRIX_SETS, oracle
from immigrate.margin.triples import MOST_FEATURES, WithTriples
from immigrate.options import L1, L2, Columns, Descent, FullSteps

DATA = Path(os.environ.get("IMMIGRATE_DATA", "/nowhere"))


@pytest.fixture(scope="module")
def parity():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (240, 7)), columns=list("abcdefg"))
    return X, (X["b"] ^ X["d"] ^ X["g"]).to_numpy()


def strongest_triple(model):
    table = model.interactions()
    return table.loc[table["kind"] == "triple", ["feature_1", "feature_2", "feature_3"]].iloc[0]


def test_the_parity_of_three_features_is_the_strongest_triple(parity):
    model = CubicImmigrateClassifier().fit(*parity)
    assert strongest_triple(model).tolist() == ["b", "d", "g"]
    assert model.score(*parity) == 1.0


@pytest.mark.skipif(not (DATA / "GAMETES_3way_h02.csv").exists(), reason="needs IMMIGRATE_DATA")
def test_the_true_triple_of_gametes_has_the_largest_weight():
    table = pd.read_csv(DATA / "GAMETES_3way_h02.csv")
    model = CubicImmigrateClassifier().fit(table.drop(columns="target"), table["target"])
    assert strongest_triple(model).tolist() == ["P1", "P2", "P3"]


@pytest.mark.parametrize("constraint", ["psd", "nonnegative", "both"])
@pytest.mark.parametrize("strength", [0, 0.3])
def test_weights_live_on_the_sphere_and_in_their_cones(parity, constraint, strength):
    model = CubicImmigrateClassifier(constraint=constraint, penalty=L1(strength)).fit(*parity)
    W, T = model.weight_matrix_, model.weight_tensor_
    assert np.sum(W**2) + np.sum(T**2) == pytest.approx(1)
    assert (T >= 0).all()
    np.testing.assert_array_equal(W, W.T)
    for order in permutations(range(3)):
        np.testing.assert_array_equal(T, T.transpose(order))
    if constraint != "nonnegative":
        assert np.linalg.eigvalsh(W).min() > -1e-9
    if constraint != "psd":
        assert W.min() > -1e-9


def test_the_cost_never_rises_and_the_gap_certifies_convergence(parity):
    for strength in (0, 0.1, 0.6):
        model = CubicImmigrateClassifier(penalty=L1(strength), solver=Descent(tol=1e-4))
        model.fit(*parity)
        assert (np.diff(model.objective_path_) <= 1e-12).all()
        assert model.converged_
        assert 0 <= model.gap_ <= 1e-4


def test_predictions_are_the_rule_written_out(parity):
    X, y = parity
    model = CubicImmigrateClassifier(columns=Columns(scale=None)).fit(X, y)
    W, T, sigma = model.weight_matrix_, model.weight_tensor_, model.sigma_
    new = np.random.default_rng(0).integers(0, 2, (5, 7))
    d = np.abs(new[:, None, :] - X.to_numpy()).astype(float)
    q = np.einsum("rja,ab,rjb->rj", d, W, d) + np.einsum("abc,rja,rjb,rjc->rj", T, d, d, d)
    energy = [-sigma * np.log(np.exp(-q[:, y == c] / sigma).sum(axis=1)) for c in (0, 1)]
    expected = energy[0] - energy[1]
    found = model.decision_function(pd.DataFrame(new, columns=X.columns))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("exponent", [-60, 40])
def test_units_of_the_table_do_not_matter(parity, exponent):
    X, y = parity
    rng = np.random.default_rng(1)
    X = X + rng.normal(scale=0.1, size=X.shape)
    one = CubicImmigrateClassifier().fit(X, y)
    other = CubicImmigrateClassifier().fit(np.ldexp(X, exponent), y)
    np.testing.assert_allclose(other.triple_weights_, one.triple_weights_, atol=1e-9)


def test_a_name_stands_for_a_price(parity):
    named = CubicImmigrateClassifier().fit(*parity)
    given = CubicImmigrateClassifier(penalty=L1(0.3)).fit(*parity)
    np.testing.assert_array_equal(named.triple_weights_, given.triple_weights_)
    assert named.penalty_.strength == 0.3
    free, none = (CubicImmigrateClassifier(penalty=one).fit(*parity) for one in (L1(0), None))
    np.testing.assert_array_equal(free.triple_weights_, none.triple_weights_)
    weaker = CubicImmigrateClassifier().set_params(penalty__strength=0.1)
    assert weaker.penalty.strength == 0.1
    assert CubicImmigrateClassifier().penalty == "l1"


def test_a_large_strength_leaves_features_and_pairs(parity):
    X, y = parity
    model = CubicImmigrateClassifier(penalty=L1(1e6)).fit(X, y)
    assert not model.triple_weights_.any()
    plain = ImmigrateClassifier(model.fit_sigma_).fit(X, y)
    np.testing.assert_allclose(model.weight_matrix_, plain.weight_matrix_, atol=1e-6)


def test_the_sigma_of_predictions_is_the_likeliest(parity):
    X, y = parity
    noisy = y ^ (np.arange(len(y)) % 9 == 0)
    model = CubicImmigrateClassifier().fit(X, noisy)
    assert model.sigma_ <= model.fit_sigma_
    chosen = model.model_.log_likelihoods.mean()
    problem = model.model_.references.problem()
    for factor in (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16):
        sigma = factor * model.fit_sigma_
        energy = problem.loo_scores(model.model_.weights, sigma).free_energy
        log_odds = (energy[:, 0] - energy[:, 1]) / sigma
        assert chosen >= np.mean(-np.logaddexp(0, np.where(noisy, -log_odds, log_odds))) - 1e-12
    fixed = CubicImmigrateClassifier(1.0).fit(X, y)
    assert fixed.sigma_ == fixed.fit_sigma_ == 1.0


def test_no_triples_are_the_weights_of_pairs(parity):
    X, y = parity
    model = CubicImmigrateClassifier(1.0, triples=[]).fit(X, y)
    plain = ImmigrateClassifier(1.0).fit(X, y)
    np.testing.assert_allclose(model.weight_matrix_, plain.weight_matrix_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_threads_do_not_change_a_bit(parity):
    one, two = (CubicImmigrateClassifier(n_jobs=n).fit(*parity) for n in (1, 2))
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    np.testing.assert_array_equal(one.predict_proba(parity[0]), two.predict_proba(parity[0]))


def test_triples_come_as_names_indices_or_the_table_of_a_test(parity):
    X, y = parity
    test = InteractionTest(order=3).fit(X, y)
    given = [[("g", "b", "d")], [[1, 3, 6]], np.array([[6, 3, 1], [1, 3, 6]]), test.selected_]
    models = [CubicImmigrateClassifier(triples=triples).fit(X, y) for triples in given]
    for model in models:
        np.testing.assert_array_equal(model.triples_, [[1, 3, 6]])
        np.testing.assert_array_equal(model.triple_weights_, models[0].triple_weights_)
    many = clone(CubicImmigrateClassifier(triples=test.table_.head(4))).fit(X, y)
    assert len(many.triples_) == 4


def test_a_list_of_triples_serves_wide_tables(parity):
    X, y = parity
    noise = np.random.default_rng(0).normal(size=(len(X), MOST_FEATURES))
    wide = np.hstack([X, noise])
    with pytest.raises(
        ValueError, match=r"47 features would be 16,215.*InteractionTest\(order=3\)"
    ):
        CubicImmigrateClassifier().fit(wide, y)
    model = CubicImmigrateClassifier(triples=[(1, 3, 6), (0, 20, 46)]).fit(wide, y)
    assert model.triple_weights_.argmax() == 1
    assert model.weight_matrix_.shape == (47, 47)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"triples": "some"}, r"choose one of \['all'\]"),
        ({"triples": [("a", "b")]}, "a list of triples of names"),
        ({"triples": ["abc"]}, "a list of triples of names"),
        ({"triples": 3}, "a list of triples of names"),
        ({"triples": [("a", "b", "z")]}, "triples names 'z'"),
        ({"triples": [("a", "b", "a")]}, "three different features"),
        ({"triples": pd.DataFrame({"feature_1": ["a"]})}, "with the columns feature_1"),
        ({"triples": InteractionTest(order=3)}, "not the test"),
        ({"penalty": L1(-1)}, "strength"),
        ({"penalty": L2(0.3)}, "penalty must be None, 'l1' or a value such as L1"),
        ({"penalty": L1(0.3, penalise="all")}, "a price on triples alone"),
        ({"penalty": "l2"}, r"choose one of \['l1'\]"),
        ({"columns": Columns(nominal="levels")}, "none per level"),
        ({"constraint": "clip"}, "use it with the paper's full steps"),
    ],
)
def test_bad_parameters_say_what_to_do(parity, parameters, message):
    with pytest.raises(ValueError, match=message):
        CubicImmigrateClassifier(**parameters).fit(*parity)


def test_a_column_that_is_no_feature_is_in_no_triple(parity):
    X, y = parity
    X = X.assign(name=[f"patient {i}" for i in range(len(X))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="triples names 'name', which is left out"):
            CubicImmigrateClassifier(triples=[("a", "b", "name")]).fit(X, y)
        model = CubicImmigrateClassifier(triples=[("b", "d", "g")]).fit(X, y)
    assert model.feature_importances_[-1] == 0
    np.testing.assert_array_equal(model.triples_, [[1, 3, 6]])


def test_a_refused_fit_leaves_the_model_as_it_was(parity):
    model = CubicImmigrateClassifier().fit(*parity)
    before = model.predict_proba(parity[0])
    with pytest.raises(ValueError, match="three different"):
        model.set_params(triples=[(0, 0, 1)]).fit(*parity)
    np.testing.assert_array_equal(model.predict_proba(parity[0]), before)


def test_importances_are_the_shares_of_all_entries(parity):
    model = CubicImmigrateClassifier(penalty=None).fit(*parity)
    entries = np.abs(model.weight_matrix_).sum(0) + np.abs(model.weight_tensor_).sum((0, 1))
    np.testing.assert_allclose(model.feature_importances_, entries / entries.sum())
    table = model.interactions(top=5)
    assert table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert model.interactions()["share"].sum() == pytest.approx(1)


@pytest.mark.parametrize("rule", ["energy", "distance"])
def test_margins_are_explained_by_features_pairs_and_triples(parity, rule):
    X, y = parity
    model = CubicImmigrateClassifier(rule=rule, penalty=L1(0.1)).fit(X, y)
    explanation = model.explain(X.iloc[:6])
    np.testing.assert_array_equal(explanation.predicted, model.predict(X.iloc[:6]))
    np.testing.assert_allclose(explanation.values.sum(axis=1), explanation.margin, atol=1e-12)
    decision = np.abs(model.decision_function(X.iloc[:6]))
    np.testing.assert_allclose(explanation.margin, decision, rtol=1e-9)
    terms = explanation.terms
    assert set(terms["kind"]) - {"crowding"} == {"main", "pair", "triple"}
    triple = terms[terms["kind"] == "triple"]
    assert len(triple) == np.count_nonzero(model.triple_weights_)
    assert ["b", "d", "g"] in triple.iloc[:, :3].to_numpy().tolist()
    assert terms.loc[terms["kind"] == "pair", "feature_3"].isna().all()
    assert " × " in explanation.summary(top=50)


def test_the_part_of_a_triple_is_what_it_adds_to_expected_distances(parity):
    X, y = parity
    model = CubicImmigrateClassifier(rule="distance", columns=Columns(scale=None)).fit(X, y)
    explanation = model.explain(X.iloc[:1])
    W, T, sigma = model.weight_matrix_, model.weight_tensor_, model.sigma_
    d = np.abs(X.to_numpy() - X.to_numpy()[0]).astype(float)
    q = np.einsum("ja,ab,jb->j", d, W, d) + np.einsum("abc,ja,jb,jc->j", T, d, d, d)

    def expected(label, values):
        own = y == label
        coupling = np.exp(-(q[own] - q[own].min()) / sigma)
        return coupling @ values[own] / coupling.sum()

    a, b, c = 1, 3, 6
    part = 6 * T[a, b, c] * d[:, a] * d[:, b] * d[:, c]
    difference = expected(1 - y[0], part) - expected(y[0], part)
    is_triple = (explanation.terms[["feature_1", "feature_3"]] == ["b", "g"]).all(axis=1)
    assert explanation.values[0, is_triple.to_numpy()] == pytest.approx([difference])


def test_the_steps_of_the_paper_run_too(parity):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CubicImmigrateClassifier(solver=FullSteps(), constraint="clip").fit(*parity)
    assert np.isnan(model.gap_)
    assert model.weight_matrix_.min() >= 0
    assert np.linalg.norm(model.model_.weights) == pytest.approx(1)


@pytest.mark.parametrize("constraint", ["psd", "nonnegative", "both"])
def test_the_oracle_is_the_best_of_its_set(constraint):
    rng = np.random.default_rng(2)
    form = cubic_of_all(4)
    weight_set = WithTriples(MATRIX_SETS[constraint], 4, strength=0.3)

    def random_weights():
        A = rng.normal(size=(4, 4))
        W = form.weights(A + A.T, rng.normal(size=len(form.triples)))
        return weight_set.scaled(weight_set.prox(W, 0.0))

    gradient = form.weights(np.diag(rng.normal(size=4)), rng.normal(size=len(form.triples)))
    best = oracle(random_weights(), gradient, weight_set).weights
    lowest = gradient @ best + weight_set.value(best)
    for _ in range(200):
        W = random_weights()
        assert gradient @ W + weight_set.value(W) >= lowest - 1e-9
