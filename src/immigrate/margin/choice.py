"""Choosing sigma, penalty and rule along a path of sigma: for the path itself and for boosting.

grid -> a fit for each sigma -> its scores of samples -> the temperature of each candidate
     -> what a criterion says of every sample -> the choice
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.checks import check_choices, check_option, check_positive
from immigrate.core.couplings import mixture_shares, own_class_probability
from immigrate.kernels import ClassScores
from immigrate.margin.model import RULES
from immigrate.margin.penalties import Penalty


def correctness(score: Array, sigma: float | Array, y: Codes) -> Array:
    """1 for each sample whose own class has the smallest score."""
    return (score.argmin(axis=-1) == y).astype(float)


def balanced_correctness(score: Array, sigma: float | Array, y: Codes) -> Array:
    """Correctness weighed so that every class counts alike in the mean."""
    size = np.bincount(y, minlength=score.shape[-1])
    # A class of which this split holds no sample has no say in the mean.
    n_present = np.count_nonzero(size)
    return correctness(score, sigma, y) * len(y) / (n_present * size[y])


def log_probability(score: Array, sigma: float | Array, y: Codes) -> Array:
    """Log of the probability of each sample's own class, not below that of the tiniest float."""
    probability = own_class_probability(score, np.asarray(sigma)[..., None], y)
    return np.log(np.maximum(probability, np.finfo(float).tiny))


# Margins of free energies are about as large as sigma, so that a temperature near 1 fits them;
# those of expected distances are up to ten times smaller where sigma is large. The largest comes
# first: of temperatures that fit alike, the one with the least certain probabilities is taken.
TEMPERATURES = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Scores of so many samples are judged at a time, of as many candidates as that makes.
BLOCK = 10_000
# Each criterion is a mean over samples; the larger the better. Scores of several candidates, with
# a width for each, have an axis of their own, before that of the samples.
CRITERIA: dict[str, Callable[[Array, float | Array, Codes], Array]] = {
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
    temperatures : sequence of float
        Not part of a candidate: each has the one with the largest likelihood.
    """

    sigmas: Sequence[float]
    penalties: Sequence[Penalty | None]
    rules: Sequence[str]
    temperatures: Sequence[float] = (1.0,)

    @property
    def n_prices(self) -> int:
        """How many of the penalties cost something during the fit."""
        return sum(penalty is not None and penalty.is_priced for penalty in self.penalties)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All combinations in the order of scikit-learn's `ParameterGrid`: sigma runs fastest."""
        return [
            {"penalty": penalty, "rule": rule, "sigma": sigma}
            for penalty, rule, sigma in product(self.penalties, self.rules, self.sigmas)
        ]

    @property
    def points(self) -> list[int]:
        """For each candidate the number of its point on the path, where penalties run fastest."""
        n = len(self.penalties)
        firsts = range(0, n * len(self.sigmas), n)
        return [first + place for place, _, first in product(range(n), self.rules, firsts)]


def check_judged(scoring: Any, rules: Any, temperatures: Any) -> None:
    """Refuse criteria that do not exist, and what is no list of rules or of positive numbers."""
    check_option("scoring", scoring, CRITERIA)
    for rule in check_choices("rules", rules):
        check_option("rules", rule, RULES)
    for temperature in check_choices("temperatures", temperatures):
        check_positive("temperatures", temperature)


class Split(NamedTuple):
    """Samples that judge the candidates, with the scores that each point of a path gives them.

    Attributes
    ----------
    scores : sequence of ClassScores
        Under each point of the path.
    codes : ndarray of shape (n_samples,)
        Class of each sample.
    """

    scores: Sequence[ClassScores]
    codes: Codes

    def of_candidates(self, choices: Choices) -> list[Array]:
        """Scores under each candidate, in their order."""
        pairs = zip(choices.points, choices.candidates)
        return [getattr(self.scores[point], RULES[one["rule"]]) for point, one in pairs]


def stacked(scores: Sequence[Array]) -> Iterator[tuple[slice, Array]]:
    """Which candidates, and their scores in one array: (n_candidates, n_samples, n_classes).

    Judged one by one, the candidates of a long path take as long as its fits.
    """
    n_together = max(BLOCK // len(scores[0]), 1)
    for i in range(0, len(scores), n_together):
        yield slice(i, i + n_together), np.stack(scores[i : i + n_together])


def best_temperatures(
    splits: Sequence[tuple[Sequence[Array], Codes]], sigmas: Array, temperatures: Sequence[float]
) -> Array:
    """For each candidate the first temperature under which samples of all splits are likeliest.

    A split is the scores of its samples under each candidate, and their classes.
    """
    if len(temperatures) == 1:
        return np.full(len(sigmas), temperatures[0])
    widths = np.outer(temperatures, sigmas)
    likelihood = np.zeros_like(widths)
    for scores, y in splits:
        for which, score in stacked(scores):
            for i in range(0, len(y), BLOCK):
                block = slice(i, i + BLOCK)
                log = log_probability(score[:, block], widths[:, which], y[block])
                likelihood[:, which] += log.sum(axis=-1)
    return np.array(temperatures)[likelihood.argmax(axis=0)]


def best_temperature(
    splits: Sequence[tuple[Array, Codes]], sigma: float, temperatures: Sequence[float]
) -> float:
    """The same for one candidate."""
    alone = [([score], y) for score, y in splits]
    return float(best_temperatures(alone, np.array([sigma]), temperatures)[0])


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
    standard_error_behind : ndarray of shape (n_candidates,)
        Of what a candidate lacks to the best one: 0 for the best.
    temperatures : tuple of float
        The temperature of each candidate.
    shares : ndarray of shape (n_candidates, n_temperatures) or None
        Shares of the mixture of all candidates at all temperatures; None without a mixture.
    """

    choices: Choices
    splits: Array
    standard_error: Array
    standard_error_behind: Array
    temperatures: tuple[float, ...]
    shares: Array | None = None

    @classmethod
    def over(cls, choices: Choices, splits: Sequence[Split], scoring: str) -> Selection:
        """From the scores of the samples of one or more splits."""
        judged = [(split.of_candidates(choices), split.codes) for split in splits]
        sigmas = np.array([candidate["sigma"] for candidate in choices.candidates])
        temperatures = best_temperatures(judged, sigmas, choices.temperatures)
        widths, criterion = sigmas * temperatures, CRITERIA[scoring]
        samples = [
            np.concatenate(
                [criterion(score, widths[which], y) for which, score in stacked(scores)]
            )
            for scores, y in judged
        ]
        return cls.of_samples(choices, samples, tuple(temperatures.tolist()))

    @classmethod
    def of_samples(
        cls, choices: Choices, samples: Sequence[Array], temperatures: tuple[float, ...]
    ) -> Selection:
        """From the criterion of every sample: one array (n_candidates, n_samples) per split."""
        splits = np.array([split.mean(axis=1) for split in samples])
        # With leave-one-out there is one split, and the error is over samples; else it is over
        # splits.
        spread = samples[0].T if len(samples) == 1 else splits
        best = splits.mean(axis=0).argmax()
        errors = _standard_error(spread), _standard_error(spread[:, [best]] - spread)
        return cls(choices, splits, *errors, temperatures)

    def with_shares(self, splits: Sequence[Split]) -> Selection:
        """The same with the shares that make the samples of the splits likeliest."""
        temperatures = self.choices.temperatures
        scores = zip(*(split.of_candidates(self.choices) for split in splits))
        likelihoods = [
            np.concatenate(
                [
                    log_probability(score, candidate["sigma"] * heat, split.codes)
                    for score, split in zip(one, splits)
                ]
            )
            for candidate, one in zip(self.candidates, scores)
            for heat in temperatures
        ]
        shares = mixture_shares(np.array(likelihoods)).reshape(-1, len(temperatures))
        return replace(self, shares=shares)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All combinations of the choices, each with its temperature."""
        pairs = zip(self.choices.candidates, self.temperatures)
        return [{**candidate, "temperature": heat} for candidate, heat in pairs]

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

        The standard error is that of the difference from the best. All candidates are judged by
        the same samples, and what makes a sample hard for one makes it hard for all, so that
        differences are known much better than the scores themselves. Where weights have a price,
        the fewest weights come first: that is what it is for.
        """
        behind = self.score.max() - self.score
        near = np.flatnonzero(behind <= self.standard_error_behind)
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
                "temperature": _values(candidates, "temperature").astype(float),
                "selection_score": self.score,
                "standard_error": self.standard_error,
                "n_weights": n_weights,
                "is_chosen": np.arange(len(n_weights)) == chosen,
            }
        )


def _standard_error(values: Array) -> Array:
    """Of the mean over rows, for each column."""
    error: Array = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return error


def _values(candidates: Sequence[dict[str, Any]], name: str) -> np.ndarray:
    # Filled one by one: a penalty of None among numbers stays what it is.
    values = np.empty(len(candidates), dtype=object)
    values[:] = [candidate[name] for candidate in candidates]
    return values
