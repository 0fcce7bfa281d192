"""Soft nearest neighbours, the cost that they make, and the classes that they vote for.

Who is the nearest hit and who the nearest miss, with what probability: Eq. 4. The paper writes
its cost in three groups of unknowns, W, alpha and beta (Eqs. 11 and 10). For fixed W the best
alpha and beta are those of Eq. 4; put in, the entropies cancel against the expected distances and
the cost becomes a smooth function of W alone:

    C(W) = sum_n D_n [F_hit(n) - F_miss(n)],     F = -sigma log sum_j exp(-q_nj / sigma)

whose gradient is the scatter matrix Sigma of Theorem 3.1. The same free energies, class by class,
decide on new samples: Eq. 9.

The margin of a sample is made of a part per feature and pair, and one for the crowd. Let a be the
class that it is predicted to be and b another one, n_j how often reference j counts, and alpha^c
the coupling of the sample with the references of class c (Eq. 4). A distance is a sum over terms
k, the features and pairs of features, because q is linear in the weights:

    q_j = sum_k W_k f_k(d_j)            f_k = d_x, or d_x d_y          W_k f_k = W_k dq_j/dW_k

so the expected distance v_c = sum_j alpha^c_j q_j of Eq. 9 is a sum over terms, and so is a margin

    v_b - v_a = sum_k W_k sum_j (alpha^b_j - alpha^a_j) f_k(d_j)

A free energy is an expected distance less an entropy, for the coupling is the one that makes
this difference smallest. The entropy belongs to no term: it says how many references are near.

    F_c = -sigma log sum_j n_j exp(-q_j / sigma) = v_c - sigma H_c
    H_c = -sum_j alpha^c_j log(alpha^c_j / n_j)
    F_b - F_a = (v_b - v_a) + sigma (H_a - H_b)                     terms, and the crowding part

Parts are positive where they pull the sample to class a. They are differences of what the weighted
distance is made of, not effects of one feature with the others held fixed: d is at least 0, so
where W_k > 0 a part is positive if the references of b are further away in that term.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.forms import Form

# exp(-x) is zero in float64 beyond this.
LARGEST_EXPONENT = 750.0
# Steps of EM at most, and the largest change of a share at which they end. The likelihood is
# concave in the shares, and what later steps add to it is not seen in new samples.
MOST_MIXING_STEPS, SMALL_SHARE_CHANGE = 200, 1e-5
PREDICTED, AGAINST = 0, 1


class SoftSum(NamedTuple):
    """sum_j share_j exp(-q_j / sigma) = total exp(-floor / sigma), for any size of q / sigma.

    Sums over parts of the candidates merge into the sum over all of them, in any grouping.

    Attributes
    ----------
    floor : ndarray
        The smallest q of the candidates, infinite where there are none.
    total : ndarray
        Between the smallest share and the sum of all shares; 0 where there are no candidates.
    """

    floor: Array
    total: Array

    def free_energy(self, sigma: float) -> Array:
        """-sigma log of the sum: a soft minimum of q."""
        is_anybody = self.total > 0
        log = np.log(np.where(is_anybody, self.total, 1.0))
        return np.where(is_anybody, self.floor - sigma * log, np.inf)

    def merged(self, other: SoftSum, sigma: float) -> SoftSum:
        """The sum over the candidates of both."""
        floor = np.minimum(self.floor, other.floor)
        parts = [one.total * boltzmann(one.floor, floor, sigma) for one in (self, other)]
        return SoftSum(floor, parts[0] + parts[1])

    def coupling(self, q: Array, share: Array, sigma: float | Array) -> Array:
        """Probability of each candidate, on one more axis, being the nearest one: Eq. 4."""
        floor, total = self.floor[..., None], self.total[..., None]
        weight = share * boltzmann(np.where(share > 0, q, np.inf), floor, sigma)
        return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def boltzmann(q: Array, floor: Array, sigma: float | Array) -> Array:
    """exp(-(q - floor) / sigma) for q >= floor, 0 where q is infinite; nothing overflows."""
    excess = np.where(np.isfinite(q), q, 0.0) - np.where(np.isfinite(floor), floor, 0.0)
    height = np.where(np.isfinite(q), excess, np.inf)
    # Beyond this the exponential is 0 in float64; capping keeps q / sigma from overflowing.
    return np.exp(-np.minimum(height, LARGEST_EXPONENT * sigma) / sigma) * np.isfinite(q)


def soft_sum(q: Array, sigma: float | Array, share: Array | float = 1.0) -> SoftSum:
    """Sum of share exp(-q / sigma) over the candidates along the last axis."""
    share = np.broadcast_to(share, q.shape)
    floor = np.min(q, axis=-1, where=share > 0, initial=np.inf)
    weight = share * boltzmann(np.where(share > 0, q, np.inf), floor[..., None], sigma)
    return SoftSum(floor, weight.sum(axis=-1))


def soft_coupling(q: Array, sigma: float | Array) -> Array:
    """Probability of each candidate being the nearest one: Eq. 4, a softmax of -q / sigma.

    Several sigmas have axes of their own, before those of q.
    """
    return soft_sum(q, sigma).coupling(q, np.ones_like(q), sigma)


def soft_minimum(q: Array, sigma: float) -> Array:
    """-sigma log sum_j exp(-q_j / sigma), along the last axis: the free energy of a candidate set.

    It is what expected distance minus sigma times entropy comes to at the coupling of
    Eq. 4, stays in the units of q for every sigma, and tends to min q as sigma tends to 0.
    """
    return soft_sum(q, sigma).free_energy(sigma)


def hit_and_miss(free_energy: Array, y: Codes, sigma: float) -> tuple[Array, Array]:
    """Free energy of each anchor's hits (its own class) and misses (all others together)."""
    n, n_classes = free_energy.shape
    is_hit = np.arange(n_classes) == y[:, None]
    hit = free_energy[is_hit]
    miss = soft_minimum(free_energy[~is_hit].reshape(n, n_classes - 1), sigma)
    return hit, miss


def class_probability(score: Array, sigma: float | Array) -> Array:
    """Softmax of -score / sigma over classes (the last axis); the smallest score is likeliest.

    With free energies as scores this is the class posterior of a kernel density estimate
    exp(-q / sigma); with expected distances it is the same map applied to Eq. 9.
    """
    return soft_coupling(score, sigma)


def own_class_probability(score: Array, sigma: float | Array, y: Codes) -> Array:
    """`class_probability` of each sample's own class y, without those of the others.

    Several sigmas have axes of their own, before that of the samples. One class after the other:
    NumPy takes a multiple of the time for sums along so short an axis.
    """
    classes, own = np.moveaxis(score, -1, 0), score[..., np.arange(len(y)), y]
    floor = reduce(np.minimum, classes)
    total = reduce(np.add, (boltzmann(one, floor, sigma) for one in classes))
    weight = boltzmann(own, floor, sigma)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def mixture_shares(log_likelihood: Array) -> Array:
    """Shares that make the samples likeliest under the mixture of all models, by EM.

    Each step asks how far every model is responsible for each sample, r_mi = s_m l_mi /
    sum_k s_k l_ki, and takes the mean over samples as the new share. The likelihood never falls.

    Parameters
    ----------
    log_likelihood : ndarray of shape (n_models, n_samples)
        Log probability of each sample's own class under each model.

    Returns
    -------
    ndarray of shape (n_models,)
        Not below 0, with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.core.couplings import mixture_shares
    >>> mixture_shares(np.log([[0.9, 0.9, 0.1], [0.1, 0.1, 0.9]])).round(2)
    array([0.71, 0.29])
    """
    # A sample that all models find unlikely counts as much as any other.
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=0))
    shares = np.full(len(likelihood), 1 / len(likelihood))
    for _ in range(MOST_MIXING_STEPS):
        before, parts = shares, shares[:, None] * likelihood
        shares = (parts / parts.sum(axis=0)).mean(axis=1)
        if np.abs(shares - before).max() < SMALL_SHARE_CHANGE:
            break
    return shares


def distance_share(distance: Array) -> Array:
    """Each class's share of the summed expected distances; the *smallest* wins.

    This is what the R package prints as probabilities.
    """
    total = distance.sum(axis=-1, keepdims=True)
    even = np.full_like(distance, 1.0 / distance.shape[-1])
    return np.divide(distance, total, out=even, where=total > 0)


class MarginParts(NamedTuple):
    """Margins of r samples over two classes with n references, and their parts.

    Attributes
    ----------
    terms : ndarray of shape (r, *shape of the weights)
        Part of each weight; of a pair, half of its part stands on each side of the diagonal.
    crowding : ndarray of shape (r,)
        What the entropies add to a margin of free energies.
    distance : ndarray of shape (r,)
        Margin of expected distances, the sum of `terms`.
    free_energy : ndarray of shape (r,)
        Margin of free energies, the sum of `terms` and `crowding`.
    coupling : ndarray of shape (2, r, n)
        Of each sample with the references of class a and of class b.
    q : ndarray of shape (r, n)
        Distance of each sample from each reference.
    """

    terms: Array
    crowding: Array
    distance: Array
    free_energy: Array
    coupling: Array
    q: Array

    def plus(self, other: MarginParts) -> MarginParts:
        """The sum of both, attribute by attribute."""
        return MarginParts(*(one + another for one, another in zip(self, other)))


def margin_parts(
    form: Form, W: Array, sigma: float, d: Array, share: Array, unit: float = 1.0
) -> MarginParts:
    """Margins of samples with differences `d` from their references, and their parts.

    Parameters
    ----------
    form : Form
        One whose distance is linear in the weights, as all here are.
    W : ndarray
    sigma : float
    d : ndarray of shape (p, r, n)
    share : ndarray of shape (2, r, n)
        How often each reference counts in class a of a row, and in class b.
    unit : float
        Of distances: what a distance of 1 comes to in the margins, and in their parts.
    """
    q = form.distance(W, d)
    sums = soft_sum(np.broadcast_to(q, share.shape), sigma, share)
    coupling = sums.coupling(q, share, sigma)
    # -sum_j alpha_j log(alpha_j / n_j), as alpha_j = n_j exp(-(q_j - floor) / sigma) / total.
    above = np.where(coupling > 0, q - sums.floor[..., None], 0.0)
    entropy = (coupling * above).sum(axis=-1) / sigma + np.log(sums.total)
    distance = (coupling * q).sum(axis=-1)
    # W_k sum_j pull_j dq_j/dW_k of each row.
    terms = []
    for row, pull in enumerate(coupling[AGAINST] - coupling[PREDICTED]):
        # References of other classes, and all that are far away, have no coupling.
        near = np.flatnonzero(pull)
        terms.append(W * form.scatter(W, d[:, row, near][:, None], pull[near][None]))
    energy = sums.free_energy(sigma)
    return MarginParts(
        unit * np.array(terms).reshape(len(terms), *W.shape),
        unit * (sigma * (entropy[PREDICTED] - entropy[AGAINST])),
        unit * (distance[AGAINST] - distance[PREDICTED]),
        unit * (energy[AGAINST] - energy[PREDICTED]),
        # Couplings are shares and have no unit.
        coupling,
        unit * q,
    )
