"""What a user asks the test: which pairs, adjusted for what, effects from which samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from immigrate.additive.design import table_design
from immigrate.additive.ridge import sample_order
from immigrate.arrays import Codes, Mask
from immigrate.checks import named_mask, named_position
from immigrate.estimators.tested_terms import Question
from immigrate.table import Table

PAIRS = "pairs is to be one feature, a list of pairs, or two lists of features; got {!r}."


def asked_question(order: int, adjust_for: Any, pairs: Any, names: Sequence[str]) -> Question:
    """Names of columns as positions.

    Examples
    --------
    >>> from immigrate.estimators.asked import asked_question
    >>> asked_question(2, None, [("a", "c")], ["a", "b", "c"]).listed
    array([[0, 2]])
    """
    adjusted = None if adjust_for is None else named_mask(adjust_for, names, "adjust_for")
    if pairs is None:
        return Question(order, adjusted)
    groups, listed = _chosen_pairs(pairs, names)
    asked = np.zeros(len(names), dtype=bool)
    if listed is not None:
        asked[listed.ravel()] = True
    elif groups is not None and not groups[1].all():
        asked = groups[0] | groups[1]
    if adjusted is not None and (asked & adjusted).any():
        name = names[int(np.flatnonzero(asked & adjusted)[0])]
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


def halves(read: Table, share: float) -> tuple[Table, Table]:
    """The samples that choose pairs, and the share of each class that measures effects.

    Which is which depends on the data alone.
    """
    design = table_design(read)
    strata, order = design.outcome.strata, sample_order(design)
    is_out = np.zeros(len(order), dtype=bool)
    for stratum in np.unique(strata):
        own = order[strata[order] == stratum]
        # The order is a hash of the values, so that nothing is drawn and no seed is needed.
        is_out[own[: round(share * len(own))]] = True
    classes_of = read.outcome.codes
    counts = [np.unique(classes_of[part], return_counts=True) for part in (is_out, ~is_out)]
    n_classes = len(np.unique(classes_of))
    if any(len(classes) < n_classes or sizes.min() < 2 for classes, sizes in counts):
        raise ValueError(
            f"split={share:g} leaves one part without two samples of every class. Choose another "
            "share, or leave split=None."
        )
    return read.rows(~is_out), read.rows(is_out)
