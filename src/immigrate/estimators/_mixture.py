"""A mixture of the models of a path: probabilities are means over its members.

A path of sigma holds models that err on different samples. Their shares are those that make the
samples likeliest (`core.mixing`), members are points of the path seen through a rule and a
temperature, and one sweep over the references scores new samples under all points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.core.cones import unit
from immigrate.core.margin_parts import two_nearest
from immigrate.core.scores import class_probability
from immigrate.estimators._choice import Selection
from immigrate.estimators._fitted import (
    NOTHING_LEFT_OUT,
    RULES,
    FittedMargin,
    References,
    lead_slope,
)
from immigrate.estimators._margin_split import MarginSplit, Member, margin_split
from immigrate.kernels import ClassScores

# Members with less than this have no say that anybody would notice.
SMALLEST_SHARE = 0.01


@dataclass(frozen=True)
class MixtureMember:
    """One member: a point of the path, how it predicts, its share of the mixture.

    Attributes
    ----------
    candidate : int
        Which candidate of the selection it is.
    point : int
        Which point of the mixture it is.
    rule : {"distance", "energy"}
    temperature : float
    share : float
    """

    candidate: int
    point: int
    rule: str
    temperature: float
    share: float


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """Models whose class probabilities are averaged.

    Attributes
    ----------
    references : References
    points : tuple of FittedMargin
        Weights and sigma of each point of the path that a member needs.
    members : tuple of MixtureMember
        The largest share first.
    """

    references: References
    points: tuple[FittedMargin, ...]
    members: tuple[MixtureMember, ...]

    @property
    def weights(self) -> Array:
        """Mean of the weights, each counting as much as its share, with Frobenius norm 1."""
        return unit(np.sum([one.share * self._point(one).weights for one in self.members], axis=0))

    @property
    def sigma(self) -> float:
        """That of the member with the largest share."""
        return self._point(self.members[0]).sigma

    @property
    def rule(self) -> str:
        """That of the member with the largest share."""
        return self.members[0].rule

    @property
    def temperature(self) -> float:
        """That of the member with the largest share."""
        return self.members[0].temperature

    def on(self, references: References) -> FittedMixture:
        """The same members with other references."""
        points = tuple(point.on(references) for point in self.points)
        return replace(self, references=references, points=points)

    def with_sigma_times(self, factor: float) -> FittedMixture:
        """The same with other sigmas."""
        points = tuple(point.with_sigma_times(factor) for point in self.points)
        return replace(self, points=points)

    def with_rule(self, rule: str, temperature: float = 1.0) -> FittedMixture:
        """The same: every member has a rule and a temperature of its own."""
        return self

    def judgement(self, X: Array, n_jobs: int | None = None) -> tuple[Array, float]:
        """Minus the logarithms of the class probabilities, which are scores with sigma 1."""
        return self.scores(X, n_jobs), 1.0

    def scores(
        self, X: Array | None, n_jobs: int | None = None, *, rule: str | None = None
    ) -> Array:
        """Minus the log probability of each class; with a rule, the mean score of the members."""
        many = self._scores(X, n_jobs)
        if rule is not None:
            parts = [one.share * getattr(many[one.point], RULES[rule]) for one in self.members]
            return np.sum(parts, axis=0)
        mean = np.sum([one.share * self._probability(one, many) for one in self.members], axis=0)
        return -np.log(np.maximum(mean, np.finfo(float).tiny))

    def margin_split(self, X: Array, n_neighbours: int, n_jobs: int | None = None) -> MarginSplit:
        """What the margins of new samples are made of: the lead of a class in probability."""
        many = self._scores(X, n_jobs)
        mean = np.sum([one.share * self._probability(one, many) for one in self.members], axis=0)
        classes = two_nearest(-mean)
        return margin_split(
            self.references,
            X,
            self._says(many, classes),
            classes,
            n_neighbours=n_neighbours,
            n_jobs=n_jobs,
        )

    def _point(self, member: MixtureMember) -> FittedMargin:
        return self.points[member.point]

    def _scores(self, X: Array | None, n_jobs: int | None) -> list[ClassScores]:
        """Scores under each of the points, in one sweep; left-out ones where X is None."""
        if X is not None:
            weights = [point.weights for point in self.points]
            sigmas = [point.sigma for point in self.points]
            return self.references.scores(X, weights, sigmas, n_jobs)
        left_out = [point.left_out for point in self.points if point.left_out is not None]
        if not left_out:
            raise ValueError(NOTHING_LEFT_OUT)
        return left_out

    def _probability(self, member: MixtureMember, many: Sequence[ClassScores]) -> Array:
        score: Array = getattr(many[member.point], RULES[member.rule])
        return class_probability(score, self._point(member).sigma * member.temperature)

    def _says(self, many: Sequence[ClassScores], classes: Codes) -> list[Member]:
        """Points and rules with what their margins over two classes come to in the mixture."""
        says: dict[tuple[int, str], Member] = {}
        for one in self.members:
            point, score = self._point(one), getattr(many[one.point], RULES[one.rule])
            slope = one.share * lead_slope(score, point.sigma * one.temperature, classes)
            key = one.point, one.rule
            # Members that differ in temperature only have the same margin, and their slopes add.
            before = says.get(key, Member(point.weights, point.sigma, one.rule, 0.0, 0 * slope))
            says[key] = before._replace(say=before.say + one.share, slope=before.slope + slope)
        return list(says.values())


def likeliest_mixture(selection: Selection, models: Sequence[FittedMargin]) -> FittedMixture:
    """The mixture of all candidates, at all temperatures, with the shares of the selection.

    Parameters
    ----------
    selection : Selection
        With shares.
    models : sequence of FittedMargin
        The model of each candidate, one object for those of one point of the path.
    """
    assert selection.shares is not None
    candidates, temperatures = selection.candidates, selection.choices.temperatures
    smallest = min(SMALLEST_SHARE, selection.shares.max())
    # Of many small shares the largest is kept at least, so that a mixture is never empty.
    shares = np.where(selection.shares < smallest, 0.0, selection.shares)
    shares /= shares.sum()
    used: dict[int, FittedMargin] = {}
    members = []
    for i, t in np.argwhere(shares).tolist():
        # Candidates that differ in rule or temperature share one model, and so one sweep.
        used.setdefault(id(models[i]), models[i])
        point = list(used).index(id(models[i]))
        share = float(shares[i, t])
        members.append(MixtureMember(i, point, candidates[i]["rule"], temperatures[t], share))
    members.sort(key=lambda member: -member.share)
    return FittedMixture(models[0].references, tuple(used.values()), tuple(members))


def member_table(
    model: FittedMargin | FittedMixture, selection: Selection, chosen: int
) -> pd.DataFrame:
    """A row per member of the model, the largest share first; a single model is one member."""
    if isinstance(model, FittedMargin):
        rows = [(chosen, model.sigma, model.rule, model.temperature, 1.0)]
    else:
        rows = [
            (one.candidate, model.points[one.point].sigma, one.rule, one.temperature, one.share)
            for one in model.members
        ]
    table = pd.DataFrame(rows, columns=["penalty", "sigma", "rule", "temperature", "share"])
    candidates = selection.candidates
    table["penalty"] = [str(candidates[i]["penalty"]) for i in table["penalty"]]
    return table[["sigma", "penalty", "rule", "temperature", "share"]]
