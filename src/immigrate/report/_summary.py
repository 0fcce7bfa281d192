"""What the report says, as numbers, words and the table of evidence: all but the looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

import numpy as np
import pandas as pd

from immigrate._version import __version__
from immigrate.columns import in_order, messages, read_table
from immigrate.estimators import InteractionTest
from immigrate.estimators.model_evidence import (
    PAIR,
    WEIGHT,
    evidence_table,
    fitted_on_model,
    given_table,
)
from immigrate.messages import progress
from immigrate.report._given import Given
from immigrate.report._performance import performance
from immigrate.typing import Array, Codes

# Rows of a table that the page shows, and that it carries as a file.
MOST_SHOWN, MOST_CARRIED = 50, 20_000
# The table is by evidence: of a wide one the first rows need not hold the largest weights.
MOST_DRAWN = 1_000
# If even the smallest p is above, and the additive model explains more of the held-out deviance
# than the second, there is nothing left to test.
NOTHING_LEFT, NEARLY_ALL = 0.99, 0.9


def summarised(
    given: Given,
    estimator: Any,
    model: Any,
    evidence: Evidence,
    *,
    title: str,
    n_folds: int,
    warned: Sequence[str] = (),
    n_jobs: int | None = None,
    verbose: bool = False,
) -> dict[str, Any]:
    """What a test found in a table, how well a model predicts, and what it uses.

    Parameters
    ----------
    given : Given
        The training samples.
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    evidence : Evidence
        What the test says of the table that `model` was given.
    warned : sequence of str
        Warnings of the fit.
    n_jobs : int, optional
        Processes over folds.
    verbose : bool
        Whether to print one line per stage.
    """
    has_steps_before = estimator is not model and len(estimator) > 1
    values = read_table(model, estimator[:-1].transform(given.X) if has_steps_before else given.X)
    weights = model.interactions(test=False)
    table = evidence.beside(weights)
    pairs = table[table["kind"] == "pair"]
    if verbose:
        progress(f"cross-validation, up to {n_folds} folds")
    return {
        "title": title,
        "date": date.today().isoformat(),
        "version": __version__,
        "data": data_summary(given, model, values),
        "performance": performance(given, estimator, n_folds, n_jobs),
        "test": evidence.summary(table),
        "features": feature_rows(model),
        "pairs": pairs[pairs["weight"] != 0]
        .sort_values("rank")
        .head(MOST_SHOWN)
        .to_dict("records"),
        "n_weighted_pairs": int((pairs["weight"] != 0).sum()),
        "model": model_summary(estimator, model, warned),
        "table": table.head(MOST_CARRIED),
        "network": drawn_rows(table),
        "n_terms": len(table),
    }


def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """What a picture of pairs may need: features, pairs found, and the largest weights."""
    is_found = table.get("is_found", False)
    return table[is_found | (table["kind"] == "main") | (table["rank"] <= MOST_DRAWN)]


@dataclass(frozen=True)
class Evidence:
    """What `InteractionTest` says of features and pairs, or why it says nothing."""

    alpha: float
    test: InteractionTest | None = None
    why_untested: str = ""

    @classmethod
    def of(cls, model: Any, alpha: float) -> Self:
        """Test all features that the model was given, screened out or not."""
        read = given_table(model)
        if read is None:
            return cls(alpha, why_untested="The model does not hold the whole table.")
        test = fitted_on_model(InteractionTest(alpha=alpha), model, read)
        return cls(alpha, test)

    def beside(self, weights: pd.DataFrame) -> pd.DataFrame:
        """`weights` behind what the test says of each feature and pair."""
        return weights if self.test is None else evidence_table(weights, self.test)

    def summary(self, table: pd.DataFrame) -> dict[str, Any]:
        """The answer in words and in rows; how many other pairs may only mirror those found."""
        test = self.test
        if test is None:
            return {"why_untested": self.why_untested, "alpha": self.alpha, "found": []}
        pairs, features = test.table_, test.features_
        is_small = (pairs["p_adjusted"] <= self.alpha) & ~pairs["is_found"]
        is_explained = test.additive_model_.deviance_explained > NEARLY_ALL
        weighed = table[[*PAIR, *WEIGHT]]
        return {
            "why_untested": "",
            "why_no_pairs": "" if test.n_tests_ else no_pairs(len(features)),
            "alpha": self.alpha,
            "words": test.summary(),
            "methods": test.summary("methods"),
            "shown": features[features["p_adjusted"] <= self.alpha].to_dict("records"),
            "features": features.head(MOST_SHOWN).to_dict("records"),
            "n_features": len(features),
            "n_pairs": test.n_tests_,
            "found": test.selected_.merge(weighed, on=PAIR).to_dict("records"),
            "others": pairs[~pairs["is_found"]].head(MOST_SHOWN).to_dict("records"),
            "n_mirrors": int(is_small.sum()),
            "n_exact": int(pairs["is_exact"].sum()),
            "least_p": float(pairs["p_adjusted"].min()),
            "detectable_size": test.detectable_size_,
            "is_separated": bool(is_explained and pairs["p_value"].min() > NOTHING_LEFT),
        }


def no_pairs(n_features: int) -> str:
    """Why there is no pair to test."""
    return (
        "There is one feature that varies, and so no pair."
        if n_features == 1
        else "No feature varies, and so there is no pair."
    )


def data_summary(given: Given, model: Any, values: Array) -> dict[str, Any]:
    """Size, classes, and what in the table deserves a second look."""
    counts = np.bincount(given.codes)
    notes = in_order((*given.dates, *model.column_reader_.notes))
    return {
        "n_samples": len(given.codes),
        "n_features": len(model.column_reader_.names) + len(given.dates),
        "n_left_out": int((~model.column_reader_.is_used).sum()) + len(given.dates),
        "classes": [
            {"label": str(label), "n": int(n), "share": n / len(given.codes)}
            for label, n in zip(given.classes, counts)
        ],
        "notes": [*messages(notes), *row_notes(values, counts)],
    }


def row_notes(values: Array, counts: Codes) -> list[str]:
    """Sentences about rows that repeat, and classes of unequal size."""
    notes = []
    n_repeated = int(pd.DataFrame(values).duplicated().sum())
    if n_repeated:
        rows = "1 row repeats" if n_repeated == 1 else f"{n_repeated} rows repeat"
        notes.append(
            f"{rows} an earlier one. A repeated sample is its own nearest neighbour, in "
            "cross-validation too: accuracy may look better than it is."
        )
    if counts.max() > 4 * counts.min():
        notes.append(
            "The classes are of very different size: compare the accuracy with the share of the "
            "largest class, and look at the balanced accuracy and the AUC."
        )
    return notes


def feature_rows(model: Any) -> list[dict[str, Any]]:
    """Features of W with their own weight and their importance, most important first."""
    names = model.get_feature_names_out()
    W = model.weight_matrix_
    share = model.feature_importances_[model.get_support()]
    # Features that are equal but for rounding stay in the order of the table.
    order = np.argsort(-share.round(9), kind="stable")
    return [
        {"name": str(names[i]), "weight": float(W[i, i]), "share": float(share[i])} for i in order
    ]


def model_summary(estimator: Any, model: Any, warned: Sequence[str]) -> dict[str, Any]:
    """Settings, what the fit chose, and what it warned of."""
    chosen = {
        name.rstrip("_"): getattr(model, name)
        for name in ("sigma_", "rule_", "prune_", "converged_")
        if hasattr(model, name)
    }
    n_screened = int(model.column_reader_.is_used.sum()) - len(model.weight_matrix_)
    has_moved = getattr(model, "converged_", True) or len(model.objective_path_) > 1
    return {
        "name": type(model).__name__,
        "settings": repr(estimator),
        "chosen": {name: _words(value) for name, value in chosen.items()},
        "has_moved": has_moved,
        "warnings": list(warned),
        "n_screened": n_screened,
    }


def _words(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
