"""The pass in plain NumPy: short, slow, and the definition that the compiled sweeps are held to.

For every anchor n, with hit(n, j) and miss(n, j) the shares that the target gives reference j,

    F_hit(n) = -sigma log sum_j hit(n, j) exp(-q_nj / sigma),    F_miss(n) likewise
    C(W)     = sum_n D_n [F_hit(n) - F_miss(n)]
    dC/dW    = sum_n D_n sum_j (hit e^{(F_hit - q) / sigma} - miss e^{(F_miss - q) / sigma}) dq/dW

Two sweeps over the tiles (some anchors x some references):

    first    q of the tile -> sums of shares times exp(-q / sigma)      merged from tile to tile
    second   q again -> couplings -> sum of coupling times dq/dW        added up

The first sweep has to end before the second begins: a coupling is a share of all of an anchor's
hits or misses. Sums merge in any grouping, so tiles may be of any shape and computed by anybody.
Memory: one tile of differences. Multiply-adds for a matrix W: 2 p^2 per anchor and reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.couplings import SoftSum, soft_sum
from immigrate.core.targets import HIT, MISS
from immigrate.kernels import ClassScores, MarginPass, Pieces


def margin(pieces: Pieces, W: Array, sigma: float, anchor_weight: Array) -> tuple[float, Array]:
    """Cost C(W) and gradient dC/dW."""
    sums = _swept_sums(pieces, W, sigma)
    energy = sums.free_energy(sigma)[:, pieces.pairs.anchors]
    cost = float(anchor_weight[pieces.pairs.anchors] @ (energy[HIT] - energy[MISS]))
    return cost, _swept_gradient(pieces, W, sigma, anchor_weight, sums)


def _swept_sums(pieces: Pieces, W: Array, sigma: float) -> SoftSum:
    """First sweep: the sums of every sample's hits and misses, (2, n)."""
    sums = _empty_sum(2, pieces.n_samples)
    for rows, columns in pieces.pairs.tiles():
        _, q = _tile(pieces, W, rows, columns)
        part = soft_sum(np.broadcast_to(q, (2, *q.shape)), sigma, pieces.target(rows, columns))
        _merge_into(sums, rows, part, sigma)
    return sums


def _swept_gradient(
    pieces: Pieces, W: Array, sigma: float, anchor_weight: Array, sums: SoftSum
) -> Array:
    """Second sweep: the couplings of every tile times dq/dW."""
    gradient = np.zeros_like(W)
    for rows, columns in pieces.pairs.tiles():
        d, q = _tile(pieces, W, rows, columns)
        # The sums of all tiles, not of this one alone: a coupling is a share of all hits or
        # misses.
        own = SoftSum(sums.floor[:, rows], sums.total[:, rows])
        coupling = own.coupling(q, pieces.target(rows, columns), sigma)
        signed = anchor_weight[rows][:, None] * (coupling[HIT] - coupling[MISS])
        gradient += pieces.form.scatter(W, d, signed)
    return gradient


def leave_one_out_scores(pieces: Pieces, W: Array, sigma: float) -> ClassScores:
    """Scores of every anchor against the references of each class but itself; NaN for others."""
    n, n_classes = pieces.n_samples, pieces.target.n_classes
    scores = ClassScores(np.full((n, n_classes), np.nan), np.full((n, n_classes), np.nan))
    references = pieces.pairs.references
    # A tile with all references has whole rows: their scores are complete at once.
    for rows, _ in pieces.pairs.tiles(n_columns=len(references)):
        _, q = _tile(pieces, W, rows, references)
        found = _class_scores(q, pieces.target.by_class(rows, references), sigma)
        scores.free_energy[rows], scores.distance[rows] = found.free_energy, found.distance
    return scores


def new_sample_scores(pieces: Pieces, X_new: Array, W: Array, sigma: float) -> ClassScores:
    """Scores of every row of `X_new` against the references of each class (Eq. 9)."""
    differences = pieces.differences.with_gaps_of(X_new)
    table = differences.samples(pieces.samples.values)
    d = differences(differences.samples(X_new), table)
    q = pieces.form.distance(W, d)
    votes = pieces.target.votes()
    return _class_scores(q, np.repeat(votes[:, None, :], len(X_new), axis=1), sigma)


def _tile(pieces: Pieces, W: Array, rows: Codes, columns: Codes) -> tuple[Array, Array]:
    """Differences (p, r, c) and distances (r, c) of a tile."""
    d = pieces.differences(pieces.samples.take(rows), pieces.samples.take(columns))
    return d, pieces.form.distance(W, d)


def _class_scores(q: Array, share: Array, sigma: float) -> ClassScores:
    """Free energy and expected distance of each row to each class, from shares (k, r, c)."""
    q = np.broadcast_to(q, share.shape)
    sums = soft_sum(q, sigma, share)
    distance = (sums.coupling(q, share, sigma) * q).sum(axis=-1)
    return ClassScores(sums.free_energy(sigma).T, distance.T)


def _empty_sum(*shape: int) -> SoftSum:
    # Any floor that is merged with it is lower.
    return SoftSum(np.full(shape, np.inf), np.zeros(shape))


def _merge_into(sums: SoftSum, rows: Codes, part: SoftSum, sigma: float) -> None:
    own = SoftSum(sums.floor[:, rows], sums.total[:, rows])
    sums.floor[:, rows], sums.total[:, rows] = own.merged(part, sigma)


@dataclass(frozen=True)
class PlainPass:
    """The passes over one table; the same interface as ``passes.CompiledPass``."""

    pieces: Pieces
    anchor_weight: Array

    def with_anchor_weight(self, anchor_weight: Array) -> PlainPass:
        """The same table with other anchor weights."""
        return replace(self, anchor_weight=anchor_weight)

    def with_threads(self, n_threads: int) -> PlainPass:
        """The same: it runs on one thread."""
        return self

    def release(self) -> None:
        """Nothing is kept between passes."""

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores; no gradient for a cost above the limit."""
        cost, gradient = margin(self.pieces, W, sigma, self.anchor_weight)
        scores = leave_one_out_scores(self.pieces, W, sigma)
        # The compiled pass saves the work for a cost that is refused; here it is done and dropped.
        return MarginPass(cost, gradient if cost <= reject_above else None, scores)

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None = None
    ) -> list[ClassScores]:
        """Scores of new samples under several (W, sigma)."""
        return [new_sample_scores(self.pieces, X_new, W, s) for W, s in zip(Ws, sigmas)]
