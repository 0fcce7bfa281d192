"""What the test found as tables: evidence first, then size and direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.additive.effects import Term
from immigrate.additive.sizes import Sizes
from immigrate.arrays import Array, Codes, Mask
from immigrate.estimators.measured_effects import MeasuredEffects
from immigrate.inference.feature_evidence import FeatureEvidence
from immigrate.inference.search import Search
from immigrate.inference.stepwise import Found


@dataclass(frozen=True, eq=False)
class Named:
    """Names of the columns that features stand for.

    Attributes
    ----------
    names : ndarray of object
        Of all columns.
    columns : ndarray of int
        The column of each feature.
    """

    names: NDArray[np.object_]
    columns: Codes

    def features(self, terms: Any, order: int) -> dict[str, NDArray[np.object_]]:
        """Columns feature_1, feature_2, ... from rows of features."""
        places = np.asarray(terms, dtype=int).reshape(-1, order).T
        return {
            f"feature_{i}": self.names[self.columns[place]] for i, place in enumerate(places, 1)
        }

    def columns_of(self, terms: Sequence[Term]) -> list[Term]:
        """Terms of features as terms of the table's columns."""
        return [tuple(int(self.columns[a]) for a in term) for term in terms]


@dataclass(frozen=True, eq=False)
class TestedTerms:
    """What a search says: all terms, and those found in order of entry."""

    search: Search
    log_p_adjusted: Array
    found: Sequence[Found]

    @property
    def terms_found(self) -> list[Term]:
        """The features of each term found."""
        return [one.term for one in self.found]


@dataclass(frozen=True, eq=False)
class TestedFeatures:
    """Evidence of features with the logarithms of its adjusted p-values.

    `is_shown_alone` says whose effect is shown on its own, `is_shown` on its own or given the
    others.
    """

    evidence: FeatureEvidence
    log_p_adjusted: Array
    log_p_given_others_adjusted: Array
    is_shown_alone: Mask
    is_shown: Mask

    @property
    def shown(self) -> Codes:
        """The features whose effect is shown."""
        return self.evidence.features[self.is_shown]


def term_table(
    tested: TestedTerms, named: Named, effects: MeasuredEffects, *, unit: float, deviance: float
) -> pd.DataFrame:
    """All terms: those found with the evidence at their entry, then the others by evidence.

    `unit` is that of sizes; `deviance` is that of the samples without any feature.
    """
    search = tested.search
    order = search.terms.shape[1]
    table = pd.DataFrame(
        {
            **named.features(search.terms, order),
            "p_value": np.exp(search.log_p),
            "p_adjusted": np.exp(tested.log_p_adjusted),
        }
    )
    if order == 2:
        table = table.assign(**_first_order_columns(search, unit, deviance))
        table["direction"] = texts([""] * len(table))
    table = table.assign(statistic=search.statistic, is_exact=search.is_exact, is_found=False)
    # Only needed where something was found; for 100,000 terms it takes a while to make.
    place = (
        {tuple(term): i for i, term in enumerate(search.terms.tolist())} if tested.found else {}
    )
    rows = np.array([place[term] for term in tested.terms_found], dtype=np.intp)
    for column, values in _found_columns(tested, order, named, effects).items():
        # A found pair that could not be measured keeps its size to first order.
        is_known = np.array([not pd.isna(value) for value in values], dtype=bool)
        table.loc[rows[is_known], column] = values[is_known]
    table.loc[rows, "is_found"] = True
    others = np.delete(np.arange(len(table)), rows)
    table = table.iloc[np.concatenate([rows, others])].reset_index(drop=True)
    table.insert(list(table.columns).index("is_exact"), "rank", np.arange(1, len(table) + 1))
    return table


def found_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the terms found, which come first."""
    return table[table["is_found"]].drop(columns=["rank", "is_exact", "is_found"])


def _found_columns(
    tested: TestedTerms, order: int, named: Named, effects: MeasuredEffects
) -> dict[str, NDArray[Any]]:
    """What is known of the terms found, in order of entry."""
    columns: dict[str, NDArray[Any]] = {
        "p_value": np.exp([one.log_p for one in tested.found]),
        "p_adjusted": np.exp([one.log_p_adjusted for one in tested.found]),
        "statistic": np.array([one.statistic for one in tested.found]),
    }
    if order == 3:
        return columns
    pairs = named.columns_of(tested.terms_found)
    return {
        **columns,
        **size_columns(effects.sizes(pairs)),
        "deviance_share": effects.held_out_shares(pairs),
        "direction": texts([effects.pair_direction(pair) for pair in pairs]),
    }


def _first_order_columns(search: Search, unit: float, deviance: float) -> dict[str, Array]:
    """Sizes and held-out shares of the terms that were tested exactly, NaN for the others."""
    gain = search.effects.gain
    sizes = search.effects.sizes().times(unit)
    columns = {**size_columns(sizes), "deviance_share": np.maximum(gain / deviance, 0.0)}
    # Terms with an exact p-value come first in a search; the others have no size.
    missing = np.full(len(search.terms) - len(gain), np.nan)
    return {name: np.concatenate([values, missing]) for name, values in columns.items()}


def feature_table(
    tested: TestedFeatures,
    named: Named,
    effects: MeasuredEffects,
    found: Sequence[Term],
    *,
    unit: float,
) -> pd.DataFrame:
    """Every feature by evidence, with directions of those whose effect is shown."""
    evidence = tested.evidence
    columns = named.columns[evidence.features]
    sizes = effects.sizes([(int(column),) for column in columns])
    sizes = sizes.filled(evidence.effects.sizes().times(unit))
    directions = [""] * len(columns)
    for i in np.flatnonzero(tested.is_shown):
        # What is not shown on its own may go either way there.
        is_own = tested.is_shown_alone[i]
        direction = effects.own_direction if is_own else effects.direction_given_others
        directions[i] = direction(int(columns[i]))
    table = pd.DataFrame(
        {
            "feature": named.names[columns],
            "p_value": np.exp(evidence.log_p),
            "p_adjusted": np.exp(tested.log_p_adjusted),
            "p_given_others": np.exp(evidence.log_p_given_others),
            "p_given_others_adjusted": np.exp(tested.log_p_given_others_adjusted),
            **size_columns(sizes),
            "direction": texts(directions),
            "in_pair": np.isin(evidence.features, [a for term in found for a in term]),
        }
    )
    # The p-value on its own decides; that given the others is for ties.
    order = np.lexsort((evidence.log_p_given_others, evidence.log_p))
    return table.iloc[order].reset_index(drop=True)


def size_columns(sizes: Sizes) -> dict[str, Array]:
    """Columns size, size_low and size_high."""
    return {"size": sizes.size, "size_low": sizes.low, "size_high": sizes.high}


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text for a column, as names of features are given: pandas decides what it makes of them."""
    return np.array(list(values), dtype=object)
