"""`InteractionTest`: which features act together, with controlled error."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from immigrate.checks import check_count
from immigrate.estimators._columns import column_indices, numeric_table
from immigrate.inference.additive import AdditiveModel, null_model
from immigrate.inference.adjustment import Adjustment, Kind
from immigrate.inference.blas import one_blas_thread
from immigrate.inference.encoding import Encoded, interaction_functions
from immigrate.inference.levels import feature_levels
from immigrate.inference.residuals import Draws
from immigrate.inference.search import Effort, Search, Study, searched_terms
from immigrate.inference.stepwise import ROUNDING, Found, Stepwise, stepwise_terms
from immigrate.messages import warn_user
from immigrate.typing import Array, Codes

ADJUSTMENTS = ("holm", "westfall-young", "fdr", None)
ORDERS = (2, 3)
FROM_DTYPE = "from_dtype"
ORDER_NAMES = {2: "pair", 3: "triple"}


class InteractionTest(BaseEstimator):
    """Test every pair (or triple) of features for a departure from additivity.

    The null hypothesis is that the log-odds of the classes are a sum of functions of single
    features. Its residuals take the place of labels in the gradient of IMMIGRATE's margin
    cost with respect to W_ab: a pair counts where samples whose residuals agree are nearer in
    both features than samples whose residuals differ. Two strong main effects, which raise
    W_ab, are no interaction here.

    Parameters
    ----------
    adjust : {"holm", "westfall-young", "fdr", None}, default="holm"
        What the adjusted p-values control: the family-wise error under any dependence, the
        family-wise error by the smallest p-value over labels drawn from the null model, the
        false discovery rate, or nothing.
    alpha : float, default=0.05
        Significance level for `selected_`.
    stepwise : bool, default=True
        Whether `selected_` is built one term at a time, each found term becoming part of the
        null model for the next. Pairs that only mirror a true one through a correlated
        feature then drop out. A warning says so if it ends before nothing is left: after 50
        terms, or when their columns are as many as half the samples.
    order : {2, 3}, default=2
        Pairs or triples. Triples are tested against main effects and the pairs found first.
    screen : int or None, default=None
        How many terms are tested exactly, the strongest by an approximate statistic that is
        computed for all; only these can be found. None tests all exactly where that takes
        seconds, and else those with an approximate p below .001 (1,000 at least, 20,000 at
        most).
    categorical_features : "from_dtype", array-like of names, indices or bool, or None, \
            default="from_dtype"
        Columns whose levels have no order. "from_dtype" takes the text and categorical columns
        of a DataFrame; ordered categories keep their order. None says that there is no such
        column. A text column that is not among those chosen is an error.
    max_table : int, default=100000
        Rows of `table_`, the strongest terms.
    n_draws : int, default=999
        Label sets drawn for "westfall-young".
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the draws. Nothing else is random.
    verbose : int, default=0
        0 is silent, 1 prints a line after each stage: null model, tests, terms found.

    Attributes
    ----------
    table_ : DataFrame
        Terms in order of evidence: `feature_1`, `feature_2` (and `feature_3`), `statistic`
        (about 1 without interaction), `p_value`, `p_adjusted`, `rank` and `is_exact` (False
        for p-values of the approximate statistic; these come last and have no adjusted p).
    selected_ : DataFrame
        Terms found, with the adjusted p-value at entry.
    additive_model_ : AdditiveModel
        The null model, without the terms found: `features` in it, ridge `strength`,
        `deviance_explained` on held-out samples, fitted `probabilities`.
    n_tests_ : int
        Number of terms tested, listed or not.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where `X` has names.

    Notes
    -----
    Sample weights are counts: weight 2 is the same as repeating the sample, and weights that
    sum to 1 say that there is one sample. Weights w that express importance should be
    multiplied by sum(w) / sum(w**2) first.

    A missing value (NaN) contributes to no product; missingness has its own effect in the
    additive model.

    Constant features form no terms. With more than two classes the additive model is
    multinomial, and the p-value combines one test per class.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A Margin-Based Feature Selection Method
       with Interaction Terms", Entropy 22 (2020). :doi:`10.3390/e22030291`

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate import InteractionTest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> y = X[:, 1] * X[:, 3] + 0.5 * rng.normal(size=300) > 0
    >>> test = InteractionTest().fit(X, y)
    >>> test.selected_[["feature_1", "feature_2"]].values.tolist()
    [['x1', 'x3']]
    """

    def __init__(
        self,
        *,
        adjust: Kind | None = "holm",
        alpha: float = 0.05,
        stepwise: bool = True,
        order: int = 2,
        screen: int | None = None,
        categorical_features: ArrayLike | None = FROM_DTYPE,
        max_table: int = 100_000,
        n_draws: int = 999,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.adjust = adjust
        self.alpha = alpha
        self.stepwise = stepwise
        self.order = order
        self.screen = screen
        self.categorical_features = categorical_features
        self.max_table = max_table
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @one_blas_thread()
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> InteractionTest:
        """Test all terms.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample was seen.

        Returns
        -------
        self : InteractionTest
        """
        self._check_parameters()
        data, model = null_model(self._encoded(X, y, sample_weight))
        study = Study(data, self._adjustment(), Effort(self.screen, self.max_table, self.n_jobs))
        self.additive_model_ = replace(model, features=self._tested_features[model.features])
        self._say(_of_the_null_model(self.additive_model_))
        if self.order == 3:
            pairs = searched_terms(study, model, 2)
            model = self._stepwise(study, model, pairs).model
            self._say(f"{len(model.terms)} pairs found and added to the null model")
        search = searched_terms(study, model, self.order)
        self._say(f"{search.n_tests} {ORDER_NAMES[self.order]}s tested")
        self.n_tests_ = search.n_tests
        table = self._table(search, study.adjustment)
        self.table_ = table.head(self.max_table)
        if self.stepwise:
            steps = self._stepwise(study, model, search)
            self.selected_ = self._found_table(steps.found)
        else:
            is_found = table["p_adjusted"] <= self.alpha * (1 + ROUNDING)
            self.selected_ = table.loc[is_found].drop(columns=["rank", "is_exact"])
        self._say(f"{len(self.selected_)} {ORDER_NAMES[self.order]}s found")
        settings = ("order", "adjust", "alpha", "stepwise")
        self._fitted_as = {name: getattr(self, name) for name in settings}
        return self

    def summary(self) -> str:
        """What was tested and what was found, in words.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        model, fitted = self.additive_model_, self._fitted_as
        name = ORDER_NAMES[fitted["order"]]
        lines = [
            f"{self.n_tests_} {name}s of {self.n_features_in_} features tested "
            f"({fitted['adjust'] or 'no adjustment'}, alpha {fitted['alpha']:g}).",
            f"{_of_the_null_model(model)}.",
        ]
        if not len(self.selected_):
            return "\n".join([*lines, f"No {name} departs from additivity."])
        order = "entry" if fitted["stepwise"] else "evidence"
        lines.append(f"Departures from additivity, in order of {order}:")
        names = self.selected_.filter(like="feature_")
        for row, p in zip(names.itertuples(index=False), self.selected_["p_adjusted"]):
            value = f"= {p:.2g}" if p > 0 else "< 1e-300"
            lines.append(f"  {' × '.join(map(str, row))}: adjusted p {value}")
        return "\n".join(lines)

    def strongest_features(self, count: int) -> NDArray[np.object_]:
        """Features in the order in which they first appear in `table_`.

        A screen for wide tables that keeps a pair without main effects, which a screen on
        single features loses.

        Parameters
        ----------
        count : int
            How many features to return; fewer if the table holds fewer.

        Returns
        -------
        names : ndarray of object
        """
        check_is_fitted(self)
        check_count("count", count)
        names = self.table_.filter(like="feature_").to_numpy().ravel()
        return pd.unique(names)[:count]

    def _check_parameters(self) -> None:
        _check_choice("adjust", self.adjust, ADJUSTMENTS)
        _check_choice("order", self.order, ORDERS)
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be a number between 0 and 1, got {self.alpha!r}.")
        if not isinstance(self.stepwise, bool | np.bool_):
            raise ValueError(f"stepwise must be True or False, got {self.stepwise!r}.")
        for name in ("n_draws", "max_table"):
            check_count(name, getattr(self, name))
        if self.screen is not None:
            check_count("screen", self.screen)

    def _encoded(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Encoded:
        """Validated data as levels and functions; also sets names, classes and kept features."""
        X, nominal = numeric_table(X)
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        _warn_if_no_counts(weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class, {self.classes_.tolist()}; the test compares at least two."
            )
        if len(self.classes_) == len(y):
            raise ValueError("Every class of y has one sample; nothing can be compared.")
        if X.shape[1] < self.order:
            raise ValueError(
                f"n_features={X.shape[1]}: order={self.order} needs at least {self.order}."
            )
        is_nominal = self._chosen_nominal(nominal)
        levels = [feature_levels(x, weight, j in is_nominal) for j, x in enumerate(X.T)]
        self._tested_features = np.flatnonzero([level.n_levels > 1 for level in levels])
        levels = [levels[j] for j in self._tested_features]
        functions = interaction_functions(levels, len(y))
        return Encoded(levels, functions, codes, len(self.classes_), weight)

    def _chosen_nominal(self, by_dtype: list[int]) -> set[int]:
        """Positions of the nominal columns; `by_dtype` are those that hold names."""
        if isinstance(self.categorical_features, str):
            _check_choice("categorical_features", self.categorical_features, (FROM_DTYPE,))
            return set(by_dtype)
        names = self._names()
        chosen = set(column_indices(self.categorical_features, names))
        for j in by_dtype:
            if j not in chosen:
                raise ValueError(
                    f"Column {names[j]!r} holds names, not numbers, and categorical_features="
                    f"{self.categorical_features!r} does not choose it. Use 'from_dtype', add "
                    "the column, or turn it into numbers."
                )
        return chosen

    def _adjustment(self) -> Adjustment:
        if self.adjust != "westfall-young":
            return Adjustment(self.adjust)
        seed = check_random_state(self.random_state).randint(2**31)
        return Adjustment(self.adjust, Draws(self.n_draws, seed))

    def _stepwise(self, study: Study, model: AdditiveModel, search: Search) -> Stepwise:
        """Terms found one by one; says so where a limit ends the search."""
        steps = stepwise_terms(study, model, search, self.alpha)
        if steps.limit:
            warn_user(
                f"The stepwise search ended because {steps.limit}; there may be more "
                "significant terms: see table_, or use stepwise=False.",
                UserWarning,
            )
        return steps

    def _say(self, progress: str) -> None:
        if self.verbose:
            print(f"InteractionTest: {progress}.", flush=True)

    def _names(self) -> list[str]:
        default = [f"x{j}" for j in range(self.n_features_in_)]
        return list(getattr(self, "feature_names_in_", default))

    def _named(self, terms: Codes | list[tuple[int, ...]]) -> dict[str, NDArray[np.object_]]:
        """Columns feature_1, feature_2, ... from rows of indices."""
        names = np.array(self._names(), dtype=object)[self._tested_features]
        columns = np.asarray(terms, dtype=int).reshape(-1, self.order).T
        return {f"feature_{i}": names[column] for i, column in enumerate(columns, start=1)}

    def _table(self, search: Search, adjustment: Adjustment) -> pd.DataFrame:
        return pd.DataFrame(
            {
                **self._named(search.terms),
                "statistic": search.statistic,
                "p_value": np.exp(search.log_p),
                "p_adjusted": np.exp(search.log_p_adjusted(adjustment)),
                "rank": np.arange(1, len(search.terms) + 1),
                "is_exact": search.is_exact,
            }
        )

    def _found_table(self, found: list[Found]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                **self._named([one.term for one in found]),
                "statistic": [one.statistic for one in found],
                "p_value": np.exp([one.log_p for one in found]),
                "p_adjusted": np.exp([one.log_p_adjusted for one in found]),
            }
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _of_the_null_model(model: AdditiveModel) -> str:
    return (
        f"Main effects of {len(model.features)} features explain "
        f"{100 * model.deviance_explained:.0f} % of the deviance on held-out samples"
    )


def _warn_if_no_counts(weight: Array) -> None:
    """Weights that sum to 1 would say that there is one sample."""
    if weight.sum() < 0.5 * weight.sum() ** 2 / np.sum(weight**2):
        warn_user(
            f"sample_weight sums to {weight.sum():.3g} over {len(weight)} samples. The test reads "
            "weights as counts; multiply weights of importance by sum(w) / sum(w**2).",
            UserWarning,
        )


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if not isinstance(value, str | Integral | None) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
