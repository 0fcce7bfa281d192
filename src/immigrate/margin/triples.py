"""Which triples of features have a weight, and tables of what they got."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, named_position

# All triples of up to so many features: 9,880 weights. A list may be as long.
MOST_FEATURES = 40
MOST_TRIPLES = comb(MOST_FEATURES, 3)
NAMES = ["feature_1", "feature_2", "feature_3"]
TRIPLES = (
    "triples must be 'all', a list of triples of names or indices such as [('a', 'b', 'c')], or a "
    "table with the columns feature_1, feature_2 and feature_3, as InteractionTest(order=3) has "
    "in selected_ and table_; got {}."
)
FROM_TEST = "triples=InteractionTest(order=3).fit(X, y).selected_"


def chosen_triples(triples: Any, names: Sequence[str], is_used: Mask) -> Codes:
    """Triples a < b < c of the columns in use, counted among these, (m, 3).

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.margin.triples import chosen_triples
    >>> chosen_triples([("d", "a", 2)], ["a", "b", "c", "d"], np.array([True, False, True, True]))
    array([[0, 1, 2]])
    """
    n_used = int(is_used.sum())
    if isinstance(triples, str):
        check_option("triples", triples, ("all",))
        if n_used > MOST_FEATURES:
            raise ValueError(
                f"triples='all' of {n_used} features would be {comb(n_used, 3):,} weights; it is "
                f"meant for up to {MOST_FEATURES} features. Give the triples that a test finds, "
                f"{FROM_TEST}, or fewer features."
            )
        every = list(combinations(range(n_used), 3))
        return np.array(every, dtype=np.intp).reshape(-1, 3)
    listed = [_positions(triple, names, is_used) for triple in _listed(triples)]
    if len(listed) > MOST_TRIPLES:
        raise ValueError(
            f"triples lists {len(listed):,} triples; at most {MOST_TRIPLES:,} have a weight. Take "
            "the first rows of the table, which are those with the most evidence."
        )
    found = np.array(listed, dtype=np.intp).reshape(-1, 3)
    # From columns of the table to columns in use; those that are left out were refused above.
    place = np.cumsum(is_used) - 1
    return np.unique(np.sort(place[found], axis=1), axis=0)


def _listed(triples: Any) -> list[list[Any]]:
    """Triples as lists of three names or indices."""
    if isinstance(triples, pd.DataFrame):
        if not set(NAMES) <= set(triples):
            raise ValueError(TRIPLES.format(f"a table with the columns {list(triples)}"))
        listed: list[list[Any]] = triples[NAMES].to_numpy(dtype=object).tolist()
        return listed
    if hasattr(triples, "fit"):
        raise ValueError(f"triples must be what a test has found, not the test: {FROM_TEST}.")
    try:
        listed = [list(triple) for triple in triples if not isinstance(triple, str)]
        is_right = len(listed) == len(triples) and all(len(triple) == 3 for triple in listed)
    except TypeError:
        is_right = False
    if not is_right:
        raise ValueError(TRIPLES.format(repr(triples)))
    return listed


def _positions(triple: list[Any], names: Sequence[str], is_used: Mask) -> list[int]:
    positions = [named_position(item, names, "triples") for item in triple]
    if len(set(positions)) < 3:
        raise ValueError(f"triples lists {triple!r}; a triple has three different features.")
    left_out = [names[j] for j in positions if not is_used[j]]
    if left_out:
        raise ValueError(
            f"triples names {left_out[0]!r}, which is left out because it is no feature (see "
            "column_reader_ of a fit without it)."
        )
    return positions


def dense_tensor(triples: Codes, weights: Array, n_features: int) -> Array:
    """T as a symmetric tensor, (p, p, p)."""
    T = np.zeros((n_features,) * 3)
    # All six orders of a triple, so that the tensor is symmetric.
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        T[tuple(triples[:, order].T)] = weights
    return T
