"""The compiled passes against the plain ones, and what must not change their results."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Problem, compiled, plain, random_problem, random_weights

from immigrate.core.targets import HIT, MISS
from immigrate.kernels import layout, passes
from immigrate.kernels.layout import TileShape
from immigrate.kernels.passes import Plan, hits_and_misses
from immigrate.kernels.tile_energies import EMPTY, FLOOR, MOMENT, PARTITION

TOLERANCE = {np.float64: 1e-11, np.float32: 1e-4}
FORMS = ["matrix", "vector", "triples"]
N_KEPT = [0, 3000, 60_000]  # none, some, all of a problem of up to 300 samples


def relative_error(found, expected):
    scale = np.abs(expected).max()
    return np.abs(found - expected).max() / scale if scale > 0 else np.abs(found).max()


def pass_error(found, expected):
    """Largest relative error among cost, gradient and scores of two passes."""
    # The cost is a difference of free energies, so these set the scale of its rounding error.
    energy = np.abs(expected.scores.free_energy).max()
    return max(
        abs(found.cost - expected.cost) / (energy or 1.0),
        relative_error(found.gradient, expected.gradient),
        scores_error(found.scores, expected.scores),
    )


def scores_error(found, expected):
    return max(
        relative_error(found.free_energy, expected.free_energy),
        relative_error(found.distance, expected.distance),
    )


def both_passes(problem, dtype=np.float64, n_threads=1):
    passes = compiled(problem, dtype, n_threads), plain(problem, dtype)
    return [one.margin(problem.W, problem.sigma) for one in passes]


def assert_same_bits(a, b):
    assert a.cost == b.cost
    np.testing.assert_array_equal(a.gradient, b.gradient)
    np.testing.assert_array_equal(a.scores.free_energy, b.scores.free_energy)
    np.testing.assert_array_equal(a.scores.distance, b.scores.distance)


@pytest.fixture
def cut_small(monkeypatch):
    """Small tiles and many parts, so that a small problem has all that a large one has."""

    def cut(shape=(4, 12, 24), n_parts=5, n_kept=0, n_stretch=10**9):
        plan = Plan(n_parts, n_kept, n_stretch)
        monkeypatch.setattr(layout, "tile_shape", lambda *sizes: TileShape(*shape))
        monkeypatch.setattr(passes, "plan_for", lambda *sizes: plan)

    return cut


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_kept", [0, 3000, 10**6])
@pytest.mark.parametrize("n_stretch", [1, 500])
def test_coming_back_for_interrupts_does_not_change_the_result(
    n_stretch, n_kept, form, cut_small, monkeypatch
):
    problem = random_problem(6, n=150, p=5, n_classes=3, sigma=0.7, form=form)
    cut_small(n_kept=n_kept)
    expected, _ = both_passes(problem)
    cut_small(n_kept=n_kept, n_stretch=n_stretch)
    monkeypatch.setattr(passes, "STRETCH_SECONDS", 1e-9)
    found, _ = both_passes(problem)
    assert pass_error(found, expected) < TOLERANCE[np.float64]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("n", "p", "n_classes"), [(203, 5, 2), (131, 1, 3), (60, 37, 2), (19, 3, 9), (310, 8, 4)]
)
@pytest.mark.parametrize("sigma", [0.1, 4.0])
def test_compiled_is_the_reference(n, p, n_classes, sigma, form, dtype):
    problem = random_problem(n, n=n, p=p, n_classes=n_classes, sigma=sigma, form=form)
    assert pass_error(*both_passes(problem, dtype)) < TOLERANCE[dtype]


@st.composite
def hard_problems(draw, form):
    """Any sigma, duplicated rows, weights of 0, a class of two, one feature; PSD weights too."""
    n_classes = draw(st.integers(2, 4))
    n, p = draw(st.integers(2 * n_classes, 60)), draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.concatenate([np.repeat(np.arange(n_classes), 2), np.zeros(n - 2 * n_classes, int)])
    X = rng.standard_normal((n, p))
    if draw(st.booleans()):
        X = X[rng.integers(0, max(2, n // 3), n)]
    weight = rng.uniform(size=n) * (rng.uniform(size=n) < draw(st.sampled_from([0.5, 1.0])))
    weight[0] += 0.1
    W = random_weights(rng, p, form)
    if form == "matrix" and draw(st.booleans()):
        W = W @ W
    sigma = 10.0 ** draw(st.floats(-6, 6))
    return Problem(X, rng.permutation(y), W, sigma, weight / weight.sum(), form)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150)
@given(data=st.data())
def test_compiled_is_the_reference_on_hard_problems(form, data):
    problem = data.draw(hard_problems(form))
    found, expected = both_passes(problem)
    # An exponent has the relative error of q / sigma, in both passes.
    tolerance = max(1e-11, 1e-15 * min(np.ptp(problem.X) ** 2 / problem.sigma, 700.0))
    # Hits and misses may cancel, so the error is measured against what is added up.
    scale = np.ptp(problem.X, axis=0).max() ** problem.form.degree
    assert np.abs(found.gradient - expected.gradient).max() <= tolerance * scale
    assert scores_error(found.scores, expected.scores) < tolerance
    assert np.isfinite(found.gradient).all()


@pytest.mark.parametrize("sigma", [1e-300, 1e-6, 1e6, 1e300])
@pytest.mark.parametrize("form", FORMS)
def test_extreme_sigma_gives_finite_results(sigma, form):
    problem = random_problem(3, n=90, p=6, n_classes=3, form=form)
    found = compiled(problem).margin(problem.W, sigma)
    assert np.isfinite(found.cost)
    assert np.isfinite(found.gradient).all()
    assert np.isfinite(found.scores.distance).all()
    assert np.isfinite(found.scores.free_energy).all()


@pytest.mark.parametrize("sigma", [1e-300, 1e-20])
def test_equally_near_samples_share_the_coupling_at_any_sigma(sigma):
    X, y = np.array([[0.0], [1.0], [1.0], [3.0], [3.0]]), np.array([0, 0, 0, 1, 1])
    problem = Problem(X, y, np.eye(1), sigma, np.full(5, 0.2))
    found, expected = both_passes(problem)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-14)


def test_a_far_sample_keeps_its_own_level():
    problem = random_problem(5, n=80, p=3, sigma=0.01)
    problem.X[7] += 30.0
    found, expected = both_passes(problem)
    assert pass_error(found, expected) < 1e-11


@pytest.mark.parametrize("form", FORMS)
def test_margins_are_margin_of_each(form):
    problem = random_problem(1, n=150, p=6, n_classes=3, form=form)
    rng = np.random.default_rng(0)
    Ws, sigmas = [random_weights(rng, 6, form) for _ in range(3)], [0.01, 0.5, 4.0]
    kernel = compiled(problem)
    for together, W, sigma in zip(kernel.margins(Ws, sigmas), Ws, sigmas):
        assert pass_error(together, kernel.margin(W, sigma)) < 1e-13


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_new_samples_are_the_reference(form, dtype):
    problem = random_problem(2, n=170, p=9, n_classes=4, form=form)
    rng = np.random.default_rng(0)
    X_new = rng.standard_normal((301, 9)).astype(dtype)
    Ws, sigmas = [random_weights(rng, 9, form) for _ in range(2)], [0.1, 4.0]
    kernel = compiled(problem, dtype)
    many = kernel.scores_many(X_new, Ws, sigmas)
    expected = plain(problem, dtype).scores_many(X_new.astype(float), Ws, sigmas)
    for k, together in enumerate(many):
        alone = kernel.scores_many(X_new, Ws[k : k + 1], sigmas[k : k + 1])[0]
        assert scores_error(together, expected[k]) < TOLERANCE[dtype]
        assert scores_error(together, alone) < 1e-13


def test_a_cost_above_the_limit_has_no_gradient():
    problem = random_problem(4)
    kernel = compiled(problem)
    full = kernel.margin(problem.W, 1.0)
    cut = kernel.margin(problem.W, 1.0, reject_above=full.cost - 1e-6)
    assert cut.gradient is None
    assert cut.cost == full.cost
    assert kernel.margin(problem.W, 1.0, reject_above=full.cost).gradient is not None


@pytest.mark.parametrize("sigma", [0.05, 4.0])
@pytest.mark.parametrize("n_kept", N_KEPT)
@pytest.mark.parametrize("form", FORMS)
def test_number_of_threads_does_not_change_a_bit(sigma, n_kept, form, cut_small):
    cut_small(n_kept=n_kept, n_parts=13)
    problem = random_problem(6, n=230, p=7, n_classes=3, sigma=sigma, form=form)
    one, two, three = (both_passes(problem, n_threads=n)[0] for n in (1, 2, 3))
    assert_same_bits(one, two)
    assert_same_bits(one, three)


def test_number_of_threads_does_not_change_a_bit_at_the_sizes_chosen():
    problem = random_problem(8, n=1100, p=9)
    one, two = (compiled(problem, n_threads=n).margin(problem.W, 4.0) for n in (1, 2))
    assert_same_bits(one, two)


@pytest.mark.parametrize("form", FORMS)
def test_tile_shape_does_not_change_the_result(form, cut_small):
    problem = random_problem(7, n=120, p=5, n_classes=3, sigma=0.3, form=form)
    expected, _ = both_passes(problem)
    shapes = [(1, 8, 8), (4, 12, 24), (3, 30, 40), (16, 32, 512)]
    for shape, n_kept in itertools.product(shapes, N_KEPT):
        cut_small(shape, n_parts=3, n_kept=n_kept)
        found, _ = both_passes(problem)
        assert pass_error(found, expected) < 1e-12


def test_order_of_samples_does_not_matter():
    problem = random_problem(9, n=140, p=4, n_classes=3)
    order = np.random.default_rng(0).permutation(140)
    straight, _ = both_passes(problem)
    other = Problem(
        problem.X[order], problem.y[order], problem.W, problem.sigma, problem.anchor_weight[order]
    )
    shuffled, _ = both_passes(other)
    assert relative_error(shuffled.gradient, straight.gradient) < 1e-12
    assert relative_error(shuffled.scores.distance, straight.scores.distance[order]) < 1e-12


def test_small_working_memory_gives_the_same_result():
    problem = random_problem(10, n=700, p=6)
    expected, _ = both_passes(problem)
    with sklearn.config_context(working_memory=1):
        found, _ = both_passes(problem)
    assert pass_error(found, expected) < 1e-12


def states(n_problems, starts, seed):
    rng = np.random.default_rng(seed)
    shape = (n_problems, len(starts) - 1, starts[-1])
    state = rng.uniform(0.5, 2.0, (shape[0], shape[1], 3, shape[2]))
    state[:, :, FLOOR] = rng.uniform(0.0, 5.0, shape)
    return state


def merged(states, sigma):
    """(floor, Z, Y) of several sets together, by the definition."""
    floor, Z, Y = np.array(states).T
    low = floor.min()
    factor = np.exp((low - floor) / sigma)
    return low, factor @ Z, factor @ Y


@pytest.mark.parametrize("starts", [[0, 3, 7], [0, 1, 4, 6], [0, 2, 3, 5, 9, 10]])
def test_hits_are_of_the_own_class_and_misses_of_all_others(starts):
    sigma = np.array([0.3, 2.0])
    state = states(2, starts, seed=len(starts))
    split = hits_and_misses(state, np.array(starts), sigma)
    own = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for m, i in np.ndindex(2, starts[-1]):
        others = np.delete(state[m, :, :, i], own[i], axis=0)
        np.testing.assert_array_equal(split[m, HIT, :, i], state[m, own[i], :, i])
        np.testing.assert_allclose(split[m, MISS, :, i], merged(others, sigma[m]), rtol=1e-14)


def test_a_class_that_was_not_met_adds_nothing():
    starts = np.array([0, 2, 4, 6])
    state = states(1, starts, seed=0)
    state[:, 2, FLOOR], state[:, 2, PARTITION], state[:, 2, MOMENT] = EMPTY, 0.0, 0.0
    split = hits_and_misses(state, starts, np.array([1.0]))
    np.testing.assert_array_equal(split[0, MISS, :, :2], state[0, 1, :, :2])
    np.testing.assert_array_equal(split[0, MISS, :, 2:4], state[0, 0, :, 2:4])
