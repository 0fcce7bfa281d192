from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.cones import (
    FREE,
    MATRIX_SETS,
    Answer,
    Cone,
    oracle,
    psd_part_by_all,
    unit,
)
from immigrate.core.psd import (
    WIDE,
    PsdPart,
    Tridiagonal,
)


def with_spectrum(eigenvalues, seed=0):
    p = len(eigenvalues)
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((p, p)))[0]
    return (vectors * eigenvalues) @ vectors.T


def scatter(n_pairs, p, n_misses, seed=0):
    """A matrix as it comes in a fit: differences with signs."""
    rng = np.random.default_rng(seed)
    d, c = np.abs(rng.standard_normal((n_pairs, p))), rng.uniform(size=n_pairs)
    c[:n_misses] *= -1
    return unit((d.T * c) @ d)


SPECTRA = {
    "even": np.linspace(-1, 1, 40),
    "few negative": np.r_[-1.0, -0.1, np.linspace(0.1, 1, 38)],
    "few positive": np.r_[np.linspace(-1, -0.1, 38), 0.1, 1.0],
    "none negative": np.linspace(0.1, 1, 40),
    "none positive": np.linspace(-1, -0.1, 40),
    "zeros": np.r_[np.linspace(-1, -0.1, 5), np.zeros(30), np.linspace(0.1, 1, 5)],
    "equal": np.r_[-np.ones(3), np.ones(37)],
    "all equal and negative": -np.ones(40),
    "tiny positive": np.r_[np.linspace(-1, -0.5, 20), np.full(20, 1e-9)],
    "many orders": np.r_[-np.logspace(-14, 0, 20), np.logspace(-14, 0, 20)],
}


@pytest.mark.parametrize("name", SPECTRA)
def test_the_rarer_sign_gives_the_part_of_all_eigenvectors(name):
    A = with_spectrum(SPECTRA[name])
    np.testing.assert_allclose(PsdPart(A).matrix(), psd_part_by_all(A), atol=1e-14)


@pytest.mark.parametrize("p", [1, 2, 3, 50, WIDE])
@pytest.mark.parametrize("n_misses", [0, 3, 30, 57, 60])
def test_both_ways_agree_on_matrices_of_a_fit(p, n_misses):
    A = scatter(60, p, n_misses)
    np.testing.assert_allclose(PsdPart(A).matrix(), psd_part_by_all(A), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-250, 1e-100, 1e100, 1e250])
def test_units_do_not_matter(scale):
    A = scatter(60, 40, 20)
    found = PsdPart(A * scale).matrix() / scale
    np.testing.assert_allclose(found, psd_part_by_all(A), atol=1e-14)


@pytest.mark.parametrize("matrix", [np.zeros((30, 30)), np.eye(30), -np.eye(30)])
def test_diagonal_matrices_stay_as_they_are(matrix):
    np.testing.assert_array_equal(PsdPart(matrix).matrix(), np.maximum(matrix, 0))


def test_the_part_is_symmetric_and_what_came_is_left_alone():
    A = scatter(60, 40, 20)
    before = A.copy()
    part = PsdPart(A).matrix()
    np.testing.assert_array_equal(part, part.T)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("name", SPECTRA)
def test_the_norm_is_that_of_the_part(name):
    part = PsdPart(with_spectrum(SPECTRA[name]))
    assert part.norm() == pytest.approx(np.linalg.norm(part.matrix()), rel=1e-12, abs=1e-15)


class ByAllEigenvectors(Cone):
    """Positive semi-definite matrices, of any size the same way."""

    def best(self, A, step):
        return Answer(psd_part_by_all(A))


def test_the_oracle_of_a_wide_table_is_the_plain_one():
    """Its gap is known before its answer; both are those of the projection by all vectors."""
    gradient, W = scatter(300, WIDE, 120), psd_part_by_all(scatter(300, WIDE, 150, seed=1))
    wide = oracle(W, gradient, MATRIX_SETS["psd"])
    plain = oracle(W, gradient, ByAllEigenvectors(FREE, is_psd=True))
    assert wide.gap == pytest.approx(plain.gap, abs=1e-13)
    np.testing.assert_allclose(wide.weights, plain.weights, atol=1e-13)


def test_a_wide_table_without_a_direction_has_no_oracle():
    best = oracle(np.eye(WIDE), np.eye(WIDE), MATRIX_SETS["psd"])
    assert not best.has_direction
    assert best.weights is None
    assert np.isnan(best.gap)


@pytest.mark.parametrize(
    ("n_negative", "way"), [(0, []), (1, ["few"]), (5, ["few"]), (6, ["all"]), (20, ["all"])]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_few_vectors_are_found_without_the_others(n_negative, way, sign, monkeypatch):
    """Up to an eighth of all, of either sign; none at all where there is nothing to find."""
    taken = []
    for name in ("few", "all"):
        plain = getattr(Tridiagonal, f"_{name}")

        def counted(self, *arguments, name=name, plain=plain):
            taken.append(name)
            return plain(self, *arguments)

        monkeypatch.setattr(Tridiagonal, f"_{name}", counted)
    eigenvalues = (
        sign * np.r_[-np.linspace(0.1, 1, n_negative), np.linspace(0.1, 1, 40 - n_negative)]
    )
    A = with_spectrum(eigenvalues)
    np.testing.assert_allclose(PsdPart(A).matrix(), psd_part_by_all(A), atol=1e-14)
    # Older versions of SciPy find all in the way of few.
    assert taken[:1] == way


@pytest.mark.parametrize("name", SPECTRA)
def test_older_versions_of_scipy_find_the_same(name, monkeypatch):
    A = with_spectrum(SPECTRA[name])
    expected = PsdPart(A).matrix()
    monkeypatch.delattr("scipy.linalg.lapack.dstevd", raising=False)
    np.testing.assert_allclose(PsdPart(A).matrix(), expected, atol=1e-14)


@pytest.mark.parametrize("name", SPECTRA)
def test_roots_and_counts_are_those_of_the_spectrum(name):
    eigenvalues = SPECTRA[name]
    A = with_spectrum(eigenvalues)
    reduced = Tridiagonal.of(A)
    np.testing.assert_allclose(reduced.eigenvalues(), np.sort(eigenvalues), atol=1e-14)
    n_negative = reduced.n_negative()
    assert np.sum(eigenvalues < -1e-13) <= n_negative <= np.sum(eigenvalues < 1e-13)
    below, above = (reduced.root_of_sign(*one) for one in ((-1, n_negative), (1, 40 - n_negative)))
    np.testing.assert_allclose(above @ above.T - below @ below.T, A, atol=1e-14)
    assert reduced.root_of_sign(1, 0).shape == (40, 0)
