"""Predictions explained: parts that sum to the margin, in the names of the user's table."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import MAKERS, messy_table
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import manhattan_distances

from immigrate import (
    BoostedImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
)
from immigrate.estimators import Explanation
from immigrate.options import Columns, Descent, Screen

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PAPER = {
    "paper": lambda **options: BoostedImmigrateClassifier(
        ImmigrateClassifier(**options), variant="paper", n_estimators=8
    )
}
NOMINAL = ["mismatch", "levels"]
every_classifier = pytest.mark.parametrize("make", (MAKERS | PAPER).values(), ids=MAKERS | PAPER)
TERM = ["feature_1", "feature_2", "kind"]


@pytest.fixture(scope="module")
def messy():
    return messy_table()


@pytest.fixture(scope="module", params=[*MAKERS, *PAPER])
def fitted(request, messy):
    """Every classifier, fitted on the messy table."""
    return (MAKERS | PAPER)[request.param]().fit(*messy)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.iloc[:, [0, 3, 6, 9, 12]], y.map({0: "a", 1: "b", 2: "c"})


def leads(model, X):
    """By how much the winner leads the runner-up, from the public decision function."""
    decision = model.decision_function(X)
    if decision.ndim == 1:
        return np.abs(decision)
    ordered = np.sort(decision, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def assert_explains(model, X):
    explanation = model.explain(X)
    np.testing.assert_allclose(explanation.values.sum(axis=1), explanation.margin, atol=1e-10)
    np.testing.assert_allclose(explanation.margin, leads(model, X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(explanation.predicted, model.predict(X))
    assert (explanation.predicted != explanation.against).all()
    return explanation


class TestSums:
    @pytest.mark.parametrize(
        ("name", "nominal"),
        # Triples have no weight per level.
        [case for case in product(MAKERS | PAPER, NOMINAL) if case != ("triples", "levels")],
    )
    def test_parts_sum_to_the_margin_of_every_row_of_a_messy_table(self, name, nominal, messy):
        X, y = messy
        model = (MAKERS | PAPER)[name](columns=Columns(nominal=nominal)).fit(X, y)
        new = X.iloc[::3].assign(gene=["CC", None, "AA"] * 10, dose=[None, *np.arange(29.0)])
        assert_explains(model, X)
        assert_explains(model, new)

    @settings(max_examples=40)
    @given(
        seed=st.integers(0, 2**32 - 1),
        n_classes=st.integers(2, 4),
        rule=st.sampled_from(["energy", "distance"]),
        sigma=st.sampled_from([0.05, 0.5, 5.0]),
        is_linear=st.booleans(),
        has_gaps=st.booleans(),
        is_weighted=st.booleans(),
    )
    def test_parts_sum_to_the_margin_on_random_tables(
        self, seed, n_classes, rule, sigma, is_linear, has_gaps, is_weighted
    ):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["u", "v", "w"])
        X["kind"] = rng.choice(["x", "y", "z"], 40)
        y = rng.permutation(np.arange(40) % n_classes)
        if has_gaps:
            X = X.mask(rng.random(X.shape) < 0.1)
        make = IM4EClassifier if is_linear else ImmigrateClassifier
        weight = rng.uniform(size=40) if is_weighted else None
        assert_explains(make(sigma, rule=rule).fit(X, y, weight), X)

    @pytest.mark.parametrize("rule", ["energy", "distance"])
    def test_parts_are_those_of_features_and_pairs_with_a_weight(self, rule, wine):
        model = ImmigrateClassifier(rule=rule, penalty="prune").fit(*wine)
        terms = assert_explains(model, wine[0]).terms
        table = model.interactions()
        used = table.loc[table["weight"] != 0, TERM]
        named = terms[terms["kind"].isin(["main", "pair"])]
        assert len(used) < len(table)
        assert set(used.itertuples(index=False)) == set(named.itertuples(index=False))
        assert list(terms["kind"][len(named) :]) == ["crowding"] * (rule == "energy")

    def test_a_table_of_float32_is_explained_in_float64(self, wine):
        X, y = wine
        X = X.to_numpy(dtype=np.float32)
        model = ImmigrateClassifier().fit(X, y)
        found = model.explain(X)
        np.testing.assert_allclose(found.values.sum(axis=1), found.margin, atol=1e-10)
        np.testing.assert_allclose(found.margin, leads(model, X), atol=1e-4)

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_units_of_the_table_do_not_overflow(self, scale, wine):
        X, y = wine[0] / wine[0].std(), wine[1]
        raw = Columns(scale=None)
        plain = ImmigrateClassifier(1.0, columns=raw).fit(X, y).explain(X)
        scaled = ImmigrateClassifier(scale**2, columns=raw).fit(X * scale, y).explain(X * scale)
        np.testing.assert_allclose(scaled.values / scale**2, plain.values, atol=1e-8)

    def test_values_may_be_missing_in_rows_to_explain_only(self, wine):
        X, y = wine
        model = ImmigrateClassifier().fit(X, y)
        gappy = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
        assert np.isfinite(assert_explains(model, gappy).values).all()

    def test_one_feature_has_one_part(self):
        X, y = np.arange(12.0)[:, None], np.arange(12) // 6
        explanation = assert_explains(IM4EClassifier().fit(X, y), X)
        assert explanation.terms[TERM].to_numpy().tolist() == [["x0", None, "main"]]


def parts_by_loops(model, X, y, x):
    """Parts of a margin of free energies by (name, name), for numbers without gaps."""
    W, names = model.weight_matrix_, model.get_feature_names_out()
    z, Z = x / X.std(ddof=0).to_numpy(), (X / X.std(ddof=0)).to_numpy()
    d = np.abs(Z - z)
    q = np.array([one @ W @ one for one in d])
    alpha, energy = {}, {}
    for label in np.unique(y):
        boltzmann = np.where(y == label, np.exp(-q / model.sigma_), 0.0)
        alpha[label] = boltzmann / boltzmann.sum()
        energy[label] = -model.sigma_ * np.log(boltzmann.sum())
    a, b = sorted(energy, key=energy.get)[:2]
    pull, parts = alpha[b] - alpha[a], {}
    for i in range(len(names)):
        for j in range(i, len(names)):
            twice = 1 if i == j else 2
            key = (names[i], None if i == j else names[j])
            parts[key] = twice * W[i, j] * sum(pull * d[:, i] * d[:, j])
    parts[None, None] = energy[b] - energy[a] - sum(parts.values())
    return a, b, parts, alpha


class TestOracle:
    def test_parts_and_neighbours_are_those_of_loops(self, wine):
        X, y = wine
        model = ImmigrateClassifier().fit(X[::2], y[::2])
        explanation = model.explain(X[1::2])
        table, near = explanation.parts, explanation.neighbours
        for row in range(0, len(explanation), 9):
            x = X[1::2].to_numpy()[row]
            a, b, parts, alpha = parts_by_loops(model, X[::2], y[::2].to_numpy(), x)
            assert (explanation.predicted[row], explanation.against[row]) == (a, b)
            own = table[table["row"] == row]
            found = dict(zip(zip(own["feature_1"], own["feature_2"]), own["part"]))
            assert found.keys() == parts.keys()
            for key, part in parts.items():
                assert found[key] == pytest.approx(part, abs=1e-10)
            for label in (a, b):
                shown = near[(near["row"] == row) & (near["class"] == label)]
                np.testing.assert_allclose(shown["share"], np.sort(alpha[label])[:-4:-1])
                np.testing.assert_allclose(
                    shown["share"], alpha[label][shown["training_row"]], rtol=1e-9
                )

    def test_the_distance_of_a_neighbour_is_the_weighted_one(self, wine):
        X, y = wine
        model = IM4EClassifier(columns=Columns(scale=None)).fit(X, y)
        near = model.explain(X[:9], n_neighbors=5).neighbours
        weighted = X * model.model_.weights
        expected = manhattan_distances(weighted[:9], weighted)
        np.testing.assert_allclose(near["distance"], expected[near["row"], near["training_row"]])


class TestSameForAll:
    def test_one_row_is_explained_as_among_others(self, fitted, messy):
        X, _ = messy
        many, one = fitted.explain(X), fitted.explain(X.iloc[[70]])
        np.testing.assert_allclose(one.values[0], many.values[70], rtol=1e-12, atol=1e-14)
        pd.testing.assert_frame_equal(
            one.neighbours.drop(columns="row"),
            many.neighbours[many.neighbours["row"] == 70]
            .drop(columns="row")
            .reset_index(drop=True),
        )

    def test_little_memory_changes_nothing(self, messy):
        X, y = messy
        model = ImmigrateClassifier().fit(X, y)
        plenty = model.explain(X)
        with sklearn.config_context(working_memory=1e-3):
            assert len(list(model.model_.references.problem().row_blocks(90))) == 90
            little = model.explain(X)
        np.testing.assert_allclose(little.values, plenty.values, rtol=1e-12, atol=1e-14)
        pd.testing.assert_frame_equal(little.neighbours, plenty.neighbours)

    def test_swapped_labels_swap_the_classes_and_no_part(self, fitted, messy):
        X, y = messy
        swapped = np.where(y == "case", "control", "case")
        one, other = fitted.explain(X), clone(fitted).fit(X, swapped).explain(X)
        # Where the vote is a tie the first class wins, whichever that is.
        is_decided = one.margin > 1e-9
        np.testing.assert_array_equal(one.predicted[is_decided], other.against[is_decided])
        np.testing.assert_allclose(one.values[is_decided], other.values[is_decided], atol=1e-9)

    def test_permuted_columns_permute_the_parts(self, wine):
        X, y = wine
        turned = X.iloc[:, ::-1]
        one = ImmigrateClassifier().fit(X, y).explain(X)
        other = ImmigrateClassifier().fit(turned, y).explain(turned)
        sizes = [
            {
                frozenset([a, b]): part
                for a, b, part in zip(table["feature_1"], table["feature_2"], table["part"])
            }
            for table in (one.parts.query("row == 5"), other.parts.query("row == 5"))
        ]
        assert sizes[0] == pytest.approx(sizes[1], abs=1e-8)

    def test_a_stored_model_explains_as_before(self, fitted, messy):
        X, _ = messy
        stored = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(stored.explain(X).values, fitted.explain(X).values)

    def test_training_rows_are_explained_as_predict_sees_them(self, wine):
        X, y = wine
        explanation = ImmigrateClassifier().fit(X, y).explain(X, n_neighbors=1)
        first = explanation.neighbours.drop_duplicates("row")
        own = (explanation.predicted == y).to_numpy()
        assert own.mean() > 0.9
        np.testing.assert_array_equal(first["training_row"][own], np.flatnonzero(own))
        np.testing.assert_array_equal(first["distance"][own], 0.0)


class TestVotes:
    def test_a_vote_of_one_member_is_explained_in_proportion_to_its_own_margin(self, wine):
        X, y = wine
        vote = BoostedImmigrateClassifier(n_estimators=1, sigmas=[0.5], rules=["energy"])
        vote.fit(X, y)
        single = ImmigrateClassifier(0.5, solver=Descent(max_iter=5)).fit(X, y)
        boosted, alone = vote.explain(X), single.explain(X)
        lead = leads(vote, X) / alone.margin
        np.testing.assert_allclose(boosted.values, lead[:, None] * alone.values, atol=1e-10)

    def test_hard_votes_have_a_part_for_the_rounding(self, messy):
        X, y = messy
        explanation = assert_explains(PAPER["paper"]().fit(X, y), X)
        assert explanation.terms["kind"].iloc[-1] == "rounding"
        soft = explanation.values[:, :-1].sum(axis=1)
        assert (np.abs(soft) < 1).all()
        assert (explanation.values[:, -1] != 0).any()

    def test_shares_of_neighbours_are_means_over_the_members(self, messy):
        X, y = messy
        model = MAKERS["boosted"]().fit(X, y)
        near = model.explain(X, n_neighbors=90).neighbours
        total = near.groupby(["row", "class"])["share"].sum()
        np.testing.assert_allclose(total, 1.0)


class TestNames:
    def test_names_are_those_of_the_table_whatever_the_encoding(self, messy):
        X, y = messy
        model = ImmigrateClassifier(columns=Columns(nominal="levels")).fit(X, y)
        assert len(model.model_.weights) > X.shape[1]
        terms = model.explain(X).terms
        assert set(terms["feature_1"].dropna()) == set(X.columns)
        assert not terms[TERM].duplicated().any()

    def test_columns_that_are_left_out_have_no_part(self, wine):
        X, y = wine
        with_name = X.assign(patient=[f"p{i}" for i in range(len(X))])
        with pytest.warns(UserWarning, match="patient"):
            model = IM4EClassifier().fit(with_name, y)
        assert set(assert_explains(model, with_name).terms["feature_1"]) <= set(X.columns)

    def test_columns_that_are_screened_out_have_no_part(self, wine):
        X, y = wine
        model = ImmigrateClassifierCV(
            ImmigrateClassifier(screen=Screen("im4e", threshold=0, max_features=2)), sigmas=[1.0]
        ).fit(X, y)
        named = assert_explains(model, X).terms["feature_1"].dropna()
        assert set(named) == set(model.get_feature_names_out())

    def test_classes_with_fewer_samples_than_neighbours_asked_for(self):
        X, y = np.arange(9.0)[:, None], np.array(["rare"] * 2 + ["often"] * 7)
        near = IM4EClassifier().fit(X, y).explain(X, n_neighbors=4).neighbours
        counts = near.groupby(["row", "class"]).size().unstack()
        assert (counts["rare"] == 2).all()
        assert (counts["often"] == 4).all()
        assert (y[near["training_row"]] == near["class"]).all()


class TestWords:
    def test_the_numbers_of_a_summary_add_up_to_the_margin(self, wine):
        explanation = ImmigrateClassifier().fit(*wine).explain(wine[0])
        for row in (0, 60, -1):
            text = explanation.summary(row, top=2).split("Most telling")[0]
            margin, *sizes = map(float, re.findall(r"[+-]\d+\.?\d*(?:e-?\d+)?", text))
            assert 3 <= len(sizes) <= 5
            assert margin == pytest.approx(explanation.margin[row], rel=5e-3)
            assert sum(sizes) == pytest.approx(margin, abs=0.01 * max(map(abs, sizes)))

    def test_a_summary_names_the_strongest_parts_and_neighbours(self, wine):
        explanation = ImmigrateClassifier(rule="distance").fit(*wine).explain(wine[0].iloc[[0]])
        pulling = explanation.parts.query("part > 0").iloc[0]
        names = [name for name in (pulling["feature_1"], pulling["feature_2"]) if name]
        text = str(explanation)
        assert f"Pulled there by {' × '.join(names)} (" in text
        assert text.startswith(f"Predicted a (against {explanation.against[0]}), margin +")
        assert "Most telling of a: training rows 0 (" in text

    def test_parts_that_do_not_exist_are_not_named(self):
        X, y = np.array([[0.0], [0.1], [1.0], [1.1]]), [0, 0, 1, 1]
        text = IM4EClassifier().fit(X, y).explain([[0.0]]).summary()
        assert "Against it: nothing." in text
        assert "other" not in text

    def test_many_rows_are_printed_in_short(self, wine):
        explanation = ImmigrateClassifier().fit(*wine).explain(wine[0])
        assert str(explanation).count("Predicted") == 5
        assert str(explanation).endswith("... and 173 more rows: see parts.")
        assert repr(explanation) == "<Explanation of 178 rows in 16 parts>"

    def test_parts_are_sorted_within_a_row(self, wine):
        explanation = ImmigrateClassifier().fit(*wine).explain(wine[0])
        parts = explanation.parts
        assert list(parts.columns) == ["row", *TERM, "part"]
        assert parts["row"].is_monotonic_increasing
        np.testing.assert_allclose(parts.groupby("row")["part"].sum(), explanation.margin)
        assert (
            parts.groupby("row")["part"].apply(lambda x: (-x.abs()).is_monotonic_increasing).all()
        )

    def test_the_docstring_names_every_attribute_and_has_an_example(self):
        names = {field.name for field in dataclasses.fields(Explanation)}
        heads = set(re.findall(r"^(\w+) : ", inspect.getdoc(Explanation), flags=re.MULTILINE))
        assert heads == names
        assert ">>> " in Explanation.__doc__

    def test_an_explanation_cannot_be_changed(self, wine):
        explanation = IM4EClassifier().fit(*wine).explain(wine[0])
        with pytest.raises(dataclasses.FrozenInstanceError):
            explanation.margin = 0


class TestRefused:
    def test_wrong_columns_are_refused_as_in_predict(self, fitted, messy):
        X, _ = messy
        for wrong in (X[["dose"]], X.rename(columns={"dose": "dosis"}), X.iloc[:, ::-1]):
            with pytest.raises(ValueError) as in_predict:
                fitted.predict(wrong)
            with pytest.raises(ValueError) as in_explain:
                fitted.explain(wrong)
            assert str(in_explain.value) == str(in_predict.value)

    def test_rows_beyond_reach_are_refused_as_in_predict(self, wine):
        model = ImmigrateClassifier().fit(*wine)
        with pytest.raises(ValueError, match="distances would overflow"):
            model.explain(wine[0] * 1e200)

    @every_classifier
    def test_an_unfitted_model_is_refused(self, make, messy):
        with pytest.raises(NotFittedError):
            make().explain(messy[0])

    @pytest.mark.parametrize("count", [0, 1.5, True])
    def test_a_number_of_neighbours_that_is_none_is_refused(self, fitted, count, messy):
        with pytest.raises(ValueError, match="n_neighbors must be a whole number"):
            fitted.explain(messy[0], n_neighbors=count)
