from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.cones import MATRIX_SETS
from immigrate.margin.problem import MarginProblem
from immigrate.solvers import full_steps
from immigrate.solvers.boosting import PAPER_RULE, SAMME_RULE, boosted, falling_sigmas


def brute_force_algorithm_3(X, y, D, sigmas, n_inner):
    """Algorithm 3 with plain loops: Eqs. 3, 4 and 9, Theorem 3.1, error, vote and new D."""
    n, p = X.shape
    for sigma in sigmas:
        W = np.eye(p) / np.sqrt(p)
        for _ in range(n_inner):
            Sigma = np.zeros((p, p))
            for i in range(n):
                for is_hit in (True, False):
                    others = [j for j in range(n) if j != i and (y[j] == y[i]) == is_hit]
                    d = [abs(X[i] - X[j]) for j in others]
                    weight = np.exp([-(v @ W @ v) / sigma for v in d])
                    weight /= weight.sum()
                    for w, v in zip(weight, d):
                        Sigma += (1 if is_hit else -1) * D[i] * w * np.outer(v, v)
            mu, psi = np.linalg.eigh(Sigma)
            eta = np.maximum(-mu, 0)
            W = (psi * eta / np.linalg.norm(eta)) @ psi.T
        wrong = np.array([nearest_class(X, y, i, W, sigma) != y[i] for i in range(n)])
        error = sum(D[i] for i in range(n) if wrong[i])
        if error >= 0.5 or error == 0:
            yield W, error, 0.0, D
            continue
        alpha = 0.5 * np.log((1 - error) / error)
        yield W, error, alpha, D
        D = np.array([D[i] * np.exp(alpha * wrong[i]) for i in range(n)])
        D = D / D.sum()


def nearest_class(X, y, i, W, sigma):
    expected = []
    for c in (0, 1):
        q = np.array(
            [
                abs(X[i] - X[j]) @ W @ abs(X[i] - X[j])
                for j in range(len(X))
                if j != i and y[j] == c
            ]
        )
        weight = np.exp(-q / sigma)
        expected.append(weight @ q / weight.sum())
    return int(np.argmin(expected))


@pytest.mark.parametrize("seed", [0, 1])
def test_rounds_are_algorithm_3(seed):
    rng = np.random.default_rng(seed)
    n, n_rounds, n_inner = 24, 10, 2
    X, y = rng.standard_normal((n, 3)), np.arange(n) % 2
    X[:, 0] += 1.2 * y
    D = rng.uniform(0.5, 1, n)
    D /= D.sum()
    sigmas = falling_sigmas(4.0, 0.2, n_rounds)
    seen = []

    def train(problem, sigma, last):
        seen.append(problem._passes._weight[np.argsort(problem._passes._layout.order)])
        start = np.eye(3) / np.sqrt(3)
        return full_steps(problem, start, sigma, MATRIX_SETS["psd"], max_iter=n_inner, tol=0)

    learners = list(
        boosted(
            MarginProblem(X, y), y, D, sigmas, train, rule=PAPER_RULE, score=lambda s: s.distance
        )
    )
    expected = list(brute_force_algorithm_3(X, y, D, sigmas, n_inner))
    assert any(vote > 0 for _, _, vote, _ in expected)
    for learner, weight, (W, error, alpha, anchor_weight) in zip(learners, seen, expected):
        np.testing.assert_allclose(learner.weights, W, atol=1e-9)
        assert learner.error == pytest.approx(error, abs=1e-12)
        assert learner.vote == pytest.approx(alpha, abs=1e-10)
        np.testing.assert_allclose(weight, anchor_weight, rtol=1e-10)


def test_sigma_falls_by_the_papers_factor():
    sigmas = np.array(falling_sigmas(4.0, 0.2, 100))
    np.testing.assert_allclose(sigmas[1:] / sigmas[:-1], (0.2 / 4) ** (1 / 100))
    assert sigmas[0] == 4.0
    assert 0.2 < sigmas[-1] < 0.21


def test_paper_discards_perfect_and_chance_learners():
    assert PAPER_RULE.is_useless(0.0, 2)
    assert PAPER_RULE.is_useless(0.5, 2)
    assert not PAPER_RULE.is_useless(0.49, 2)


def test_samme_votes_are_twice_the_papers_for_two_classes():
    """SAMME reweighs by exp(log((1 - e) / e)), the paper by its square root."""
    assert SAMME_RULE.vote(0.2, 2) == pytest.approx(2 * PAPER_RULE.vote(0.2, 2))
    assert SAMME_RULE.vote(0.5, 3) > 0
    assert SAMME_RULE.is_useless(0.67, 3)
