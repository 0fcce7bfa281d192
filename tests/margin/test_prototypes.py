"""Prototypes by their definitions, and models that hold them in place of their samples."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from immigrate import (
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
)
from immigrate.datasets import make_xor
from immigrate.margin.prototypes import points_in_metric, resolved_references, summarised
from immigrate.options import ClassCentres, Columns

WAYS = [
    ClassCentres(40),
    ClassCentres(0.1),
    ClassCentres(),
]


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((400, 3))
    return Z, ((Z[:, 0] * Z[:, 1] > 0) ^ (rng.uniform(size=400) < 0.1)).astype(np.intp)


def groups_of(way, samples, seed=0):
    return way.groups(*samples, np.random.RandomState(seed))


@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_groups_are_of_one_class_and_numbered_without_holes(way, samples):
    groups, codes = groups_of(way, samples), samples[1]
    present = np.unique(groups)
    np.testing.assert_array_equal(present, np.arange(len(present)))
    for group in present:
        assert len(set(codes[groups == group])) == 1


@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_the_same_seed_makes_the_same_groups(way, samples):
    np.testing.assert_array_equal(groups_of(way, samples), groups_of(clone(way), samples))


def test_centres_belong_to_classes_in_proportion_and_to_every_sample(samples):
    codes = np.repeat([0, 1], [300, 100])
    groups = ClassCentres(40).groups(samples[0], codes, np.random.RandomState(0))
    assert groups.shape == codes.shape
    sizes = [len(np.unique(groups[codes == c])) for c in (0, 1)]
    assert sizes[0] == pytest.approx(30, abs=2)
    assert sizes[1] == pytest.approx(10, abs=2)


def test_centres_are_near_their_samples(samples):
    Z, codes = samples
    groups = groups_of(ClassCentres(40), samples)
    centres = np.array([Z[groups == g].mean(axis=0) for g in range(groups.max() + 1)])
    within = ((Z - centres[groups]) ** 2).sum()
    around_classes = sum(((Z[codes == c] - Z[codes == c].mean(axis=0)) ** 2).sum() for c in (0, 1))
    assert within < 0.25 * around_classes


def test_a_centre_for_every_sample_changes_no_score():
    X, y = make_xor(120, 4, random_state=0)
    model = ImmigrateClassifier().fit(X, y).model_
    every = summarised(
        model.references, ClassCentres(1.0), model.weights, np.random.RandomState(0)
    )
    assert every.is_summary
    np.testing.assert_allclose(
        model.on(every).scores(X.to_numpy()), model.scores(X.to_numpy()), rtol=1e-10
    )


def test_a_centre_has_the_means_and_the_most_frequent_level_of_its_samples():
    X = pd.DataFrame(
        {
            "size": [1.0, 3.0, np.nan, 10.0, 10.0, 13.0],
            "colour": ["red", "red", "blue", "blue", None, "blue"],
        }
    )
    y = [0, 0, 0, 1, 1, 1]
    columns = Columns(nominal="mismatch")
    model = ImmigrateClassifier(0.5, references=2, columns=columns, random_state=0).fit(X, y)
    references = model.model_.references
    np.testing.assert_allclose(references.values[:, 0], [2.0, 11.0])
    colours = [model.column_reader_.levels[1][int(code)] for code in references.values[:, 1]]
    assert colours == ["red", "blue"]
    np.testing.assert_array_equal(references.count, [3.0, 3.0])


def test_points_are_as_far_apart_as_the_diagonal_says():
    X = pd.DataFrame({"a": [0.0, 2.0, 5.0, 1.0], "b": ["x", "y", "x", "z"]})
    columns = Columns(scale=None, nominal="mismatch")
    model = ImmigrateClassifier(1.0, columns=columns).fit(X, [0, 0, 1, 1]).model_
    W = np.diag([0.6, 0.8])
    Z = points_in_metric(model.references, W)
    d2 = 0.6 * (X["a"].to_numpy()[:, None] - X["a"].to_numpy()) ** 2
    d2 = d2 + 0.8 * (X["b"].to_numpy()[:, None] != X["b"].to_numpy())
    # In units of a power of two above the largest number, 5.
    np.testing.assert_allclose(64 * ((Z[:, None] - Z) ** 2).sum(axis=2), d2, atol=1e-12)


@pytest.mark.parametrize(("scale", "dtype"), [(1e150, float), (1e36, np.float32)])
def test_huge_numbers_have_centres(scale, dtype):
    X, y = make_xor(80, 3, random_state=0)
    X = (scale * X.to_numpy()).astype(dtype)
    model = ImmigrateClassifier(references=8, random_state=0).fit(X, y)
    assert np.isfinite(model.model_.references.values).all()
    assert np.isfinite(model.predict_proba(X)).all()


CLASSIFIERS = [
    ImmigrateClassifier(references=60, random_state=0),
    ImmigrateClassifierCV(ImmigrateClassifier(references=60, random_state=0)),
    BoostedImmigrateClassifier(ImmigrateClassifier(references=60, random_state=0), n_estimators=3),
    IM4EClassifier(references=60, random_state=0),
    CubicImmigrateClassifier(references=60, random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_a_model_with_centres_holds_no_training_row_and_is_small(model):
    X, y = make_xor(2000, 4, random_state=0)
    fitted = clone(model).fit(X, y)
    whole = clone(model)
    whole.set_params(
        **{
            (
                "references"
                if "references" in whole.get_params(deep=False)
                else "estimator__references"
            ): "all"
        }
    )
    assert len(pickle.dumps(fitted)) < 0.4 * len(pickle.dumps(whole.fit(X, y)))
    values = fitted.model_.references.values
    assert len(values) == pytest.approx(60, abs=3)
    same = (values[:, None] == X.to_numpy()).all(axis=2)
    # A centre of one sample is that sample; there are hardly any.
    assert same.any(axis=1).sum() <= 3
    assert fitted.model_.references.count.sum() == 2000


def test_centres_predict_about_as_well_as_all_samples():
    X, y = make_xor(3000, 4, random_state=0)
    new, truth = make_xor(2000, 4, random_state=1)
    exact = ImmigrateClassifierCV().fit(X, y).score(new, truth)
    base = ImmigrateClassifier(references=300, random_state=0)
    centres = ImmigrateClassifierCV(base).fit(X, y).score(new, truth)
    assert centres > exact - 0.03


def test_an_explanation_names_prototypes_and_no_training_rows():
    X, y = make_xor(300, 4, random_state=0)
    model = ImmigrateClassifier(references=30, random_state=0).fit(X, y)
    explanation = model.explain(X[:1], n_neighbors=2)
    assert "training_row" not in explanation.neighbours
    place = explanation.neighbours["prototype"]
    np.testing.assert_array_equal(
        model.classes_[model.model_.references.codes[place]], explanation.neighbours["class"]
    )
    assert "training rows" not in explanation.summary()
    assert f"prototypes {place[0]} (" in explanation.summary()


def test_what_needs_samples_says_that_there_are_none():
    X, y = make_xor(300, 4, random_state=0)
    model = ImmigrateClassifier(references=30, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="no leave-one-out predictions"):
        model.leave_one_out_predict()
    assert len(model.interactions()) == 10
    assert model.explain(X[:3], n_neighbors=2).margin.shape == (3,)


@pytest.mark.parametrize("wrong", ["some", None, True, [10], ClassCentres])
def test_references_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="references must be 'auto', 'all', a number"):
        ImmigrateClassifier(references=wrong).fit(*make_xor(50, 3, random_state=0))


def test_numbers_stand_for_centres():
    assert resolved_references(0.1, is_sampled=False).n_centres == 0.1
    assert resolved_references("all", is_sampled=True) is None
    assert resolved_references("auto", is_sampled=False) is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sigma", [1e-300, 1e300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_widths_have_probabilities_too(sigma, dtype):
    X, y = make_xor(60, 3, random_state=0)
    X = X.to_numpy(dtype)
    model = ImmigrateClassifier(sigma, references=9, random_state=0, rule="distance")
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X).sum(axis=1), 1)
