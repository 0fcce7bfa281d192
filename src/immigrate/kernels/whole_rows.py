"""The pass in one sweep over whole rows: every anchor of a block with all references at once.

A block has all of an anchor's hits and misses, so that its couplings are known while the
differences are at hand. ``numpy_pass`` takes them three times; this is a third of that, in NumPy
as well, for what the compiled sweeps do not know: numbers as outcome. Memory: about COPIES arrays
of the size of the differences of a block, which fit in scikit-learn's ``working_memory``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sklearn

from immigrate.arrays import Array, Codes
from immigrate.core.couplings import boltzmann, soft_sum
from immigrate.core.targets import HIT, MISS
from immigrate.kernels import ClassScores, MarginPass
from immigrate.kernels.numpy_pass import PlainPass

# Rows of a block, at most: larger ones leave the cache. Arrays of the size of the differences.
MOST_ROWS, COPIES = 8, 4
# Sums of shares times exponentials below this have lost digits.
SMALLEST_TOTAL = 1e-280


@dataclass(frozen=True)
class WholeRowPass(PlainPass):
    """The passes over one table; the same interface as ``passes.CompiledPass``."""

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores; no gradient for a cost above the limit."""
        pieces, references = self.pieces, self.pieces.pairs.references
        scores = np.full((pieces.n_samples, pieces.target.n_classes), np.nan)
        cost, gradient = 0.0, np.zeros_like(W)
        votes, columns = pieces.target.votes()[:, references], pieces.samples.take(references)
        for rows in self._blocks(pieces.pairs.anchors):
            d = pieces.differences(pieces.samples.take(rows), columns)
            q = pieces.form.distance(W, d)
            share, D = pieces.target(rows, references), self.anchor_weight[rows]
            others = np.where(rows[:, None] != references, q, np.inf)
            factor, energy, coupling = near_and_far(others, share, sigma)
            cost += float(D @ (energy[HIT] - energy[MISS]))
            if reject_above > -np.inf:
                signed = D[:, None] * (coupling[HIT] - coupling[MISS])
                gradient += pieces.form.scatter(W, d, signed)
            scores[rows] = votes_energy(others.min(axis=1), factor, votes, sigma)
        kept = gradient if -np.inf < reject_above >= cost else None
        return MarginPass(cost, kept, ClassScores(scores, scores))

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None = None
    ) -> list[ClassScores]:
        """Scores of new samples under several (W, sigma)."""
        pieces, references = self.pieces, self.pieces.pairs.references
        differences = pieces.differences.with_gaps_of(X_new)
        columns = differences.samples(pieces.samples.values[references])
        votes = pieces.target.votes()[:, references]
        found = [np.empty((len(X_new), len(votes))) for _ in Ws]
        for rows in self._blocks(np.arange(len(X_new))):
            d = differences(differences.samples(X_new[rows]), columns)
            for scores, W, sigma in zip(found, Ws, sigmas):
                q = pieces.form.distance(W, d)
                floor = q.min(axis=1)
                factor = boltzmann(q, floor[:, None], sigma)
                scores[rows] = votes_energy(floor, factor, votes, sigma)
        return [ClassScores(scores, scores) for scores in found]

    def _blocks(self, rows: Codes) -> Iterator[Codes]:
        """Rows whose differences from all references fit in the working memory."""
        n_numbers = sklearn.get_config()["working_memory"] * 2**20 / 8
        per_row = COPIES * self.pieces.samples.values.shape[1] * len(self.pieces.pairs.references)
        size = min(max(int(n_numbers / per_row), 1), MOST_ROWS)
        return (rows[start : start + size] for start in range(0, len(rows), size))


def near_and_far(q: Array, share: Array, sigma: float) -> tuple[Array, Array, Array]:
    """exp(-(q - min q) / sigma), free energies of hits and misses, and their couplings.

    One exponential serves hits and misses, unless all of one side are so much further than the
    nearest of the other that it is 0.
    """
    floor = q.min(axis=1)
    factor = boltzmann(q, floor[:, None], sigma)
    weight = share * factor
    total = weight.sum(axis=-1)
    if total.min() > SMALLEST_TOTAL:
        return factor, floor - sigma * np.log(total), weight / total[:, :, None]
    both = np.broadcast_to(q, share.shape)
    sums = soft_sum(both, sigma, share)
    return factor, sums.free_energy(sigma), sums.coupling(both, share, sigma)


def votes_energy(floor: Array, factor: Array, votes: Array, sigma: float) -> Array:
    """-sigma log sum_j votes_j exp(-q_j / sigma) of each row for each vote, (r, n_votes)."""
    total = factor @ votes.T
    is_any = total > 0
    energy = floor[:, None] - sigma * np.log(np.where(is_any, total, 1.0))
    return np.where(is_any, energy, np.inf)
