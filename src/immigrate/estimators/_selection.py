"""Choosing among candidates by a criterion, with its standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import ParameterGrid

from immigrate.core.scores import class_probability


def correctness(score, sigma, y):
    """1 for each sample whose own class has the smallest score."""
    return (score.argmin(axis=1) == y).astype(float)


def balanced_correctness(score, sigma, y):
    """Correctness weighed so that every class counts alike in the mean."""
    size = np.bincount(y, minlength=score.shape[1])
    n_present = np.count_nonzero(size)
    return correctness(score, sigma, y) * len(y) / (n_present * size[y])


def log_probability(score, sigma, y):
    """Log of the probability of each sample's own class, not below that of the tiniest float."""
    probability = class_probability(score, sigma)[np.arange(len(y)), y]
    return np.log(np.maximum(probability, np.finfo(float).tiny))


# Each criterion is a mean over samples; the larger the better.
CRITERIA: dict[str, Callable] = {
    "accuracy": correctness,
    "balanced_accuracy": balanced_correctness,
    "neg_log_loss": log_probability,
}


@dataclass(frozen=True)
class Selection:
    """Candidates and what the criterion says of each.

    Attributes
    ----------
    candidates : list of dict
        In the order of scikit-learn's `ParameterGrid`; ties go to the first.
    splits : ndarray of shape (n_splits, n_candidates)
        Mean criterion of each split. Leave-one-out is one split.
    standard_error : ndarray of shape (n_candidates,)
        Of the mean over splits; over samples where there is one split only.
    """

    candidates: list[dict]
    splits: np.ndarray
    standard_error: np.ndarray

    @classmethod
    def over(cls, grid: dict, samples: Sequence[np.ndarray]) -> Selection:
        """From the criterion of every sample, one array (n_candidates, n_samples) a split."""
        splits = np.array([split.mean(axis=1) for split in samples])
        spread = samples[0].T if len(samples) == 1 else splits
        error = spread.std(axis=0, ddof=1) / np.sqrt(len(spread))
        return cls(list(ParameterGrid(grid)), splits, error)

    @property
    def score(self) -> np.ndarray:
        """Mean over splits of each candidate."""
        return self.splits.mean(axis=0)

    def best(self) -> int:
        """Index of the first candidate with the best score."""
        return int(self.score.argmax())

    def simplest(self, n_weights: np.ndarray) -> int:
        """The largest sigma, then the fewest weights, within one standard error of the best."""
        best = self.best()
        is_near = self.score >= self.score[best] - self.standard_error[best]
        near = np.flatnonzero(is_near)
        return int(min(near, key=lambda i: (-self.candidates[i]["sigma"], n_weights[i], i)))

    def results(self) -> dict:
        """`cv_results_` as scikit-learn's searches write it."""
        score = self.score
        # Competition ranking: equal scores share the best rank.
        rank = 1 + (score[None, :] > score[:, None]).sum(axis=1)
        names = self.candidates[0]
        results = {f"param_{name}": _column(self.candidates, name) for name in names}
        results |= {
            "params": self.candidates,
            "mean_test_score": score,
            "std_test_score": self.splits.std(axis=0),
            "rank_test_score": rank.astype(np.int32),
        }
        if len(self.splits) > 1:
            results |= {f"split{i}_test_score": split for i, split in enumerate(self.splits)}
        return results


def _column(candidates, name):
    values = np.empty(len(candidates), dtype=object)
    values[:] = [candidate[name] for candidate in candidates]
    return np.ma.MaskedArray(values, mask=False)


def selection_columns(selection, n_weights, chosen):
    """A row a candidate. Its score is a selection criterion, never a performance."""
    return {
        "sigma": np.array([candidate["sigma"] for candidate in selection.candidates]),
        "prune": [str(candidate["prune"]) for candidate in selection.candidates],
        "rule": [candidate["rule"] for candidate in selection.candidates],
        "selection_score": selection.score,
        "standard_error": selection.standard_error,
        "n_weights": n_weights,
        "is_chosen": np.arange(len(n_weights)) == chosen,
    }
