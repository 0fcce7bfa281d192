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
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from immigrate.checks import check_count
from immigrate.columns import (
    FROM_DTYPE,
    TrainingTable,
    check_class_sizes,
    read_training_table,
)
from immigrate.estimators.tested_terms import (
    ORDER_NAMES,
    Outcome,
    ReadTable,
    Settings,
    of_the_null_model,
)
from immigrate.inference.adjustment import Adjustment, Kind
from immigrate.inference.blas import one_blas_thread
from immigrate.inference.residuals import Draws
from immigrate.inference.search import Effort
from immigrate.messages import warn_user
from immigrate.typing import Array, Codes

ADJUSTMENTS = ("holm", "westfall-young", "fdr", None)
ORDERS = (2, 3)
# More samples than any table has; the folds of the test count them in 64 bits.
MOST_SAMPLES = 1e12
LEAST_SAMPLES = 1e-6
LEAST_SHARE = 1e-9
LEAST_SIZE = 1.5


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
    column_reader_ : ColumnReader
        What was learned about the columns: kinds, levels, and which are left out and why.
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

    Identifiers, dates and numbers written as text, and columns without a value are left out
    with a warning; dates and times are refused. Constant features form no terms. With more
    than two classes the additive model is multinomial, and the p-value combines one test per
    class.

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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> InteractionTest:
        """Test all terms.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Numbers, flags, categories and text; missing values may be anywhere.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample was seen.

        Returns
        -------
        self : InteractionTest
        """
        self._check_parameters()
        table = read_training_table(
            self, X, y, categorical_features=self.categorical_features, least_per_class=1
        )
        if table.values.shape[1] < self.order:
            raise ValueError(
                f"n_features={table.values.shape[1]}: order={self.order} needs at least "
                f"{self.order}."
            )
        weight, classes = counts_and_classes(table, sample_weight)
        reader = table.reader
        outcome = self._outcome(
            ReadTable(table.values, reader.is_nominal, table.codes, reader.names, weight)
        )
        replace(table, classes=classes).keep_on(self)
        self._adopt(outcome)
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
            f"{of_the_null_model(model)}.",
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

    def _outcome(self, read: ReadTable) -> Outcome:
        settings = Settings(
            self.order,
            self.alpha,
            bool(self.stepwise),
            self._adjustment(),
            Effort(self.screen, self.max_table, self.n_jobs),
            self._say,
        )
        # Not around fit, where it would stand between the user's line and a warning.
        with one_blas_thread():
            return settings.outcome(read.counted())

    def _adopt(self, outcome: Outcome) -> None:
        """Write what was found; the end of a fit, so that one that fails changes nothing."""
        self.table_, self.selected_ = outcome.table, outcome.selected
        self.additive_model_, self.n_tests_ = outcome.additive_model, outcome.n_tests
        names = ("order", "adjust", "alpha", "stepwise")
        self._fitted_as = {name: getattr(self, name) for name in names}

    def _adjustment(self) -> Adjustment:
        if self.adjust != "westfall-young":
            return Adjustment(self.adjust)
        seed = check_random_state(self.random_state).randint(2**31)
        return Adjustment(self.adjust, Draws(self.n_draws, seed))

    def _say(self, progress: str) -> None:
        if self.verbose:
            print(f"InteractionTest: {progress}.", flush=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def counts_and_classes(table: TrainingTable, sample_weight: Any) -> tuple[Array, NDArray[Any]]:
    """How often each sample was seen, and the classes of those that were."""
    weight: Array = _check_sample_weight(
        sample_weight, table.values, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    if not LEAST_SAMPLES < weight.max() < MOST_SAMPLES / len(weight):
        raise ValueError(
            f"The largest number in sample_weight is {weight.max():.3g}. The test reads weights "
            f"as counts, and counts below {LEAST_SAMPLES:.0e}, or of more than {MOST_SAMPLES:.0e} "
            "samples in all, are not sensible; multiply weights of importance by sum(w) / "
            "sum(w**2)."
        )
    # A sample that counts so much less than another was not seen, for all that sums of counts say.
    weight = np.where(weight >= LEAST_SHARE * weight.max(), weight, 0.0)
    seen, size = np.unique(table.codes[weight > 0], return_counts=True)
    classes = table.classes[seen]
    check_class_sizes(classes, size, least=1)
    if size.max() == 1:
        raise ValueError("Every class of y has one sample; nothing can be compared.")
    if not is_comparable(table.codes, weight):
        raise ValueError(
            "sample_weight gives nearly all weight, or that of every class, to one sample; "
            "nothing can be compared."
        )
    warn_if_no_counts(weight[weight > 0])
    return weight, classes


def is_comparable(codes: Codes, weight: Array) -> bool:
    """Whether there is more than one sample to speak of, and in some class too."""
    classes = np.unique(codes[weight > 0])
    largest = max(effective_size(weight[codes == c]) for c in classes)
    return min(largest, effective_size(weight)) >= LEAST_SIZE


def effective_size(weight: Array) -> float:
    """Number of samples of equal weight that would be worth as much: sum(w)^2 / sum(w^2)."""
    share = weight / weight.max()  # squares of tiny weights would vanish
    return float(share.sum() ** 2 / np.sum(share**2))


def warn_if_no_counts(weight: Array) -> None:
    """Weights that sum to 1 would say that there is one sample."""
    if weight.sum() < 0.5 * effective_size(weight):
        warn_user(
            f"sample_weight sums to {weight.sum():.3g} over {len(weight)} samples. The test reads "
            "weights as counts; multiply weights of importance by sum(w) / sum(w**2).",
            UserWarning,
        )


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if not isinstance(value, str | Integral | None) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
