"""Tables as they are, in every classifier: units, levels, missing values, weights of classes."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from mixed_tables import MAKERS, messy_table
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from immigrate import IM4EClassifier, ImmigrateClassifier
from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.core.forms import LINEAR
from immigrate.margin.encoding import Encoding, offered_encodings
from immigrate.margin.problem import MarginProblem
from immigrate.margin.screen import feature_weights
from immigrate.options import Columns, Descent
from immigrate.persistence import load_model, save_model

try:
    import polars
except ImportError:  # compared where it is installed
    polars = None

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NOMINAL = ["mismatch", "levels"]
every_classifier = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
RAW = Columns(scale=None)


def weights(model):
    return getattr(model, "weight_matrix_", model.feature_importances_)


def assert_same_model(one, other, X, X_other=None, *, rtol=1e-10):
    X_other = X if X_other is None else X_other
    np.testing.assert_allclose(weights(one), weights(other), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(
        one.predict_proba(X), other.predict_proba(X_other), rtol=rtol, atol=rtol
    )


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.iloc[::2, [0, 3, 6, 9, 12]], y[::2]


@pytest.fixture(scope="module")
def messy():
    return messy_table()


class TestUnits:
    @every_classifier
    def test_raw_numbers_give_what_a_scaler_gives(self, make, wine):
        X, y = wine
        direct = make().fit(X, y)
        piped = make_pipeline(StandardScaler(), make(columns=RAW)).fit(X, y)
        np.testing.assert_allclose(weights(direct), weights(piped[-1]), rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            direct.predict_proba(X), piped.predict_proba(X), rtol=0, atol=1e-10
        )

    @every_classifier
    def test_standardised_numbers_stay_as_they_are_to_the_bit(self, make, wine):
        X, y = wine
        X = StandardScaler().fit_transform(X)
        one, other = make().fit(X, y), make(columns=RAW).fit(X, y)
        np.testing.assert_array_equal(weights(one), weights(other))
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))

    def test_units_matter_to_raw_numbers(self, wine):
        X, y = wine
        one, other = ImmigrateClassifier().fit(X, y), ImmigrateClassifier(columns=RAW).fit(X, y)
        assert not np.allclose(one.weight_matrix_, other.weight_matrix_, atol=0.1)

    def test_the_range_is_a_unit_too(self, wine):
        X, y = wine
        ranged = ImmigrateClassifier(columns=Columns(scale="range")).fit(X, y)
        divided = ImmigrateClassifier(columns=RAW).fit(X / (X.max() - X.min()), y)
        np.testing.assert_allclose(ranged.weight_matrix_, divided.weight_matrix_, atol=1e-10)

    def test_plain_numbers_are_the_problem_that_solvers_know(self, wine):
        X, y = wine
        table = np.ascontiguousarray(X)
        p = table.shape[1]
        problem = MarginProblem(table, y.to_numpy())
        solution = Descent().solution(problem, unit(np.eye(p)), 50.0, MATRIX_SETS["psd"])
        model = ImmigrateClassifier(50.0, columns=RAW).fit(table, y)
        np.testing.assert_array_equal(model.weight_matrix_, solution.weights)
        np.testing.assert_array_equal(
            model.decision_function(table),
            -problem.class_scores(table, solution.weights, 50.0).free_energy,
        )
        linear = MarginProblem(table, y.to_numpy(), form=LINEAR)
        im4e = IM4EClassifier(50.0, columns=RAW).fit(table, y)
        np.testing.assert_array_equal(
            im4e.model_.weights, feature_weights(linear, Descent(), 50.0).weights
        )

    @every_classifier
    def test_float32_with_missing_values(self, make, wine):
        X, y = wine
        X = X.to_numpy().copy()
        X[::7, 1] = np.nan
        exact = make().fit(X, y)
        small = make().fit(X.astype(np.float32), y)
        assert small.predict_proba(X.astype(np.float32)).shape == (len(y), 3)
        np.testing.assert_allclose(weights(small), weights(exact), atol=0.02)


class TestLevels:
    @every_classifier
    def test_two_levels_are_a_flag(self, make, messy):
        X, y = messy
        # So few that sigma is taken from all pairs, whatever the order of the rows.
        X = X[["site", "dose"]].dropna()[:60]
        y = y[X.index]
        X = X.assign(dose=X["dose"] / 1000)
        coded = X.assign(site=(X["site"] == "south").astype(float))
        nominal = make(columns=RAW).fit(X, y)
        numeric = make(columns=RAW).fit(coded, y)
        assert_same_model(nominal, numeric, X, coded)

    @pytest.mark.parametrize(
        ("name", "nominal"),
        # Triples have no weight per level.
        [
            case
            for case in product(MAKERS, ["mismatch", "levels"])
            if case != ("triples", "levels")
        ],
    )
    def test_names_of_levels_do_not_matter(self, name, nominal, messy):
        X, y = messy
        make = MAKERS[name]
        other = X.assign(gene=X["gene"].map({"AA": "z", "AG": "b", "GG": "y", "TT": "a"}))
        columns = Columns(nominal=nominal)
        one = make(columns=columns).fit(X, y)
        two = make(columns=columns).fit(other, y)
        assert_same_model(one, two, X, other, rtol=1e-7)

    @every_classifier
    def test_containers_give_the_same_model(self, make, messy):
        X, y = messy
        X = X.drop(columns="grade")  # its order is a matter of pandas
        frame = make().fit(X, y)
        objects = X.astype(object).where(X.notna(), None)
        assert_same_model(make().fit(objects, y), frame, objects, X, rtol=1e-12)
        if polars is not None:
            other = polars.DataFrame({name: objects[name].tolist() for name in X})
            assert_same_model(make().fit(other, y), frame, other, X, rtol=1e-12)
        codes = np.column_stack(
            [X["dose"], X["ill"], X["gene"].astype("category").cat.codes, X["site"] == "south"]
        ).astype(float)
        codes[codes[:, 2] < 0, 2] = np.nan
        array = make(columns=Columns(categorical_features=[2, 3])).fit(codes, y)
        assert_same_model(array, frame, codes, X, rtol=1e-12)

    def test_weights_of_levels_are_summed_up(self, messy):
        X, y = messy
        model = ImmigrateClassifier(columns=Columns(nominal="levels")).fit(X, y)
        W = model.model_.weights
        assert W.shape == (8, 8)
        of = [[0], [1], [2, 3, 4, 5], [6], [7]]
        expected = [[W[np.ix_(a, b)].sum() for b in of] for a in of]
        np.testing.assert_allclose(model.weight_matrix_, expected, rtol=1e-12)
        size = np.array([[np.abs(W[np.ix_(a, b)]).sum() for b in of] for a in of])
        np.testing.assert_allclose(
            model.feature_importances_, size.sum(axis=1) / size.sum(), rtol=1e-12
        )
        table = model.interactions()
        assert len(table) == 15
        assert table["share"].sum() == pytest.approx(1)
        im4e = IM4EClassifier(columns=Columns(nominal="levels")).fit(X, y)
        w = im4e.model_.weights
        expected = np.array([w[a].sum() for a in of])
        np.testing.assert_allclose(im4e.feature_weights_, expected / w.sum(), rtol=1e-12)

    def test_the_likelier_encoding_is_taken(self, messy):
        X, y = messy
        for make in (ImmigrateClassifier, IM4EClassifier):
            both = [make(columns=Columns(nominal=n)).fit(X, y) for n in ("mismatch", "levels")]
            gain = both[1].model_.log_likelihoods - both[0].model_.log_likelihoods
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            best = both[int(gain.mean() > error)]
            chosen = make().fit(X, y)
            np.testing.assert_array_equal(chosen.predict_proba(X), best.predict_proba(X))
            assert error > 0

    def test_a_start_means_the_same_distances_with_both_encodings(self):
        rng = np.random.default_rng(0)
        encoding = Encoding(np.ones(3), np.array([0, 4, 3]))
        X = np.column_stack([rng.normal(size=30), rng.integers(0, 4, 30), rng.integers(0, 3, 30)])
        W = rng.uniform(size=(3, 3))
        W += W.T
        spread = encoding.spread()
        d = np.abs(X[:, None] - X)
        d[..., 1:] = d[..., 1:] != 0
        T = spread.table(X)
        D = np.abs(T[:, None] - T)
        q = np.einsum("ija,ab,ijb->ij", d, W, d)
        U = spread.unfolded(W)
        np.testing.assert_allclose(np.einsum("ija,ab,ijb->ij", D, U, D), q, rtol=1e-12)
        np.testing.assert_array_equal(spread.unfolded(np.eye(3)), np.eye(8))

    @pytest.mark.parametrize("nominal", ["mismatch", "levels"])
    def test_an_initial_matrix_covers_the_columns_of_the_table(self, nominal, messy):
        X, y = messy
        columns = Columns(nominal=nominal)
        given = ImmigrateClassifier(solver=Descent(init=np.eye(5)), columns=columns).fit(X, y)
        plain = ImmigrateClassifier(columns=columns).fit(X, y)
        np.testing.assert_array_equal(given.weight_matrix_, plain.weight_matrix_)

    def test_levels_are_offered_where_samples_can_pay_for_them(self):
        encoding, is_kept = Encoding(np.ones(2), np.array([0, 30])), np.ones(2, dtype=bool)
        assert len(offered_encodings(encoding, is_kept, "auto", 61)) == 1
        assert len(offered_encodings(encoding, is_kept, "auto", 62)) == 2
        flag = Encoding(np.ones(1), np.array([2]))
        assert len(offered_encodings(flag, np.array([True]), "auto", 100)) == 1

    @every_classifier
    def test_one_nominal_column_alone(self, make):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"gene": rng.choice(["a", "b", "c"], 60)})
        y = (X["gene"] == "b").to_numpy()
        model = make().fit(X, y)
        np.testing.assert_array_equal(model.predict(X), y)
        np.testing.assert_allclose(model.feature_importances_, [1.0])


@every_classifier
class TestNewSamples:
    def test_an_unseen_level_changes_nothing_else(self, make, messy):
        X, y = messy
        model = make().fit(X, y)
        before = model.predict_proba(X)
        new = X.copy()
        new.loc[new.index[0], "gene"] = "unseen"
        after = model.predict_proba(new)
        assert np.isfinite(after).all()
        np.testing.assert_array_equal(after[1:], before[1:])

    def test_a_missing_value_only_in_new_samples(self, make, wine):
        X, y = wine
        model = make().fit(X, y)
        before = model.predict_proba(X)
        new = X.copy()
        new.iloc[0, 2] = np.nan
        after = model.predict_proba(new)
        assert np.isfinite(after).all()
        np.testing.assert_allclose(after[1:], before[1:], rtol=1e-12)

    def test_an_unseen_level_is_as_far_from_all(self, make, messy):
        X, y = messy
        model = make(columns=Columns(nominal="mismatch")).fit(X, y)
        new = X.iloc[[0, 0]].assign(gene=["x", "y"])
        one, other = model.predict_proba(new)
        np.testing.assert_array_equal(one, other)

    def test_files_hold_what_was_learned_of_the_columns(self, make, messy, tmp_path):
        X, y = messy
        model = make().fit(X, y)
        new = X.assign(gene="unseen", dose=np.nan)
        before = model.predict_proba(new)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(new), before)
        save_model(model, tmp_path / "model")
        again = load_model(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(new), before)


class TestClassWeight:
    @every_classifier
    def test_balanced_is_the_weights_it_stands_for(self, make, messy):
        X, y = messy
        balanced = make(class_weight="balanced").fit(X, y)
        weighted = make().fit(X, y, sample_weight=compute_sample_weight("balanced", y))
        assert_same_model(balanced, weighted, X, rtol=1e-12)
        even = make().fit(X, y)
        assert not np.array_equal(weights(balanced), weights(even))

    @every_classifier
    def test_it_multiplies_the_weights_of_samples(self, make, wine):
        X, y = wine
        weight = np.random.default_rng(0).uniform(size=len(y))
        share = {0: 1.0, 1: 3.0, 2: 0.5}
        one = make(class_weight=share).fit(X, y, sample_weight=weight)
        other = make().fit(X, y, sample_weight=weight * y.map(share))
        assert_same_model(one, other, X, rtol=1e-12)


@every_classifier
def test_more_features_than_samples(make):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20, 35)), columns=[f"g{j}" for j in range(35)])
    X = X.assign(kind=["a", "b", "c", "d"] * 5)
    X.iloc[::3, ::5] = np.nan
    y = np.arange(20) % 2
    model = make().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@every_classifier
def test_fitting_leaves_the_columns_value_alone(make, messy):
    X, y = messy
    model = make(columns=Columns(scale="range"))
    before = repr(model)
    model.fit(X, y)
    assert repr(clone(model)) == before
