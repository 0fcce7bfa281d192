"""Effects of a table's columns: sizes, directions in words, surfaces.

`inference` knows features by their place among those that vary; here they are columns of the
user's table, and have names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from immigrate.additive.basis import Levels
from immigrate.additive.effects import EffectModel, Term
from immigrate.additive.null_model import fitted_on
from immigrate.additive.sizes import Sizes
from immigrate.additive.surfaces import Surface, surface
from immigrate.arrays import Array, Codes
from immigrate.inference.directions import Side, feature_direction, pair_direction
from immigrate.table import Table

FLAGS = ("True", "False")


@dataclass(frozen=True)
class Subject:
    """What is more likely, or higher, where an effect is positive.

    Attributes
    ----------
    classes : tuple of str
        Empty for a number.
    outcome : str
        Name of the label, or "" if it has none.
    """

    classes: tuple[str, ...] = ()
    outcome: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The second of two classes, all of more, or the number."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes or (self.number,)

    @property
    def number(self) -> str:
        """What a label that is a number is called."""
        return self.outcome or "the outcome"

    def __call__(self, c: int) -> str:
        """The first words of a sentence about class or number c."""
        if not self.classes:
            return f"{self.number} is higher"
        return f"{class_text(self.shown[c])} is more likely"


def class_text(name: str) -> str:
    """A class within a sentence."""
    # A bare number or flag would read as something else than a class.
    is_word = name[:1].isalpha() and name not in FLAGS
    return name if is_word else f"class {name}"


def level_text(table: Table, column: int, levels: Levels) -> Callable[[int], str]:
    """What a level of a column is called."""
    names, x = table.reader.level_names[column], table.values[:, column]
    if np.isnan(x).any() and np.all(levels.code >= 0):
        # One value or missing: levels are 0 where it is missing and 1.
        one = np.nanmin(x)
        known = str(names[int(one)]) if len(names) else f"{one:g}"
        return lambda place: known if place else "missing"

    def text(place: int) -> str:
        value = levels.value[place]
        return str(names[int(value)]) if len(names) else f"{value:g}"

    return text


@dataclass(frozen=True, eq=False)
class MeasuredEffects:
    """The model of effects of some samples.

    Attributes
    ----------
    model : EffectModel
    columns : ndarray
        The column of the table that each feature of `model.design` is.
    read : Table
        The samples.
    subject : Subject
        What is more likely, or higher, where an effect is positive.
    """

    model: EffectModel
    columns: Codes
    read: Table
    subject: Subject

    def sizes(self, terms: Sequence[Term]) -> Sizes:
        """Sizes of the effects of columns and of pairs; NaN for those not in the model."""
        places = [self._place(term) for term in terms]
        known = [i for i, place in enumerate(places) if place is not None]
        found = self.model.sizes([place for place in places if place is not None])
        parts = []
        for part in (found.size, found.low, found.high):
            full = np.full(len(terms), np.nan)
            full[known] = part
            parts.append(full)
        return Sizes(*parts)

    @cached_property
    def _pairs(self) -> list[Term]:
        return list(dict.fromkeys(owner for owner in self.model.owners if len(owner) > 1))

    @cached_property
    def _shares(self) -> dict[Term, float]:
        return dict(zip(self._pairs, self.model.held_out_shares(self._pairs).tolist()))

    def held_out_shares(self, terms: Sequence[Term]) -> Array:
        """Share of the held-out deviance that each pair explains."""
        places = [self._place(term) for term in terms]
        return np.array([np.nan if p is None else self._shares[p] for p in places])

    def pair_direction(self, pair: Term) -> str:
        """Where what is more likely, beyond what both features do alone; "" if none can say."""
        place = self._place(pair)
        if place is None:
            return ""
        contribution = self.model.block(place).contribution
        # With several classes the sentence is about the one whose log-odds move most.
        c = int(np.argmax(np.sum(contribution**2, axis=0)))
        a, b = (self._side(feature) for feature in place)
        words = pair_direction(contribution[:, c], self.model.known(place), a, b)
        return f"{self.subject(c)} {words}" if words else ""

    def own_direction(self, column: int) -> str:
        """Where what is more likely as far as this column, beside covariates, can tell."""
        place = np.flatnonzero(self.columns == column)
        if not len(place):
            return ""
        Y, side = self._beyond_covariates, self._side(int(place[0]))
        weight = self.model.known((int(place[0]),))
        centred = Y - np.average(Y, axis=0, weights=np.maximum(weight, 1e-300))
        spread = [side.spread(centred[:, c], weight) for c in range(Y.shape[1])]
        c = int(np.argmax(spread))
        return f"{self.subject(c)} {feature_direction(centred[:, c], weight, side)}"

    def direction_given_others(self, column: int) -> str:
        """Where what is more likely by what this column adds to all others; "" if none can say."""
        place = self._place((column,))
        if place is None:
            return ""
        contribution, side = self.model.block(place).contribution, self._side(place[0])
        c = int(np.argmax(np.sum(contribution**2, axis=0)))
        words = feature_direction(contribution[:, c], self.model.known(place), side)
        return f"{self.subject(c)} {words}, given the others" if words else ""

    @cached_property
    def _beyond_covariates(self) -> Array:
        """The outcome, less what is adjusted for: a confounder may turn a direction round."""
        data = self.model.design
        if not data.adjusted:
            return data.Y
        return data.Y - fitted_on(data, np.array(sorted(data.adjusted), dtype=np.intp)).means

    def surface(self, term: Term) -> Surface | None:
        """The joint effect of a pair on a grid, or by levels."""
        place = self._place(term)
        return None if place is None else surface(self.model, place)

    def levels(self, column: int) -> Levels:
        """The distinct values of a column that varies."""
        return self.model.design.levels[int(np.flatnonzero(self.columns == column)[0])]

    def _side(self, feature: int) -> Side:
        column, levels = int(self.columns[feature]), self.model.design.levels[feature]
        text = level_text(self.read, column, levels)
        return Side(str(self.read.reader.names[column]), levels, text)

    def _place(self, term: Term) -> Term | None:
        """The features that the columns are, if they are in the model."""
        places = [np.flatnonzero(self.columns == column) for column in term]
        if any(not len(place) for place in places):
            return None
        found = tuple(int(place[0]) for place in places)
        return found if found in self.model.owners else None
