"""Hard couplings: which pairs of samples count, and how much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Distances that agree to this relative accuracy are equally far: they differ by rounding only.
TIE = 1e-12


class Nearest(NamedTuple):
    """Who is near: the k nearest candidates of each group, by which distance.

    Attributes
    ----------
    n_neighbors : int
        k; a group with fewer candidates counts as a whole.
    is_per_class : bool
        Whether every other class is a group of its own (ReliefF) or the misses of all
        classes are one (Relief).
    is_squared : bool
        Distances are sums of squared differences (Euclidean) or of differences (Manhattan).
    """

    n_neighbors: int = 1
    is_per_class: bool = False
    is_squared: bool = True


class Pairs(NamedTuple):
    """Anchors and their neighbours, one entry a pair.

    Attributes
    ----------
    anchor, neighbour : ndarray of int
    weight : ndarray
    distance : ndarray
        Weighted sum of the differences, squared ones for a squared distance.
    """

    anchor: np.ndarray
    neighbour: np.ndarray
    weight: np.ndarray
    distance: np.ndarray
