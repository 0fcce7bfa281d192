"""The margin of a sample is the sum of its parts, by definition and by loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import FORMS, problems, random_problem

from immigrate.core.couplings import AGAINST, PREDICTED, class_probability, margin_parts
from immigrate.kernels import Pieces
from immigrate.kernels.numpy_pass import new_sample_scores
from immigrate.margin.explanation import two_nearest, vote_slope

any_form = pytest.mark.parametrize("form", FORMS)


def new_rows(problem, n_rows=3):
    rng = np.random.default_rng(len(problem.X))
    return problem.X[:n_rows] + rng.normal(scale=0.3, size=problem.X[:n_rows].shape)


def parts_of(problem, X, classes, count=None, sigma=None):
    d = np.abs(X.T[:, :, None] - problem.X.T[:, None, :])
    share = (classes[:, :, None] == problem.y) * (1.0 if count is None else count)
    return margin_parts(
        problem.form, problem.W, problem.sigma if sigma is None else sigma, d, share
    )


def terms_of(problem):
    """Each place of the weights, its features, and what their differences are multiplied by."""
    p, W = problem.X.shape[1], problem.W
    if problem.form.degree < 3:
        return [(k, k, W[k]) for k in product(range(p), repeat=W.ndim)]
    entries = [*product(range(p), repeat=2), *problem.form.triples.tolist()]
    factor = [1.0] * p**2 + [6**0.5] * len(problem.form.triples)
    return [(k, entry, factor[k] * W[k]) for k, entry in enumerate(entries)]


def parts_by_loops(problem, x, a, b):
    """Part of each weight and the crowding part of one row, straight from the definitions."""
    expected, entropy = {}, {}
    for c in (a, b):
        members = [j for j, code in enumerate(problem.y) if code == c]
        indices = [k for k, _, _ in terms_of(problem)]
        term = {
            (j, k): weight * np.prod([abs(x[f] - problem.X[j, f]) for f in features])
            for j in members
            for k, features, weight in terms_of(problem)
        }
        q = np.array([sum(term[j, k] for k in indices) for j in members])
        alpha = np.exp(-(q - q.min()) / problem.sigma)
        alpha /= alpha.sum()
        for k in indices:
            expected[c, k] = sum(w * term[j, k] for w, j in zip(alpha, members))
        entropy[c] = -sum(w * np.log(w) for w in alpha if w > 0)
    parts = np.zeros(problem.W.shape)
    for k in indices:
        parts[k] = expected[b, k] - expected[a, k]
    return parts, problem.sigma * (entropy[a] - entropy[b])


@any_form
@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_are_those_of_loops_over_references_and_terms(form, n_classes):
    problem = random_problem(3, n=14, p=3, n_classes=n_classes, sigma=0.3, form=form)
    X, classes = new_rows(problem), np.array([[0, 1, n_classes - 1], [1, 0, 0]])
    found = parts_of(problem, X, classes)
    for row, (x, a, b) in enumerate(zip(X, *classes)):
        terms, crowding = parts_by_loops(problem, x, a, b)
        np.testing.assert_allclose(found.terms[row], terms, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.crowding[row], crowding, rtol=1e-12, atol=1e-14)


@any_form
@given(data=st.data())
def test_parts_sum_to_the_margins_of_the_reference_pass(form, data):
    problem = data.draw(problems(form=form, max_p=4))
    X = new_rows(problem)
    scores = new_sample_scores(
        Pieces.of(problem.X, problem.y, form=problem.form), X, problem.W, problem.sigma
    )
    rows, classes = np.arange(len(X)), two_nearest(scores.distance)
    found = parts_of(problem, X, classes)
    terms = found.terms.reshape(len(X), -1).sum(axis=1)
    # Logarithms come multiplied by sigma.
    atol = 1e-13 * max(1.0, problem.sigma)
    for total, margin, score in [
        (terms, found.distance, scores.distance),
        (terms + found.crowding, found.free_energy, scores.free_energy),
    ]:
        expected = score[rows, classes[AGAINST]] - score[rows, classes[PREDICTED]]
        np.testing.assert_allclose(margin, expected, rtol=1e-11, atol=atol)
        np.testing.assert_allclose(total, margin, rtol=1e-11, atol=atol)


@any_form
def test_the_other_class_asked_for_turns_every_sign(form):
    problem = random_problem(5, n_classes=3, form=form)
    X, classes = new_rows(problem), np.array([[0, 1, 2], [2, 0, 1]])
    one, other = parts_of(problem, X, classes), parts_of(problem, X, classes[::-1])
    for name in ("terms", "crowding", "distance", "free_energy"):
        np.testing.assert_array_equal(getattr(one, name), -getattr(other, name))
    np.testing.assert_array_equal(one.coupling, other.coupling[::-1])


def test_copies_of_all_references_of_a_class_change_the_crowding_part_only():
    problem, classes = random_problem(6), np.array([[0, 0, 0], [1, 1, 1]])
    X = new_rows(problem)
    plain = parts_of(problem, X, classes)
    tripled = parts_of(problem, X, classes, count=np.where(problem.y == 0, 3.0, 1.0))
    np.testing.assert_allclose(tripled.terms, plain.terms, rtol=1e-12)
    np.testing.assert_allclose(
        tripled.crowding - plain.crowding, problem.sigma * np.log(3), rtol=1e-12
    )


def test_references_of_a_third_class_do_not_matter():
    problem = random_problem(7, n_classes=3)
    X, classes = new_rows(problem), np.array([[0, 0, 0], [1, 1, 1]])
    moved = random_problem(7, n_classes=3)
    moved.X[moved.y == 2] += 10.0
    np.testing.assert_array_equal(
        parts_of(problem, X, classes).terms, parts_of(moved, X, classes).terms
    )


@pytest.mark.parametrize("sigma", [1e-300, 1e-6, 1e6, 1e100])
@any_form
def test_any_sigma_gives_finite_parts(form, sigma):
    problem, classes = random_problem(8, form=form), np.array([[0, 1, 0], [1, 0, 1]])
    found = parts_of(problem, new_rows(problem), classes, sigma=sigma)
    assert all(np.isfinite(one).all() for one in found)
    total = found.terms.reshape(3, -1).sum(axis=1)
    np.testing.assert_allclose(total, found.distance, atol=1e-13)
    np.testing.assert_allclose(
        total + found.crowding, found.free_energy, rtol=1e-12, atol=1e-13 * max(1.0, sigma)
    )


@given(
    score=st.lists(st.floats(0, 50), min_size=2, max_size=4),
    sigma=st.floats(1e-3, 1e3),
)
def test_slope_times_margin_is_the_difference_of_probabilities(score, sigma):
    score = np.array([score])
    p = class_probability(score, sigma)
    slope = vote_slope(score[:, 1] - score[:, 0], p[:, 0] + p[:, 1], sigma)
    assert slope >= 0
    np.testing.assert_allclose(
        slope * (score[:, 1] - score[:, 0]), p[:, 0] - p[:, 1], rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("sigma", [1e-300, 1.0, 1e300])
def test_the_slope_is_finite_and_continuous_where_the_margin_vanishes(sigma):
    margin = sigma * np.array([-1e-3, -1e-12, 0.0, 1e-12, 1e-3])
    slope = vote_slope(margin, np.ones(5), sigma)
    np.testing.assert_allclose(slope, 0.5 / sigma, rtol=1e-6)


def test_a_margin_far_above_sigma_is_worth_the_whole_vote():
    np.testing.assert_allclose(vote_slope(np.array([-2.0, 4.0]), np.ones(2), 1e-300), [0.5, 0.25])


def test_the_two_nearest_classes_are_distinct_and_ties_go_to_the_first():
    score = np.array([[1.0, 1.0, 1.0], [3.0, 2.0, 2.0], [0.0, 5.0, 5.0], [9.0, 8.0, 7.0]])
    np.testing.assert_array_equal(two_nearest(score), [[0, 1, 0, 2], [1, 2, 1, 1]])
