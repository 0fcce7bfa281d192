"""What the test found as tables: evidence first, then size and direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.estimators.measured_effects import MeasuredEffects
from immigrate.inference.effects import Sizes, Term
from immigrate.inference.feature_evidence import FeatureEvidence
from immigrate.inference.search import Search
from immigrate.inference.stepwise import Found
from immigrate.typing import Array, Codes, Mask


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

    def column_terms(self, found: Sequence[Found]) -> list[Term]:
        """Found terms as columns of the table."""
        return [tuple(int(self.columns[a]) for a in one.term) for one in found]


def found_table(
    found: Sequence[Found], order: int, named: Named, effects: MeasuredEffects
) -> pd.DataFrame:
    """Terms found, in order of entry."""
    table = pd.DataFrame(
        {
            **named.features([one.term for one in found], order),
            "p_value": np.exp([one.log_p for one in found]),
            "p_adjusted": np.exp([one.log_p_adjusted for one in found]),
        }
    )
    if order == 2:
        terms = named.column_terms(found)
        table = table.assign(
            **size_columns(effects.sizes(terms)),
            deviance_share=effects.held_out_shares(terms),
            direction=texts([effects.pair_direction(term) for term in terms]),
        )
    return table.assign(statistic=np.array([one.statistic for one in found]))


def term_table(
    search: Search,
    log_p_adjusted: Array,
    named: Named,
    found: Sequence[Found],
    selected: pd.DataFrame,
    unit: tuple[float, float],
) -> pd.DataFrame:
    """All terms: those found with the evidence at their entry, then the others by evidence.

    `unit` is that of sizes, and the deviance without any feature.
    """
    order = search.terms.shape[1]
    table = pd.DataFrame(
        {
            **named.features(search.terms, order),
            "p_value": np.exp(search.log_p),
            "p_adjusted": np.exp(log_p_adjusted),
        }
    )
    if order == 2:
        table = table.assign(**_first_order_columns(search, unit))
        table["direction"] = texts([""] * len(table))
    table = table.assign(statistic=search.statistic, is_exact=search.is_exact, is_found=False)
    place = {tuple(term): i for i, term in enumerate(search.terms.tolist())} if found else {}
    rows = [place[one.term] for one in found]
    for column in selected.columns:
        table.loc[rows, column] = selected[column].to_numpy()
    table.loc[rows, "is_found"] = True
    others = np.delete(np.arange(len(table)), rows)
    table = table.iloc[np.concatenate([rows, others]).astype(int)].reset_index(drop=True)
    table.insert(list(table.columns).index("is_exact"), "rank", np.arange(1, len(table) + 1))
    return table


def _first_order_columns(search: Search, unit: tuple[float, float]) -> dict[str, Array]:
    """Sizes and held-out shares of the terms that were tested exactly, NaN for the others."""
    (scale, deviance), n = unit, len(search.terms)
    sizes, gain = search.effects.sizes(), search.effects.gain
    scaled = Sizes(scale * sizes.size, scale * sizes.low, scale * sizes.high)
    columns = {**size_columns(scaled), "deviance_share": np.maximum(gain / deviance, 0.0)}
    missing = np.full(n - len(gain), np.nan)
    return {name: np.concatenate([values, missing]) for name, values in columns.items()}


def feature_table(
    evidence: FeatureEvidence,
    adjusted: tuple[Array, Array],
    named: Named,
    effects: MeasuredEffects,
    pairs: Sequence[Term],
    is_shown: Mask,
) -> pd.DataFrame:
    """Every feature by evidence; `adjusted` are the logarithms of both adjusted p-values.

    Directions are given of those of which `is_shown` says that their effect is shown.
    """
    columns = named.columns[evidence.features]
    terms = [(int(column),) for column in columns]
    unit = effects.model.data.outcome.unit
    sizes = _filled(effects.sizes(terms), evidence.effects.sizes(), unit)
    paired = {column for pair in pairs for column in pair}
    table = pd.DataFrame(
        {
            "feature": named.names[columns],
            "p_value": np.exp(evidence.log_p),
            "p_adjusted": np.exp(adjusted[0]),
            "p_given_others": np.exp(evidence.log_p_given_others),
            "p_given_others_adjusted": np.exp(adjusted[1]),
            **size_columns(sizes),
            "direction": texts(
                [effects.own_direction(c) if shown else "" for (c,), shown in zip(terms, is_shown)]
            ),
            "in_pair": [column in paired for (column,) in terms],
        }
    )
    order = np.lexsort((evidence.log_p_given_others, evidence.log_p))
    return table.iloc[order].reset_index(drop=True)


def _filled(sizes: Sizes, first_order: Sizes, unit: float) -> Sizes:
    """Sizes from the model of effects, and to first order of what is not in it."""
    parts = zip(
        (sizes.size, sizes.low, sizes.high),
        (first_order.size, first_order.low, first_order.high),
    )
    return Sizes(*(np.where(np.isnan(own), unit * other, own) for own, other in parts))


def size_columns(sizes: Sizes) -> dict[str, Array]:
    """Columns size, size_low and size_high."""
    return {"size": sizes.size, "size_low": sizes.low, "size_high": sizes.high}


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Text for a column, as names of features are given: pandas decides what it makes of them."""
    return np.array(list(values), dtype=object)
