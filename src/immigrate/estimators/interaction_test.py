"""`InteractionTest`: which features matter and which act together, with controlled error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from immigrate.additive.design import table_design
from immigrate.additive.families import outcome_of
from immigrate.additive.null_model import NullModel, null_model
from immigrate.additive.typos import typos_of
from immigrate.checks import (
    FROM_DTYPE,
    check_count,
    check_jobs,
    check_option,
    check_share,
    named_position,
)
from immigrate.durations import announce
from immigrate.interactions.adjustments import adjustment_of
from immigrate.interactions.features import feature_evidence
from immigrate.interactions.findings import Findings, findings_of
from immigrate.interactions.pair_effect import PairEffect, pair_effect
from immigrate.interactions.question import halves, question_of
from immigrate.interactions.scale import with_scale
from immigrate.interactions.search import Search, predicted_duration, silent, tested_terms
from immigrate.interactions.words import (
    far_away,
    methods_paragraph,
    of_the_null_model,
    plain_summary,
)
from immigrate.kernels.threads import one_blas_thread
from immigrate.kinds.circular import chosen_periods
from immigrate.outcomes import OUTCOMES, check_class_sizes
from immigrate.progress import Run, fitting, print_line, report_progress, warn_user
from immigrate.scikit_learn import StoredEstimator
from immigrate.table import Table, read_training_table
from immigrate.table.weights import refuse_repeated, sample_counts

ORDERS = (2, 3)
# Samples times features, for each feature of a term, that are tested before anybody waits.
LITTLE_WORK = 10_000
# Parameters that a fitted test has to know, whatever is set later.
REMEMBERED = ("order", "adjust", "alpha", "stepwise", "split", "adjust_for", "pairs")


class InteractionTest(StoredEstimator):
    """Which features matter, which pairs act together: how sure, how much, and which way.

    A feature matters if the log-odds of the classes depend on it, and two features act together
    if their effect is not the sum of the effects of each. The null hypothesis of the test of pairs
    is that the log-odds are a sum of functions of single features. Its residuals take the place
    of labels in the gradient of IMMIGRATE's margin cost with respect to W_ab: a pair counts where
    samples whose residuals agree are nearer in both features than samples whose residuals differ.
    Two strong main effects, which raise W_ab, are no interaction here.

    Parameters
    ----------
    adjust : {"holm", "bonferroni", "fdr_bh", "fdr_by", "westfall-young", None} or WestfallYoung, \
            default="holm"
        How p-values are adjusted for the number of tests. "holm" and "bonferroni" control the
        family-wise error rate under any dependence, "westfall-young" by the smallest p-value over
        labels drawn from the null model (`WestfallYoung` has options). "fdr_bh" controls the
        false discovery rate, "fdr_by" under any dependence. None adjusts nothing.
    alpha : float, default=0.05
        Significance level for `selected_`.
    stepwise : bool, default=True
        Whether `selected_` is built one term at a time, each found term becoming part of the
        null model for the next. Pairs that only mirror a true one through a correlated
        feature then drop out. A warning says so if the search ends early: after 50 terms, or
        when their columns are as many as half the samples.
    order : {2, 3}, default=2
        Pairs or triples. Triples are tested against main effects and the pairs found first;
        they have no sizes.
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
    circular_features : dict or None, default=None
        Columns of numbers that come round, by name or index, and their periods, such as
        ``{"hour": 24, "month": 12}``: 23 h is next to 0 h. They are never guessed.
    adjust_for : array-like of names, indices or bool, or None, default=None
        Columns such as age, batch or ancestry that are always in the null model and in no pair.
        They are part of `X`.
    pairs : str, int, list of pairs, pair of lists, or None, default=None
        Which pairs are tested, by names or indices: those of one feature (``"dose"``), those of
        a list (``[("dose", "age"), ("dose", "sex")]``), or those of one group with another, given
        as a tuple of two lists (``(genes, exposures)``). P-values are adjusted for these alone.
        None tests all.
    outcome : {"auto", "class", "number"}, default="auto"
        What the label is. "auto" treats text, flags and up to ten different whole numbers as
        classes, numbers with many values as numbers, and is an error where both may be meant.
    split : float or None, default=None
        Share of the samples that measure effects and take no part in the tests. Samples that
        chose a pair overstate its size; those of other samples are biased only by the ridge,
        which matters where samples are few. Which samples those are depends on the data alone.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    verbose : int, default=0
        0 is silent, 1 prints a line after each stage: null model, tests, terms found.

    Attributes
    ----------
    features_ : DataFrame
        Every feature by evidence: `feature`, `p_value` (on its own), `p_adjusted`,
        `p_given_others` (what it adds to all others), `p_given_others_adjusted`, `size` with
        `size_low` and `size_high`, `direction`, and `in_pair`: whether it is in a pair found.
    table_ : DataFrame
        Terms in order of evidence, those found first: `feature_1`, `feature_2` (and
        `feature_3`), `p_value`, `p_adjusted`, `size`, `size_low`, `size_high`,
        `deviance_share`, `direction`, `statistic` (about 1 without interaction), `rank`,
        `is_exact` (False for p-values of the approximate statistic; these come last and have no
        adjusted p) and `is_found`.
    selected_ : DataFrame
        Terms found, with the p-values at entry, sizes and directions. Where the label is a number,
        `gone_on` is "log" or "root" for a term that is not detected on that scale, if it is the
        better one (see `notes_`), and "" otherwise.
    detectable_size_ : float
        The size of a plain joint effect of two numbers without gaps, such as their product, that
        this table would have shown with a probability of 80 %.
    additive_model_ : AdditiveModel
        The null model, without the terms found: `features` in it, ridge `strength`,
        `deviance_explained` on held-out samples, fitted `means`.
    n_tests_ : int
        Number of terms tested, listed or not.
    notes_ : list of str
        Sentences on features and terms that could not be tested, which have no p-value and do not
        count, on numbers of the target that are rather typing errors, and on the scale, log or
        square root, of a positive target on which the features add up more evenly.
    classes_ : ndarray
        Class labels; absent if the label is a number.
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where `X` has names.

    Notes
    -----
    The size of an effect is the spread (root mean square over the samples) of what it adds to the
    log-odds; for a pair, of what is left once the main effects of its features are taken out. With
    three and more classes it is the mean over the classes of the log-odds of each against the
    others; for a number it is in units of the label. Found pairs and main effects are measured by
    one model that holds them all. Sizes of pairs that were not found are first-order estimates,
    and have no direction. `deviance_share` is the share of the deviance of held-out samples that
    a pair explains.

    Sample weights are counts: weight 2 is the same as repeating the sample, and weights that
    sum to 1 say that there is one sample. Weights w that express importance should be
    multiplied by sum(w) / sum(w**2) first. Samples are assumed to be independent: if a patient
    has several, give one of them or their mean.

    A missing value (NaN) contributes to no product; missingness has its own effect in the
    additive model.

    Identifiers, dates and numbers written as text, and columns without a value are left out
    with a warning; dates and times are refused. Constant features form no terms. With more
    than two classes the additive model is multinomial, and the p-value combines one test per
    class. For numbers it is linear, and variances are estimated sample by sample, so that unequal
    ones do no harm.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A Margin-Based Feature Selection Method
       with Interaction Terms", Entropy 22 (2020). :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import InteractionTest
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()
    >>> test = InteractionTest().fit(X, y)
    >>> test.selected_[["feature_1", "feature_2"]].values.tolist()
    [['head_shape', 'body_shape']]
    >>> test.features_.loc[test.features_["p_adjusted"] < 0.05, "feature"].tolist()
    ['jacket_color']
    """

    def __init__(
        self,
        *,
        adjust: Any = "holm",
        alpha: float = 0.05,
        stepwise: bool = True,
        order: int = 2,
        screen: int | None = None,
        categorical_features: ArrayLike | None = FROM_DTYPE,
        circular_features: Any = None,
        adjust_for: Any = None,
        pairs: Any = None,
        outcome: str = "auto",
        split: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.adjust = adjust
        self.alpha = alpha
        self.stepwise = stepwise
        self.order = order
        self.screen = screen
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.adjust_for = adjust_for
        self.pairs = pairs
        self.outcome = outcome
        self.split = split
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> InteractionTest:
        """Test all features and all terms.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Numbers, flags, categories and text; missing values may be anywhere.
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample was seen.
        groups : array-like of shape (n_samples,), default=None
            The person or group that each sample belongs to. The test assumes independent
            samples: a group with more than one is an error.

        Returns
        -------
        InteractionTest
            This test, fitted.
        """
        self._check_parameters()
        with fitting(self):
            table = read_training_table(
                self,
                X,
                y,
                categorical_features=self.categorical_features,
                circular_features=self.circular_features,
                least_per_class=1,
                outcome=self.outcome,
            )
            if groups is not None:
                refuse_repeated(groups, len(table.values))
            if table.values.shape[1] < self.order:
                raise ValueError(
                    f"n_features={table.values.shape[1]}: order={self.order} needs at least "
                    f"{self.order}."
                )
            weight = sample_counts(table.outcome, table.values, sample_weight)
            # Samples of weight 0 were never seen: they take no part, not even in a split.
            table = replace(table, weight=weight).counted()
            self._test(table)
            table.keep_on(self)
        return self

    @one_blas_thread()
    def effect(self, feature_1: Any, feature_2: Any) -> PairEffect:
        """How two features act together: a surface, or a value per level, with intervals.

        A pair that was not found is measured together with those that were.

        Parameters
        ----------
        feature_1, feature_2 : str or int
            Names or indices of two features.

        Returns
        -------
        PairEffect
            Values with intervals and counts, and the direction in words.
        """
        check_is_fitted(self)
        source = self._effect_source
        names = [str(name) for name in source.table.reader.names]
        pair = tuple(named_position(one, names, "effect") for one in (feature_1, feature_2))
        if pair[0] == pair[1]:
            raise ValueError(f"effect takes two different features, got {names[pair[0]]!r} twice.")
        term = tuple(sorted(pair))
        if source.adjusted is not None and source.adjusted[list(term)].any():
            raise ValueError(
                f"{names[term[0]]} × {names[term[1]]}: what is adjusted for is in no pair."
            )
        return pair_effect(source.measured([term]), term).ordered(pair == term)

    def summary(self, style: str = "plain") -> str:
        """What was tested and what was found, in words.

        Parameters
        ----------
        style : {"plain", "methods"}, default="plain"
            The answer, or the sentences that the methods section of a paper needs.

        Returns
        -------
        str
            Several lines.
        """
        check_is_fitted(self)
        check_option("style", style, ("plain", "methods"))
        found = Findings(
            table=self.table_,
            selected=self.selected_,
            features=self.features_,
            additive_model=self.additive_model_,
            n_tests=self.n_tests_,
            detectable_size=self.detectable_size_,
            effects=self._effect_source,
            parameters=self._fitted_as,
            notes=self.notes_,
        )
        return plain_summary(found) if style == "plain" else methods_paragraph(found)

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
        ndarray of object
            Names of features, the strongest first.
        """
        check_is_fitted(self)
        check_count("count", count)
        names = self.table_.filter(like="feature_").to_numpy().ravel()
        return pd.unique(names)[:count]

    def _check_parameters(self) -> None:
        adjustment_of(self.adjust)
        for name, choices in (("order", ORDERS), ("outcome", OUTCOMES)):
            value = getattr(self, name)
            if not isinstance(value, str | Integral) or value not in choices:
                listed = ", ".join(map(repr, choices))
                raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be a number between 0 and 1, got {self.alpha!r}.")
        if not isinstance(self.stepwise, bool | np.bool_):
            raise ValueError(f"stepwise must be True or False, got {self.stepwise!r}.")
        check_jobs(self.n_jobs)
        if self.screen is not None:
            check_count("screen", self.screen)
        if self.split is not None:
            check_share("split", self.split)
        if self.pairs is not None and self.order == 3:
            raise ValueError("pairs chooses among pairs; with order=3 all triples are tested.")

    def _test(self, table: Table) -> None:
        """Question, design, null model, terms, features, findings: all that the test does."""
        search = search_of(self, [str(name) for name in table.reader.names])
        run, say = search.run, search.say
        held_out, notes = None, list[str]()
        if self.split is not None:
            table, held_out = halves(table, float(self.split))
        # Not around fit, where it would stand between the user's line and a warning.
        with one_blas_thread():
            design = table_design(table, adjusted=search.question.adjusted, run=run)
            if len(table.values) * len(design.levels) ** self.order > LITTLE_WORK:
                duration = predicted_duration(search, design)
                announce("InteractionTest", duration.seconds, duration.advice)
            run.stage = "null model"
            null = null_model(design)
            if table.outcome.numbers is not None:
                table, null, notes = without_typos(table, null)
                if held_out is not None:
                    own = null_model(table_design(held_out, adjusted=search.question.adjusted))
                    held_out = without_typos(held_out, own)[0]
            if self.verbose:
                say(of_the_null_model(null))
            terms = tested_terms(search, null)
            run.stage = "evidence for features"
            features = feature_evidence(search, null)
            run.stage = "sizes of effects"
            parameters = {name: getattr(self, name) for name in REMEMBERED}
            found = findings_of(search, null, terms, features, table, held_out, parameters, notes)
            if table.outcome.numbers is not None:
                found = with_scale(found, search, null, terms, table.outcome.numbers)
        self.table_, self.selected_, self.features_ = found.table, found.selected, found.features
        self.additive_model_, self.n_tests_ = found.additive_model, found.n_tests
        self.detectable_size_, self.notes_ = found.detectable_size, found.notes
        self._effect_source, self._fitted_as = found.effects, parameters

    def _say(self, text: str) -> None:
        print_line(f"InteractionTest: {text}.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def search_of(test: InteractionTest, names: Sequence[str]) -> Search:
    """What the parameters of a test ask of columns with these names."""
    # `report_progress` decides itself how often it speaks.
    reporting = (test._say,) if test.verbose else (report_progress, 0.0)
    return Search(
        question_of(test.order, test.adjust_for, test.pairs, names),
        adjustment_of(test.adjust, is_drawn=True),
        test.alpha,
        is_stepwise=bool(test.stepwise),
        n_refined=test.screen,
        run=Run(test.n_jobs, *reporting),
        say=test._say if test.verbose else silent,
    )


def without_typos(table: Table, null: NullModel) -> tuple[Table, NullModel, list[str]]:
    """A table of numbers without typing errors, its null model, and a sentence on each error."""
    numbers = np.asarray(table.outcome.numbers, dtype=np.float64)
    found = typos_of(null, numbers)
    if not len(found.rows):
        return table, null, []
    notes = [far_away(*one) for one in zip(numbers[found.rows], found.n_deviations)]
    for note in notes:
        warn_user(f"{note}.", UserWarning)
    table = replace(table, outcome=table.outcome.with_numbers(found.rows, found.values))
    outcome = outcome_of(table.outcome, null.design.weight)
    return table, null_model(replace(null.design, outcome=outcome)), notes


def fitted_on_table(test: InteractionTest, table: Table) -> InteractionTest:
    """A clone of `test`, fitted on a table that was read before, without a second warning.

    Parameters
    ----------
    test : InteractionTest
    table : Table
        With weights that are counts, or that are read as such.

    Returns
    -------
    InteractionTest
    """
    test, table = clone(test), table.counted()
    periods = chosen_periods(test.circular_features, table.reader.names)
    read = dict(enumerate(kind.period for kind in table.reader.kinds))
    if any(read[j] != period for j, period in periods.items()):
        raise ValueError(
            f"test has circular_features={test.circular_features!r}, and the table was read "
            "without them. Say it where the table is read, or fit the test by itself."
        )
    classes = table.outcome.classes
    if table.outcome.numbers is None:
        sizes = np.bincount(table.outcome.codes, minlength=len(classes))
        check_class_sizes(classes, sizes, least=1)
        test.classes_ = classes
    test._check_parameters()
    test._test(table)
    test.n_features_in_ = table.values.shape[1]
    test.feature_names_in_ = np.array(table.reader.names, dtype=object)
    return test
