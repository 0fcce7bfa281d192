"""Algorithm 3 of the paper: IMMIGRATE as the base learner of AdaBoost, and ways of boosting.

A variant says which sigma a round has, how errors become votes, and when to stop.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes
from immigrate.checks import check_option, check_positive
from immigrate.kernels import ClassScores
from immigrate.solvers import Descent, FullSteps, Problem, Solution, Solver

# Steps in a round: fewer than the paper's 10 for a single model, which no round has to be.
INNER_STEPS = 5
# Chooses sigma, rule and temperature from a list of rules by a single model.
Chooser = Callable[[Sequence[str]], tuple[float, str, float]]
# What trains one learner: problem with the round's anchor weights, sigma, the round before.
Trainer = Callable[[Problem, float, "Solution | None"], Solution]


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
    problem: Problem,
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


class Variant(BaseEstimator, metaclass=ABCMeta):
    """What sets one way of boosting apart from another.

    Attributes
    ----------
    n_estimators : int
        Most rounds, where the user does not say.
    rules : tuple of str
        Rules to choose from, where the user does not say.
    voting : VotingRule
    is_soft : bool
        Whether learners vote by probabilities or for one class each.
    is_warm : bool
        Whether a round may start where the one before ended.
    """

    n_estimators: ClassVar[int]
    rules: ClassVar[tuple[str, ...]]
    voting: ClassVar[VotingRule]
    is_soft: ClassVar[bool]
    is_warm: ClassVar[bool]

    @abstractmethod
    def solver(self) -> Solver:
        """What trains a learner, where the user does not say."""

    @abstractmethod
    def schedule(
        self, n_rounds: int, rules: Sequence[str], choose: Chooser
    ) -> tuple[list[float], str, float]:
        """One sigma per round, and the rule and temperature of all rounds."""

    @abstractmethod
    def error_floor(self, n_samples: int) -> float:
        """Errors below count as this much."""

    def check(self, n_classes: int) -> None:
        """Refuse parameters or labels that this variant cannot work with."""

    def is_last(self, learner: Learner, n_samples: int) -> bool:
        """Whether no later round can add anything."""
        return False


class Samme(Variant):
    """One sigma for all rounds, SAMME's weights for any number of classes, soft votes."""

    n_estimators = 10
    rules = ("energy", "distance")
    voting = SAMME_RULE
    is_soft = True
    is_warm = True

    def solver(self) -> Solver:
        """Descent of a few steps."""
        return Descent(max_iter=INNER_STEPS)

    def schedule(
        self, n_rounds: int, rules: Sequence[str], choose: Chooser
    ) -> tuple[list[float], str, float]:
        """The sigma, rule and temperature at which a single model does best, for all rounds."""
        sigma, rule, temperature = choose(rules)
        return [sigma] * n_rounds, rule, temperature

    def error_floor(self, n_samples: int) -> float:
        """Half a sample, so that a perfect learner gets a large vote and not an infinite one."""
        return 1 / (2 * n_samples)

    def is_last(self, learner: Learner, n_samples: int) -> bool:
        """Whether the next round would be the same again.

        A useless learner leaves the anchor weights as they were, and so does one without an
        error; sigma is the same for all rounds.
        """
        return learner.vote == 0 or learner.error <= self.error_floor(n_samples)


class PaperBoosting(Variant):
    """Algorithm 3 of the paper as written, for two classes.

    Sigma falls from round to round, votes are for one class each, and learners with an error
    of 0 or of 1/2 and more are discarded.

    Parameters
    ----------
    sigma_max, sigma_min : float, default=4.0 and 0.2
        Round t of T has sigma_max (sigma_min / sigma_max)^((t - 1) / T).

    See Also
    --------
    BoostedImmigrateClassifier : Takes it as `variant`.

    Examples
    --------
    >>> from immigrate import BoostedImmigrateClassifier
    >>> from immigrate.options import PaperBoosting
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(120, 4, noise=0.1, random_state=0)
    >>> model = BoostedImmigrateClassifier(n_estimators=5, variant=PaperBoosting(sigma_max=2.0))
    >>> model.fit(X, y).estimators_[0].sigma
    2.0
    """

    n_estimators = 100
    rules = ("distance",)
    voting = PAPER_RULE
    is_soft = False
    is_warm = False

    def __init__(self, *, sigma_max: float = 4.0, sigma_min: float = 0.2) -> None:
        self.sigma_max = sigma_max
        self.sigma_min = sigma_min

    def solver(self) -> Solver:
        """A few full steps."""
        return FullSteps(max_iter=INNER_STEPS)

    def schedule(
        self, n_rounds: int, rules: Sequence[str], choose: Chooser
    ) -> tuple[list[float], str, float]:
        """The paper's falling sigma; nothing is chosen."""
        if len(rules) > 1:
            raise ValueError(
                f"rules={rules!r} offers a choice and variant='paper' makes none; give one rule."
            )
        return falling_sigmas(self.sigma_max, self.sigma_min, n_rounds), rules[0], 1.0

    def error_floor(self, n_samples: int) -> float:
        """None: perfect learners are discarded."""
        return 0.0

    def check(self, n_classes: int) -> None:
        """Refuse a sigma that rises, and more than two classes."""
        for name in ("sigma_max", "sigma_min"):
            check_positive(name, getattr(self, name))
        if self.sigma_min > self.sigma_max:
            raise ValueError(
                f"sigma_min={self.sigma_min} is above sigma_max={self.sigma_max}; sigma falls "
                "from the largest to the smallest."
            )
        if n_classes > 2:
            raise ValueError(
                f"variant='paper' is for two classes and y holds {n_classes}; use variant='samme'."
            )


VARIANTS: dict[str, type[Variant]] = {"samme": Samme, "paper": PaperBoosting}


def resolved_variant(variant: Any) -> Variant:
    """The variant that a name stands for; a variant stays what it is."""
    if isinstance(variant, Variant):
        return variant
    return VARIANTS[check_option("variant", variant, VARIANTS)]()
