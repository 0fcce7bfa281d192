"""The positive part of a spectrum against its definition, its derivative against differences."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.splitting import Spectrum, conjugate_gradients


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
