"""What a pass over the pairs returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ClassScores:
    """How far each sample is from each class; in both measures the smallest wins.

    Attributes
    ----------
    free_energy : ndarray of shape (n, n_classes)
        -sigma log sum_{j in c} exp(-q_nj / sigma).
    distance : ndarray of shape (n, n_classes)
        The expected distance of Eq. 9.
    """

    free_energy: np.ndarray
    distance: np.ndarray

    def rows(self, chosen: np.ndarray | None) -> ClassScores:
        """Scores of some of the samples; None is all."""
        if chosen is None:
            return self
        return ClassScores(self.free_energy[chosen], self.distance[chosen])


@dataclass(frozen=True)
class MarginPass:
    """One sweep over the pairs of the training set at one W.

    Attributes
    ----------
    cost : float
        C(W), Eq. 10.
    gradient : ndarray
        Sigma, shaped like W. None where the sweep stopped early because the cost was above
        the caller's limit.
    scores : ClassScores
        Leave-one-out scores: no sample counts as its own neighbour.
    """

    cost: float
    gradient: np.ndarray | None
    scores: ClassScores
