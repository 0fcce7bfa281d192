"""IMMIGRATE with weights for triples of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count, check_option
from immigrate.core.forms import Cubic
from immigrate.estimators.base import MarginClassifier
from immigrate.estimators.weight_matrix import without_rounding
from immigrate.margin.encoding import Columns, References, resolved_columns
from immigrate.margin.model import RULES
from immigrate.margin.options import TripleOptions
from immigrate.margin.path import fitted
from immigrate.margin.penalties import L1, penalty_of_triples
from immigrate.margin.triples import NAMES, dense_tensor
from immigrate.progress import fitting
from immigrate.scikit_learn import checked_feature_names
from immigrate.solvers import Solver, resolved_solver


class CubicImmigrateClassifier(MarginClassifier):
    """Margin-based classifier that weighs features, pairs and triples of features.

    The distance of two samples is q = d' W d + sum_abc T_abc d_a d_b d_c, d = |x_i - x_j|, which
    is that of IMMIGRATE [1]_ with one more term. W is symmetric, and T is symmetric too: a pair
    adds 2 W_ab d_a d_b to a distance and a triple 6 T_abc d_a d_b d_c. T is 0 where two of its
    indices are the same. Together they have norm 1, |W|^2 + |T|^2 = 1 with every entry counted,
    W is in the set that `constraint` names, and T is not negative. Everything else is as in
    `ImmigrateClassifier`. That one mostly predicts well even where three features act together:
    its neighbourhoods are local, so that the weights of single features suffice to predict a
    parity of three (docs/measurements/three-way.md).

    A weight says what the model uses and proves nothing. Whether three features act together is
    answered by ``InteractionTest(order=3)``.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the neighbourhood, in units of q. "auto" learns the weights at 1/2 of the median
        of q over pairs of samples under the starting W: wider than without triples, because the
        slopes of triples are noise where only the nearest samples count. Predictions are better
        in smaller neighbourhoods, so "auto" then chooses the sigma of predictions, 1 to 1/16
        times that, by the likelihood of leave-one-out predictions. A number is used for both.
    triples : "all", list of triples or data frame, default="all"
        Which triples have a weight. "all" is for up to 40 features. A list holds names or indices,
        ``[("a", "b", "c")]``; a data frame has the columns `feature_1`, `feature_2` and
        `feature_3`, as ``InteractionTest(order=3).fit(X, y).selected_`` has. An empty list leaves
        only the weights of features and pairs.
    penalty : None, "l1" or `L1`, default="l1"
        Price on the sum of T; features and pairs have none. "l1" is ``L1(0.3)``: the strength is
        a share of the steepest slope of a triple at the start, so that with 1 no triple gets a
        weight in the first step. Without a penalty the norm is spread over many small weights.
    solver : str or solver, default="monotone"
        One of those of `ImmigrateClassifier`. A start is one of W; T starts at 0.
    constraint : str, default="psd"
        Where W lives: one of the constraints of `ImmigrateClassifier`.
    rule : {"energy", "distance"}, default="energy"
        Score of a class: its free energy -sigma log sum exp(-q / sigma), or its expected
        distance (Eq. 9).
    references : {"auto", "all"}, int, float or `ClassCentres`, default="auto"
        What new samples are compared with, as in `ImmigrateClassifier`.
    columns : Columns, default=None
        How columns are read and compared. Nominal columns have one weight and none per level:
        ``Columns(nominal="levels")`` is refused.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For drawing samples of a large table, for centres, and for a solver with
        ``init="random"``.
    verbose : bool, default=False
        Whether to print one line per step.

    Attributes
    ----------
    model_ : MarginModel
        All that predicting needs: references, weights, sigma, rule.
    weight_matrix_ : ndarray of shape (n_features, n_features)
        W, over the features in use.
    triples_ : ndarray of shape (n_triples, 3)
        The triples that may have a weight, as positions in the table given to `fit`.
    triple_weights_ : ndarray of shape (n_triples,)
        T_abc of each of them.
    weight_tensor_ : ndarray of shape (n_features, n_features, n_features)
        T, made when it is asked for.
    feature_importances_ : ndarray of shape (n_features_in_,)
        A feature's own weight, half of each of its pairs' and a third of each of its triples',
        entries counted as often as they are in |W| and |T|, scaled to sum 1.
    sigma_ : float
        The sigma of predictions.
    fit_sigma_ : float
        The sigma that the weights were learned with.
    penalty_ : L1 or None
        As it was used.
    n_anchors_, n_references_ : int
        How many samples the solver used: those whose margin counted, and their neighbours.
    weight_error_ : ndarray of shape (n_features, n_features)
        Standard error of `weight_matrix_` against the fit of all samples; 0 where the solver
        looked at all.
    triple_weight_error_ : ndarray of shape (n_triples,)
        The same of `triple_weights_`.
    classes_ : ndarray of shape (n_classes,)
    objective_path_ : ndarray of shape (n_steps + 1,)
        Cost and penalty at the start and after each step.
    gap_ : float
        Relative Frank-Wolfe gap at the end, the penalty included: 0 at a stationary point. NaN
        where it is not defined ("clip", or no direction improves the margin).
    n_iter_ : int
        Steps taken; 1 also if the start was stationary and took none.
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ImmigrateClassifier : Features and pairs.
    IM4EClassifier : Features only.
    InteractionTest : Evidence for triples, with ``order=3``.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate import CubicImmigrateClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 8))
    >>> y = X[:, 1] ^ X[:, 3] ^ X[:, 6]
    >>> model = CubicImmigrateClassifier().fit(X, y)
    >>> table = model.interactions()
    >>> table.loc[table["kind"] == "triple"].iloc[0, :3].tolist()
    ['x1', 'x3', 'x6']
    """

    def __init__(
        self,
        sigma: str | float = "auto",
        *,
        triples: Any = "all",
        penalty: str | L1 | None = "l1",
        solver: str | Solver = "monotone",
        constraint: str = "psd",
        rule: str = "energy",
        references: Any = "auto",
        columns: Columns | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sigma = sigma
        self.triples = triples
        self.penalty = penalty
        self.solver = solver
        self.constraint = constraint
        self.rule = rule
        self.references = references
        self.columns = columns
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of features, pairs and triples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts, as an anchor and not as a neighbour of others.

        Returns
        -------
        self
        """
        with fitting(self):
            rule = check_option("rule", self.rule, RULES)
            penalty = penalty_of_triples(self.penalty)
            options = TripleOptions.of(self, triples=self.triples)
            table = options.read(self, X, y, sample_weight)
            model, fit = fitted(options, table, self.sigma, penalty, rule)
            self._adopt(table, model, fit)
            form = self._form(model.references)
            error = np.zeros_like(fit.solution.weights) if fit.error is None else fit.error
            self.weight_error_ = form.matrix(error)
            self.triple_weight_error_ = form.triple_weights(error)
            self.fit_sigma_, self.penalty_ = fit.sigma, penalty
        return self

    def _part(self, name: str, value: Any) -> Any:
        makers: dict[str, Any] = {
            "solver": resolved_solver,
            "penalty": penalty_of_triples,
            "columns": resolved_columns,
        }
        return makers[name](value) if name in makers else value

    def interactions(self, top: int | None = None) -> pd.DataFrame:
        """Every feature, pair and triple with its weight, the largest first.

        Weights are no evidence: ``InteractionTest(order=3)`` is.

        Parameters
        ----------
        top : int, optional
            Only the first so many rows. By default all.

        Returns
        -------
        pandas.DataFrame
            `feature_1`, `feature_2` (None for a main effect), `feature_3` (None but for a triple),
            `kind` ("main", "pair" or "triple"), `weight` (the entry of W or T), `share` (of the
            sum of the sizes of all weights) and `rank`.
        """
        check_is_fitted(self)
        if top is not None:
            check_count("top", top)
        references = self.model_.references
        names = checked_feature_names(self)[references.is_used]
        form = self._form(references)
        table = triple_table(self.weight_matrix_, form.triples, self.triple_weights_, names)
        return table.iloc[:top]

    @property
    def weight_matrix_(self) -> Array:
        """W: symmetric; its norm and that of T make 1 together."""
        check_is_fitted(self)
        return self._form(self.model_.references).matrix(self.model_.weights).copy()

    @property
    def triples_(self) -> Codes:
        """The triples that may have a weight, as positions in the table given to `fit`."""
        check_is_fitted(self)
        references = self.model_.references
        positions: Codes = np.flatnonzero(references.is_used)[self._form(references).triples]
        return positions

    @property
    def triple_weights_(self) -> Array:
        """T_abc of each triple."""
        check_is_fitted(self)
        return self._form(self.model_.references).triple_weights(self.model_.weights)

    @property
    def weight_tensor_(self) -> Array:
        """T: symmetric, 0 where two of its indices are the same."""
        check_is_fitted(self)
        form = self._form(self.model_.references)
        return dense_tensor(form.triples, self.triple_weights_, form.n_features)

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the sizes of all entries of W and T."""
        check_is_fitted(self)
        references = self.model_.references
        size = np.abs(self.weight_matrix_).sum(axis=0)
        # An entry of T stands in two of the six orders for each place of a feature.
        of_triples = np.repeat(2 * np.abs(self.triple_weights_), 3)
        np.add.at(size, self._form(references).triples.ravel(), of_triples)
        full = np.zeros(len(references.is_used))
        full[references.is_used] = size / size.sum()
        return full

    def _form(self, references: References) -> Cubic:
        assert isinstance(references.form, Cubic)
        return references.form


def triple_table(W: Array, triples: Codes, weights: Array, names: Any) -> pd.DataFrame:
    """Every feature, pair and triple with its weight, the largest first."""
    names = np.asarray([*names, None], dtype=object)
    a, b = np.triu_indices(len(W))
    no_feature = len(W)  # the place of None among the names
    places = np.concatenate(
        [
            np.column_stack([a, np.where(a == b, no_feature, b), np.full_like(a, no_feature)]),
            triples,
        ]
    )
    weight = np.concatenate([W[a, b], weights])
    size = np.abs(weight)
    order = np.argsort(-without_rounding(size), kind="stable")
    kind = np.repeat(["pair", "triple"], [len(a), len(triples)])
    kind[: len(a)][a == b] = "main"
    return pd.DataFrame(
        {
            # As objects: a column of text would turn None into NaN.
            **{name: pd.Series(names[j], dtype=object) for name, j in zip(NAMES, places[order].T)},
            "kind": kind[order],
            "weight": weight[order],
            "share": size[order] / size.sum(),
            "rank": np.arange(1, len(order) + 1),
        }
    )
