"""The cost that IMMIGRATE minimises.

The paper writes it in three groups of unknowns, W, alpha and beta (Eqs. 11 and 10).
For fixed W the best alpha and beta are known (Eq. 4); put in, the entropies cancel
against the expected distances and the cost becomes a smooth function of W alone:

    C(W) = sum_n D_n [F_hit(n) - F_miss(n)],     F = -sigma log sum_j exp(-q_nj / sigma)

whose gradient is the scatter matrix Sigma of Theorem 3.1.
"""

from __future__ import annotations

import numpy as np

from immigrate.arrays import Array
from immigrate.core.couplings import soft_minimum


def entropy(probability: Array) -> float:
    """-sum p log p, with 0 log 0 = 0."""
    positive = probability[probability > 0]
    return float(-(positive * np.log(positive)).sum())


def anchor_cost(q_hit: Array, alpha: Array, q_miss: Array, beta: Array, sigma: float) -> float:
    """One anchor's term of Eq. 11, as the paper writes it, for any alpha and beta."""
    margin = alpha @ q_hit - beta @ q_miss
    return float(margin + sigma * (entropy(beta) - entropy(alpha)))


def margin_cost(free_energy: Array, y: np.ndarray, sigma: float, anchor_weight: Array) -> float:
    """C(W) from the free energy of every (anchor, class), Eq. 10 at the couplings of Eq. 4."""
    hit, miss = hit_and_miss(free_energy, y, sigma)
    return float(anchor_weight @ (hit - miss))


def hit_and_miss(free_energy: Array, y: np.ndarray, sigma: float) -> tuple[Array, Array]:
    """Free energy of each anchor's hits (its own class) and misses (all others together)."""
    n, n_classes = free_energy.shape
    is_hit = np.arange(n_classes) == y[:, None]
    hit = free_energy[is_hit]
    miss = soft_minimum(free_energy[~is_hit].reshape(n, n_classes - 1), sigma)
    return hit, miss
