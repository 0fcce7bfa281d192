"""Predictions explained: what pulls a row to its class, in names and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count
from immigrate.margin.parts import MarginSplit
from immigrate.margin.references import References

# What a row is compared with, by the name of the column that says where it is.
REFERENCES = {"training_row": "training rows", "prototype": "prototypes"}
# Rows that a printed explanation shows.
MOST_PRINTED = 5
IN_WORDS = {
    "crowding": "how many neighbours are near",
    "rounding": "members vote for one class only",
}


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
    neighbours : pandas.DataFrame
        The training samples that count most, of both classes of each row: `row`,
        `training_row` (its position in the table given to `fit`; a model with prototypes has
        `prototype` in its place, the position among these), `class`, `share` (of the coupling of
        all samples of that class) and `distance`.

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
    neighbours: pd.DataFrame

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


def named_explanation(
    split: MarginSplit, references: References, classes: np.ndarray, names: Any
) -> Explanation:
    """A split margin with the labels and names of the user's table.

    Parameters
    ----------
    split : MarginSplit
    references : References
        What the rows were compared with.
    classes : ndarray
        Class labels.
    names : sequence of str
        Names of the features in use.
    """
    predicted, against = classes[split.classes]
    values = np.column_stack([split.terms, *split.others.values()])
    terms = term_table(split.features, list(split.others), names)
    neighbours = neighbour_table(split, references, classes)
    return Explanation(predicted, against, split.margin, terms, values, neighbours)


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


def neighbour_table(
    split: MarginSplit, references: References, classes: np.ndarray
) -> pd.DataFrame:
    """The nearest training samples, or prototypes, of each row, of its predicted class first."""
    # Row by row, not class by class.
    found = [np.moveaxis(one, 0, 1) for one in split.neighbours]
    place, coupling, distance = found
    code = references.codes[place]
    # A class with fewer samples than were asked for has the places filled with others.
    is_own = code == split.classes.T[:, :, None]
    of_samples, of_prototypes = REFERENCES
    return pd.DataFrame(
        {
            "row": np.nonzero(is_own)[0],
            of_prototypes if references.is_summary else of_samples: place[is_own],
            "class": classes[code[is_own]],
            "share": coupling[is_own],
            "distance": distance[is_own],
        }
    )


def name_of(*term: Any) -> str:
    """A part as people write it, from its features and its kind."""
    *features, kind = term
    if kind in IN_WORDS:
        return IN_WORDS[kind]
    return " × ".join(str(feature) for feature in features if feature is not None)
