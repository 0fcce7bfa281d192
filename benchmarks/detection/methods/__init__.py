"""One file per method. Each has ``evidence(problem, rng) -> Evidence``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Evidence:
    """What a method says about every pair, or triple, of features.

    Attributes
    ----------
    terms : ndarray of shape (t, order)
        Sets of feature indices, strongest first.
    p_value, p_adjusted : ndarray of shape (t,) or None
        None where the method only ranks.
    strength : ndarray of shape (t,) or None
        By what the method ranks, where it has no p-value.
    selected : list of frozenset or None
        The terms that the method declares, where it has its own rule.
    """

    terms: np.ndarray
    p_value: np.ndarray | None = None
    p_adjusted: np.ndarray | None = None
    strength: np.ndarray | None = None
    selected: list[frozenset[int]] | None = None


def ranked_pairs(strength: np.ndarray) -> np.ndarray:
    """All pairs in falling order of a symmetric matrix of strengths."""
    pairs = np.column_stack(np.triu_indices(len(strength), 1))
    return pairs[np.argsort(-strength[tuple(pairs.T)], kind="stable")]
