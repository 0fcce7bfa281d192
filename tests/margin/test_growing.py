"""Fits on samples of large tables: what is drawn, what it stands for, how far it leads astray."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from immigrate import (
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    durations,
)
from immigrate.datasets import make_xor
from immigrate.kernels.compiling import log_once
from immigrate.margin import growing, path
from immigrate.margin.growing import Samples, Size, groups_of, sample_sizes
from immigrate.options import Descent, Screen

HALF = Descent(n_anchors=600, n_references=600)


def table(n, *, p=5, seed=0, share=0.5):
    """Main effects and a pair; `share` of the samples are of class 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X[:, 0] + 1.5 * X[:, 1] * X[:, 2]
    return X, (score > np.quantile(score, 1 - share)).astype(int)


@pytest.fixture(scope="module")
def large():
    return table(1200)


@pytest.fixture(scope="module")
def exact(large):
    return ImmigrateClassifier().fit(*large)


def codes_of(*sizes):
    return np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("size", [Size(100, 100), Size(60, 300), Size(400, 90)])
def test_a_larger_sample_holds_the_smaller(size):
    sampler = Samples.of(codes_of(3000, 1000, 500), None, [], 0)
    small, larger = sampler.drawn(size), sampler.drawn(Size(*(2 * n for n in size)))
    assert set(small.rows) < set(larger.rows)
    assert len(small.rows) == pytest.approx(max(size), rel=0.1)


def test_classes_are_drawn_in_proportion_and_then_count_once():
    sample = Samples.of(codes_of(6000, 3000), None, [], 0).drawn(Size(900, 900))
    assert sample.is_anchor is None
    assert sample.count is None
    assert sample.anchor_weight is None


@pytest.mark.parametrize("weighted", [False, True])
def test_a_small_class_is_drawn_more_often_and_weighs_as_before(weighted):
    codes = codes_of(100_000, 300, 3000)
    D = np.random.default_rng(1).uniform(size=len(codes))
    D = D / D.sum() if weighted else None
    sample = Samples.of(codes, D, [], 0).drawn(Size(2000, 4000))
    drawn = codes[sample.rows]
    assert np.bincount(drawn)[1] == 300
    every = np.full(len(codes), 1 / len(codes)) if D is None else D
    np.testing.assert_allclose(
        np.bincount(drawn, weights=sample.anchor_weight), np.bincount(codes, weights=every)
    )
    # References stand for the shares of the classes in the whole table.
    standing = np.bincount(drawn, weights=sample.count)
    np.testing.assert_allclose(standing / standing.sum(), np.bincount(codes) / len(codes))
    assert np.all(sample.anchor_weight[~sample.is_anchor] == 0)


def test_a_sample_without_any_weight_is_refused():
    codes = codes_of(50_000, 50_000)
    D = np.zeros(len(codes))
    D[Samples.of(codes, None, [], 0).order[0][-1]] = 1.0
    with pytest.raises(ValueError, match="zero for all samples that were drawn"):
        Samples.of(codes, D, [], 0).drawn(Size(100, 100))


def test_tables_are_fitted_whole_up_to_seconds_per_step():
    assert sample_sizes(Descent(), 9003, 28**2) == []
    sizes = sample_sizes(Descent(), 200_000, 28**2)
    assert [size.n_anchors for size in sizes] == sorted({size.n_anchors for size in sizes})
    assert all(2 * a.n_anchors >= b.n_anchors for a, b in pairwise(sizes))
    # Wide tables of few rows are never cut down to fewer.
    assert sample_sizes(Descent(), 3000, 2000**2) == []
    assert sample_sizes(Descent(n_anchors=None, n_references=None), 10**6, 400) == []


@pytest.mark.parametrize("wrong", [1, 0, -5, 1.5, 0.0, "all", True])
def test_sizes_that_make_no_sense_are_refused(wrong, large):
    with pytest.raises(ValueError, match="n_anchors must be 'auto', None for all samples"):
        ImmigrateClassifier(solver=Descent(n_anchors=wrong)).fit(*large)


def test_a_sample_of_all_is_the_plain_fit(large, exact):
    whole = ImmigrateClassifier(solver=Descent(n_anchors=1.0, n_references=1200)).fit(*large)
    np.testing.assert_array_equal(whole.weight_matrix_, exact.weight_matrix_)
    assert (whole.n_anchors_, whole.n_references_) == (1200, 1200)
    assert not whole.weight_error_.any()


def test_the_stated_error_covers_the_difference_from_the_exact_fit(large, exact):
    is_covered = []
    for seed in range(12):
        model = ImmigrateClassifier(solver=HALF, random_state=seed).fit(*large)
        assert model.n_anchors_ == model.n_references_ == 600
        difference = np.linalg.norm(model.weight_matrix_ - exact.weight_matrix_)
        is_covered.append(difference <= 2 * np.linalg.norm(model.weight_error_))
    assert np.mean(is_covered) >= 0.9


def test_a_sample_grows_until_its_error_is_small(large, monkeypatch, capsys):
    for module in (growing, path):
        monkeypatch.setattr(module, "FIRST_SIZE", 150)
    monkeypatch.setattr(growing, "MOST_STEP_SECONDS", 1e-3)
    ImmigrateClassifier(random_state=0, verbose=True).fit(*large)
    lines = [line for line in capsys.readouterr().out.splitlines() if "standard error" in line]
    assert lines[0].startswith("150 of 1,200 samples")
    assert len(lines) >= 2
    errors = [float(line.split()[-1]) for line in lines]
    assert all(error > 0.1 for error in errors[:-1])


def test_the_same_seed_draws_the_same_sample_whatever_the_threads(large):
    X, y = large
    fits = [ImmigrateClassifier(solver=HALF, random_state=3, n_jobs=n).fit(X, y) for n in (1, 2)]
    np.testing.assert_array_equal(*(fit.weight_matrix_ for fit in fits))
    np.testing.assert_array_equal(*(fit.predict_proba(X) for fit in fits))


@pytest.mark.parametrize(
    "model",
    [
        ImmigrateClassifierCV(ImmigrateClassifier(solver=HALF, random_state=0)),
        ImmigrateClassifierCV(
            ImmigrateClassifier(solver=Descent(n_anchors=0.2, n_references=0.5), random_state=0),
            cv=3,
        ),
        BoostedImmigrateClassifier(
            ImmigrateClassifier(solver=Descent(n_anchors=300, n_references=600), random_state=0),
            n_estimators=3,
        ),
        ImmigrateClassifier(
            solver=HALF, screen=Screen("im4e", threshold=0.0, max_features=4), random_state=0
        ),
        IM4EClassifier(solver=HALF, random_state=0, sigma=0.5),
        CubicImmigrateClassifier(solver=HALF, random_state=0),
    ],
    ids=["path", "path by folds", "boosted", "screened", "im4e", "triples"],
)
def test_every_classifier_fits_on_a_sample(model, large):
    X, y = table(800, seed=5)
    fitted = model.fit(*large)
    floor = 0.55 if isinstance(model, IM4EClassifier) else 0.7
    assert fitted.score(X, y) > floor
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


def test_unbalanced_classes_are_predicted_as_often_as_they_are(monkeypatch):
    X, y = table(6000, share=0.05)
    solver = Descent(n_anchors=400, n_references=400)
    model = ImmigrateClassifier(solver=solver, references="all", random_state=0).fit(X, y)
    assert model.predict(X).mean() < 0.1


def test_nothing_is_left_out_where_the_fit_saw_a_sample(large):
    model = ImmigrateClassifier(solver=HALF, random_state=0).fit(*large)
    with pytest.raises(ValueError, match="no leave-one-out predictions"):
        model.leave_one_out_predict()
    with pytest.raises(ValueError, match="no leave-one-out predictions"):
        model.expected_distances()


def test_every_group_has_all_of_a_class_that_is_too_small_to_be_cut():
    codes = np.repeat([0, 1, 2], [60, 9, 3])
    for group in groups_of(codes, None):
        assert np.bincount(codes[group]).tolist() == [12, 9, 3]
    is_anchor = np.arange(72) % 20 == 0
    for group in groups_of(codes, is_anchor):
        assert is_anchor[group].sum() == is_anchor.sum()


@pytest.mark.parametrize("sizes", [(3, 3), (4, 20), (2, 2, 9)])
def test_tiny_tables_can_be_sampled(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(codes), 3)) + codes[:, None]
    solver = Descent(n_anchors=0.5, n_references=0.7)
    for references in ("auto", "all", 3):
        model = ImmigrateClassifier(solver=solver, references=references, random_state=0)
        assert np.isfinite(model.fit(X, codes).predict_proba(X)).all()
        assert np.isfinite(model.weight_error_).all()


def test_groups_hold_the_same_share_of_classes_and_anchors():
    codes, is_anchor = codes_of(100, 50), np.random.default_rng(0).uniform(size=150) < 0.4
    groups = groups_of(codes, is_anchor)
    assert sorted(np.concatenate(groups)) == list(range(150))
    for values in (codes, is_anchor):
        sums = [values[group].sum() for group in groups]
        assert max(sums) - min(sums) <= 2


@pytest.mark.parametrize(
    "model",
    [
        ImmigrateClassifier(),
        ImmigrateClassifierCV(),
        IM4EClassifier(),
        CubicImmigrateClassifier(),
    ],
)
def test_a_fit_of_minutes_says_so_at_once_and_how_to_shorten_it(model, large, monkeypatch, caplog):
    model.fit(*large)
    assert not caplog.records
    monkeypatch.setattr(durations, "LONG_SECONDS", 1e-4)
    monkeypatch.setattr(path, "LEAST_WORK_ANNOUNCED", 0.0)
    log_once.cache_clear()
    model.fit(*large)
    (record,) = caplog.records
    assert record.message.startswith("immigrate: 1,200 samples and 5 features: about ")
    assert "Descent(n_anchors=4000, n_references=4000)" in record.message


def test_a_fit_on_a_sample_prints_only_where_asked(capsys):
    X, y = make_xor(600, 3, noise=0.1, random_state=0)
    solver = Descent(n_anchors=200, n_references=200)
    for verbose in (False, True):
        ImmigrateClassifier(solver=solver, random_state=0, verbose=verbose).fit(X, y)
        assert ("standard error of the weights" in capsys.readouterr().out) == verbose
