"""What the report says, as numbers, words and the table of weights: all but the looks."""

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
from immigrate.estimators.tested_terms import ReadTable, fitted_on_read
from immigrate.estimators.weight_table import PAIR, beside_test, untested
from immigrate.messages import progress
from immigrate.report._given import Given
from immigrate.report._performance import performance
from immigrate.typing import Array, Codes

# Rows of the table of pairs that the page shows, and that it carries as a file.
MOST_SHOWN, MOST_CARRIED = 50, 20_000
# If even the smallest p is above, and the additive model explains more of the held-out deviance
# than the second, there is nothing left to test.
NOTHING_LEFT, NEARLY_ALL = 0.99, 0.9


def summarised(
    given: Given,
    estimator: Any,
    model: Any,
    *,
    title: str,
    n_folds: int,
    alpha: float,
    warned: Sequence[str] = (),
    n_jobs: int | None = None,
    verbose: bool = False,
) -> dict[str, Any]:
    """What a fitted model and the test of pairs found in a table.

    Parameters
    ----------
    given : Given
        The training samples.
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    warned : sequence of str
        Warnings of the fit.
    n_jobs : int, optional
        Processes over folds.
    verbose : bool
        Whether to print one line per stage.
    """
    weights = model.interactions()
    has_steps_before = estimator is not model and len(estimator) > 1
    # What the model was given, read once for the test and for the notes.
    values = read_table(model, estimator[:-1].transform(given.X) if has_steps_before else given.X)
    if verbose:
        progress(f"test of the pairs of {model.n_features_in_} features")
    pairs = PairEvidence.of(values, given.codes, model, alpha)
    table = pairs.beside(weights)
    if verbose:
        progress(f"cross-validation, up to {n_folds} folds")
    return {
        "title": title,
        "date": date.today().isoformat(),
        "version": __version__,
        "data": data_summary(given, model, values),
        "performance": performance(given, estimator, n_folds, n_jobs),
        "features": feature_rows(model),
        "pairs": table[table["kind"] == "pair"].head(MOST_SHOWN).to_dict("records"),
        "n_weighted_pairs": int((table["kind"] == "pair").sum()),
        "test": pairs.summary(weights),
        "model": model_summary(estimator, model, warned),
        "table": table.head(MOST_CARRIED),
        "n_terms": len(table),
    }


@dataclass(frozen=True)
class PairEvidence:
    """What `InteractionTest` says of the pairs, or why it says nothing."""

    alpha: float
    test: InteractionTest | None = None
    why_untested: str = ""

    @classmethod
    def of(cls, values: Array, codes: Codes, model: Any, alpha: float) -> Self:
        """Test all features that the model was given, screened out or not."""
        if model.n_features_in_ < 2:
            return cls(alpha, why_untested="There is one feature, and so no pair.")
        reader = model.column_reader_
        read = ReadTable(values, reader.is_nominal, codes, reader.names)
        test = fitted_on_read(InteractionTest(alpha=alpha), read)
        if not test.n_tests_:
            return cls(alpha, why_untested="Fewer than two features vary.")
        return cls(alpha, test)

    def beside(self, weights: pd.DataFrame) -> pd.DataFrame:
        """`weights` with what the test says of each pair."""
        return untested(weights) if self.test is None else beside_test(weights, self.test)

    def summary(self, weights: pd.DataFrame) -> dict[str, Any]:
        """Pairs found one by one, with their weights; how many others may only mirror them."""
        if self.test is None:
            return {"why_untested": self.why_untested, "alpha": self.alpha, "found": []}
        table, found = self.test.table_, self.test.selected_
        small = beside_test(table[PAIR], self.test).query("p_adjusted <= @self.alpha")
        found = found[[*PAIR, "p_value", "p_adjusted"]].merge(weights, on=PAIR, how="left")
        is_explained = self.test.additive_model_.deviance_explained > NEARLY_ALL
        return {
            "why_untested": "",
            "alpha": self.alpha,
            "n_pairs": self.test.n_tests_,
            "found": found.assign(is_found=True).to_dict("records"),
            "n_mirrors": int((~small["is_found"]).sum()),
            "n_exact": int(table["is_exact"].sum()),
            "least_p": float(table["p_adjusted"].min()),
            "is_separated": bool(is_explained and table["p_value"].min() > NOTHING_LEFT),
        }


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
