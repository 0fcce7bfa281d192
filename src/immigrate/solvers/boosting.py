"""Algorithm 3 of the paper: IMMIGRATE as the base learner of AdaBoost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.kernels import ClassScores
from immigrate.problems.margin import MarginProblem
from immigrate.solvers import Solution

# What trains one learner: problem with the round's anchor weights, sigma, the round before.
Trainer = Callable[[MarginProblem, float, "Solution | None"], Solution]


@dataclass(frozen=True)
class Learner:
    """One round: a model, its weighted error, its say in the vote."""

    sigma: float
    weights: Array
    error: float
    vote: float


@dataclass(frozen=True)
class VotingRule:
    """How an error becomes a vote, and when a learner is of no use.

    Attributes
    ----------
    vote : callable
        Error and number of classes to the weight in the vote, which is also the exponent by
        which the anchor weights of misclassified samples grow.
    is_useless : callable
        Error and number of classes to whether the learner is discarded.
    """

    vote: Callable[[float, int], float]
    is_useless: Callable[[float, int], bool]


# As written in Algorithm 3, for two classes.
PAPER_RULE = VotingRule(
    vote=lambda error, n_classes: 0.5 * float(np.log((1 - error) / error)),
    is_useless=lambda error, n_classes: error >= 0.5 or error == 0,
)

# SAMME (Zhu et al. 2009): AdaBoost for any number of classes.
SAMME_RULE = VotingRule(
    # Without the paper's factor 1/2, and with a term that is 0 for two classes.
    vote=lambda error, n_classes: float(np.log((1 - error) / error) + np.log(n_classes - 1)),
    is_useless=lambda error, n_classes: error >= 1 - 1 / n_classes,
)


def falling_sigmas(largest: float, smallest: float, n_rounds: int) -> list[float]:
    """From `largest`, multiplied by (smallest / largest)^(1 / T) each round: section 3.5."""
    return [largest * (smallest / largest) ** (t / n_rounds) for t in range(n_rounds)]


def boosted(
    problem: MarginProblem,
    y: Codes,
    anchor_weight: Array,
    sigmas: Sequence[float],
    train: Trainer,
    *,
    rule: VotingRule,
    score: Callable[[ClassScores], Array],
    error_floor: float = 0.0,
) -> Iterator[Learner]:
    """One learner per round, useless ones with a vote of 0.

    The error is that of leave-one-out predictions, which come free with the fit: a sample is
    never its own neighbour, as in the hit sets of the paper.

    Parameters
    ----------
    sigmas : sequence of float
        One per round.
    train : callable
        Trains one learner.
    rule : VotingRule
    score : callable
        Which of the class scores decides.
    error_floor : float
        Errors below count as this much, so that a perfect learner gets a large vote and not
        an infinite one.
    """
    n_classes = int(y.max()) + 1
    D, solution = anchor_weight, None
    for sigma in sigmas:
        solution = train(problem.with_anchor_weight(D), sigma, solution)
        is_wrong = score(solution.scores).argmin(axis=1) != y
        # D sums to 1, so this is a share.
        error = max(float(D[is_wrong].sum()), error_floor)
        if rule.is_useless(error, n_classes):
            # It leaves D alone: the next round differs by its sigma only.
            yield Learner(sigma, solution.weights, error, 0.0)
            continue
        vote = rule.vote(error, n_classes)
        yield Learner(sigma, solution.weights, error, vote)
        D = D * np.exp(vote * is_wrong)
        D = D / D.sum()
