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

A model with several members has several such margins. A slope says what a margin of 1 of a member
comes to in the margin that is explained. Rows are taken block by block; what is kept of a row is a
number per term and a few neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.couplings import soft_sum
from immigrate.core.forms import Cubic, Form

if TYPE_CHECKING:
    from immigrate.margin.references import References

PREDICTED, AGAINST = 0, 1
# tanh is 1 in float64 beyond half of this.
LARGEST_RATIO = 40.0


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

    def times(self, slope: Array, share: float) -> MarginParts:
        """Margins and parts times a number per sample, couplings and distances times `share`."""
        per_row = slope.reshape(-1, *[1] * (self.terms.ndim - 1))
        return MarginParts(
            per_row * self.terms,
            slope * self.crowding,
            slope * self.distance,
            slope * self.free_energy,
            share * self.coupling,
            share * self.q,
        )

    def plus(self, other: MarginParts) -> MarginParts:
        """The sum of both, attribute by attribute."""
        return MarginParts(*(one + another for one, another in zip(self, other)))


def margin_parts(form: Form, W: Array, sigma: float, d: Array, share: Array) -> MarginParts:
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
    """
    q = form.distance(W, d)
    sums = soft_sum(np.broadcast_to(q, share.shape), sigma, share)
    coupling = sums.coupling(q, share, sigma)
    # -sum_j alpha_j log(alpha_j / n_j), as alpha_j = n_j exp(-(q_j - floor) / sigma) / total.
    above = np.where(coupling > 0, q - sums.floor[..., None], 0.0)
    entropy = (coupling * above).sum(axis=-1) / sigma + np.log(sums.total)
    distance, energy = (coupling * q).sum(axis=-1), sums.free_energy(sigma)
    # W_k sum_j pull_j dq_j/dW_k of each row.
    terms = []
    for row, pull in enumerate(coupling[AGAINST] - coupling[PREDICTED]):
        # References of other classes, and all that are far away, have no coupling.
        near = np.flatnonzero(pull)
        terms.append(W * form.scatter(W, d[:, row, near][:, None], pull[near][None]))
    return MarginParts(
        np.array(terms).reshape(len(terms), *W.shape),
        sigma * (entropy[PREDICTED] - entropy[AGAINST]),
        distance[AGAINST] - distance[PREDICTED],
        energy[AGAINST] - energy[PREDICTED],
        coupling,
        q,
    )


def vote_slope(margin: Array, pair_share: Array, sigma: float) -> Array:
    """What a margin of 1 comes to in probability: (p_a - p_b) / margin, never below 0.

    Probabilities are a softmax of -score / sigma, so p_a - p_b = (p_a + p_b) tanh(m / (2 sigma)).

    Parameters
    ----------
    margin : ndarray of shape (r,)
        Score of class b less that of class a.
    pair_share : ndarray of shape (r,)
        p_a + p_b.
    sigma : float
    """
    limit = LARGEST_RATIO * sigma
    rise = np.tanh(np.clip(margin, -limit, limit) / (2 * sigma))
    # Where the margin is nearly 0, the quotient of two small numbers is its limit.
    is_flat = np.abs(margin) <= 1e-8 * sigma
    return pair_share * np.where(is_flat, 0.5 / sigma, rise / np.where(is_flat, 1.0, margin))


def two_nearest(score: Array) -> Codes:
    """Class with the smallest score of each row and its runner-up, (2, r); of ties the first."""
    rows, nearest = np.arange(len(score)), score.argmin(axis=1)
    others = score.copy()
    others[rows, nearest] = np.inf
    return np.array([nearest, others.argmin(axis=1)])


class WeighedMargin(NamedTuple):
    """A margin with what it comes to in the margin of the model.

    Attributes
    ----------
    weights : ndarray
    sigma : float
    rule : {"distance", "energy"}
    share : float
        Of the votes.
    slope : ndarray of shape (n_rows,)
        What a margin of 1 adds to the margin of the model.
    """

    weights: Array
    sigma: float
    rule: str
    share: float
    slope: Array

    def counted(self, parts: MarginParts, rows: slice) -> MarginParts:
        """The parts of some rows as they count in the margin of the model."""
        if self.rule == "distance":
            # The expected distance has no entropy, so that its parts alone are the margin.
            parts = parts._replace(
                crowding=np.zeros_like(parts.crowding), free_energy=parts.distance
            )
        return parts.times(self.slope[rows], self.share)


class Neighbours(NamedTuple):
    """The nearest references of each row in each of its two classes.

    Attributes
    ----------
    training_row : ndarray of shape (2, n_rows, k)
        Nearest first; where a class has fewer than k references, others fill the places.
    coupling : ndarray of shape (2, n_rows, k)
    distance : ndarray of shape (2, n_rows, k)
    """

    training_row: Codes
    coupling: Array
    distance: Array


@dataclass(frozen=True, eq=False)
class MarginSplit:
    """What the margins of rows are made of.

    Attributes
    ----------
    classes : ndarray of shape (2, n_rows)
        Codes of the class that each row is predicted to be, and of the runner-up.
    margin : ndarray of shape (n_rows,)
    features : ndarray of shape (2, n_terms) or (3, n_terms)
        The features of each term among those in use, the last one repeated where it has fewer.
    terms : ndarray of shape (n_rows, n_terms)
    others : dict of str to ndarray of shape (n_rows,)
        Parts that belong to no term, by their kind.
    neighbours : Neighbours
    """

    classes: Codes
    margin: Array
    features: Codes
    terms: Array
    others: dict[str, Array]
    neighbours: Neighbours


def margin_split(
    references: References,
    X: Array,
    members: Sequence[WeighedMargin],
    classes: Codes,
    *,
    n_neighbors: int,
) -> MarginSplit:
    """Margins of the rows of `X`, as they were read, over their two `classes`."""
    problem = references.problem()
    table = references.encoded(X)
    size = np.sum([np.abs(one.weights) for one in members], axis=0)
    features, place, factor = used_terms(references, size)
    weights, sigmas = [one.weights for one in members], [one.sigma for one in members]
    has_crowding = any(one.rule == "energy" for one in members)
    margins, crowdings, terms, neighbours = [], [], [], []
    for rows in problem.row_blocks(len(table)):
        many = problem.margin_parts_many(table[rows], weights, sigmas, classes[:, rows])
        counted = (member.counted(parts, rows) for member, parts in zip(members, many))
        total = reduce(MarginParts.plus, counted)
        margins.append(total.free_energy)
        crowdings.append(total.crowding)
        terms.append(factor * folded_parts(references, total.terms)[:, place])
        is_own = classes[:, rows, None] == references.codes
        neighbours.append(nearest(total, is_own, n_neighbors))
    return MarginSplit(
        classes,
        np.concatenate(margins),
        features,
        np.concatenate(terms),
        {"crowding": np.concatenate(crowdings)} if has_crowding else {},
        Neighbours(*(np.concatenate(blocks, axis=1) for blocks in zip(*neighbours))),
    )


def used_terms(references: References, size: Array) -> tuple[Codes, Codes, Array]:
    """The features and pairs, and triples, to which any member gives a weight.

    Parameters
    ----------
    references : References
    size : ndarray
        Sum of the sizes of the weights, shaped as the form has them.

    Returns
    -------
    features : ndarray of shape (2, n_terms) or (3, n_terms)
    place : ndarray of shape (n_terms,)
        Of each term in the weights as one row, after `folded_parts`.
    factor : ndarray of shape (n_terms,)
        2 for a pair, which stands on both sides of the diagonal.
    """
    form = references.form
    if isinstance(form, Cubic):
        matrix, triples = form.matrix(size), np.flatnonzero(size[form.n_features**2 :])
    else:
        matrix, triples = references.encoding.folded(size), np.empty(0, dtype=np.intp)
    if matrix.ndim == 1:  # a weight per feature and none for pairs
        (a,) = np.nonzero(matrix)
        return np.array([a, a]), a, np.ones(len(a))
    a, b = np.nonzero(np.triu(matrix))
    features, place, factor = np.array([a, b]), a * len(matrix) + b, np.where(a == b, 1.0, 2.0)
    if not isinstance(form, Cubic):
        return features, place, factor
    return (
        np.hstack([[a, b, b], form.triples[triples].T]),
        np.concatenate([place, matrix.size + triples]),
        np.concatenate([factor, np.ones(len(triples))]),
    )


def folded_parts(references: References, parts: Array) -> Array:
    """Parts of encoded columns summed up per feature and pair of the table, a row per sample."""
    if not isinstance(references.form, Cubic):
        # What two levels of one column share is summed up with the main effect of the column.
        parts = np.array([references.encoding.folded(one) for one in parts])
    return parts.reshape(len(parts), -1)


def nearest(parts: MarginParts, is_own: Mask, count: int) -> Neighbours:
    """The `count` references of each class with the largest couplings."""
    # Far references all have a coupling of 0; the distance tells them apart.
    q = np.broadcast_to(parts.q, is_own.shape)
    order = np.lexsort((q, -parts.coupling, ~is_own), axis=-1)[..., :count]
    return Neighbours(
        order,
        np.take_along_axis(parts.coupling, order, axis=-1),
        np.take_along_axis(q, order, axis=-1),
    )
