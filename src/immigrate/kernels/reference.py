"""The pairwise passes in plain NumPy: slow, short, and what every fast kernel is held to.

    C(W)   = sum_n D_n [F_hit(n) - F_miss(n)]
    dC/dW  = Sigma = sum_n D_n [sum_h alpha_nh d d' - sum_m beta_nm d d'],   d = |x_n - x_j|

One anchor at a time: O(n p) memory, 2 n^2 p^2 multiply-adds for a matrix W.
"""

from __future__ import annotations

import numpy as np

from immigrate.core.couplings import soft_coupling, soft_minimum
from immigrate.core.distances import absolute_differences, pair_distance, scatter
from immigrate.core.objective import margin_cost
from immigrate.core.scores import expected_distance
from immigrate.kernels.results import ClassScores, MarginPass


def margin_pass(X, y, W, sigma, anchor_weight) -> MarginPass:
    """Cost and gradient of the soft margin at `W`, and every sample's leave-one-out scores."""
    n_classes = int(y.max()) + 1
    scores = _empty_scores(len(X), n_classes)
    gradient = np.zeros_like(W)
    others = np.ones(len(X), dtype=bool)
    for i, weight in enumerate(anchor_weight):
        others[i] = False
        d, labels = absolute_differences(X[others], X[i]), y[others]
        q = pair_distance(d, W)
        _set_row(scores, i, q, labels, sigma)
        for is_candidate, sign in ((labels == y[i], 1.0), (labels != y[i], -1.0)):
            coupling = soft_coupling(q[is_candidate], sigma)
            gradient += weight * sign * scatter(d[is_candidate], coupling, W)
        others[i] = True
    cost = margin_cost(scores.free_energy, y, sigma, anchor_weight)
    return MarginPass(cost, gradient, scores)


def score_pass(X_new, X, y, W, sigma) -> ClassScores:
    """Scores of every row of `X_new` against each class of the training set (Eq. 9)."""
    scores = _empty_scores(len(X_new), int(y.max()) + 1)
    for i, x in enumerate(X_new):
        _set_row(scores, i, pair_distance(absolute_differences(X, x), W), y, sigma)
    return scores


def _empty_scores(n, n_classes) -> ClassScores:
    return ClassScores(np.empty((n, n_classes)), np.empty((n, n_classes)))


def _set_row(scores, i, q, labels, sigma):
    for c in range(scores.distance.shape[1]):
        q_class = q[labels == c]
        scores.free_energy[i, c] = soft_minimum(q_class, sigma)
        scores.distance[i, c] = expected_distance(q_class, sigma)
