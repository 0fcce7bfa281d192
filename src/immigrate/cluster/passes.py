"""Passes that the workers of a Dask cluster compute.

    this process            scheduler                workers
    table, once     ---->   one copy, as a task ---> a copy each, from one another
    W, sigma        ---->   a task for each part --> cost, gradient, scores of the part's anchors
    sums            <-------------------------------- merged in fixed order, 32 at a time

Tasks have no state and no worker of their own. What is lost with a worker, the table included, is
computed again by the engine from what the scheduler holds.

A part, as a worker computes it, is some anchors against all references:

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

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn

from immigrate._version import __version__
from immigrate.arrays import Array, Codes
from immigrate.kernels import ClassScores, MarginPass, Pairs, Pieces, local_pass, pass_seconds

if TYPE_CHECKING:
    from immigrate.cluster import Cluster


# Anchors in the smallest part: the rows of a tile of the compiled sweeps.
FEWEST_ANCHORS = 32
# More parts would keep the scheduler busier than the workers.
MOST_PARTS = 1024
# Megabytes of Boltzmann factors that a part keeps. The same on every worker, whatever its memory
# or settings: what is summed in which order depends on it.
WORKING_MEMORY = 128

# First and last of some anchors, in the order of `anchors_by_class`.
Part = tuple[int, int]
# Parts that one task adds up.
FAN_IN = 32
# Rows that are predicted by one task, at least: a batch of the compiled sweeps.
FEWEST_ROWS = 256


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


def seconds_of_pass(pieces: Pieces, W_size: int) -> float:
    """About how long one core takes for the parts of a pass."""
    n_pairs = len(pieces.pairs.anchors) * len(pieces.pairs.references)
    return pass_seconds(n_pairs, W_size)


def parts_of(pieces: Pieces, W_size: int, part_seconds: float) -> list[Part]:
    """The parts of a pass. They depend on shapes only, never on who is there to compute them."""
    n_anchors = len(pieces.pairs.anchors)
    wanted = min(seconds_of_pass(pieces, W_size) / part_seconds, MOST_PARTS)
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


class ClusterPass:
    """The passes over one table, cut into parts for the workers of a cluster.

    The same interface and, to rounding, the same results as ``kernels.passes.CompiledPass``; the
    same bits for any number of workers of one kind.

    Parameters
    ----------
    cluster : Cluster
    pieces : Pieces
    anchor_weight : ndarray of shape (n,)
    """

    def __init__(self, cluster: Cluster, pieces: Pieces, anchor_weight: Array) -> None:
        self._cluster, self._pieces, self._anchor_weight = cluster, pieces, anchor_weight
        self._parts = parts_of(pieces, weight_count(pieces), cluster.part_seconds)
        self._order = anchors_by_class(pieces)
        # Tasks that hold the table and the weights, made when they are first needed.
        self._sent: dict[str, Any] = {}

    def with_anchor_weight(self, anchor_weight: Array) -> ClusterPass:
        """The same table with other anchor weights; the table is not sent again."""
        self._on_workers("table", self._pieces)
        other = copy.copy(self)
        other._anchor_weight = anchor_weight
        other._sent = {"table": self._sent["table"]}
        return other

    def with_threads(self, n_threads: int) -> ClusterPass:
        """The same: workers run one thread each."""
        return self

    def release(self) -> None:
        """Let the workers forget the table."""
        # Futures count who holds them: other passes over this table keep it.
        self._sent = {}

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores.

        Every part is summed up on its own and knows the cost of no other. So the gradient of a
        cost above the limit is computed in vain, unless the limit says that none is wanted.
        """
        point = Point(W, sigma, has_gradient=reject_above > -np.inf)
        sums = self._sums(point)
        is_rejected = sums.cost > reject_above
        return MarginPass(sums.cost, None if is_rejected else sums.gradient, self._scores(sums))

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None = None
    ) -> list[ClassScores]:
        """Scores of every row of `X_new` against each class, of several (W, sigma) at once."""
        table = self._on_workers("table", self._pieces)
        tasks = self._cluster.mapped(
            row_scores,
            slices(X_new, self._rows_together(len(Ws))),
            "rows",
            pieces=table,
            Ws=self._cluster.given(np.array(Ws), "weights"),
            sigmas=list(sigmas),
            version=__version__,
        )
        return [joined(scores) for scores in zip(*self._cluster.results(tasks))]

    def _sums(self, point: Point) -> PartSums:
        """The sums over all parts, merged on the workers as far as there are many."""
        sums = self._cluster.mapped(
            part_sums,
            self._parts,
            "part",
            pieces=self._on_workers("table", self._pieces),
            anchor_weight=self._on_workers("weight", self._anchor_weight),
            point=self._cluster.given(point, "point"),
        )
        while len(sums) > FAN_IN:
            parts, sums = sums, self._cluster.mapped(merged, slices(sums, FAN_IN), "merge")
            self._cluster.release(parts)
        return merged(self._cluster.results(sums))

    def _scores(self, sums: PartSums) -> ClassScores:
        """Scores in the order of the table, NaN for samples that are no anchors."""
        energy, distance = np.full((2, self._pieces.n_samples, sums.distance.shape[1]), np.nan)
        energy[self._order], distance[self._order] = sums.free_energy, sums.distance
        return ClassScores(energy, distance)

    def _on_workers(self, name: str, value: Any) -> Any:
        """The task that holds the table or the anchor weights: sent once."""
        if name not in self._sent or self._sent[name].cancelled():
            self._sent[name] = self._cluster.given(value, name)
        return self._sent[name]

    def _rows_together(self, n_problems: int) -> int:
        """Rows that one task predicts."""
        one_row = (
            seconds_of_pass(self._pieces, weight_count(self._pieces)) / self._pieces.n_samples
        )
        fitting = int(self._cluster.part_seconds / (one_row * n_problems))
        return max(fitting // FEWEST_ROWS, 1) * FEWEST_ROWS


def weight_count(pieces: Pieces) -> int:
    """Number of weights that a distance is made of."""
    return pieces.form.n_weights(pieces.samples.values.shape[1])


def slices(values: Any, size: int) -> list[Any]:
    """`values` cut into pieces of this size."""
    return [values[i : i + size] for i in range(0, len(values), size)]


def joined(scores: Sequence[ClassScores]) -> ClassScores:
    """Scores of several groups of samples as those of one."""
    return ClassScores(
        np.concatenate([one.free_energy for one in scores]),
        np.concatenate([one.distance for one in scores]),
    )
