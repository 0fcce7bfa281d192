"""What the classifiers with one fitted margin share: predicting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_count
from immigrate.core.couplings import class_probability
from immigrate.estimators._by_partition import by_partition
from immigrate.margin.explanation import Explanation, named_explanation
from immigrate.margin.model import MarginModel
from immigrate.scikit_learn import StoredEstimator, checked_feature_names
from immigrate.table import Table, read_table

if TYPE_CHECKING:
    from immigrate.margin.problem import Fit


class MarginClassifier(ClassifierMixin, StoredEstimator):
    """Eq. 9 and its relatives, over a fitted margin.

    Relies on `model_`, the `MarginModel` that a subclass sets in `fit`,
    beside scikit-learn's own `classes_`; and on the parameter `n_jobs`.
    """

    model_: MarginModel
    classes_: np.ndarray
    n_jobs: int | None

    @by_partition
    def predict(self, X: Any) -> np.ndarray:
        """Class with the smallest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self._scores(X).argmin(axis=1)
        return self.classes_[nearest]

    @by_partition
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities: a softmax of -score / (temperature sigma).

        With the rule "energy" and a temperature of 1 this is the posterior of a kernel density
        estimate with kernel exp(-q / sigma). With "distance" the same map is applied to the
        expected distances of Eq. 9: the order agrees with `predict`, but margins of expected
        distances are small beside a large sigma, and without a temperature below 1 the
        probabilities are too near to one another. `ImmigrateClassifierCV` chooses the
        temperature; see docs/guide/probabilities.md.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to 1.
        """
        check_is_fitted(self)
        return class_probability(*self.model_.scores_and_width(read_table(self, X), self.n_jobs))

    @by_partition
    def decision_function(self, X: Any) -> Array:
        """Signed margin, in the units of the distance; of a mixture, the log odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: score of ``classes_[0]`` minus score of ``classes_[1]``, positive
            where the second class is nearer. More: minus the score of each class.
        """
        score = self._scores(X)
        return score[:, 0] - score[:, 1] if score.shape[1] == 2 else -score

    @by_partition
    def expected_distances(self, X: Any = None) -> Array:
        """Expected distance to each class: the bracket of Eq. 9; the smallest wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            By default the training samples, each left out of its own class.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._scores(X, rule="distance")

    def explain(self, X: Any, *, n_neighbours: int = 3) -> Explanation:
        """Which features and pairs pull each row to its class, and its most telling neighbours.

        The margin of a row, the score of the runner-up class less that of the predicted one, is a
        sum over features and pairs, because the distance is; with the rule "energy" one more part
        says how many samples of the two classes are near. Samples that the model was fitted on are
        explained as `predict` sees them: they are their own nearest neighbours. The margin of a
        mixture is the lead of its class in probability, spread over features and pairs as in
        `BoostedImmigrateClassifier`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_neighbours : int, default=3
            Training samples to name for each of the two classes of a row.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        check_count("n_neighbours", n_neighbours)
        references = self.model_.references
        split = self.model_.margin_split(read_table(self, X), n_neighbours, self.n_jobs)
        names = checked_feature_names(self)[references.is_used]
        return named_explanation(split, references, self.classes_, names)

    def leave_one_out_predict(self) -> np.ndarray:
        """Prediction of each training sample from all the others, at the fitted weights.

        The weights have seen the sample, so the accuracy of these predictions is a
        criterion for choosing sigma and **not** an estimate of performance: it reads well
        above chance on permuted labels. Use `sklearn.model_selection.cross_val_score` for that.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self._scores(None).argmin(axis=1)
        return self.classes_[nearest]

    @property
    def sigma_(self) -> float:
        """The sigma used."""
        check_is_fitted(self)
        return self.model_.sigma

    def _scores(self, X: Any, rule: str | None = None) -> Array:
        """Scores of new samples, or of the training samples, each left out, where X is None."""
        check_is_fitted(self)
        if X is not None:
            X = read_table(self, X)
        return self.model_.scores(X, self.n_jobs, rule=rule)

    def __sklearn_tags__(self) -> Tags:
        return with_mixed_input(super().__sklearn_tags__())

    def _adopt(self, table: Table, model: MarginModel, fit: Fit) -> None:
        """Become the model that a solver found; nothing here can fail."""
        table.keep_on(self)
        self.model_ = model
        solution, seen = fit.solution, fit.task.references
        self.n_anchors_ = len(seen.anchor_codes)
        n_seen = len(seen.codes) if seen.count is None else np.count_nonzero(seen.count)
        self.n_references_ = int(n_seen)
        self.weight_error_ = np.sqrt(seen.encoding.folded(fit.error**2))
        self.objective_path_ = np.array(solution.objective_path)
        self.gap_ = solution.gap
        # A start that is already stationary takes no step; scikit-learn wants at least 1.
        self.n_iter_ = max(solution.n_iter, 1)
        self.converged_ = solution.converged


def with_mixed_input(tags: Tags) -> Tags:
    """Tags of an estimator that takes categories and missing values."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    return tags
