"""Numbers as outcome of a margin: the target, and the pass over whole rows that serves it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sklearn
from problems import FORMS, form_of, random_weights

from immigrate.core.couplings import class_probability
from immigrate.core.differences import ColumnKinds
from immigrate.core.targets import HIT, MISS, NEAR, NumberTarget
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.numpy_pass import PlainPass
from immigrate.kernels.whole_rows import WholeRowPass

DIFFERENCES = ["numbers", "levels", "gaps"]
COMBINATIONS = list(product(DIFFERENCES, FORMS, [False, True]))


def case(seed, differences, form, has_counts, *, n=24, p=4):
    """Arguments of `Pieces.of`, weights W and anchor weights D."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    is_nominal = np.zeros(p, dtype=bool)
    if differences == "levels":
        is_nominal[::2] = True
        X[:, is_nominal] = rng.integers(0, 3, (n, is_nominal.sum()))
    if differences == "gaps":
        X[rng.uniform(size=X.shape) < 0.25] = np.nan
    # Ties among them: their misses have a share of 0.
    y = np.round(rng.standard_normal(n), 1)
    is_anchor = rng.uniform(size=n) < 0.7 if has_counts else np.ones(n, dtype=bool)
    is_anchor[0] = True
    count = rng.choice([0.0, 1.0, 2.5], n) if has_counts else np.ones(n)
    D = rng.uniform(0.1, 1, n) * is_anchor
    arguments = {"X": X, "y": y, "form": form_of(form, p), "kinds": ColumnKinds(is_nominal, 1.0)}
    arguments |= {"count": count, "is_anchor": is_anchor}
    return arguments, random_weights(rng, p, form), D / D.sum()


def loop_rank(y, count, n):
    """Share of the references below a number, and half of those that are equal."""
    below, equal = count[y < y[n]].sum(), count[y == y[n]].sum()
    return (below + equal / 2) / count.sum()


def loop_pass(pieces, W, sigma, D):
    """Cost, and the mean number of the soft neighbours of each anchor, one pair at a time."""
    y, count = pieces.target.y, pieces.target.count
    d = pieces.differences(pieces.samples, pieces.samples)
    q = pieces.form.distance(W, d)
    rank = [loop_rank(y, count, n) for n in range(len(y))]
    cost, means = 0.0, {}
    for n in pieces.pairs.anchors:
        hit = miss = total = numbers = 0.0
        for j in range(len(y)):
            if j == n:
                continue
            near = np.exp(-abs(rank[n] - rank[j]) / NEAR)
            factor = count[j] * np.exp(-q[n, j] / sigma)
            hit, miss = hit + near * factor, miss + (1 - near) * factor
            total, numbers = total + factor, numbers + factor * y[j]
        cost += D[n] * sigma * (np.log(miss) - np.log(hit))
        means[n] = numbers / total
    return cost, means


@pytest.mark.parametrize(("differences", "form", "has_counts"), COMBINATIONS)
class TestEveryCombination:
    def test_cost_and_means_are_those_of_loops(self, differences, form, has_counts):
        arguments, W, D = case(1, differences, form, has_counts, n=16)
        pieces = Pieces.of(**arguments)
        found = pass_over(pieces, D).margin(W, 0.8)
        cost, means = loop_pass(pieces, W, 0.8, D)
        assert found.cost == pytest.approx(cost, rel=1e-11, abs=1e-13)
        share = class_probability(found.scores.free_energy, 0.8)[:, 1]
        y = arguments["y"]
        for n, mean in means.items():
            assert y.min() + share[n] * np.ptp(y) == pytest.approx(mean, rel=1e-11, abs=1e-13)

    def test_gradient_is_that_of_central_differences(self, differences, form, has_counts):
        arguments, W, D = case(2, differences, form, has_counts)
        passes = pass_over(Pieces.of(**arguments), D)
        found, step = passes.margin(W, 1.0).gradient, 1e-5
        numeric = np.zeros_like(W)
        for index in np.ndindex(W.shape):
            ahead, behind = W.copy(), W.copy()
            ahead[index] += step
            behind[index] -= step
            rise = passes.margin(ahead, 1.0).cost - passes.margin(behind, 1.0).cost
            numeric[index] = rise / (2 * step)
        assert np.linalg.norm(found - numeric) < 1e-6 * np.linalg.norm(found)

    @pytest.mark.parametrize("sigma", [1e-6, 0.02, 3.0, 1e6])
    def test_whole_rows_are_the_plain_pass(self, differences, form, has_counts, sigma):
        arguments, W, D = case(3, differences, form, has_counts, n=90)
        pieces = Pieces.of(**arguments)
        fast, slow = pass_over(pieces, D), PlainPass(pieces, D)
        assert type(fast) is WholeRowPass
        found, expected = fast.margin(W, sigma), slow.margin(W, sigma)
        # An exponent has the relative error of q / sigma.
        close = {"rtol": 1e-9, "atol": max(1e-12, 1e-14 * min(100 / sigma, 700.0))}
        assert found.cost == pytest.approx(expected.cost, rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(found.gradient, expected.gradient, **close)
        # A vote that nobody near has is beyond the floor of one pass and not of the other.
        share = [class_probability(one.scores.free_energy, sigma) for one in (found, expected)]
        np.testing.assert_allclose(*share, rtol=1e-7, atol=1e-10)
        new = [one.scores_many(arguments["X"][:7], [W], [sigma])[0] for one in (fast, slow)]
        share = [class_probability(one.free_energy, sigma) for one in new]
        np.testing.assert_allclose(*share, rtol=1e-7, atol=1e-10)


def test_a_refused_cost_has_no_gradient():
    arguments, W, D = case(4, "numbers", "matrix", False)
    passes = pass_over(Pieces.of(**arguments), D)
    cost = passes.margin(W, 1.0).cost
    assert passes.margin(W, 1.0, reject_above=cost - 1e-9).gradient is None
    assert passes.margin(W, 1.0, reject_above=-np.inf).gradient is None
    assert passes.margin(W, 1.0, reject_above=cost).gradient is not None


def test_working_memory_changes_only_the_order_of_a_sum():
    arguments, W, D = case(5, "numbers", "matrix", False, n=70)
    passes = pass_over(Pieces.of(**arguments), D)
    whole = passes.margin(W, 0.5)
    with sklearn.config_context(working_memory=1e-4):
        part = passes.margin(W, 0.5)
    assert part.cost == pytest.approx(whole.cost, rel=1e-12)
    np.testing.assert_allclose(part.gradient, whole.gradient, rtol=1e-11, atol=1e-14)


def test_a_count_is_as_many_equal_rows():
    arguments, W, D = case(6, "gaps", "matrix", False, n=30)
    is_anchor = np.arange(30) < 12
    count = np.where(is_anchor, 1, np.random.default_rng(0).integers(1, 4, 30))
    rows = np.repeat(np.arange(30), count)
    counted = arguments | {"count": count.astype(float), "is_anchor": is_anchor}
    repeated = {"X": arguments["X"][rows], "y": arguments["y"][rows], "is_anchor": is_anchor[rows]}
    found = pass_over(Pieces.of(**counted), D).margin(W, 0.5)
    expected = pass_over(Pieces.of(**(arguments | {"count": None} | repeated)), D[rows])
    expected = expected.margin(W, 0.5)
    assert found.cost == pytest.approx(expected.cost, rel=1e-11)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-10, atol=1e-13)


def test_numbers_of_two_values_are_nearly_two_classes():
    """A hit of the other value counts as exp(-2) of one."""
    target = NumberTarget(np.array([3.0, 3.0, 8.0, 8.0]), np.ones(4))
    share = target(np.arange(4), np.arange(4))
    assert share[MISS, 0, 1] == share[HIT, 0, 0] == 0
    assert share[HIT, 0, 1] == 1
    assert share[HIT, 0, 2] == pytest.approx(np.exp(-2))
