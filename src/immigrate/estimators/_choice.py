"""Choosing sigma, penalty and rule along a path of sigma: for the path itself and for boosting.

grid -> a fit for each sigma -> what a criterion says of every sample -> the choice
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import ParameterGrid

from immigrate.checks import check_choices, check_option
from immigrate.core.scores import class_probability
from immigrate.estimators._fitted import RULES, FittedMargin
from immigrate.estimators._penalty import Penalty
from immigrate.estimators._task import Task
from immigrate.estimators._tracks import Solutions, tracks_of
from immigrate.kernels.results import ClassScores
from immigrate.solvers import Solution, Solver
from immigrate.typing import Array, Codes


def correctness(score: Array, sigma: float, y: Codes) -> Array:
    """1 for each sample whose own class has the smallest score."""
    return (score.argmin(axis=1) == y).astype(float)


def balanced_correctness(score: Array, sigma: float, y: Codes) -> Array:
    """Correctness weighed so that every class counts alike in the mean."""
    size = np.bincount(y, minlength=score.shape[1])
    n_present = np.count_nonzero(size)
    return correctness(score, sigma, y) * len(y) / (n_present * size[y])


def log_probability(score: Array, sigma: float, y: Codes) -> Array:
    """Log of the probability of each sample's own class, not below that of the tiniest float."""
    probability = class_probability(score, sigma)[np.arange(len(y)), y]
    return np.log(np.maximum(probability, np.finfo(float).tiny))


# Each criterion is a mean over samples; the larger the better.
CRITERIA: dict[str, Callable[[Array, float, Codes], Array]] = {
    "accuracy": correctness,
    "balanced_accuracy": balanced_correctness,
    "neg_log_loss": log_probability,
}


@dataclass(frozen=True)
class Choices:
    """What there is to choose from.

    Attributes
    ----------
    sigmas : list of float
        Largest first.
    penalties : sequence of Penalty or None
    rules : sequence of str
    """

    sigmas: Sequence[float]
    penalties: Sequence[Penalty | None]
    rules: Sequence[str]

    @property
    def n_prices(self) -> int:
        """How many of the penalties cost something during the fit."""
        return sum(penalty is not None and penalty.is_priced for penalty in self.penalties)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All combinations in the order of scikit-learn's `ParameterGrid`: sigma runs fastest."""
        grid = {"penalty": self.penalties, "rule": self.rules, "sigma": self.sigmas}
        return list(ParameterGrid(grid))


def check_rules(rules: Any) -> None:
    """Refuse what is not a list of rules."""
    for rule in check_choices("rules", rules):
        check_option("rules", rule, RULES)


class PathPoint(NamedTuple):
    """One (sigma, penalty) of a path, as a model that predicts by any rule."""

    penalty: Penalty | None
    model: FittedMargin
    solution: Solution


def weight_path(
    task: Task, solver: Solver, choices: Choices, *, verbose: bool = False
) -> list[PathPoint]:
    """Every sigma, and every penalty at each, in the order of the choices.

    Fits start where a neighbour ended, because neighbours have neighbouring solutions: at one
    sigma from the next stronger penalty, and where the task is warm from the sigma before.
    """
    points: list[PathPoint] = []
    tracks = tracks_of(task, solver, choices.penalties, verbose=verbose)
    for sigma in choices.sigmas:
        solutions: Solutions = {}
        for track in tracks:
            solutions |= track.solutions_at(sigma)
        for penalty in choices.penalties:
            solution = solutions[penalty if penalty in solutions else None]
            model = task.fitted(solution, sigma, penalty, choices.rules[0])
            points.append(PathPoint(penalty, model, solution))
    return points


def criterion_of_samples(
    choices: Choices, scores: Sequence[ClassScores], y: Codes, scoring: str
) -> Array:
    """Criterion of every sample under every candidate, (n_candidates, n_samples).

    `scores` are those of the points of a path, in its order: penalties run fastest.
    """
    of_sample = CRITERIA[scoring]
    table = []
    # In the order of the candidates, where sigma runs fastest.
    for i, _ in enumerate(choices.penalties):
        for rule in choices.rules:
            for sigma, score in zip(choices.sigmas, scores[i :: len(choices.penalties)]):
                table.append(of_sample(getattr(score, RULES[rule]), sigma, y))
    return np.array(table)


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates and what the criterion says of each.

    Attributes
    ----------
    choices : Choices
        Candidates come in the order of scikit-learn's `ParameterGrid`; ties go to the first.
    splits : ndarray of shape (n_splits, n_candidates)
        Mean criterion of each split. Leave-one-out is one split.
    standard_error : ndarray of shape (n_candidates,)
        Of the mean over splits; over samples where there is one split only.
    """

    choices: Choices
    splits: Array
    standard_error: Array

    @classmethod
    def over(cls, choices: Choices, samples: Sequence[Array]) -> Selection:
        """From the criterion of every sample: one array (n_candidates, n_samples) per split."""
        splits = np.array([split.mean(axis=1) for split in samples])
        spread = samples[0].T if len(samples) == 1 else splits
        error = spread.std(axis=0, ddof=1) / np.sqrt(len(spread))
        return cls(choices, splits, error)

    @classmethod
    def by_leave_one_out(
        cls, choices: Choices, path: Sequence[PathPoint], y: Codes, scoring: str = "accuracy"
    ) -> Selection:
        """From the leave-one-out scores that every fit of the path gives away for free."""
        left_out = (point.model.left_out for point in path)
        scores = [one for one in left_out if one is not None]
        return cls.over(choices, [criterion_of_samples(choices, scores, y, scoring)])

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All combinations of the choices."""
        return self.choices.candidates

    @property
    def score(self) -> Array:
        """Mean over splits of each candidate."""
        mean: Array = self.splits.mean(axis=0)
        return mean

    def best(self) -> int:
        """Index of the first candidate with the best score."""
        return int(self.score.argmax())

    def simplest(self, n_weights: Array) -> int:
        """The largest sigma, then the fewest weights, within one standard error of the best.

        Where weights have a price, the fewest weights come first: that is what it is for.
        """
        best = self.best()
        is_near = self.score >= self.score[best] - self.standard_error[best]
        near = np.flatnonzero(is_near)
        sigmas = [candidate["sigma"] for candidate in self.candidates]
        if self.choices.n_prices:
            return int(min(near, key=lambda i: (n_weights[i], -sigmas[i], i)))
        return int(min(near, key=lambda i: (-sigmas[i], n_weights[i], i)))

    def results(self) -> dict[str, Any]:
        """`cv_results_` as scikit-learn's searches write it."""
        score = self.score
        # Competition ranking: equal scores share the best rank.
        rank = 1 + (score[None, :] > score[:, None]).sum(axis=1)
        candidates = self.candidates
        columns: dict[str, Any] = {
            f"param_{name}": np.ma.MaskedArray(_values(candidates, name), mask=False)
            for name in candidates[0]
        }
        columns |= {
            "params": candidates,
            "mean_test_score": score,
            "std_test_score": self.splits.std(axis=0),
            "rank_test_score": rank.astype(np.int32),
        }
        if len(self.splits) > 1:
            columns |= {f"split{i}_test_score": split for i, split in enumerate(self.splits)}
        return columns

    def table(self, n_weights: Array, chosen: int) -> pd.DataFrame:
        """A row per candidate. Its score is a selection criterion, never a performance."""
        candidates = self.candidates
        return pd.DataFrame(
            {
                "sigma": _values(candidates, "sigma").astype(float),
                "penalty": [str(penalty) for penalty in _values(candidates, "penalty")],
                "rule": list(_values(candidates, "rule")),
                "selection_score": self.score,
                "standard_error": self.standard_error,
                "n_weights": n_weights,
                "is_chosen": np.arange(len(n_weights)) == chosen,
            }
        )


def _values(candidates: Sequence[dict[str, Any]], name: str) -> np.ndarray:
    # Filled one by one: a penalty of None among numbers stays what it is.
    values = np.empty(len(candidates), dtype=object)
    values[:] = [candidate[name] for candidate in candidates]
    return values
