"""What a fit leaves behind: frozen values that know how to score new samples.

=================  ===========================================================================
`References`       the training samples, laid out for the kernel when they are first needed
`FittedMargin`     one model: references, weights, sigma, rule
`FittedVote`       boosted models that share their references
=================  ===========================================================================

The classifiers hold one of these as `model_` and read nothing else when they predict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import LARGEST, SMALLEST
from immigrate.core.cones import unit
from immigrate.core.forms import QUADRATIC, Form
from immigrate.core.margin_parts import two_nearest, vote_slope
from immigrate.core.scores import class_probability
from immigrate.estimators._encoding import Encoding
from immigrate.estimators._margin_split import MarginSplit, Member, margin_split
from immigrate.kernels import ClassScores, Runner, current_runner
from immigrate.kernels.threads import n_threads
from immigrate.problems import MarginProblem
from immigrate.solvers import Solution
from immigrate.solvers.boosting import Learner

NOTHING_LEFT_OUT = (
    "There are no leave-one-out predictions: the model was fitted on a sample of the table, or "
    "holds prototypes in place of the samples. Give the samples to be scored."
)
# Which of the class scores decides, by the name of the rule.
RULES = {"distance": "distance", "energy": "free_energy"}


@dataclass(frozen=True, eq=False)
class References:
    """The training samples that new samples are compared with.

    Laying them out for the kernel takes a hundred times as long as scoring one row, so the
    layout of the fit is kept. Files hold the plain arrays only; a model that comes from a file,
    or is given another number of threads, lays them out when it scores its first sample.

    Attributes
    ----------
    values : ndarray of shape (n, n_used)
        The columns in use, as they were read.
    codes : ndarray of shape (n,)
    is_used : ndarray of shape (n_features,)
        Which of the features of the user's table those columns are.
    encoding : Encoding
        Units and levels of those columns.
    anchor_weight : ndarray of shape (n,) or None
        How much each sample's margin counted in the fit.
    screen_importances : ndarray of shape (n_features,) or None
        What the screen said of every feature; None without a screen.
    form : Form
        How weights and differences make a distance.
    screened_out : ndarray of shape (n, n_screened_out) or None
        The features that did not pass the screen, as they were read: a test of pairs that saw
        the others only would count too few.
    count : ndarray of shape (n,) or None
        How many samples each reference stands for; None is one each.
    is_anchor : ndarray of shape (n,) or None
        Samples whose margin counted; None is all of them.
    is_summary : bool
        Whether these are prototypes and no samples.
    laid_out : dict
        The samples laid out for the kernel, by number of threads and by who runs the passes:
        a cache.
    """

    values: Array
    codes: Codes
    is_used: Mask
    encoding: Encoding
    anchor_weight: Array | None = None
    screen_importances: Array | None = None
    form: Form = QUADRATIC
    screened_out: Array | None = None
    count: Array | None = None
    is_anchor: Mask | None = None
    is_summary: bool = False
    laid_out: dict[tuple[int, Runner | None], MarginProblem] = field(
        default_factory=dict, repr=False
    )

    @property
    def table(self) -> Array:
        """The encoded samples, a column for each weight."""
        return self.encoding.table(self.values)

    @property
    def anchor_codes(self) -> Codes:
        """Class of each anchor."""
        return self.codes if self.is_anchor is None else self.codes[self.is_anchor]

    def rows(self, chosen: np.ndarray) -> References:
        """Some of the samples, as neighbours of others."""
        return replace(
            self,
            values=self.values[chosen],
            codes=self.codes[chosen],
            anchor_weight=None,
            screened_out=None,
            count=None if self.count is None else self.count[chosen],
            is_anchor=None,
            laid_out={},
        )

    def problem(self, n_threads: int) -> MarginProblem:
        """The samples laid out for so many threads, or for the cluster in use."""
        # The runner is part of it: a layout for a cluster is of no use in this process.
        key = n_threads, current_runner()
        if key not in self.laid_out:
            # A count adds sigma log(count) to distances, which may leave the range of float32.
            dtype = self.values.dtype if self.count is None else np.float64
            self.laid_out[key] = MarginProblem(
                self.table.astype(dtype, copy=False),
                self.codes,
                form=self.form,
                is_nominal=self.encoding.is_nominal,
                mismatch=self.encoding.mismatch,
                count=self.count,
                is_anchor=self.is_anchor,
                anchor_weight=self.anchor_weight,
                n_threads=n_threads,
            )
        return self.laid_out[key]

    def scores(
        self, X: Array, weights: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None
    ) -> list[ClassScores]:
        """Scores of new samples, as they were read, under several models in one sweep."""
        problem = self.problem(n_threads(n_jobs))
        return problem.class_scores_many(self.encoded(X), weights, sigmas)

    def encoded(self, X: Array) -> Array:
        """New samples, as they were read, with a column for each weight."""
        return self.encoding.table(X if self.is_used.all() else X[:, self.is_used])

    def release(self) -> None:
        """Keep the layout for predictions and give back the rest: the end of a fit."""
        for problem in self.laid_out.values():
            problem.release()
        # A model that is kept does not keep a cluster.
        for key in [key for key in self.laid_out if key[1] is not None]:
            del self.laid_out[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "laid_out": {}}


@dataclass(frozen=True, eq=False)
class FittedMargin:
    """A model that scores a class by the soft distance to its samples.

    Attributes
    ----------
    references : References
    weights : ndarray
        W, or w of a model without pairs.
    sigma : float
    rule : {"distance", "energy"}
    left_out : ClassScores or None
        Scores of each anchor of the fit against all others; None where the references are not
        those of the fit.
    temperature : float
        Probabilities are a softmax of -score / (temperature sigma).
    """

    references: References
    weights: Array
    sigma: float
    rule: str
    left_out: ClassScores | None
    temperature: float = 1.0

    @classmethod
    def of(
        cls, references: References, solution: Solution, sigma: float, rule: str
    ) -> FittedMargin:
        """The model that a solver found."""
        left_out = solution.scores.rows(references.is_anchor)
        return cls(references, solution.weights, sigma, rule, left_out)

    def on(self, references: References) -> FittedMargin:
        """The same weights with other references."""
        return replace(self, references=references, left_out=None)

    def with_sigma_times(self, factor: float) -> FittedMargin:
        """The same with another sigma, for new samples."""
        return replace(self, sigma=within_range(self.sigma * factor), left_out=None)

    def with_rule(self, rule: str, temperature: float = 1.0) -> FittedMargin:
        """The same with another rule, and the temperature that goes with it."""
        return replace(self, rule=rule, temperature=temperature)

    def judgement(self, X: Array, n_jobs: int | None = None) -> tuple[Array, float]:
        """Scores of new samples, and the sigma that makes probabilities of them."""
        return self.scores(X, n_jobs), self.sigma * self.temperature

    @property
    def log_likelihoods(self) -> Array:
        """Log probability of each sample's own class in leave-one-out predictions, (n,).

        A criterion for choosing between models, not an estimate of performance.
        """
        assert self.left_out is not None
        probability = class_probability(self.left_out.free_energy, self.sigma)
        own = probability[np.arange(len(probability)), self.references.anchor_codes]
        return np.log(np.maximum(own, np.finfo(float).tiny))

    def scores(
        self, X: Array | None, n_jobs: int | None = None, *, rule: str | None = None
    ) -> Array:
        """Score of each class, the smallest wins: of new samples, or of the training samples.

        Training samples (X is None) are each left out of their own class. The rule is that of
        the model unless another is named.
        """
        scores = self.left_out
        if X is not None:
            scores = self.references.scores(X, [self.weights], [self.sigma], n_jobs)[0]
        if scores is None:
            raise ValueError(NOTHING_LEFT_OUT)
        decisive: Array = getattr(scores, RULES[rule or self.rule])
        return decisive

    def margin_split(self, X: Array, n_neighbours: int, n_jobs: int | None = None) -> MarginSplit:
        """What the margins of new samples are made of."""
        return margin_split(
            self.references,
            X,
            [Member(self.weights, self.sigma, self.rule, say=1.0, slope=np.ones(len(X)))],
            two_nearest(self.scores(X, n_jobs)),
            n_neighbours=n_neighbours,
            n_jobs=n_jobs,
        )


def within_range(sigma: float) -> float:
    """The sigma next to it that a user might have given."""
    return min(max(sigma, SMALLEST), LARGEST)


def chosen_encoding(models: Sequence[FittedMargin]) -> int:
    """Which model to take: the first, unless the second is clearly likelier.

    The first has a weight per nominal column, the second one per level. Weights have seen the
    samples that leave-one-out predicts, and the more there are the more: the gain must be larger
    than its standard error. There is nothing to choose where there is one model.
    """
    if len(models) == 1:
        return 0
    gain = models[1].log_likelihoods - models[0].log_likelihoods
    return int(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))


@dataclass(frozen=True, eq=False)
class FittedVote:
    """Boosted models that vote.

    Attributes
    ----------
    references : References
    learners : tuple of Learner
    rule : {"distance", "energy"}
        How each of them predicts.
    is_soft : bool
        Whether votes are class probabilities, or 1 for the nearest class and 0 for the others.
    temperature : float
        Those probabilities are a softmax of -score / (temperature sigma).
    """

    references: References
    learners: tuple[Learner, ...]
    rule: str
    is_soft: bool
    temperature: float = 1.0

    @property
    def weights(self) -> Array:
        """Mean of the weights, each counting as much as its vote, with Frobenius norm 1."""
        return unit(np.sum([learner.vote * learner.weights for learner in self.learners], axis=0))

    def on(self, references: References) -> FittedVote:
        """The same learners with other references."""
        return replace(self, references=references)

    def with_sigma_times(self, factor: float) -> FittedVote:
        """The same with other sigmas."""
        learners = [replace(one, sigma=within_range(one.sigma * factor)) for one in self.learners]
        return replace(self, learners=tuple(learners))

    def with_rule(self, rule: str, temperature: float = 1.0) -> FittedVote:
        """The same with another rule, and the temperature that goes with it."""
        return replace(self, rule=rule, temperature=temperature)

    def judgement(self, X: Array, n_jobs: int | None = None) -> tuple[Array, float]:
        """Minus the logarithms of the shares in the vote, which are scores with sigma 1."""
        *_, share = self.stages(X, n_jobs)
        return -np.log(np.maximum(share, np.finfo(float).tiny)), 1.0

    def stages(self, X: Array, n_jobs: int | None = None) -> Iterator[Array]:
        """Shares of the classes in the vote of the first model, the first two, and so on."""
        return self._stages(self._scores(X, n_jobs))

    def margin_split(self, X: Array, n_neighbours: int, n_jobs: int | None = None) -> MarginSplit:
        """What the margins of new samples are made of: share of the votes less the runner-up's.

        A probability is no sum over terms. The difference of two probabilities is the margin of
        a member times a slope that is not below 0, and so the sum of the slope times each part of
        that margin. What voting for one class only adds to that is the part "rounding".
        """
        many = self._scores(X, n_jobs)
        *_, share = self._stages(many)
        classes = two_nearest(-share)
        split = margin_split(
            self.references,
            X,
            [self._member(*one, classes) for one in zip(self.learners, many)],
            classes,
            n_neighbours=n_neighbours,
            n_jobs=n_jobs,
        )
        if self.is_soft:
            return split
        *_, soft_share = replace(self, is_soft=True)._stages(many)
        rounding = lead(share, classes) - lead(soft_share, classes)
        return replace(
            split, margin=split.margin + rounding, others={**split.others, "rounding": rounding}
        )

    def _member(self, learner: Learner, scores: ClassScores, classes: Codes) -> Member:
        """A model with what its margins over two classes come to in the vote."""
        score: Array = getattr(scores, RULES[self.rule])
        slope = lead_slope(score, learner.sigma * self.temperature, classes)
        say = learner.vote / sum(one.vote for one in self.learners)
        return Member(learner.weights, learner.sigma, self.rule, say, say * slope)

    def _scores(self, X: Array, n_jobs: int | None) -> list[ClassScores]:
        """Scores under each of the models."""
        return self.references.scores(
            X,
            [learner.weights for learner in self.learners],
            [learner.sigma for learner in self.learners],
            n_jobs,
        )

    def _stages(self, many: Sequence[ClassScores]) -> Iterator[Array]:
        """Shares after the first model, the first two, and so on, from the scores of all."""
        # Useless learners are not among them, so the votes never sum to 0.
        total: Array | float = 0.0
        n_votes = 0.0
        for learner, scores in zip(self.learners, many):
            total = total + learner.vote * self._votes(scores, learner.sigma)
            n_votes += learner.vote
            yield total / n_votes

    def _votes(self, scores: ClassScores, sigma: float) -> Array:
        score: Array = getattr(scores, RULES[self.rule])
        if self.is_soft:
            return class_probability(score, sigma * self.temperature)
        hard: Array = np.eye(score.shape[1])[score.argmin(axis=1)]
        return hard


def lead(share: Array, classes: Codes) -> Array:
    """By how much each row's first class leads its second."""
    first, second = share[np.arange(len(share)), classes]
    difference: Array = first - second
    return difference


def lead_slope(score: Array, sigma: float, classes: Codes) -> Array:
    """What a margin of 1 between two classes comes to in the probabilities that scores give."""
    probability = class_probability(score, sigma)
    in_pair = probability[np.arange(len(score)), classes].sum(axis=0)
    return vote_slope(lead(-score, classes), in_pair, sigma)
