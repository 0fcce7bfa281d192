"""The cost and the prediction of the paper as they are written, beside their closed forms."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from immigrate.core.couplings import hit_and_miss, soft_coupling
from immigrate.core.forms import Cubic


def entropy(probability):
    """-sum p log p, with 0 log 0 = 0."""
    positive = probability[probability > 0]
    return float(-(positive * np.log(positive)).sum())


def anchor_cost(q_hit, alpha, q_miss, beta, sigma):
    """One anchor's term of Eq. 11, as the paper writes it, for any alpha and beta."""
    margin = alpha @ q_hit - beta @ q_miss
    return float(margin + sigma * (entropy(beta) - entropy(alpha)))


def margin_cost(free_energy, y, sigma, anchor_weight):
    """C(W) from the free energy of every (anchor, class), Eq. 10 at the couplings of Eq. 4."""
    hit, miss = hit_and_miss(free_energy, y, sigma)
    return float(anchor_weight @ (hit - miss))


def expected_distance(q, sigma):
    """V = sum_j alpha_j q_j with alpha of Eq. 4: the bracket of Eq. 9 for one class."""
    return float(soft_coupling(q, sigma) @ q)


def cubic_of_all(n_features):
    """The cubic form with every triple of so many features."""
    every = list(combinations(range(n_features), 3))
    return Cubic(n_features, np.array(every, dtype=np.intp).reshape(-1, 3))
