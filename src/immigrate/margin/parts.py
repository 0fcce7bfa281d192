"""What the margin of a sample is made of: a part per feature and pair, and one for the crowd.

Let a be the class that a sample is predicted to be and b another one, n_j how often reference j
counts, and alpha^c the coupling of the sample with the references of class c (Eq. 4). A distance
is a sum over terms k, the features and pairs of features, because q is linear in the weights:

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

from typing import NamedTuple

import numpy as np

from immigrate.arrays import Array
from immigrate.core.couplings import soft_sum
from immigrate.core.forms import Form

PREDICTED, AGAINST = 0, 1


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
