"""Which features an importance selects: one rule for every selector."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from immigrate.arrays import Array, Mask


def chosen_by_importance(
    importance: Array, threshold: float | None, count: int | float | None
) -> Mask:
    """Features of at least `threshold`, and of these the `count` most important.

    Parameters
    ----------
    importance : ndarray of shape (n_features,)
    threshold : float or None
        Least importance of a chosen feature; None is no limit.
    count : int, float or None
        How many; a float is a share of all features, one feature at least. None is no limit.
        Ties go to the first.
    """
    mask: Mask = np.ones(len(importance), dtype=bool)
    if threshold is not None:
        mask = importance >= threshold
    if count is not None:
        is_share = not isinstance(count, Integral)
        n_kept = max(1, round(count * len(importance))) if is_share else int(count)
        # Stable, so that the answer does not depend on how a sort breaks ties.
        mask[np.argsort(-importance, kind="stable")[n_kept:]] = False
    return mask
