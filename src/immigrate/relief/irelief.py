"""I-RELIEF: soft nearest hits and misses under the weights that are being learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from immigrate.arrays import Array, Codes
from immigrate.checks import check_positive
from immigrate.core.cones import NONNEGATIVE, Cone, unit
from immigrate.core.couplings import hit_and_miss
from immigrate.core.differences import ColumnKinds
from immigrate.core.forms import LINEAR
from immigrate.kernels import MarginPass
from immigrate.kernels.neighbours_numpy import MixedTable
from immigrate.kernels.threads import n_threads
from immigrate.margin.problem import MarginProblem
from immigrate.progress import warn_user
from immigrate.relief.base import MarginSelector
from immigrate.solvers import Solution, Solver, Stop, even_start, resolved_solver

# Fixed points are sought to more digits than the minima of the classifiers.
LIMITS = {"max_iter": 100, "tol": 1e-6}


class IRelief(MarginSelector):
    """I-RELIEF: feature weights as a fixed point of soft nearest hits and misses.

    Which sample is the nearest hit or miss depends on the weights, so it is treated as
    hidden: a sample at distance d is the nearest with probability proportional to
    exp(-d / sigma), d being the weighted Manhattan distance, and a sample whose nearest
    neighbour is probably a miss counts as an outlier to that extent. Each step takes the
    expected differences from misses less those from hits, negative ones set to 0, scaled
    to norm 1 [1]_ [2]_. Several classes are told apart as one against the others.

    A difference with a missing value is its expectation over all samples, as in the classifiers
    of this library. ReliefF, Relief and Simba draw from the class of the sample instead.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, highest weights first; a float is a share. None
        keeps every feature that reaches `threshold`.
    threshold : float, default=None
        Keep only features with a weight of at least this. None is every weight above 0 when
        `n_features_to_select` is None, else no limit.
    sigma : float, default=1.0
        Width of the kernel, in units of the distance.
    solver : str or solver, default="monotone"
        One of those of `ImmigrateClassifier`. "paper" takes the full steps of [1]_, which
        converge where sigma is large enough and may circle for ever where it is not. "monotone"
        starts with the same step, never lets the cost rise, and stops at a fixed point. The names
        stand for solvers with ``max_iter=100, tol=1e-6``.
    scale : {"range", None}, default="range"
        Numeric differences in units of the feature's range, or as they are.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose difference is 0 (equal) or 1: a mask, indices or column names;
        "from_dtype" takes the category and text columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The weights: non-negative, of Euclidean norm 1.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The cost: sigma times the mean log probability that a sample is an outlier. Fixed
        points are its stationary points.
    gap_ : float
        Relative Frank-Wolfe gap at the end: 0 at a fixed point.
    n_iter_ : int
    converged_ : bool
    classes_ : ndarray of shape (n_classes,)
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    is_categorical_ : ndarray of shape (n_features,)
    difference_units_ : ndarray of shape (n_features,)
        What a difference of 1 is, in units of the feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    References
    ----------
    .. [1] Y. Sun and J. Li, "Iterative RELIEF for feature weighting", ICML 2006, 913-920.
       :doi:`10.1145/1143844.1143959`
    .. [2] Y. Sun, "Iterative RELIEF for feature weighting: Algorithms, theories, and
       applications", IEEE TPAMI 29(6), 1035-1051, 2007. :doi:`10.1109/TPAMI.2007.1093`

    Examples
    --------
    >>> from immigrate import IRelief
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(n_samples=300, n_features=6, random_state=0)
    >>> model = IRelief(sigma=0.1).fit(X, y)
    >>> model.feature_importances_.round(1)
    array([0.7, 0.7, 0. , 0. , 0. , 0. ])
    >>> model.set_params(n_features_to_select=2).get_feature_names_out()
    array(['a', 'b'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        sigma: float = 1.0,
        solver: str | Solver = "monotone",
        scale: str | None = "range",
        categorical_features: Any = "from_dtype",
        circular_features: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.sigma = sigma
        self.solver = solver
        self.scale = scale
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _part(self, name: str, value: Any) -> Any:
        return resolved_solver(value, **LIMITS) if name == "solver" else value

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("sigma", self.sigma)

    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        solver = resolved_solver(self.solver, **LIMITS)
        period = table.period if np.isfinite(table.period).any() else None
        margin = MarginProblem(
            table.values,
            table.y,
            form=LINEAR,
            kinds=ColumnKinds(table.is_categorical, period=period),
            n_threads=n_threads(self.n_jobs),
        )
        problem = InlierProblem(margin, table.y, anchor_weight=anchor_weight)
        # I-RELIEF holds the norm of the weights at 1; `even_start` gives a sum of 1.
        even = unit(even_start(solver, table.values.shape[1]))
        solution = solver.solution(problem, even, float(self.sigma), Cone(NONNEGATIVE))
        if not solution.converged:
            warn_user(_advice(solution), ConvergenceWarning)
        return {
            "feature_importances_": solution.weights,
            "objective_path_": np.array(solution.objective_path),
            "gap_": solution.gap,
            "n_iter_": solution.n_iter,
            "converged_": solution.converged,
        }


def _advice(solution: Solution) -> str:
    if solution.stop is Stop.NO_DIRECTION:
        return (
            "No feature differs more from misses than from hits: the weights are where they "
            "were before. Check that the features are not constant and that they carry "
            "information about the classes."
        )
    return (
        f"Stopped after {solution.n_iter} steps because {solution.stop.value}. "
        "Raise sigma, or max_iter or tol of the solver, or use solver='monotone'."
    )


class InlierProblem:
    """Margins weighed by gamma_n, the probability that the nearest sample of n is a hit.

    With f(d) = exp(-d / sigma), gamma_n = sum_hit f / sum_all f, and I-RELIEF's fixed point is
    that of full steps on

        C(w) = sigma sum_n D_n log(1 - gamma_n),    dC/dw = sum_n D_n gamma_n (h_n - m_n),

    h_n and m_n the expected differences from the hits and from the misses. The gradient is that
    of a margin problem whose anchors weigh D_n gamma_n.

    Parameters
    ----------
    margin : MarginProblem
    y : ndarray of shape (n,)
        Its class codes.
    anchor_weight : ndarray of shape (n,), optional
        D; by default 1 / n each.
    """

    def __init__(
        self, margin: MarginProblem, y: Codes, *, anchor_weight: Array | None = None
    ) -> None:
        self._margin, self._y = margin, y
        n = margin.n_samples
        self._anchor_weight = np.full(n, 1 / n) if anchor_weight is None else anchor_weight

    def with_anchor_weight(self, anchor_weight: Array) -> InlierProblem:
        """The same samples with other anchor weights."""
        return InlierProblem(self._margin, self._y, anchor_weight=anchor_weight)

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`."""
        scores = self._margin.loo_scores(W, sigma)
        hit, miss = hit_and_miss(scores.free_energy, self._y, sigma)
        with np.errstate(over="ignore"):  # infinity is what a tiny sigma stands for
            ratio = (miss - hit) / sigma
        # -sigma log(1 - gamma), gamma = 1 / (1 + exp(-ratio)): for a tiny sigma the part above 0
        # of miss - hit, which sigma times a logarithm could not say.
        energy = np.maximum(miss - hit, 0.0) + sigma * np.log1p(np.exp(-np.abs(ratio)))
        cost = -float(self._anchor_weight @ energy)
        if cost > reject_above:
            return MarginPass(cost, None, scores)
        inliers = self._margin.with_anchor_weight(self._anchor_weight * expit(ratio))
        return MarginPass(cost, inliers.evaluate(W, sigma).gradient, scores)

    def cost_rounding(self, sigma: float) -> float:
        """Size of the rounding error of a cost."""
        return self._margin.cost_rounding(sigma)
