"""What a fit leaves behind: a frozen value that knows how to score new samples.

The weights of a model belong to points, of which there is one for every sweep over the
references. Members say how points predict, and what each has to say. A single margin is one
member; a mixture and a vote have several, and members may share a point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from immigrate.arrays import Array
from immigrate.checks import LARGEST, SMALLEST
from immigrate.core.cones import unit
from immigrate.core.couplings import class_probability
from immigrate.kernels import ClassScores
from immigrate.margin.encoding import References
from immigrate.solvers import Solution

if TYPE_CHECKING:
    from immigrate.margin.penalties import Penalty

NOTHING_LEFT_OUT = (
    "There are no leave-one-out predictions: the model was fitted on a sample of the table, or "
    "holds prototypes in place of the samples. Give the samples to be scored."
)
# Which of the class scores decides, by the name of the rule.
RULES = {"distance": "distance", "energy": "free_energy"}
# Members of a mixture with less than this have no say that anybody would notice.
SMALLEST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Point:
    """Weights that were fitted at one sigma and with one penalty.

    Attributes
    ----------
    weights : ndarray
        W, or w of a model without pairs.
    sigma : float
    penalty : Penalty or None
    loo_scores : ClassScores or None
        Scores of each anchor of the fit against all others; None where the references are not
        those of the fit.
    """

    weights: Array
    sigma: float
    penalty: Penalty | None = None
    loo_scores: ClassScores | None = None


@dataclass(frozen=True)
class Member:
    """How a point predicts, and how much that counts.

    Attributes
    ----------
    point : int
        Its place among the points.
    rule : {"distance", "energy"}
    temperature : float
        Probabilities are a softmax of -score / (temperature sigma).
    share : float
        Of a mixture, or its vote.
    """

    point: int
    rule: str
    temperature: float = 1.0
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class MarginModel:
    """A model that scores a class by soft distances to its samples.

    Attributes
    ----------
    references : References
    points : tuple of Point
    members : tuple of Member
        Of a mixture the largest share first, of a vote in the order of the rounds.
    decision : {"score", "mixture", "vote", "hard vote"}
        "score": the scores of the one member decide. "mixture": the mean of the class
        probabilities, whose shares sum to 1. "vote": the same with votes of any size. "hard
        vote": each member votes for its nearest class only.
    """

    references: References
    points: tuple[Point, ...]
    members: tuple[Member, ...]
    decision: str = "score"

    @classmethod
    def of(
        cls,
        references: References,
        solution: Solution,
        sigma: float,
        rule: str,
        penalty: Penalty | None = None,
    ) -> MarginModel:
        """The model that one solution gives."""
        loo_scores = solution.scores
        if references.is_anchor is not None:
            loo_scores = loo_scores.rows(references.is_anchor)
        point = Point(solution.weights, sigma, penalty, loo_scores)
        return cls(references, (point,), (Member(0, rule),))

    @classmethod
    def mixture(
        cls,
        models: Sequence[MarginModel],
        rules: Sequence[str],
        temperatures: Sequence[float],
        shares: Array,
    ) -> MarginModel:
        """Candidates at all temperatures, without those that have next to no share.

        Parameters
        ----------
        models : sequence of MarginModel
            The single model of each candidate, one object for those of one point of the path.
        rules : sequence of str
            Of each candidate.
        temperatures : sequence of float
        shares : ndarray of shape (n_candidates, n_temperatures)
        """
        # Of many small shares the largest is kept at least, so that a mixture is never empty.
        shares = np.where(shares < min(SMALLEST_SHARE, shares.max()), 0.0, shares)
        shares /= shares.sum()
        points: dict[int, Point] = {}
        members = []
        for i, t in np.argwhere(shares).tolist():
            # Candidates that differ in rule or temperature share one model, and so one sweep.
            points.setdefault(id(models[i]), models[i].points[0])
            place = list(points).index(id(models[i]))
            members.append(Member(place, rules[i], temperatures[t], float(shares[i, t])))
        members.sort(key=lambda member: -member.share)
        return cls(models[0].references, tuple(points.values()), tuple(members), "mixture")

    @property
    def weights(self) -> Array:
        """The weights; the mean of those of all members, with Frobenius norm 1, if they are many.

        Each counts as much as its share.
        """
        if self.decision == "score":
            return self.points[0].weights
        parts = [one.share * self.points[one.point].weights for one in self.members]
        return unit(np.sum(parts, axis=0))

    @property
    def sigma(self) -> float:
        """That of the first member, which has the largest share of a mixture."""
        return self.points[self.members[0].point].sigma

    @property
    def rule(self) -> str:
        """That of the first member."""
        return self.members[0].rule

    @property
    def temperature(self) -> float:
        """That of the first member."""
        return self.members[0].temperature

    @property
    def log_likelihoods(self) -> Array:
        """Log probability of each sample's own class in leave-one-out predictions, (n,).

        A criterion for choosing between single models, not an estimate of performance.
        """
        point, codes = self.points[0], self.references.anchor_codes
        assert point.loo_scores is not None
        probability = class_probability(point.loo_scores.free_energy, point.sigma)
        own = probability[np.arange(len(probability)), codes]
        return np.log(np.maximum(own, np.finfo(float).tiny))

    def on(self, references: References) -> MarginModel:
        """The same weights with other references."""
        points = tuple(replace(point, loo_scores=None) for point in self.points)
        return replace(self, references=references, points=points)

    def with_sigma_times(self, factor: float) -> MarginModel:
        """The same with other sigmas, for new samples."""
        points = tuple(
            replace(point, sigma=within_range(point.sigma * factor), loo_scores=None)
            for point in self.points
        )
        return replace(self, points=points)

    def with_rule(self, rule: str, temperature: float = 1.0) -> MarginModel:
        """The same with another rule and temperature; members of a mixture have their own."""
        if self.decision == "mixture":
            return self
        members = tuple(replace(one, rule=rule, temperature=temperature) for one in self.members)
        return replace(self, members=members)

    def scores(
        self, X: Array | None, n_jobs: int | None = None, *, rule: str | None = None
    ) -> Array:
        """Score of each class, the smallest wins: of new samples, or of the training samples.

        Training samples (X is None) are each left out of their own class. With several members
        it is minus the log of the class probability; with a rule, the mean of their scores.
        """
        many = self.point_scores(X, n_jobs)
        if self.decision == "score" or rule is not None:
            scores = [getattr(many[one.point], RULES[rule or one.rule]) for one in self.members]
            return np.sum([one.share * x for one, x in zip(self.members, scores)], axis=0)
        *_, share = self.running_shares(many)
        return -np.log(np.maximum(share, np.finfo(float).tiny))

    def scores_and_width(self, X: Array, n_jobs: int | None = None) -> tuple[Array, float]:
        """Scores of new samples, and the sigma that makes probabilities of them."""
        width = self.sigma * self.temperature if self.decision == "score" else 1.0
        return self.scores(X, n_jobs), width

    def stages(self, X: Array, n_jobs: int | None = None) -> Iterator[Array]:
        """Shares of the classes in the vote of the first member, the first two, and so on."""
        return self.running_shares(self.point_scores(X, n_jobs))

    def point_scores(self, X: Array | None, n_jobs: int | None) -> list[ClassScores]:
        """Scores under each of the points, in one sweep; leave-one-out ones where X is None."""
        if X is not None:
            weights = [point.weights for point in self.points]
            sigmas = [point.sigma for point in self.points]
            problem, table = self.references.problem(), self.references.encoded(X)
            return problem.class_scores_many(table, weights, sigmas, n_jobs)
        known = [point.loo_scores for point in self.points if point.loo_scores is not None]
        if not known:
            raise ValueError(NOTHING_LEFT_OUT)
        return known

    def running_shares(self, many: Sequence[ClassScores]) -> Iterator[Array]:
        """Shares after the first member, the first two, and so on, from the scores of points."""
        # Useless learners are not among them, so votes never sum to 0.
        total: Array | float = 0.0
        n_votes = 0.0
        for one in self.members:
            score: Array = getattr(many[one.point], RULES[one.rule])
            if self.decision == "hard vote":
                vote: Array = np.eye(score.shape[1])[score.argmin(axis=1)]
            else:
                width = self.points[one.point].sigma * one.temperature
                vote = class_probability(score, width)
            total = total + one.share * vote
            n_votes += one.share
            # Shares of a mixture sum to 1 but for rounding.
            yield total if self.decision == "mixture" else total / n_votes


def within_range(sigma: float) -> float:
    """The sigma next to it that a user might have given."""
    return min(max(sigma, SMALLEST), LARGEST)


def chosen_encoding(models: Sequence[MarginModel]) -> int:
    """Which model to take: the first, unless the second is clearly likelier.

    The first has a weight per nominal column, the second one per level. Weights have seen the
    samples that leave-one-out predicts, and the more there are the more: the gain must be larger
    than its standard error. There is nothing to choose where there is one model.
    """
    if len(models) == 1:
        return 0
    gain = models[1].log_likelihoods - models[0].log_likelihoods
    return int(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))
