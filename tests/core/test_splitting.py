"""Proximal maps over positive semi-definite matrices, by their conditions and by many trials."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.core import splitting
from immigrate.core.cones import FREE, Elements, norm, psd_part, unit
from immigrate.core.penalties import PricedElements, PricedNorm
from immigrate.core.splitting import Spectrum, conjugate_gradients, multiplier, psd_prox

KINDS = ("l1", "l1, not negative", "not negative", "l2", "l2, not negative")
any_kind = pytest.mark.parametrize("kind", KINDS)


def penalty(kind, p, price=0.05):
    elements, is_pair = Elements(not kind.endswith("not negative")), ~np.eye(p, dtype=bool)
    if kind.startswith("l2"):
        return PricedNorm(price, is_pair, elements)
    return PricedElements(price * is_pair * kind.startswith("l1"), elements)


def drawn(seed, p, n_pairs=None):
    """A matrix as it comes in a fit: a difference of two sums of products."""
    rng = np.random.default_rng(seed)
    d = np.abs(rng.standard_normal((n_pairs or 3 * p, p)))
    return unit((d.T * rng.choice([-1.0, 1.0], len(d))) @ d)


def members(kind, p, near, n=150):
    """Matrices of the cone about one of them: sums of products, or of products above 0."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        root = rng.standard_normal((p, 2))
        if kind.endswith("not negative"):
            root = np.abs(root)
        share = 10 ** rng.uniform(-5, 0)
        yield (1 - share) * near + share * norm(near) * unit(root @ root.T)


@any_kind
@pytest.mark.parametrize("step", [1.0, 0.3])
@pytest.mark.parametrize(("p", "n_pairs"), [(2, 3), (5, 15), (8, 5), (12, 40)])
def test_no_matrix_of_the_cone_is_better(kind, step, p, n_pairs):
    A, h = drawn(p, p, n_pairs), penalty(kind, p)
    found = psd_prox(A, h, step)

    def value(V):
        return np.sum((V - A) ** 2) / 2 + step * h.value(V)

    assert np.linalg.eigvalsh(found.point).min() >= -1e-10
    for V in members(kind, p, found.point):
        assert value(V) >= value(found.point) - 1e-11


@any_kind
@pytest.mark.parametrize("step", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_and_the_point_attains_it(kind, step, seed):
    """What <A, V> - step h(V) is at most at norm 1."""
    A, h = drawn(seed, 7, 12), penalty(kind, 7)
    found = psd_prox(A, h, step)

    def gain(V):
        return np.vdot(A, V) - step * h.value(V)

    assert gain(unit(found.point)) == pytest.approx(found.most, abs=1e-9)
    for V in members(kind, 7, found.point):
        assert gain(unit(V)) <= found.most + 1e-10


@any_kind
@pytest.mark.parametrize("most_rounds", [0, 1, 2, 3, 5])
def test_the_bound_holds_however_early_it_ends(kind, most_rounds, monkeypatch):
    A, h = drawn(3, 12), penalty(kind, 12)
    exact = psd_prox(A, h)
    monkeypatch.setattr(splitting, "MOST_ROUNDS", most_rounds)
    early = psd_prox(A, h)
    assert early.most >= exact.most - 1e-11
    # As far apart as it says: a matrix of the cone is that near, and none is nearer than P.
    assert norm(early.point - psd_part(early.point)) <= early.apart + 1e-12
    if kind.endswith("not negative"):
        assert early.point.min() >= 0


@any_kind
def test_more_rounds_bring_it_nearer(kind, monkeypatch):
    A, h, apart = drawn(5, 12, 10), penalty(kind, 12), []
    for most_rounds in (1, 30, 2000):
        monkeypatch.setattr(splitting, "MOST_ROUNDS", most_rounds)
        apart.append(psd_prox(A, h).apart)
    assert apart[0] > 1e-6
    assert apart[1] < apart[0]
    assert apart[2] <= 1e-11


class Together:
    """A penalty that does not say which elements it holds, so that Newton's method has none."""

    def __init__(self, h):
        self.prox = h.prox

    def is_held(self, A, step):
        return None


@pytest.fixture
def n_parts(monkeypatch):
    """How many positive parts a proximal map takes."""
    taken, plain = [], splitting.Spectrum.positive_part

    def counted(self):
        taken.append(1)
        return plain(self)

    monkeypatch.setattr(splitting.Spectrum, "positive_part", counted)

    def of(A, h):
        taken.clear()
        psd_prox(A, h)
        return len(taken)

    return of


@pytest.mark.parametrize("kind", ["l1", "l1, not negative", "not negative"])
@pytest.mark.parametrize(("p", "n_pairs"), [(6, 18), (12, 40), (12, 8)])
def test_steps_of_newton_save_rounds(kind, p, n_pairs, n_parts):
    """At least a quarter of them all; of full rank or not."""
    h, tables = penalty(kind, p), [drawn(seed, p, n_pairs) for seed in range(4)]
    alone = sum(n_parts(A, Together(h)) for A in tables)
    assert sum(n_parts(A, h) for A in tables) <= 0.75 * alone


def test_momentum_without_newton_ends_well_before_the_limit(n_parts):
    """A plain iteration takes a thousand rounds for some of these, and more."""
    tables = [drawn(seed, 12, 40) for seed in range(4)]
    for kind, most in (("l2", 20), ("l2, not negative", 150)):
        assert max(n_parts(A, penalty(kind, 12)) for A in tables) <= most


@any_kind
def test_what_meets_the_condition_is_the_proximal_point_of_the_penalty_alone(kind):
    A = 5 * np.eye(4) + np.abs(drawn(2, 4))
    h = penalty(kind, 4)
    found = psd_prox(A, h, 0.5)
    np.testing.assert_allclose(found.point, h.prox(A, 0.5), rtol=1e-13)
    assert found.most == pytest.approx(norm(found.point), rel=1e-13)
    assert found.apart == 0


@any_kind
@pytest.mark.parametrize("scale", [1e-150, 1e-3, 7.0, 1e150])
def test_a_multiple_has_the_multiple_of_everything(kind, scale):
    A, h = drawn(4, 6), penalty(kind, 6)
    one, other = psd_prox(A, h, 1.0), psd_prox(scale * A, h, scale)
    np.testing.assert_allclose(other.point / scale, one.point, atol=1e-11)
    assert other.most / scale == pytest.approx(one.most, rel=1e-11)
    assert other.apart / scale <= 1e-11


def test_a_single_element_and_nothing_at_all():
    h = PricedElements(np.array([[0.25]]), FREE)
    assert psd_prox(np.array([[1.0]]), h).point == pytest.approx(0.75)
    below = psd_prox(np.array([[-1.0]]), h)
    assert below.point == pytest.approx(0.0, abs=1e-12)
    assert below.most == pytest.approx(0.0, abs=1e-12)
    nothing = psd_prox(np.zeros((2, 2)), penalty("l1", 2))
    assert (nothing.most, nothing.apart) == (0.0, 0.0)


@any_kind
@pytest.mark.parametrize("step", [1.0, 4.0])
def test_multipliers_are_projections_onto_those_that_are_possible(kind, step):
    """<N, V> + step h(V) >= 0 for every V that h allows, and a multiplier is its own nearest."""
    Z, h = drawn(6, 5), penalty(kind, 5)
    N = multiplier(h, Z, step)
    np.testing.assert_allclose(multiplier(h, -N, step), N, atol=1e-14)
    rng = np.random.default_rng(2)
    for _ in range(50):
        V = rng.standard_normal((5, 5))
        V = np.abs(V + V.T) if kind.endswith("not negative") else V + V.T
        assert np.vdot(N, V) + step * h.value(V) >= -1e-12
    # No possible one is nearer to -Z.
    for seed in range(20):
        other = multiplier(h, drawn(seed + 10, 5), step)
        assert norm(N + Z) <= norm(other + Z) + 1e-14


def test_newton_is_not_asked_where_elements_do_not_decide_one_by_one(monkeypatch):
    def refused(*arguments):
        raise AssertionError("There is no element to hold by itself.")

    monkeypatch.setattr(splitting, "_newton_point", refused)
    assert psd_prox(drawn(1, 8), penalty("l2, not negative", 8)).apart <= 1e-11


def with_spectrum(eigenvalues, seed=0):
    p = len(eigenvalues)
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((p, p)))[0]
    return (vectors * eigenvalues) @ vectors.T


def symmetric(p, seed):
    H = np.random.default_rng(seed).standard_normal((p, p))
    return H + H.T


def positive_part(A):
    """By NumPy, which goes another way through LAPACK."""
    eigenvalues, vectors = np.linalg.eigh(A)
    return (vectors * np.maximum(eigenvalues, 0)) @ vectors.T


# Apart from 0, where the positive part has a kink; pairs of equal ones on both sides of it.
SPECTRA = {
    "mixed": [-2.0, -0.5, 0.3, 1.0, 4.0],
    "equal": [-1.0, -1.0, 0.5, 0.5, 0.5],
    "positive": [0.1, 0.2, 1.0, 1.0, 3.0],
    "negative": [-3.0, -2.0, -2.0, -1.0, -0.1],
    "one": [-0.7],
}
any_spectrum = pytest.mark.parametrize("name", SPECTRA)


@any_spectrum
def test_eigenvalues_and_vectors_make_up_the_matrix(name):
    A = with_spectrum(SPECTRA[name])
    found = Spectrum.of(A)
    np.testing.assert_allclose(found.eigenvalues, SPECTRA[name], atol=1e-13)
    rebuilt = (found.vectors * found.eigenvalues) @ found.vectors.T
    np.testing.assert_allclose(rebuilt, A, atol=1e-13)


def test_the_lower_triangle_is_what_counts():
    A = with_spectrum(SPECTRA["mixed"])
    above = np.triu(np.ones_like(A), 1)
    np.testing.assert_array_equal(Spectrum.of(A + above).eigenvalues, Spectrum.of(A).eigenvalues)


def test_a_spectrum_that_did_not_converge_is_an_error(monkeypatch):
    from immigrate.core import splitting

    class Failing:
        @staticmethod
        def dsyevr(A, lower):
            return np.zeros(2), np.eye(2), 2, None, 1

    monkeypatch.setattr(splitting, "lapack", Failing)
    with pytest.raises(np.linalg.LinAlgError, match="info = 1"):
        Spectrum.of(np.eye(2))


@any_spectrum
def test_the_positive_part_is_that_of_all_eigenvalues(name):
    A = with_spectrum(SPECTRA[name])
    np.testing.assert_allclose(Spectrum.of(A).positive_part(), positive_part(A), atol=1e-13)


def test_the_positive_part_keeps_small_eigenvalues():
    A = np.diag([1.0, 1e-9, -1.0])
    np.testing.assert_allclose(
        Spectrum.of(A).positive_part(), np.diag([1.0, 1e-9, 0.0]), rtol=1e-12, atol=0
    )


@any_spectrum
@pytest.mark.parametrize("seed", range(3))
def test_the_derivative_is_that_of_central_differences(name, seed):
    A, H = with_spectrum(SPECTRA[name]), symmetric(len(SPECTRA[name]), seed)
    h = 1e-5
    change = (positive_part(A + h * H) - positive_part(A - h * H)) / (2 * h)
    np.testing.assert_allclose(Spectrum.of(A).derivative()(H), change, atol=1e-7)


def test_slopes_are_divided_differences_of_the_positive_part():
    """Between two of one sign 1 or 0, and between -a and b what b is of a + b."""
    spectrum = Spectrum(np.array([-3.0, -1.0, -1.0, 1.0, 1.0]), np.eye(5))
    across = {(-3.0, 1.0): 1 / 4, (-1.0, 1.0): 1 / 2}
    for i, one in enumerate(spectrum.eigenvalues):
        for j, two in enumerate(spectrum.eigenvalues):
            same = float(one > 0) if (one > 0) == (two > 0) else None
            expected = across[min(one, two), max(one, two)] if same is None else same
            assert spectrum.slopes()[i, j] == pytest.approx(expected, abs=1e-15)


def test_eigenvalues_that_differ_by_little_are_told_apart():
    """A difference of 1e-11 about 0 is no rounding: half of it lies on each side."""
    spectrum = Spectrum(np.array([-1e-11, 1e-11]), np.eye(2))
    np.testing.assert_allclose(spectrum.slopes(), [[0.0, 0.5], [0.5, 1.0]], atol=1e-9)


def positive_definite(p, seed):
    return with_spectrum(np.linspace(1.0, 5.0, p), seed)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_conjugate_gradients_solve_in_as_many_steps_as_there_are_eigenvalues(p):
    M, target = positive_definite(p, 1), symmetric(p, 2)
    found = conjugate_gradients(lambda H: M @ H, target, tol=0.0, most=p)
    np.testing.assert_allclose(found, np.linalg.solve(M, target), atol=1e-10)


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_conjugate_gradients_minimise_over_the_space_that_they_have_seen(most):
    """After m steps no point of the span of t, Mt, ..., M^(m-1) t has a smaller error in M."""
    M, target = positive_definite(6, 3), np.random.default_rng(4).standard_normal((6, 1))
    calls = []

    def product(H):
        calls.append(H)
        return M @ H

    found = conjugate_gradients(product, target, tol=0.0, most=most)
    assert len(calls) == most
    seen = np.hstack([np.linalg.matrix_power(M, k) @ target for k in range(most)] or [target * 0])
    best = seen @ np.linalg.lstsq(seen.T @ M @ seen, seen.T @ target, rcond=None)[0]
    np.testing.assert_allclose(found, best, atol=1e-9)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_conjugate_gradients_stop_where_the_rest_is_small_enough(tol):
    """Below tol times the target, and not a step later."""
    M, target = positive_definite(12, 5), symmetric(12, 6)
    rests = []
    for most in range(13):
        found = conjugate_gradients(lambda H: M @ H, target, tol=0.0, most=most)
        rests.append(np.linalg.norm(target - M @ found) / np.linalg.norm(target))
    expected = next(k for k, rest in enumerate(rests) if rest <= tol)
    calls = []

    def product(H):
        calls.append(1)
        return M @ H

    conjugate_gradients(product, target, tol=tol, most=100)
    assert len(calls) == expected


def test_nothing_is_asked_of_a_target_of_nothing():
    def product(H):
        raise AssertionError("There is nothing to solve.")

    found = conjugate_gradients(product, np.zeros((3, 3)), tol=1e-6, most=10)
    np.testing.assert_array_equal(found, np.zeros((3, 3)))
