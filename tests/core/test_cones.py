from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.doubly_nonnegative import nearest_doubly_nonnegative

from immigrate.core.cones import (
    MATRIX_SETS,
    NONNEGATIVE,
    VECTOR_SETS,
    Cone,
    norm,
    oracle,
    psd_part,
    unit,
)
from immigrate.core.psd import WIDE
from immigrate.core.splitting import psd_prox


def symmetric(p):
    return arrays(float, (p, p), elements=st.floats(-10, 10)).map(lambda A: A + A.T)


matrices = st.integers(1, 5).flatmap(symmetric)
projections = pytest.mark.parametrize("name", ["psd", "nonnegative", "both"])


@projections
@given(A=matrices)
def test_projection_satisfies_the_moreau_conditions(name, A):
    """P = P_K(A) exactly when P is in K, A - P is in the polar cone, and the two are orthogonal.

    The polar cone is tested through the projections themselves: <A - P, Q> <= 0 for Q in K.
    """
    P = MATRIX_SETS[name].prox(A, 1.0)
    scale = 1 + norm(A)
    np.testing.assert_allclose(P, P.T, atol=1e-12 * scale)
    if name != "nonnegative":
        assert np.linalg.eigvalsh(P).min() >= -1e-9 * scale
    if name != "psd":
        assert P.min() >= -1e-9 * scale
    assert abs(np.vdot(A - P, P)) <= 1e-8 * scale**2
    for Q in members(name, len(A)):
        assert np.vdot(A - P, Q) <= 1e-8 * scale


def members(name, p):
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = rng.standard_normal((p, 1))
        if name == "both":
            root = np.abs(root)
        Q = np.abs(root @ root.T) if name == "nonnegative" else root @ root.T
        yield Q / np.linalg.norm(Q)


@pytest.mark.parametrize("p", [3, 12, WIDE])
@pytest.mark.parametrize("smallest", [1e-6, 1e-10])
def test_the_psd_part_keeps_small_positive_eigenvalues(p, smallest):
    """They are weights of features: the cone is closed, and what lies in it stays as it is."""
    rng = np.random.default_rng(p)
    vectors = np.linalg.qr(rng.standard_normal((p, p)))[0]
    eigenvalues = np.r_[-1.0, smallest, np.linspace(0.5, 1, p - 2)]
    part = psd_part((vectors * eigenvalues) @ vectors.T)
    kept = vectors[:, 1] @ part @ vectors[:, 1]
    assert kept == pytest.approx(smallest, abs=1e-14 * p)


# From a fit on 35 samples: the upper triangle of a gradient, on which Newton's steps led astray.
CRAWLING = [
    *[0.031559, -0.246907, 0.020292, 0.024843, -0.012413, -0.002323, -0.006762],
    *[-0.431778, -0.054378, 0.044982, -0.154465, -0.110844, -0.284174],
    *[0.079493, 0.033381, 0.028134, 0.056272, 0.017643],
    *[0.095313, 0.013176, 0.029373, 0.019161],
    *[-0.20513, -0.125081, -0.202124],
    *[-0.205202, -0.119543],
    *[-0.435513],
]


def test_the_projection_onto_both_cones_does_not_stop_halfway():
    """It ended at its limit of rounds, with an eigenvalue of -9e-7."""
    A = np.zeros((7, 7))
    A[np.triu_indices(7)] = CRAWLING
    part = MATRIX_SETS["both"].prox(A + np.triu(A, 1).T, 1.0)
    assert part.min() >= 0
    assert np.linalg.eigvalsh(part).min() >= -1e-11


def low_rank(p, n_samples, seed):
    """As a gradient of few samples: signed outer products of absolute differences."""
    rng = np.random.default_rng(seed)
    d = np.abs(rng.standard_normal((n_samples, p)))
    return unit((d.T * rng.choice([-1.0, 1.0], n_samples)) @ d)


@pytest.mark.parametrize(
    ("p", "n_samples"), [(3, 2), (7, 5), (7, 30), (15, 6), (15, 60), (25, 40)]
)
def test_the_projection_onto_both_cones_meets_its_conditions(p, n_samples):
    """P is PSD and non-negative; A - P is a negative semi-definite matrix minus an N >= 0.

    N is the multiplier of the splitting, and is nowhere positive together with P: that, with
    A + N - P negative semi-definite and orthogonal to P, is the optimum.
    """
    for seed in range(8):
        A = low_rank(p, n_samples, seed)
        found = psd_prox(A, NONNEGATIVE)
        P, N = found.point, found.multiplier
        below = A + N - P
        assert np.linalg.eigvalsh(P).min() >= -1e-12
        assert N.min() >= 0
        assert np.abs(N * P).max() <= 1e-12
        assert np.linalg.eigvalsh(below).max() <= 1e-11
        assert abs(np.vdot(below, P)) <= 1e-11
        # Where N is not unique, P is known to fewer digits than its conditions are met to.
        other = nearest_doubly_nonnegative(A)
        np.testing.assert_allclose(MATRIX_SETS["both"].prox(A, 1.0), other, rtol=0, atol=1e-8)


@pytest.mark.parametrize("smallest", [1e-4, 1e-8])
@projections
def test_what_lies_in_a_cone_stays_as_it_is(name, smallest):
    """Small eigenvalues and elements too: a weight of a feature may be small."""
    A = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) + smallest * np.eye(3)
    A[0, 1] = A[1, 0] = A[0, 1] - smallest / 4
    for scale in (1.0, 1e-6, 1e6):
        found = MATRIX_SETS[name].prox(scale * A, 1.0)
        np.testing.assert_allclose(found, scale * A, rtol=0, atol=1e-13 * scale * norm(A))


class Shifted(Cone):
    """Non-negative weights that cost three times their sum."""

    def prox(self, W, step):
        return np.maximum(W - 3 * step, 0.0)

    def value(self, W):
        return 3 * float(np.sum(W))


@pytest.mark.parametrize("size", [1.0, 0.2, 5.0])
@pytest.mark.parametrize("weight_set", [MATRIX_SETS["psd"], Shifted(NONNEGATIVE)])
def test_the_gap_is_what_the_best_point_of_the_same_norm_gains(weight_set, size):
    """1 - <-G, W> / <-G, V>, penalties taken from both; V minimises among many of its norm."""
    rng = np.random.default_rng(0)
    draw = [rng.standard_normal((4, 4)) for _ in range(400)]
    gradient = -10 * (draw[0] + draw[0].T)
    W = size * unit(np.abs(draw[1] + draw[1].T) + 8 * np.eye(4))
    found = oracle(W, gradient, weight_set)

    def gain(V):
        return -np.vdot(gradient, V) - weight_set.value(V)

    best = size * found.weights
    assert norm(found.weights) == pytest.approx(1)
    assert found.gap == pytest.approx(1 - gain(W) / gain(best), rel=1e-12)
    for noise in draw[2:]:
        V = weight_set.project(best + 0.3 * size * (noise + noise.T))
        assert gain(size * unit(V)) <= gain(best) * (1 + 1e-12)


def test_the_oracle_finds_nothing_where_nothing_improves():
    W = unit(np.eye(2))
    for gradient in (np.zeros((2, 2)), np.diag([1.0, 2.0]), np.diag([1.0, -1e-12])):
        found = oracle(W, gradient, MATRIX_SETS["psd"])
        assert found.weights is None
        assert np.isnan(found.gap)
    small = oracle(W, np.diag([1.0, -1e-7]), MATRIX_SETS["psd"])
    np.testing.assert_allclose(small.weights, np.diag([0.0, 1.0]), atol=1e-12)
    assert np.isnan(oracle(W, -np.eye(2), MATRIX_SETS["clip"]).gap)


def alternating_projection(A, n_rounds=20_000):
    """Dykstra's algorithm as it was published: two projections and their corrections."""
    X, P, Q = A, np.zeros_like(A), np.zeros_like(A)
    for _ in range(n_rounds):
        Y = psd_part(X + P)
        P = X + P - Y
        X = np.maximum(Y + Q, 0)
        Q = Y + Q - X
    return X


@pytest.mark.parametrize("n_samples", [4, 8, 30])
def test_the_projection_onto_both_cones_is_that_of_dykstra(n_samples):
    """Of matrices as they come in a fit: few samples make them of low rank, and slow."""
    rng = np.random.default_rng(n_samples)
    d = np.abs(rng.standard_normal((n_samples, 6)))
    A = unit((d.T * rng.choice([-1.0, 1.0], n_samples)) @ d)
    found = MATRIX_SETS["both"].prox(A, 1.0)
    np.testing.assert_allclose(found, alternating_projection(A), atol=1e-6)


@given(A=matrices.filter(lambda A: np.linalg.eigvalsh(A).min() < -1e-3))
def test_psd_oracle_is_theorem_3_1(A):
    """Theorem 3.1 written out: eigenvalues (-mu)^+ over their norm, on the same eigenvectors."""
    mu, psi = np.linalg.eigh(A)
    eta = np.maximum(-mu, 0) / np.linalg.norm(np.maximum(-mu, 0))
    np.testing.assert_allclose(unit(psd_part(-A)), (psi * eta) @ psi.T, atol=1e-9)


@given(A=matrices, exponent=st.integers(-500, 500))
def test_norm_survives_any_scale(A, exponent):
    assert norm(np.ldexp(A, exponent)) == pytest.approx(np.ldexp(norm(A), exponent), rel=1e-12)


def test_clip_is_not_a_projection():
    """The R package's step leaves <A - P, P> = 0 unmet: it is no member of the family."""
    A = np.array([[1.0, -0.8], [-0.8, 1.0]])
    P = MATRIX_SETS["clip"].prox(A, 1.0)
    assert np.linalg.norm(P - MATRIX_SETS["both"].prox(A, 1.0)) < 1e-9  # agrees where psd(A) = A
    A = np.array([[1.0, -0.8, 0.7], [-0.8, 0.2, 0.5], [0.7, 0.5, -1.0]])
    assert (
        abs(np.vdot(A - MATRIX_SETS["clip"].prox(A, 1.0), MATRIX_SETS["clip"].prox(A, 1.0))) > 0.1
    )


@pytest.mark.parametrize("weight_set", [*MATRIX_SETS.values(), *VECTOR_SETS.values()])
def test_a_plain_cone_has_no_penalty(weight_set):
    A = np.arange(9.0).reshape(3, 3) - 4
    A = A + A.T
    assert weight_set.value(A) == 0
    np.testing.assert_array_equal(weight_set.prox(A, 1e-3), weight_set.prox(A, 1e3))


def test_only_the_clipped_step_is_no_projection():
    assert [name for name in MATRIX_SETS if not MATRIX_SETS[name].is_projection] == ["clip"]


def test_weight_vectors_have_their_size():
    w = np.array([3.0, 0.0, 1.0, 4.0])
    for scale in (1e-200, 1.0, 1e200):
        np.testing.assert_allclose(VECTOR_SETS["sum"].scaled(scale * w), w / 8)
        sphere = VECTOR_SETS["sphere"].scaled(scale * w)
        np.testing.assert_allclose(sphere, w / np.sqrt(26) / 2)
    # Even weights that sum to 1 are on the sphere as they are.
    np.testing.assert_allclose(VECTOR_SETS["sphere"].scaled(np.full(4, 0.25)), 0.25)
