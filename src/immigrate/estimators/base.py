"""What estimators share: what is left of a fit, and how classifiers predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_count
from immigrate.core.couplings import class_probability
from immigrate.margin.model import MarginModel
from immigrate.margin.problem import Fit
from immigrate.scikit_learn import StoredEstimator
from immigrate.solvers import Stop
from immigrate.table import Reader, Table, read_table
from immigrate.table.open import OPENERS

if TYPE_CHECKING:
    from immigrate.margin.explanation import Explanation


class ReferenceEstimator(StoredEstimator):
    """An estimator that compares rows with references: how it reads them, and what a fit leaves.

    Relies on `model_`, the `MarginModel` that a subclass sets in `fit`, and on the parameter
    `n_jobs`.
    """

    model_: MarginModel
    column_reader_: Reader
    n_jobs: int | None

    def _values(self, X: Any) -> Array:
        """The table as the fitted reader reads it; to be asked for before `model_` is."""
        check_is_fitted(self)
        values: Array = read_table(self, X)
        return values

    def _adopt(self, table: Table, model: MarginModel, fit: Fit) -> None:
        """Become the model that a solver found; nothing here can fail."""
        table.keep_on(self)
        self.model_ = model
        solution, seen = fit.solution, fit.task.references
        # Of a sample some are anchors, and some count as references.
        n, is_anchor, count = len(seen.codes), seen.is_anchor, seen.count
        self.n_anchors_ = n if is_anchor is None else int(np.count_nonzero(is_anchor))
        self.n_references_ = n if count is None else int(np.count_nonzero(count))
        self.weight_error_ = np.zeros((seen.values.shape[1],) * np.ndim(solution.weights))
        if fit.error is not None:
            self.weight_error_ = np.sqrt(seen.encoding.folded(fit.error**2))
        self.objective_path_ = np.array(solution.objective_path)
        self.gap_ = solution.gap
        # A start that is already stationary takes no step; scikit-learn wants at least 1.
        self.n_iter_ = max(len(solution.objective_path) - 1, 1)
        self.converged_ = solution.stop is Stop.TOLERANCE

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class ReferenceClassifier(ClassifierMixin, ReferenceEstimator):
    """A classifier that compares rows with references: how it explains them.

    Relies on scikit-learn's own `classes_` beside what a `ReferenceEstimator` has.
    """

    classes_: np.ndarray

    def explain(self, X: Any, *, n_neighbors: int = 3) -> Explanation:
        """Which features and pairs pull each row to its class, and its most telling neighbours.

        The margin of a row, the score of the runner-up class less that of the predicted one, is a
        sum over features and pairs, because the distance is; with the rule "energy" one more part
        says how many samples of the two classes are near. Samples that the model was fitted on are
        explained as `predict` sees them: they are their own nearest neighbours.

        The margin of a mixture or a vote is the lead of its class in probability, which is exactly
        the sum of what the members add. What a member adds is a difference of probabilities, not
        a sum over features and pairs: it is spread over them in proportion to the member's own
        margin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_neighbors : int, default=3
            Training samples to name for each of the two classes of a row; of several members by
            their mean share.

        Returns
        -------
        Explanation
        """
        from immigrate.margin.explanation import explained

        check_count("n_neighbors", n_neighbors)
        values = self._values(X)
        names = np.array(self.column_reader_.names, dtype=object)[self.model_.references.is_used]
        return explained(
            self.model_, values, self.classes_, names, n_neighbors=n_neighbors, n_jobs=self.n_jobs
        )


class MarginClassifier(ReferenceClassifier):
    """Eq. 9 and its relatives, over a fitted margin."""

    def predict(self, X: Any) -> np.ndarray:
        """Class with the smallest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if is_lazy(X):
            return lazily(self, "predict", X)
        values = self._values(X)
        scores = self.model_.scores(values, self.n_jobs)
        return self.classes_[scores.argmin(axis=1)]

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
        if is_lazy(X):
            return lazily(self, "predict_proba", X)
        values = self._values(X)
        return class_probability(*self.model_.scores_and_width(values, self.n_jobs))

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
        if is_lazy(X):
            return lazily(self, "decision_function", X)
        values = self._values(X)
        score = self.model_.scores(values, self.n_jobs)
        return score[:, 0] - score[:, 1] if score.shape[1] == 2 else -score

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
        if is_lazy(X):
            return lazily(self, "expected_distances", X)
        check_is_fitted(self)
        values = None if X is None else self._values(X)
        return self.model_.scores(values, self.n_jobs, rule="distance")

    def leave_one_out_predict(self) -> np.ndarray:
        """Prediction of each training sample from all the others, at the fitted weights.

        The weights have seen the sample, so the accuracy of these predictions is a
        criterion for choosing sigma and **not** an estimate of performance: it reads well
        above chance on permuted labels. Use `sklearn.model_selection.cross_val_score` for that.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[self.model_.scores(None).argmin(axis=1)]

    @property
    def sigma_(self) -> float:
        """The sigma used."""
        check_is_fitted(self)
        return self.model_.sigma


def is_lazy(X: Any) -> bool:
    """Whether `X` is a collection of Dask; finds out without importing it."""
    return type(X).__module__.startswith("dask.")


def lazily(estimator: Any, method: str, X: Any) -> Any:
    """What a method of a classifier says of every partition of a collection: a lazy dask array."""
    from immigrate.cluster.tables import mapped_rows

    check_is_fitted(estimator)
    # What it gives for a table without rows shows the type and the columns.
    n_classes = len(estimator.classes_)
    is_one_margin = method == "decision_function" and n_classes == 2
    empty = np.empty(0 if is_one_margin else (0, n_classes))
    if method == "predict":
        empty = estimator.classes_[:0]
    return mapped_rows(getattr(estimator, method), X, empty=empty)


def drawn_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, str]:
    """The rows of a collection of Dask that a fit works on."""
    from immigrate.cluster.tables import training_rows

    return training_rows(X, y, sample_weight)


OPENERS["dask"] = drawn_rows
