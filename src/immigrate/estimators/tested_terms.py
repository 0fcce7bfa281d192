"""From a table that was read to tested terms: all that `InteractionTest` computes, as values.

    ReadTable  →  levels and functions  →  null model  →  search  →  Outcome

Nothing here reads a user's table, warns of its columns or writes on an estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from immigrate.columns import check_class_sizes
from immigrate.inference.additive import AdditiveModel, null_model
from immigrate.inference.adjustment import Adjustment
from immigrate.inference.encoding import Encoded, interaction_functions
from immigrate.inference.levels import feature_levels
from immigrate.inference.outcomes import class_outcome
from immigrate.inference.search import Effort, Search, Study, searched_terms
from immigrate.inference.stepwise import ROUNDING, Found, Stepwise, stepwise_terms
from immigrate.inference.term_sets import every_term
from immigrate.messages import warn_user
from immigrate.typing import Array, Codes, Mask

if TYPE_CHECKING:
    from immigrate.estimators._interaction_test import InteractionTest

ORDER_NAMES = {2: "pair", 3: "triple"}


@dataclass(frozen=True, eq=False)
class ReadTable:
    """Samples as the test needs them.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        What a `ColumnReader` made of a table: numbers, codes of levels, NaN where missing.
    is_nominal : ndarray of shape (p,)
    codes : ndarray of shape (n,)
        Class codes 0, 1, ...
    names : sequence of p str
    weight : ndarray of shape (n,) or None
        How often each sample was seen; None is once.
    """

    values: Array
    is_nominal: Mask
    codes: Codes
    names: Any
    weight: Array | None = None

    def counted(self) -> ReadTable:
        """The samples that were seen, classes without one being gone."""
        if self.weight is None or self.weight.all():
            return self
        is_seen = self.weight > 0
        _, codes = np.unique(self.codes[is_seen], return_inverse=True)
        return replace(self, values=self.values[is_seen], codes=codes, weight=self.weight[is_seen])

    def encoded(self) -> tuple[Encoded, Codes]:
        """Levels and functions of the features that vary, and the positions of these features."""
        n = len(self.codes)
        weight = np.ones(n) if self.weight is None else self.weight
        X = self.values.astype(np.float64, copy=False)
        levels = [
            feature_levels(x, weight, bool(is_nominal))
            for x, is_nominal in zip(X.T, self.is_nominal)
        ]
        tested = np.flatnonzero([level.n_levels > 1 for level in levels])
        levels = [levels[j] for j in tested]
        functions = interaction_functions(levels, n)
        n_classes = int(self.codes.max()) + 1
        return Encoded(levels, functions, class_outcome(self.codes, n_classes), weight), tested


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the test says: the fitted attributes of `InteractionTest` of the same names."""

    table: pd.DataFrame
    selected: pd.DataFrame
    additive_model: AdditiveModel
    n_tests: int


@dataclass(frozen=True, eq=False)
class Settings:
    """What decides how terms are searched for.

    Attributes
    ----------
    order : {2, 3}
    alpha : float
    is_stepwise : bool
    adjustment : Adjustment
    effort : Effort
    say : callable
        Takes one sentence after each stage.
    """

    order: int
    alpha: float
    is_stepwise: bool
    adjustment: Adjustment
    effort: Effort
    say: Callable[[str], None]

    def outcome(self, read: ReadTable) -> Outcome:
        """All terms tested, and those found."""
        encoded, tested = read.encoded()
        data, model = null_model(encoded)
        study = Study(data, self.adjustment, self.effort)
        null = replace(model, features=tested[model.features])
        self.say(of_the_null_model(null))
        if self.order == 3:
            pairs = searched_terms(study, model, every_term(len(data.functions), 2))
            model = self._stepwise(study, model, pairs).model
            self.say(f"{len(model.terms)} pairs found and added to the null model")
        search = searched_terms(study, model, every_term(len(data.functions), self.order))
        self.say(f"{search.n_tests} {ORDER_NAMES[self.order]}s tested")
        names = np.array(read.names, dtype=object)[tested]
        table = self._table(search, names)
        if self.is_stepwise:
            selected = self._found_table(self._stepwise(study, model, search).found, names)
        else:
            is_found = table["p_adjusted"] <= self.alpha * (1 + ROUNDING)
            selected = table.loc[is_found].drop(columns=["rank", "is_exact"])
        self.say(f"{len(selected)} {ORDER_NAMES[self.order]}s found")
        return Outcome(table.head(self.effort.n_listed), selected, null, search.n_tests)

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

    def _named(self, terms: Any, names: NDArray[np.object_]) -> dict[str, NDArray[np.object_]]:
        """Columns feature_1, feature_2, ... from rows of indices."""
        columns = np.asarray(terms, dtype=int).reshape(-1, self.order).T
        return {f"feature_{i}": names[column] for i, column in enumerate(columns, start=1)}

    def _table(self, search: Search, names: NDArray[np.object_]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                **self._named(search.terms, names),
                "statistic": search.statistic,
                "p_value": np.exp(search.log_p),
                "p_adjusted": np.exp(search.log_p_adjusted(self.adjustment)),
                "rank": np.arange(1, len(search.terms) + 1),
                "is_exact": search.is_exact,
            }
        )

    def _found_table(self, found: list[Found], names: NDArray[np.object_]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                **self._named([one.term for one in found], names),
                "statistic": [one.statistic for one in found],
                "p_value": np.exp([one.log_p for one in found]),
                "p_adjusted": np.exp([one.log_p_adjusted for one in found]),
            }
        )


def of_the_null_model(model: AdditiveModel) -> str:
    """One sentence about the additive model."""
    return (
        f"Main effects of {len(model.features)} features explain "
        f"{100 * model.deviance_explained:.0f} % of the deviance on held-out samples"
    )


def fitted_on_read(test: InteractionTest, read: ReadTable) -> InteractionTest:
    """A clone of `test`, fitted on a table that an estimator has read and warned of before."""
    test = clone(test)
    classes, sizes = np.unique(read.counted().codes, return_counts=True)
    check_class_sizes(classes, sizes, least=1)
    test._check_parameters()
    outcome = test._outcome(read)
    test.classes_ = classes
    test.n_features_in_ = read.values.shape[1]
    test.feature_names_in_ = np.array(read.names, dtype=object)
    test._adopt(outcome)
    return test
