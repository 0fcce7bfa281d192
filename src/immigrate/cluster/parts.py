"""One part of a pass, as a worker of a cluster computes it: some anchors against all references.

    C(W)  = sum over parts of sum_{n in part} D_n [F_hit(n) - F_miss(n)]
    dC/dW = sum over parts of the same

The free energies of an anchor need all of its references and nothing of other anchors. So a part
does both sweeps on its own, and a pass is one trip to the workers and back: W goes out, sums
come in. Pairs of anchors in different parts are visited twice: p^2 multiply-adds per anchor and
reference, against p^2 / 2 in one process. The other way, tiles that serve both of their samples,
needs all free energies at all workers between the sweeps: two trips, n numbers each way for every
part, and Boltzmann factors that are kept by somebody who may be gone (then 3/4 p^2).

Nothing here knows of Dask, and a part knows nothing of other parts: whoever computes it, and
however often, the sums are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import sklearn

from immigrate._version import __version__
from immigrate.arrays import Array, Codes
from immigrate.kernels import ClassScores, Pairs, Pieces, local_pass

# Anchors in the smallest part: the rows of a tile of the compiled sweeps.
FEWEST_ANCHORS = 32
# More parts would keep the scheduler busier than the workers.
MOST_PARTS = 1024
# Megabytes of Boltzmann factors that a part keeps. The same on every worker, whatever its memory
# or settings: what is summed in which order depends on it.
WORKING_MEMORY = 128

# First and last of some anchors, in the order of `anchors_by_class`.
Part = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Point:
    """Where a pass is evaluated, as it is sent to the workers."""

    W: Array
    sigma: float
    has_gradient: bool
    version: str = __version__


class PartSums(NamedTuple):
    """What a part, or several next to each other, gives back."""

    cost: float
    gradient: Array | None
    free_energy: Array  # (n_anchors, n_classes)
    distance: Array  # (n_anchors, n_classes)


def pass_seconds(pieces: Pieces, W_size: int) -> float:
    """About how long one core takes for the parts of a pass."""
    n_pairs = len(pieces.pairs.anchors) * len(pieces.pairs.references)
    return n_pairs * (5e-9 + 5e-11 * W_size)


def parts_of(pieces: Pieces, W_size: int, part_seconds: float) -> list[Part]:
    """The parts of a pass. They depend on shapes only, never on who is there to compute them."""
    n_anchors = len(pieces.pairs.anchors)
    wanted = min(pass_seconds(pieces, W_size) / part_seconds, MOST_PARTS)
    n_parts = max(1, min(math.ceil(wanted), n_anchors // FEWEST_ANCHORS))
    edges = np.linspace(0, n_anchors, n_parts + 1).astype(int).tolist()
    return list(pairwise(edges))


def anchors_by_class(pieces: Pieces) -> Codes:
    """Anchors in the order in which they are cut into parts: few classes in each of them."""
    anchors = pieces.pairs.anchors
    return anchors[np.argsort(pieces.target.y[anchors], kind="stable")]


def part_sums(part: Part, pieces: Pieces, anchor_weight: Array, point: Point) -> PartSums:
    """Cost, gradient and leave-one-out scores of some anchors."""
    check_version(point.version)
    anchors = anchors_by_class(pieces)[part[0] : part[1]]
    own = replace(pieces, pairs=Pairs(np.sort(anchors), pieces.pairs.references))
    limit = np.inf if point.has_gradient else -np.inf
    with sklearn.config_context(working_memory=WORKING_MEMORY):
        found = local_pass(own, anchor_weight).margin(point.W, point.sigma, reject_above=limit)
    scores = found.scores
    gradient = found.gradient if point.has_gradient else None
    return PartSums(found.cost, gradient, scores.free_energy[anchors], scores.distance[anchors])


def merged(parts: Sequence[PartSums]) -> PartSums:
    """Sums over several parts, in their order."""
    gradients = [part.gradient for part in parts if part.gradient is not None]
    return PartSums(
        sum(part.cost for part in parts),
        reduce(np.add, gradients) if gradients else None,
        np.concatenate([part.free_energy for part in parts]),
        np.concatenate([part.distance for part in parts]),
    )


def row_scores(
    X_new: Array, pieces: Pieces, Ws: Sequence[Array], sigmas: Sequence[float], version: str
) -> list[ClassScores]:
    """Scores of some new samples under several (W, sigma)."""
    check_version(version)
    # Anchors are of no use here, so neither are their weights.
    passes = local_pass(pieces, np.zeros(pieces.n_samples))
    return passes.scores_many(X_new, Ws, sigmas)


def check_version(sent: str) -> None:
    """Refuse to mix versions: sums of different kernels must not be added up."""
    if sent != __version__:
        raise RuntimeError(
            f"A worker of the cluster has immigrate {__version__}, the caller has {sent}. "
            "Install the same version everywhere."
        )
