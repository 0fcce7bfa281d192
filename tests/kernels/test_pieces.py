"""Every combination of difference, form, target and pairs.

Cost and gradient are held to loops written from the definition, to central differences, and the
compiled pass to the plain one.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import FORMS, form_of, random_weights

from immigrate.core.differences import ColumnKinds
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.numpy_pass import PlainPass
from immigrate.margin.problem import MarginProblem

DIFFERENCES = ["numbers", "levels", "gaps", "levels and gaps"]
TARGETS = ["once", "counted"]
PAIRS = ["all", "some"]
MISMATCH = 0.7


def table(rng, n, p, differences):
    X = rng.standard_normal((n, p))
    is_nominal = np.zeros(p, dtype=bool)
    if "levels" in differences:
        is_nominal[::2] = True
        X[:, is_nominal] = rng.integers(0, 3, (n, is_nominal.sum()))
    if "gaps" in differences:
        X[rng.uniform(size=X.shape) < 0.25] = np.nan
    return X, is_nominal


def case(seed, differences, form, target, pairs, *, n=24, p=4, n_classes=2):
    """Arguments of `Pieces.of`, weights W and anchor weights D."""
    rng = np.random.default_rng(seed)
    X, is_nominal = table(rng, n, p, differences)
    y = rng.permutation(np.arange(n) % n_classes)
    count = np.ones(n) if target == "once" else rng.choice([1.0, 2.0, 3.5], n)
    is_anchor = np.ones(n, dtype=bool)
    if pairs == "some":
        is_anchor, is_reference = rng.uniform(size=(2, n)) < 0.7
        # Every anchor needs two references of its own class and one of another.
        for c in range(n_classes):
            is_reference[np.flatnonzero(y == c)[:2]] = True
        is_anchor[0] = True
        count = count * is_reference
    D = rng.uniform(0.1, 1, n) * is_anchor
    arguments = {
        "X": X,
        "y": y,
        "form": form_of(form, p),
        "kinds": ColumnKinds(is_nominal, MISMATCH),
        "count": count,
        "is_anchor": is_anchor,
    }
    return arguments, random_weights(rng, p, form), D / D.sum()


def loop_difference(arguments, f, i, j):
    """d_f(i, j), expectations as means over the training values, each as often as it counts."""
    x, is_nominal = arguments["X"][:, f], arguments["kinds"].is_nominal[f]

    def apart(a, b):
        return MISMATCH * (a != b) if is_nominal else abs(a - b)

    known = [(v, c) for v, c in zip(x, arguments["count"]) if not np.isnan(v) and c > 0]
    total = sum(c for _, c in known)
    left = known if np.isnan(x[i]) else [(x[i], total)]
    right = known if np.isnan(x[j]) else [(x[j], total)]
    return sum(c * k * apart(a, b) for a, c in left for b, k in right) / total**2


def loop_distance(form, W, d):
    """w'd, d'Wd, or d'Wd plus the sum over all entries of a symmetric tensor."""
    if form.degree < 3:
        return np.linalg.multi_dot([d, W, d]) if form.degree == 2 else W @ d
    T = np.zeros((len(d),) * 3)
    for triple, weight in zip(form.triples, form.triple_weights(W)):
        for order in permutations(triple):
            T[order] = weight
    return d @ form.matrix(W) @ d + sum(
        T[abc] * d[list(abc)].prod() for abc in np.ndindex(T.shape)
    )


def loop_cost(arguments, W, sigma, D):
    """C(W), one pair after the other."""
    X, y, count = arguments["X"], arguments["y"], arguments["count"]
    n, p = X.shape
    cost = 0.0
    for i in np.flatnonzero(arguments["is_anchor"]):
        sums = {True: 0.0, False: 0.0}
        for j in range(n):
            present = count[j] * (i != j)
            if present:
                d = np.array([loop_difference(arguments, f, i, j) for f in range(p)])
                q = loop_distance(arguments["form"], W, d)
                sums[bool(y[i] == y[j])] += present * np.exp(-q / sigma)
        cost += D[i] * sigma * (np.log(sums[False]) - np.log(sums[True]))
    return cost


COMBINATIONS = list(product(DIFFERENCES, FORMS, TARGETS, PAIRS))


@pytest.mark.parametrize(("differences", "form", "target", "pairs"), COMBINATIONS)
class TestEveryCombination:
    def test_cost_is_that_of_loops(self, differences, form, target, pairs):
        arguments, W, D = case(1, differences, form, target, pairs, n=12, p=3)
        found = PlainPass(Pieces.of(**arguments), D).margin(W, 0.8)
        assert found.cost == pytest.approx(loop_cost(arguments, W, 0.8, D), rel=1e-11, abs=1e-12)

    def test_gradient_is_that_of_central_differences(self, differences, form, target, pairs):
        arguments, W, D = case(2, differences, form, target, pairs)
        passes = PlainPass(Pieces.of(**arguments), D)
        found, step = passes.margin(W, 1.0).gradient, 1e-5
        numeric = np.zeros_like(W)
        for index in np.ndindex(W.shape):
            ahead, behind = W.copy(), W.copy()
            ahead[index] += step
            behind[index] -= step
            rise = passes.margin(ahead, 1.0).cost - passes.margin(behind, 1.0).cost
            numeric[index] = rise / (2 * step)
        assert np.linalg.norm(found - numeric) < 1e-6 * np.linalg.norm(found)


@pytest.mark.parametrize("sigma", [0.02, 3.0])
@pytest.mark.parametrize(("differences", "form", "target", "pairs"), COMBINATIONS)
def test_compiled_is_plain(differences, form, target, pairs, sigma):
    arguments, W, D = case(3, differences, form, target, pairs, n=150, p=5, n_classes=3)
    pieces = Pieces.of(**arguments)
    assert_same(pass_over(pieces, D), PlainPass(pieces, D), W, sigma)


def assert_same(fast, slow, W, sigma, tolerance=1e-11):
    found, expected = fast.margin(W, sigma), slow.margin(W, sigma)
    assert found.cost == pytest.approx(expected.cost, rel=tolerance, abs=tolerance)
    for a, b in (
        (found.gradient, expected.gradient),
        (found.scores.free_energy, expected.scores.free_energy),
        (found.scores.distance, expected.scores.distance),
    ):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.nanmax(np.abs(b)))


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    combination=st.sampled_from(COMBINATIONS),
    n=st.integers(12, 70),
    n_classes=st.integers(2, 4),
    log_sigma=st.floats(-6, 6),
)
def test_compiled_is_plain_on_random_problems(seed, combination, n, n_classes, log_sigma):
    arguments, W, D = case(seed, *combination, n=n, n_classes=n_classes)
    pieces = Pieces.of(**arguments)
    sigma = 10.0**log_sigma
    # An exponent has the relative error of q / sigma, in both passes.
    tolerance = max(1e-11, 1e-14 * min(100 / sigma, 700.0))
    fast, slow = pass_over(pieces, D).margin(W, sigma), PlainPass(pieces, D).margin(W, sigma)
    degree = pieces.form.degree
    scale = np.nanmax(arguments["X"]) - np.nanmin(arguments["X"]) + 1
    assert np.abs(fast.gradient - slow.gradient).max() <= tolerance * scale**degree
    np.testing.assert_allclose(
        fast.scores.distance, slow.scores.distance, rtol=tolerance, atol=tolerance * scale**degree
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("differences", DIFFERENCES)
def test_a_count_is_as_many_equal_rows(differences, form):
    arguments, W, D = case(4, differences, form, "once", "all", n=30)
    is_anchor = np.arange(30) < 12
    count = np.where(is_anchor, 1, np.random.default_rng(0).integers(1, 4, 30))
    rows = np.repeat(np.arange(30), count)
    changed = {"count": count.astype(float), "is_anchor": is_anchor}
    repeated = {
        "X": arguments["X"][rows],
        "y": arguments["y"][rows],
        "count": np.ones(len(rows)),
        "is_anchor": is_anchor[rows],
    }
    found = pass_over(Pieces.of(**{**arguments, **changed}), D).margin(W, 0.5)
    expected = pass_over(Pieces.of(**{**arguments, **repeated}), D[rows]).margin(W, 0.5)
    assert found.cost == pytest.approx(expected.cost, rel=1e-11)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(
        found.scores.free_energy[:12], expected.scores.free_energy[:12], rtol=1e-11
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("differences", DIFFERENCES)
@pytest.mark.parametrize("target", TARGETS)
def test_new_samples_may_have_gaps_and_levels_of_their_own(differences, form, target):
    arguments, W, D = case(5, differences, form, target, "all", n=40)
    X_new, _ = table(np.random.default_rng(9), 9, 4, differences)
    X_new[0, 1], X_new[1, 0] = np.nan, 17.0
    pieces = Pieces.of(**arguments)
    found = pass_over(pieces, D).scores_many(X_new, [W], [0.5])[0]
    expected = PlainPass(pieces, D).scores_many(X_new, [W], [0.5])[0]
    np.testing.assert_allclose(found.free_energy, expected.free_energy, rtol=1e-11)
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_two_levels_are_a_column_of_zeros_and_ones(form):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 3)).astype(float), np.arange(40) % 2
    W = random_weights(rng, 3, form)
    problems = (
        MarginProblem(X, y, form=form_of(form, 3), kinds=ColumnKinds(np.full(3, is_nominal)))
        for is_nominal in (False, True)
    )
    numbers, levels = (problem.evaluate(W, 0.5) for problem in problems)
    assert numbers.cost == levels.cost
    np.testing.assert_array_equal(numbers.gradient, levels.gradient)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_of_the_table_are_those_of_distance_and_mismatch(dtype):
    arguments, W, D = case(6, "levels and gaps", "matrix", "once", "all", n=40)
    X, is_nominal = arguments["X"].astype(dtype), arguments["kinds"].is_nominal
    scale = np.where(is_nominal, 1, 2.0**20).astype(dtype)
    small, large = (
        MarginProblem(x, arguments["y"], kinds=ColumnKinds(is_nominal, unit), anchor_weight=D)
        for x, unit in ((X, 1.0), (X * scale, 2.0**20))
    )
    assert large.evaluate(W, 2.0**40).cost == small.evaluate(W, 1.0).cost * 2.0**40
