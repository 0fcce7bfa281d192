"""Which terms are tested: all of them, one group of features against another, or a list."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from immigrate.arrays import Codes, Mask


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
