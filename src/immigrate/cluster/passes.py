"""Passes that the workers of a Dask cluster compute.

    this process            scheduler                workers
    table, once     ---->   one copy, as a task ---> a copy each, from one another
    W, sigma        ---->   a task for each part --> cost, gradient, scores of the part's anchors
    sums            <-------------------------------- merged in fixed order, 32 at a time

Tasks have no state and no worker of their own. What is lost with a worker, the table included, is
computed again by the engine from what the scheduler holds.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from immigrate._version import __version__
from immigrate.arrays import Array
from immigrate.cluster.parts import (
    PartSums,
    Point,
    anchors_by_class,
    merged,
    part_sums,
    parts_of,
    pass_seconds,
    row_scores,
)
from immigrate.cluster.waiting import clear_errors, results
from immigrate.kernels import ClassScores, MarginPass, Pass, Pieces, local_pass

# Parts that one task adds up.
FAN_IN = 32
# Rows that are predicted by one task, at least: a batch of the compiled sweeps.
FEWEST_ROWS = 256
# Rows that a fit draws from a table that is larger than memory.
N_DRAWN = 10_000


@dataclass(frozen=True, eq=False)
class Cluster:
    """Runs passes on the workers of a Dask cluster; see ``immigrate.cluster.on``.

    Attributes
    ----------
    client : distributed.Client
    part_seconds : float
        About how long a part of a pass takes on one core. The parts, and with them the last bits
        of every sum, depend on it and on the shape of the table, on nothing else.
    patience : float
        Seconds to wait for a worker when there is none.
    n_drawn : int
        Rows that a fit draws from a collection of Dask.
    """

    client: Any
    part_seconds: float
    patience: float
    n_drawn: int = N_DRAWN

    def __call__(self, pieces: Pieces, anchor_weight: Array, *, n_threads: int) -> Pass:
        """The passes over one table; a table whose passes are shorter than a part stays here."""
        if pass_seconds(pieces, weight_count(pieces)) <= self.part_seconds:
            return local_pass(pieces, anchor_weight, n_threads=n_threads)
        return ClusterPass(self, pieces, anchor_weight)

    def given(self, value: Any, name: str) -> Any:
        """A task whose result is `value`.

        Scattered data would be gone with the worker that holds it. The scheduler keeps a task as
        long as somebody needs it, and gives it to another worker when its result is lost.
        """
        return self._submitted(_itself, [value], name)[0]

    def mapped(
        self, function: Callable[..., Any], values: Sequence[Any], name: str, **shared: Any
    ) -> list[Any]:
        """A task for each value, with no worker of its own."""
        return self._submitted(function, values, name, **shared)

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Their results, in their order; the tasks are forgotten, whatever happens."""
        try:
            return results(self.client, futures, self.patience)
        finally:
            # Tracebacks keep frames and frames keep futures: after Ctrl-C nobody should go on.
            self.release(futures)

    def release(self, futures: Sequence[Any]) -> None:
        """Let the cluster forget some tasks and their results."""
        for future in futures:
            future.release()

    def _submitted(
        self, function: Callable[..., Any], values: Sequence[Any], name: str, **shared: Any
    ) -> list[Any]:
        # Keys of one group: Dask then queues the tasks and hands them to whoever is free.
        token = uuid.uuid4().hex
        keys = [(f"immigrate-{name}-{token}", i) for i in range(len(values))]
        with clear_errors(self.client), no_word_about_size():
            futures: list[Any] = self.client.map(function, values, key=keys, **shared)
        return futures


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
        self,
        X_new: Array,
        Ws: Sequence[Array],
        sigmas: Sequence[float],
        n_jobs: int | None = None,
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
        one_row = pass_seconds(self._pieces, weight_count(self._pieces)) / self._pieces.n_samples
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


@contextmanager
def no_word_about_size() -> Iterator[None]:
    """Dask warns of tables inside tasks; here that is on purpose, and happens once per fit."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
        yield


def _itself(value: Any) -> Any:
    return value
