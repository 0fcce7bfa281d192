"""Predictions explained: what pulls a row to its class, in names and words.

A model with several members has several margins (:mod:`immigrate.core.couplings`). A slope says
what a margin of 1 of a member comes to in the margin that is explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_count
from immigrate.core.couplings import MarginParts, class_probability
from immigrate.core.forms import Cubic
from immigrate.kernels import ClassScores
from immigrate.margin.encoding import References
from immigrate.margin.model import RULES, MarginModel

# What a row is compared with, by the name of the column that says where it is.
REFERENCES = {"training_row": "training rows", "prototype": "prototypes"}
# tanh is 1 in float64 beyond half of this.
LARGEST_RATIO = 40.0
# Rows that a printed explanation shows.
MOST_PRINTED = 5
IN_WORDS = {
    "crowding": "how many neighbours are near",
    "rounding": "members vote for one class only",
}


class Nearest(NamedTuple):
    """Of each row and its two classes the references with the largest couplings."""

    place: Codes  # (n_rows, 2, count)
    coupling: Array
    distance: Array
    classes: Codes  # (2, n_rows)
    references: References
    labels: np.ndarray


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why rows are predicted as they are: every margin as a sum of parts.

    The margin of a row is the score of the runner-up class less that of the predicted class; of a
    boosted model it is the lead of the predicted class in the vote. A part above 0 pulls the row
    to its predicted class, a part below 0 to the runner-up. Parts of a row sum to its margin.

    It is what `explain` of a classifier returns.

    Attributes
    ----------
    predicted : ndarray of shape (n_rows,)
        Predicted class of each row.
    against : ndarray of shape (n_rows,)
        The runner-up.
    margin : ndarray of shape (n_rows,)
    terms : pandas.DataFrame
        What the columns of `values` stand for: `feature_1`, `feature_2` (None for a main effect)
        and `kind`. "main" and "pair" are features and pairs to which the model gives a weight;
        models with weights for triples have `feature_3` and the kind "triple" too.
        "crowding", for the rule "energy": how many training samples of the two classes are near.
        "rounding", for boosted models with hard votes: what voting for one class only adds.
    values : ndarray of shape (n_rows, n_terms)
        The parts.
    nearest : Nearest
        What the table of `neighbours` is made of.

    See Also
    --------
    ImmigrateClassifier.explain : Makes an explanation; all classifiers have it.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> model = ImmigrateClassifier().fit(X[::2], y[::2])
    >>> explanation = model.explain(X[119:120])
    >>> print(explanation.summary(top=2))
    Predicted versicolor (against virginica), margin +0.449.
    Pulled there by sepal width (cm) × petal width (cm) (+0.158), sepal width (cm) (+0.125).
    Against it: petal length (cm) × petal width (cm) (-0.0185), petal length (cm) (-0.0158).
    The other 7 parts together: +0.2.
    Most telling of versicolor: training rows 34 (41 %), 36 (25 %), 31 (13 %).
    Most telling of virginica: training rows 73 (32 %), 67 (29 %), 53 (11 %).
    >>> explanation.parts.head(3).round(2)
       row         feature_1         feature_2      kind  part
    0    0  sepal width (cm)  petal width (cm)      pair  0.16
    1    0  sepal width (cm)              None      main  0.12
    2    0              None              None  crowding  0.04
    """

    predicted: np.ndarray
    against: np.ndarray
    margin: Array
    terms: pd.DataFrame
    values: Array
    nearest: Nearest

    @cached_property
    def neighbours(self) -> pd.DataFrame:
        """The training samples that count most, of both classes of each row.

        Columns `row`, `training_row` (its position in the table given to `fit`; a model with
        prototypes has `prototype` in its place, the position among these), `class`, `share` (of
        the coupling of all samples of that class) and `distance`.
        """
        place, coupling, distance, classes, references, labels = self.nearest
        code = references.codes[place]
        # A class with fewer samples than were asked for has the places filled with others.
        is_own = code == classes.T[:, :, None]
        of_samples, of_prototypes = REFERENCES
        return pd.DataFrame(
            {
                "row": np.nonzero(is_own)[0],
                of_prototypes if references.is_summary else of_samples: place[is_own],
                "class": labels[code[is_own]],
                "share": coupling[is_own],
                "distance": distance[is_own],
            }
        )

    @property
    def parts(self) -> pd.DataFrame:
        """A line per row and part, largest parts of a row first.

        Columns `row` (position in the table that is explained), those of `terms`, and `part`.
        """
        n_rows, n_terms = self.values.shape
        order = np.argsort(-np.abs(self.values), axis=1, kind="stable")
        table = self.terms.iloc[order.ravel()].reset_index(drop=True)
        table.insert(0, "row", np.repeat(np.arange(n_rows), n_terms))
        return table.assign(part=np.take_along_axis(self.values, order, axis=1).ravel())

    def summary(self, row: int = 0, *, top: int = 3) -> str:
        """One row explained in words.

        Parameters
        ----------
        row : int, default=0
            Its position in the table that is explained.
        top : int, default=3
            How many parts of each sign are named.

        Returns
        -------
        str
        """
        top = check_count("top", top)
        if not isinstance(row, Integral) or not -len(self.values) <= row < len(self.values):
            raise ValueError(
                f"row must be a position among the {len(self.values)} rows that are explained, "
                f"got {row!r}."
            )
        values = self.values[row]
        order = np.argsort(-np.abs(values), kind="stable")
        pulling, opposing = order[values[order] > 0][:top], order[values[order] < 0][:top]
        rest = np.setdiff1d(order, np.concatenate([pulling, opposing]))
        predicted, against = self.predicted[row], self.against[row]
        lines = [
            f"Predicted {predicted} (against {against}), margin {self.margin[row]:+.3g}.",
            f"Pulled there by {self._named(row, pulling)}.",
            f"Against it: {self._named(row, opposing)}.",
        ]
        if len(rest):
            parts = "part" if len(rest) == 1 else f"{len(rest)} parts together"
            lines.append(f"The other {parts}: {values[rest].sum():+.3g}.")
        return "\n".join([*lines, *self._nearest(row)])

    def _named(self, row: int, chosen: Codes) -> str:
        """Some parts by name, with their sizes."""
        named = [f"{name_of(*self.terms.iloc[k])} ({self.values[row, k]:+.3g})" for k in chosen]
        return ", ".join(named) or "nothing"

    def _nearest(self, row: int) -> list[str]:
        """A line for each of the two classes."""
        # A row of -1 is the last one, as in any sequence.
        own = self.neighbours[self.neighbours["row"] == row % len(self)]
        lines = []
        for label, found in own.groupby("class", sort=False):
            kind = next(name for name in REFERENCES if name in found)
            pairs = zip(found[kind], found["share"])
            shares = ", ".join(f"{place} ({100 * share:.0f} %)" for place, share in pairs)
            lines.append(f"Most telling of {label}: {REFERENCES[kind]} {shares}.")
        return lines

    def __len__(self) -> int:
        return len(self.margin)

    def __str__(self) -> str:
        n_rows = len(self)
        if n_rows == 1:
            return self.summary()
        shown = [f"Row {row}. {self.summary(row)}" for row in range(min(n_rows, MOST_PRINTED))]
        if n_rows > MOST_PRINTED:
            shown.append(f"... and {n_rows - MOST_PRINTED} more rows: see parts.")
        return "\n\n".join(shown)

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows in {self.values.shape[1]} parts>"


def explained(
    model: MarginModel,
    X: Array,
    labels: np.ndarray,
    names: Any,
    *,
    n_neighbors: int,
    n_jobs: int | None = None,
) -> Explanation:
    """The margins of new samples, as they were read, in parts.

    Of several members it is the lead of a class in probability. A probability is no sum over
    terms, but the difference of two probabilities is the margin of a member times a slope
    that is not below 0, and so the sum of the slope times each part of that margin. What
    voting for one class only adds to that is the part "rounding".

    Parameters
    ----------
    model : MarginModel
    X : ndarray of shape (n_rows, p)
    labels : ndarray
        Class labels.
    names : sequence of str
        Names of the features in use.
    n_neighbors : int
    n_jobs : int or None
    """
    many = model.point_scores(X, n_jobs)
    if model.decision == "score":
        classes = two_nearest(getattr(many[0], RULES[model.rule]))
    else:
        *_, share = model.running_shares(many)
        classes = two_nearest(-share)
    members = weighed_margins(model, many, classes)
    size = np.sum([np.abs(one.weights) for one in members], axis=0)
    features, place, factor = used_terms(model.references, size)
    margin, crowding, terms, nearest_place, coupling, distance = summed_parts(
        model.references, X, members, classes, place, n_neighbors
    )
    others = {"crowding": crowding} if any(one.rule == "energy" for one in members) else {}
    if model.decision == "hard vote":
        *_, soft_share = replace(model, decision="vote").running_shares(many)
        others["rounding"] = lead(share, classes) - lead(soft_share, classes)
        margin = margin + others["rounding"]
    predicted, against = labels[classes]
    return Explanation(
        predicted,
        against,
        margin,
        term_table(features, list(others), names),
        np.column_stack([factor * terms, *others.values()]),
        Nearest(nearest_place, coupling, distance, classes, model.references, labels),
    )


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
        terms, crowding, distance, free_energy, coupling, q = parts
        if self.rule == "distance":
            # The expected distance has no entropy, so that its parts alone are the margin.
            crowding, free_energy = np.zeros_like(crowding), distance
        slope, share = self.slope[rows], self.share
        terms = slope.reshape(-1, *[1] * (terms.ndim - 1)) * terms
        return MarginParts(
            terms,
            slope * crowding,
            slope * distance,
            slope * free_energy,
            share * coupling,
            share * q,
        )


def weighed_margins(
    model: MarginModel, many: Sequence[ClassScores], classes: Codes
) -> list[WeighedMargin]:
    """Margins over two classes, with what each comes to in the margin of the model."""
    if model.decision == "score":
        point, slope = model.points[0], np.ones(classes.shape[1])
        return [WeighedMargin(point.weights, point.sigma, model.rule, 1.0, slope)]
    n_votes = 1.0 if model.decision == "mixture" else sum(one.share for one in model.members)
    found: dict[tuple[int, str], WeighedMargin] = {}
    for one in model.members:
        point, score = model.points[one.point], getattr(many[one.point], RULES[one.rule])
        share, width = one.share / n_votes, point.sigma * one.temperature
        probability = class_probability(score, width)
        in_pair = probability[np.arange(len(score)), classes].sum(axis=0)
        slope = share * vote_slope(lead(-score, classes), in_pair, width)
        key = one.point, one.rule
        # Members that differ in temperature only have the same margin, and their slopes add.
        if key in found:
            share, slope = found[key].share + share, found[key].slope + slope
        found[key] = WeighedMargin(point.weights, point.sigma, one.rule, share, slope)
    return list(found.values())


def lead(share: Array, classes: Codes) -> Array:
    """By how much each row's first class leads its second."""
    first, second = share[np.arange(len(share)), classes]
    difference: Array = first - second
    return difference


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


def summed_parts(
    references: References,
    X: Array,
    members: Sequence[WeighedMargin],
    classes: Codes,
    place: Codes,
    n_neighbors: int,
) -> list[Any]:
    """Margins, crowding, the terms at `place` and the nearest references, over all members.

    Rows are taken block by block; what is kept of a row is a number per term and a few neighbours.
    """
    problem, table = references.problem(), references.encoded(X)
    weights, sigmas = [one.weights for one in members], [one.sigma for one in members]
    blocks = []
    for rows in problem.row_blocks(len(table)):
        many = problem.margin_parts_many(table[rows], weights, sigmas, classes[:, rows])
        counted = (member.counted(parts, rows) for member, parts in zip(members, many))
        total = reduce(MarginParts.plus, counted)
        terms = folded_parts(references, total.terms)[:, place]
        is_own = classes[:, rows, None] == references.codes
        found = nearest(total, is_own, n_neighbors)
        blocks.append((total.free_energy, total.crowding, terms, *found))
    return [np.concatenate(one) for one in zip(*blocks)]


def folded_parts(references: References, parts: Array) -> Array:
    """Parts of encoded columns summed up per feature and pair of the table, a row per sample."""
    if not isinstance(references.form, Cubic):
        # What two levels of one column share is summed up with the main effect of the column.
        parts = np.array([references.encoding.folded(one) for one in parts])
    return parts.reshape(len(parts), -1)


def nearest(parts: MarginParts, is_own: Mask, count: int) -> list[Any]:
    """The `count` references of each class with the largest couplings, nearest first.

    Their places, couplings and distances, each of shape (n_rows, 2, count). Where a class has
    fewer references, others fill the places.
    """
    # Far references all have a coupling of 0; the distance tells them apart.
    q = np.broadcast_to(parts.q, is_own.shape)
    order = np.lexsort((q, -parts.coupling, ~is_own), axis=-1)[..., :count]
    found = (order, *(np.take_along_axis(one, order, axis=-1) for one in (parts.coupling, q)))
    return [np.moveaxis(one, 0, 1) for one in found]


def term_table(features: Codes, others: Sequence[str], names: Any) -> pd.DataFrame:
    """What each part belongs to."""
    names = np.asarray(names, dtype=object)
    nothing = [None] * len(others)
    # A feature that is repeated fills the place of one that is not there.
    is_new = np.vstack([np.ones_like(features[:1], dtype=bool), np.diff(features, axis=0) != 0])
    kinds = np.array(["main", "pair", "triple"])[is_new.sum(axis=0) - 1]
    # As objects: a column of text would turn None into NaN.
    columns = {
        f"feature_{j + 1}": pd.Series([*np.where(is_in, names[own], None), *nothing], dtype=object)
        for j, (own, is_in) in enumerate(zip(features, is_new))
    }
    return pd.DataFrame({**columns, "kind": [*kinds, *others]})


def name_of(*term: Any) -> str:
    """A part as people write it, from its features and its kind."""
    *features, kind = term
    if kind in IN_WORDS:
        return IN_WORDS[kind]
    return " × ".join(str(feature) for feature in features if feature is not None)
