"""Margins of new rows split into parts: numbers and codes, before anybody gives them names.

A model is one member, a vote has several. Each member's margin is the sum of its parts, and a
slope says what a margin of 1 of this member comes to in the margin that is explained. Rows are
taken block by block; what is kept of a row is a number per term and a few neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.forms import Cubic
from immigrate.core.margin_parts import MarginParts
from immigrate.kernels.threads import n_threads

if TYPE_CHECKING:
    from immigrate.estimators._encoding import Encoding
    from immigrate.estimators._fitted import References


class Member(NamedTuple):
    """A model with its say in the margins of some rows.

    Attributes
    ----------
    weights : ndarray
    sigma : float
    rule : {"distance", "energy"}
    say : float
        Its share of the votes.
    slope : ndarray of shape (n_rows,)
        What a margin of 1 of this model adds to the margin of all.
    """

    weights: Array
    sigma: float
    rule: str
    say: float
    slope: Array

    def counted(self, parts: MarginParts, rows: slice) -> MarginParts:
        """The parts of some rows as they count in the margin of all."""
        if self.rule == "distance":
            # The expected distance has no entropy, so that its parts alone are the margin.
            parts = parts._replace(
                crowding=np.zeros_like(parts.crowding), free_energy=parts.distance
            )
        return parts.times(self.slope[rows], self.say)


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
    members: Sequence[Member],
    classes: Codes,
    *,
    n_neighbours: int,
    n_jobs: int | None,
) -> MarginSplit:
    """Margins of the rows of `X`, as they were read, over their two `classes`."""
    problem = references.problem(n_threads(n_jobs))
    table, used = references.encoded(X), used_terms(references, members)
    weights, sigmas = [one.weights for one in members], [one.sigma for one in members]
    has_crowding = any(one.rule == "energy" for one in members)
    margins, crowdings, terms, neighbours = [], [], [], []
    for rows in problem.row_blocks(len(table)):
        many = problem.margin_parts_many(table[rows], weights, sigmas, classes[:, rows])
        counted = (member.counted(parts, rows) for member, parts in zip(members, many))
        total = reduce(MarginParts.plus, counted)
        margins.append(total.free_energy)
        crowdings.append(total.crowding)
        terms.append(used.parts(total.terms))
        is_own = classes[:, rows, None] == references.codes
        neighbours.append(nearest(total, is_own, n_neighbours))
    return MarginSplit(
        classes,
        np.concatenate(margins),
        used.features,
        np.concatenate(terms),
        {"crowding": np.concatenate(crowdings)} if has_crowding else {},
        Neighbours(*(np.concatenate(blocks, axis=1) for blocks in zip(*neighbours))),
    )


@dataclass(frozen=True, eq=False)
class PairTerms:
    """Features and pairs to which any member gives a weight.

    Attributes
    ----------
    encoding : Encoding
    features : ndarray of shape (2, n_terms)
    """

    encoding: Encoding
    features: Codes

    def parts(self, parts: Array) -> Array:
        """Parts of encoded columns summed up per term of the table, (n_rows, n_terms)."""
        # What two levels of one column share is summed up with the main effect of the column.
        folded = np.array([self.encoding.folded(one) for one in parts])
        a, b = self.features
        if folded.ndim == 2:
            return folded[:, a]
        return np.where(a == b, 1.0, 2.0) * folded[:, a, b]


@dataclass(frozen=True, eq=False)
class TripleTerms:
    """Features, pairs and triples to which any member gives a weight.

    Attributes
    ----------
    features : ndarray of shape (3, n_terms)
    place : ndarray of shape (n_terms,)
        Of each term in the vector of weights.
    factor : ndarray of shape (n_terms,)
        2 for a pair, which stands on both sides of the diagonal.
    """

    features: Codes
    place: Codes
    factor: Array

    def parts(self, parts: Array) -> Array:
        """Part of each term, (n_rows, n_terms)."""
        return self.factor * parts[:, self.place]


def used_terms(references: References, members: Sequence[Member]) -> PairTerms | TripleTerms:
    """The terms of a margin, and how their parts are found."""
    size = np.sum([np.abs(member.weights) for member in members], axis=0)
    if isinstance(references.form, Cubic):
        return triple_terms(references.form, size)
    size = references.encoding.folded(size)
    # A vector has the same index for both features of a term: it has main effects only.
    terms = np.nonzero(size if size.ndim == 1 else np.triu(size))
    return PairTerms(references.encoding, np.array([terms[0], terms[-1]]))


def triple_terms(form: Cubic, size: Array) -> TripleTerms:
    """Those of a cubic form with weights of these sizes."""
    p = form.n_features
    a, b = np.nonzero(np.triu(form.matrix(size)))
    used = np.flatnonzero(size[p * p :])
    return TripleTerms(
        np.hstack([[a, b, b], form.triples[used].T]),
        np.concatenate([a * p + b, p * p + used]),
        np.concatenate([np.where(a == b, 1.0, 2.0), np.ones(len(used))]),
    )


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
