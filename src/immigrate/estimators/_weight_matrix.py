"""What every model with a weight matrix shares: screen, start, and the table of weights."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.estimators import _validation as check
from immigrate.estimators._interactions import (
    feature_share,
    interaction_table,
    is_false,
    pair_test,
    with_p_values,
)
from immigrate.estimators._screening import ScreeningMixin, as_counts, im4e_weights
from immigrate.kernels.threads import n_threads
from immigrate.kernels.warm_up import warm_up
from immigrate.problems import MarginProblem

INITS = ("auto", "identity", "random", "im4e")


class WeightMatrixMixin(ScreeningMixin):
    """A weight matrix over the features that pass the screen.

    A subclass sets `weight_matrix_` and has the parameters `constraint`, `init`,
    `random_state`, `n_jobs`, `verbose` and those of the screen.
    """

    def interactions(self, top=None, *, test=False):
        """Every feature and every pair of features with its weight, strongest first.

        A weight says how much the model uses a feature or pair to tell the classes apart.
        It does **not** prove that two features act together: two features with strong
        effects of their own raise the weight of their pair, and a pair that matters only
        together can have a small one.

        Parameters
        ----------
        top : int, optional
            Only the strongest so many rows. By default all p (p + 1) / 2 of the p features
            in W.
        test : bool or InteractionTest, default=False
            Whether to test each pair for a departure from additivity on the training samples
            and join the p-values: a weight says what the model uses, a p-value whether two
            features act together. True is ``InteractionTest()``. Not after a screen, which
            would leave the test too few pairs to count. Sample weights given to `fit` are
            scaled to the effective sample size. Categories are numbers here, as they are to
            the model.

        Returns
        -------
        pandas.DataFrame
            Columns `feature_1`, `feature_2` (the same twice for a main effect), `kind`
            ("main" or "pair"), `weight` (the entry of W), `share` (of the sum of |weight| over
            the whole table) and `rank`; with `test` also `p_value` and `p_adjusted`, NaN for
            main effects, and `is_found`: whether the pair is in `selected_` of the test, which
            leaves out pairs that only mirror another.
        """
        check_is_fitted(self)
        if top is not None:
            check.check_count("top", top)
        names = self.get_feature_names_out()
        table = interaction_table(self.weight_matrix_, names, top)
        if test is None or is_false(test):
            return table
        test = pair_test(test)
        if not self._is_kept.all():
            raise ValueError(
                "After a screen the test would see the kept features only and count too few "
                "pairs; run InteractionTest().fit(X, y) on the whole table instead."
            )
        return with_p_values(table, test, (*self._fit_samples, self._count), names)

    @property
    def feature_importances_(self):
        """Row sums of |W|, scaled to sum 1."""
        check_is_fitted(self)
        return self._over_all_features(feature_share(self.weight_matrix_))

    @property
    def _solver_name(self):
        return self.solver

    def _check_matrix_parameters(self):
        check.check_option("constraint", self.constraint, MATRIX_SETS)
        if isinstance(self.init, str):
            check.check_option("init", self.init, INITS)
        if self.constraint == "clip" and self._solver_name != "paper":
            raise ValueError(
                "constraint='clip' is not a projection, so descent cannot be guaranteed; "
                "use it with the paper's full steps, or take constraint='both'."
            )

    def _problem(self, X, codes, anchor_weight):
        """The problem over the features that pass the screen, and where to start."""
        X = self._screened(X, codes, anchor_weight)
        self._fit_samples = X, codes
        self._count = as_counts(anchor_weight)
        if self.verbose:
            warm_up(X.dtype, verbose=True)
        problem = MarginProblem(
            X, codes, anchor_weight=anchor_weight, n_threads=n_threads(self.n_jobs)
        )
        return problem, self._start(X, codes, anchor_weight)

    def _start(self, X, codes, anchor_weight):
        W = self._initial_weights(X, codes, anchor_weight)
        if self._solver_name == "monotone":
            # Descent is from a point of the constraint set; the paper's steps start anywhere.
            W = MATRIX_SETS[self.constraint].project(W)
        return unit(W)

    def _initial_weights(self, X, codes, anchor_weight):
        p = X.shape[1]
        if not isinstance(self.init, str):
            return check.check_weight_matrix(self.init, self._is_kept)
        if self.init == "random":
            W = check_random_state(self.random_state).uniform(size=(p, p))
            return W + W.T
        if self.init == "im4e":
            return np.diag(im4e_weights(self, X, codes, anchor_weight))
        if self.init == "auto" and self.screen is not None:
            return np.diag(self.screen_importances_[self._is_kept])
        return np.eye(p)
