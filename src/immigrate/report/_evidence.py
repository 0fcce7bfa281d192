"""What the test says of features and pairs, as columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from immigrate.arrays import Codes
from immigrate.estimators import InteractionTest
from immigrate.estimators.model_evidence import fitted_on_model
from immigrate.interactions.adjustments import adjustment_of
from immigrate.table import Table

# Pairs that the page lists; a table of 200 features has as many.
MOST_LISTED = 20_000
# Pairs whose joint effect is drawn as a surface: those found and then the next by evidence.
MOST_SURFACES, MOST_SURFACE_VALUES = 12, 40_000
# If even the smallest p is above, and the additive model explains more of the held-out deviance
# than the second, there is nothing left to test.
NOTHING_LEFT, NEARLY_ALL = 0.99, 0.9

NUMBERS = {"p": "p_value", "p_adjusted": "p_adjusted", "size": "size"}
ENDS = {"low": "size_low", "high": "size_high"}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What `InteractionTest` says of features and pairs, or why it says nothing.

    Attributes
    ----------
    alpha : float
    read : Table or None
        The features that the model was given, screened out or not.
    test : InteractionTest or None
    why_untested : str
    """

    alpha: float
    read: Table | None
    test: InteractionTest | None = None
    why_untested: str = ""

    @classmethod
    def of(cls, model: Any, read: Table | None, test: InteractionTest) -> Self:
        """Test all features that a model was given."""
        if read is None:
            return cls(test.alpha, None, why_untested="The model does not hold the whole table.")
        return cls(test.alpha, read, fitted_on_model(test, model, read))

    @property
    def names(self) -> list[str]:
        """Of all features, in the order of the table."""
        return [] if self.read is None else [str(name) for name in self.read.reader.names]

    def summary(self) -> dict[str, Any]:
        """The answer in words and in rows; how many other pairs may only mirror those found."""
        test = self.test
        if test is None:
            return {
                "why_untested": self.why_untested,
                "why_no_pairs": "",
                "alpha": self.alpha,
                "found": [],
                "shown": [],
            }
        pairs, features = test.table_, test.features_
        # Small in the first round, but not found: these may only mirror a pair that was.
        is_small = (pairs["p_adjusted"] <= self.alpha) & ~pairs["is_found"]
        return {
            "why_untested": "",
            "why_no_pairs": "" if test.n_tests_ else no_pairs(len(features)),
            "alpha": self.alpha,
            "error": adjustment_of(test._fitted_as["adjust"]).level(self.alpha),
            "words": test.summary(),
            "methods": test.summary("methods"),
            "shown": features[features["p_adjusted"] <= self.alpha].to_dict("records"),
            "n_features": len(features),
            "n_pairs": test.n_tests_,
            "n_listed": min(len(pairs), MOST_LISTED),
            "found": test.selected_.to_dict("records"),
            "n_mirrors": int(is_small.sum()),
            "n_exact": int(pairs["is_exact"].sum()),
            "least_p": float(pairs["p_adjusted"].min()),
            "detectable_size": test.detectable_size_,
            "is_separated": self.is_separated,
        }

    @property
    def is_separated(self) -> bool:
        """Whether the features' own effects tell the classes apart, so that nothing is left."""
        if self.test is None or not self.test.n_tests_:
            return False
        is_explained = self.test.additive_model_.deviance_explained > NEARLY_ALL
        return bool(is_explained and self.test.table_["p_value"].min() > NOTHING_LEFT)

    def sized(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table without sizes where they mean nothing.

        The more separated the classes the larger the log-odds, without limit: what a ridge leaves
        of them has a size and an interval that depend on the ridge alone.
        """
        if not self.is_separated:
            return table
        return table.assign(**dict.fromkeys(("size", "size_low", "size_high"), np.nan))

    def features(self, weights: pd.DataFrame, importance: dict[str, float]) -> dict[str, Any]:
        """Every feature, those with the strongest evidence first, with its weight."""
        own = weights[weights["kind"] == "main"].set_index("feature_1")["weight"]
        if self.test is None:
            names = list(importance)
            columns: dict[str, Any] = {"name": names}
        else:
            table = self.sized(self.test.features_)
            names = [str(name) for name in table["feature"]]
            given = {"given": "p_given_others", "given_adjusted": "p_given_others_adjusted"}
            columns = {
                "name": names,
                **{new: table[old] for new, old in (NUMBERS | given | ENDS).items()},
                "direction": table["direction"],
                "in_pair": table["in_pair"],
                "is_found": table["p_adjusted"] <= self.alpha,
            }
        columns["weight"] = [float(own.get(name, 0.0)) for name in names]
        columns["importance"] = [importance.get(name, 0.0) for name in names]
        return columns

    def pairs(self, weights: pd.DataFrame) -> dict[str, Any]:
        """Every pair by evidence, those found first; features by their place in `names`."""
        pairs = weights[weights["kind"] == "pair"]
        if self.test is None:
            table = pairs.sort_values("rank").head(MOST_LISTED)
            names = list(dict.fromkeys([*table["feature_1"], *table["feature_2"]]))
            a, b = (self._places(table[side], names) for side in ("feature_1", "feature_2"))
            return {"names": names, "a": a, "b": b, "weight": table["weight"]}
        table, names = self.sized(self.test.table_.head(MOST_LISTED)), self.names
        a, b = (self._places(table[side], names) for side in ("feature_1", "feature_2"))
        first, second = (self._places(pairs[side], names) for side in ("feature_1", "feature_2"))
        # Known by the smaller place and the larger one, whichever the model names first.
        place = np.minimum(first, second) * len(names) + np.maximum(first, second)
        known = pd.Series(pairs["weight"].to_numpy(), index=place)
        wanted = np.minimum(a, b) * len(names) + np.maximum(a, b)
        return {
            "names": names,
            "a": a,
            "b": b,
            **{new: table[old] for new, old in (NUMBERS | ENDS).items()},
            "direction": table["direction"],
            "is_exact": table["is_exact"],
            "is_found": table["is_found"],
            "weight": known.reindex(wanted, fill_value=0.0),
        }

    @staticmethod
    def _places(names: Any, listed: list[str]) -> Codes:
        place = {name: i for i, name in enumerate(listed)}
        return np.array([place[str(name)] for name in names], dtype=np.intp)

    def surfaces(self) -> list[dict[str, Any]]:
        """Joint effects on a grid or by levels, of as many pairs as have room."""
        if self.test is None or not self.test.n_tests_:
            return []
        rows: list[dict[str, Any]] = []
        n_values, names = 0, self.names
        for row in self.test.table_.head(MOST_SURFACES).itertuples():
            try:
                effect = self.test.effect(str(row.feature_1), str(row.feature_2))
            except ValueError:
                # Nothing of the pair is left beside those found.
                continue
            n_values += effect.value.size
            # The first one always has room, however many classes it has.
            if rows and n_values > MOST_SURFACE_VALUES:
                break
            rows.append(
                {
                    "a": names.index(effect.axes[0].name),
                    "b": names.index(effect.axes[1].name),
                    "x": axis_values(effect.axes[0]),
                    "y": axis_values(effect.axes[1]),
                    "classes": list(effect.classes),
                    "value": effect.value,
                    # Not the ends themselves: the page only shades, and its size is limited.
                    "is_sure": ((effect.low > 0) | (effect.high < 0)).astype(int),
                    "counts": effect.counts,
                }
            )
        return rows


def axis_values(axis: Any) -> dict[str, Any]:
    """One side of a surface."""
    return {"has_levels": axis.has_levels, "values": list(axis.values)}


def no_pairs(n_features: int) -> str:
    """Why there is no pair to test."""
    return (
        "There is one feature that varies, and so no pair."
        if n_features == 1
        else "No feature varies, and so there is no pair."
    )
