"""The question to a table: which terms, adjusted for what, effects from which samples.

A `Question` names columns of the table. Its `TermSet` names features of a design, which are the
columns that vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from immigrate.additive.design import Design, table_design
from immigrate.additive.ridge import sample_order
from immigrate.arrays import Codes, Mask
from immigrate.checks import named_mask, named_position
from immigrate.table import Table

PAIRS = "pairs is to be one feature, a list of pairs, or two lists of features; got {!r}."
ORDER_NAMES = {2: "pair", 3: "triple"}


@dataclass(frozen=True, eq=False)
class Question:
    """Which terms of the columns of a table are tested.

    Attributes
    ----------
    order : {2, 3}
    adjusted : ndarray of shape (p,) or None
        Columns that are always in the null model and in no term.
    groups : pair of ndarrays of shape (p,), or None
        Pairs have one column of each.
    listed : ndarray of shape (t, 2) or None
        Just these pairs of columns.
    """

    order: int = 2
    adjusted: Mask | None = None
    groups: tuple[Mask, Mask] | None = None
    listed: Codes | None = None

    def terms(self, design: Design) -> TermSet:
        """The terms among the features that vary."""
        every = every_term(len(design.columns), self.order, design.tested)
        if self.groups is not None:
            left, right = (group[design.columns] & every.left for group in self.groups)
            return TermSet(2, left, right)
        if self.listed is None:
            return every
        pairs = {tuple(sorted(design.features_of(pair))) for pair in self.listed.tolist()}
        known = sorted(pair for pair in pairs if len(pair) == 2)
        return replace(every, listed=np.array(known, dtype=np.intp).reshape(-1, 2))


@dataclass(frozen=True)
class TermSet:
    """Terms of features that are known by their index.

    Attributes
    ----------
    order : {2, 3}
    left, right : ndarray of shape (p,)
        Pairs have one feature of each; both are all tested features unless groups were named.
    listed : ndarray of shape (t, 2) or None
        Just these pairs.
    """

    order: int
    left: Mask
    right: Mask
    listed: Codes | None = None

    @property
    def is_everything(self) -> bool:
        """Whether all terms of the features are in it."""
        return self.listed is None and bool(np.all(self.left == self.right))

    @property
    def features(self) -> Codes:
        """Features that are in some term."""
        if self.listed is not None:
            return np.unique(self.listed)
        return np.flatnonzero(self.left | self.right)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        if self.listed is not None:
            return len(self.listed)
        if self.is_everything:
            return comb(int(self.left.sum()), self.order)
        n_both = int(np.sum(self.left & self.right))
        n_ordered = int(self.left.sum()) * int(self.right.sum())
        # Two features of both groups were counted twice, and no feature is its own partner.
        return n_ordered - n_both - comb(n_both, 2)

    def terms(self) -> Codes:
        """All of them, in lexicographic order: (t, order)."""
        if self.listed is not None:
            return self.listed
        features = self.features
        terms = features[all_terms(len(features), self.order)]
        return terms if self.is_everything else terms[self.holds(terms)]

    def holds(self, pairs: Codes) -> Mask:
        """Which pairs (..., 2) are in it."""
        a, b = pairs[..., 0], pairs[..., 1]
        # Either may be the one of the first group: terms are sorted by position.
        return (self.left[a] & self.right[b]) | (self.left[b] & self.right[a])


def all_terms(p: int, order: int) -> Codes:
    """Every set of `order` features, in lexicographic order: (t, order)."""
    if order == 2:
        return np.column_stack(np.triu_indices(p, 1))
    pairs = all_terms(p, 2)
    n_after = p - 1 - pairs[:, 1]
    # For each pair all features after its second one, without a loop over pairs.
    start = np.repeat(np.cumsum(n_after) - n_after, n_after)
    third = np.repeat(pairs[:, 1] + 1, n_after) + np.arange(n_after.sum()) - start
    return np.column_stack([np.repeat(pairs, n_after, axis=0), third])


def every_term(n_features: int, order: int, tested: Codes | None = None) -> TermSet:
    """All terms of the tested features."""
    is_tested = np.ones(n_features, dtype=bool)
    if tested is not None:
        is_tested = np.isin(np.arange(n_features), tested)
    return TermSet(order, is_tested, is_tested)


def question_of(order: int, adjust_for: Any, pairs: Any, names: Sequence[str]) -> Question:
    """Which terms are tested, adjusted for which columns: names of columns as positions.

    Examples
    --------
    >>> from immigrate.interactions.question import question_of
    >>> question_of(2, None, [("a", "c")], ["a", "b", "c"]).listed
    array([[0, 2]])
    """
    adjusted = None if adjust_for is None else named_mask(adjust_for, names, "adjust_for")
    if pairs is None:
        return Question(order, adjusted)
    groups, listed = _chosen_pairs(pairs, names)
    is_named = np.zeros(len(names), dtype=bool)
    if listed is not None:
        is_named[listed.ravel()] = True
    elif groups is not None and not groups[1].all():
        is_named = groups[0] | groups[1]
    if adjusted is not None and (is_named & adjusted).any():
        name = names[int(np.flatnonzero(is_named & adjusted)[0])]
        raise ValueError(f"{name!r} is in adjust_for and in pairs; it can be in one of them.")
    return Question(order, adjusted, groups, listed)


def _chosen_pairs(
    pairs: Any, names: Sequence[str]
) -> tuple[tuple[Mask, Mask] | None, Codes | None]:
    """Groups of columns, or a list of pairs of columns."""
    if isinstance(pairs, str | int | np.integer):
        one = np.zeros(len(names), dtype=bool)
        one[named_position(pairs, names, "pairs")] = True
        return (one, np.ones(len(names), dtype=bool)), None
    try:
        items = [list(item) if not isinstance(item, str) else item for item in pairs]
    except TypeError:
        raise ValueError(PAIRS.format(pairs)) from None
    # A tuple of two lists crosses two groups; a list of lists is a list of pairs.
    if isinstance(pairs, tuple) and len(items) == 2 and all(isinstance(i, list) for i in items):
        left, right = (named_mask(item, names, "pairs") for item in items)
        return (left, right), None
    if not items or any(isinstance(item, str) or len(item) != 2 for item in items):
        raise ValueError(PAIRS.format(pairs))
    listed = [[named_position(one, names, "pairs") for one in item] for item in items]
    twice = [pair for pair in listed if pair[0] == pair[1]]
    if twice:
        raise ValueError(f"pairs lists {names[twice[0][0]]!r} with itself.")
    return None, np.array(listed, dtype=np.intp)


def halves(table: Table, share: float) -> tuple[Table, Table]:
    """The samples that choose pairs, and the share of each class that measures effects.

    Which is which depends on the data alone.
    """
    design = table_design(table)
    strata, order = design.outcome.strata, sample_order(design)
    is_out = np.zeros(len(order), dtype=bool)
    for stratum in np.unique(strata):
        own = order[strata[order] == stratum]
        # The order is a hash of the values, so that nothing is drawn and no seed is needed.
        is_out[own[: round(share * len(own))]] = True
    codes = table.outcome.codes
    counts = [np.unique(codes[part], return_counts=True) for part in (is_out, ~is_out)]
    n_classes = len(np.unique(codes))
    if any(len(classes) < n_classes or sizes.min() < 2 for classes, sizes in counts):
        raise ValueError(
            f"split={share:g} leaves one part without two samples of every class. Choose another "
            "share, or leave split=None."
        )
    return table.rows(~is_out), table.rows(is_out)
