"""IMMIGRATE: which features matter, and which pairs, by the margin they leave."""

from __future__ import annotations

from typing import Any, Self

from immigrate.checks import check_option
from immigrate.estimators.base import MarginClassifier
from immigrate.estimators.weight_matrix import WeightMatrixModel
from immigrate.margin.encoding import Columns
from immigrate.margin.model import RULES
from immigrate.margin.options import FitOptions
from immigrate.margin.path import fitted
from immigrate.margin.penalties import Penalty, resolved_penalty
from immigrate.margin.screen import Screen
from immigrate.progress import fitting
from immigrate.solvers import Solver


class ImmigrateClassifier(WeightMatrixModel, MarginClassifier):
    """Margin-based classifier that weighs features and pairs of features.

    IMMIGRATE [1]_ learns a matrix W of unit norm in the distance q = d' W d between samples,
    d = |x_i - x_j|, such that samples are close to their own class and far from the others.
    The diagonal of W weighs single features, the rest weighs pairs. Who counts as near is
    soft: a hit or miss at distance q weighs exp(-q / sigma).

    Tables come as they are: numbers are compared in units of their standard deviation, text and
    categories by their levels, and values may be missing (see `Columns`).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the neighbourhood, in units of q. Small: only the nearest hit and miss
        count. Large: all samples do. "auto" is 1/8 of the median of q over pairs of
        samples under the starting W, so the units of the table do not matter.
    solver : {"monotone", "paper"}, `Descent` or `FullSteps`, default="monotone"
        "paper" is ``FullSteps()``, the steps of Algorithm 2, whose cost can rise. "monotone" is
        ``Descent()``: it starts with the same step, never lets the cost rise, and stops at a
        stationary point. Start, limit on steps and tolerance are parameters of the solver:
        ``solver=Descent(max_iter=20, tol=1e-4)``.
    constraint : {"psd", "nonnegative", "both", "clip"}, default="psd"
        Where W lives: positive semi-definite (Theorem 3.1), element-wise non-negative, both,
        or "clip", the R package's step (the PSD step with negative weights set to 0
        afterwards), which is no projection and so is offered for the paper's steps only.
    rule : {"energy", "distance"}, default="energy"
        Score of a class: its free energy -sigma log sum exp(-q / sigma), or its expected
        distance (Eq. 9), as in the paper. Free energies predict better at the default sigma
        and give better probabilities.
    references : {"auto", "all"}, int, float or `ClassCentres`, default="auto"
        What new samples are compared with. "all" is every training sample. A number, or a share
        of the samples, is so many centres: ``ClassCentres(1000)``, which predict about as well
        in a fraction of the time, and the model then holds no training sample. "auto" is all,
        or centres where the table is so large that the solver looked at a sample of it. Sigma
        is chosen again for centres, and after a fit on a sample.
    penalty : None, {"l1", "l2", "prune"}, `L1`, `L2` or `Prune`, default=None
        What keeps weights small, mainly those of pairs. "l1" is ``L1()``: a price on every pair,
        so that pairs that are not worth it have a weight of exactly 0. "l2" is ``L2()``, which
        shrinks all pairs alike. "prune" is ``Prune()``: after the fit, weights below the paper's
        limit are set to 0. How strong they are is a parameter: ``penalty=L1(0.1)``.
    screen : None, {"im4e", "pairs"} or `Screen`, default=None
        A first look at the features of a wide table (more than a few hundred): only those that
        pass enter W. "im4e" is the paper's IM4E-IMMIGRATE. A screen that looks at one feature
        at a time can lose features that matter only together; "pairs" looks at pairs too. How
        many pass, and which stay whatever the screen says, are
        parameters of a `Screen`: ``screen=Screen("im4e", max_features=50, keep=["age"])``.
    columns : Columns, default=None
        How columns are read and compared: which are categorical, in what units numbers are
        taken, what two levels differ by. None is ``Columns()``.
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
        All that predicting needs: references (the training samples, or prototypes), weights,
        sigma, rule. It stays as it was fitted whatever parameters are set later.
    weight_matrix_ : ndarray of shape (n_features, n_features)
        W: symmetric, with Frobenius norm 1. After a screen it covers the kept features, in
        the order of `get_feature_names_out`. Where nominal columns have a weight per level,
        they are added up per column and pair after scaling; ``model_.weights`` has them all.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Row sums of |W| scaled to sum 1: a feature's own weight and half of each of its
        pairs', since the other half belongs to the partner. 0 for screened-out features.
    screen_importances_ : ndarray of shape (n_features_in_,)
        The importances that the screen gave, scaled to sum 1. Only with a screen.
    penalty_ : L1, L2, Prune or None
        The penalty that was used.
    sigma_ : float
        The sigma of predictions: that of the fit unless `references` had it chosen again.
    n_anchors_, n_references_ : int
        How many samples the solver used: those whose margin counted, and their neighbours.
    weight_error_ : ndarray of shape (n_features, n_features)
        Standard error of `weight_matrix_` against the fit of all samples; 0 where the solver
        looked at all.
    classes_ : ndarray of shape (n_classes,)
    objective_path_ : ndarray of shape (n_steps + 1,)
        The cost (Eq. 10, anchors weighing 1 / n_samples each by default) at the start and
        after each step, with the penalty and before pruning.
    gap_ : float
        Relative Frank-Wolfe gap at the end, with the penalty: 0 at a stationary point. NaN
        where it is not defined ("clip", or no direction improves the margin).
    n_iter_ : int
        Steps taken; 1 also if the start was stationary and took none.
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    IM4EClassifier : A weight for each feature and none for pairs; the paper's screen.
    Descent, FullSteps : The solvers.
    L1, L2, Prune : Penalties.
    Screen : Options of a screen.
    sklearn.feature_selection.SelectFromModel : Selects features by `feature_importances_`.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()  # 1 if head and body have one shape, or the jacket is red
    >>> model = ImmigrateClassifier(sigma=0.5).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> from immigrate import InteractionTest
    >>> test = InteractionTest().fit(X, y)
    >>> table = model.interactions(top=2, test=test)  # by evidence, with the model's weights
    >>> table[["feature_1", "feature_2"]].values.tolist()
    [['head_shape', 'body_shape'], ['jacket_color', None]]

    A screen for wide tables, and a feature that stays whatever it says:

    >>> from immigrate.options import Screen
    >>> screen = Screen("im4e", threshold=0.3, keep=["has_tie"])
    >>> ImmigrateClassifier(screen=screen).fit(X, y).get_feature_names_out()
    array(['head_shape', 'body_shape', 'jacket_color', 'has_tie'], dtype=object)
    """

    def __init__(
        self,
        sigma: str | float = "auto",
        *,
        solver: str | Solver = "monotone",
        constraint: str = "psd",
        rule: str = "energy",
        references: Any = "auto",
        penalty: str | Penalty | None = None,
        screen: str | Screen | None = None,
        columns: Columns | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sigma = sigma
        self.solver = solver
        self.constraint = constraint
        self.rule = rule
        self.references = references
        self.penalty = penalty
        self.screen = screen
        self.columns = columns
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weight matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts (D of Eq. 10). It weighs the sample as an
            anchor, not as a neighbour of others, so a weight of 2 is not the same as
            repeating the row: a repeated row is its own hit at distance 0.

        Returns
        -------
        self
        """
        with fitting(self):
            rule = check_option("rule", self.rule, RULES)
            penalty = self.penalty
            if penalty is not None:
                penalty = resolved_penalty(penalty, self.constraint)
            options = FitOptions.of(self)
            table = options.read(self, X, y, sample_weight)
            self._adopt(table, *fitted(options, table, self.sigma, penalty, rule))
            self.penalty_ = penalty
        return self


def base_classifier(estimator: Any, default: ImmigrateClassifier) -> ImmigrateClassifier:
    """The classifier that a path or an ensemble holds; None is the default one."""
    if estimator is None:
        return default
    if not isinstance(estimator, ImmigrateClassifier):
        raise ValueError(
            f"estimator must be an ImmigrateClassifier or None, got {estimator!r}. Steps before "
            "it, such as a scaler, belong in a pipeline around the whole."
        )
    return estimator
