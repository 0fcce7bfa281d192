"""The table and the model in words: what was used, what was chosen, and with which settings."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd

from immigrate._version import __version__
from immigrate.arrays import Codes
from immigrate.estimators import InteractionTest
from immigrate.report.input import Context, Thirds
from immigrate.table import in_order, messages

SECTIONS = {"data-notes": "Data", "methods": "Methods and settings"}
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
# What a fit chose, where it had a choice.
CHOSEN = ("sigma_", "rule_", "penalty_", "converged_")


def summary(context: Context) -> dict[str, Any]:
    """Size and classes of the table, settings and choices of the model, versions."""
    versions = {"immigrate": __version__, "Python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in PACKAGES}
    return {
        "data": data_summary(context),
        "model": model_summary(context),
        "software": [{"name": name, "version": one} for name, one in versions.items()],
    }


def model_summary(context: Context) -> dict[str, Any]:
    """Settings, what the fit chose, and what it warned of."""
    model, choices = context.model, words_of_test(context.unfitted_test)
    if context.choice:
        choices.insert(0, context.choice)
    chosen = {name: getattr(model, name) for name in CHOSEN if hasattr(model, name)}
    path: list[dict[str, Any]] = []
    if hasattr(model, "scores_path_"):
        columns = ["sigma", "rule", "selection_score", "is_chosen"]
        path = model.scores_path_[columns].to_dict("records")
    return {
        "name": type(model).__name__,
        # The first line; a second would say again what the page says.
        "settings": repr(context.fitted).split("\n# ")[0],
        "chosen": {
            name.rstrip("_"): f"{value:.4g}" if isinstance(value, float) else str(value)
            for name, value in chosen.items()
        },
        "has_moved": bool(chosen.get("converged_", True) or len(model.objective_path_) > 1),
        "warnings": context.warned,
        "choices": choices,
        "n_screened": model.column_reader_.is_used.sum() - model.get_support().sum(),
        "path": path,
    }


def data_summary(context: Context) -> dict[str, Any]:
    """Size, classes, and what in the table deserves a second look."""
    reader, dates = context.model.column_reader_, context.given.dates
    outcome = context.given.outcome
    labels, codes, ends = [str(one) for one in outcome.classes], outcome.codes, None
    if outcome.numbers is not None:
        labels, codes = Thirds.of(outcome.numbers)
        low, middle, high = np.quantile(outcome.numbers, [0, 0.5, 1])
        ends = {"low": low, "median": middle, "high": high}
    n, counts = len(codes), np.bincount(codes, minlength=len(labels))
    is_out = {note.column: note for note in reader.notes if note.is_left_out}
    return {
        "n_samples": n,
        "n_features": len(reader.names) + len(dates),
        "n_left_out": (~reader.is_used).sum() + len(dates),
        "left_out": [note.name for note in (*dates, *is_out.values())],
        "names": context.found["pairs"]["names"],
        "number": ends,
        "classes": [
            {"label": label, "n": count, "share": count / n}
            for label, count in zip(labels, counts)
        ],
        "notes": [*messages(in_order((*dates, *reader.notes))), *row_notes(context, counts)],
    }


def row_notes(context: Context, counts: Codes) -> Iterator[str]:
    """Sentences about rows that repeat, gaps, and classes of unequal size."""
    n_repeated = int(pd.DataFrame(context.table.values).duplicated().sum())
    if n_repeated:
        rows = "1 row repeats" if n_repeated == 1 else f"{n_repeated} rows repeat"
        yield (
            f"{rows} an earlier one. A repeated sample is its own nearest neighbour, in "
            "cross-validation too: predictions may look better than they are."
        )
    # Of all columns, also of those that are no features and read as 0.
    n_values = len(context.table.values) * len(context.model.column_reader_.names)
    share = np.isnan(context.table.values).sum() / n_values
    if share:
        yield f"{100 * share:.1f} % of the values are missing; no row is dropped for that."
    labels = context.given.outcome
    if labels.numbers is None and counts.max() > 4 * counts.min():
        yield (
            "The classes are of very different size: compare the accuracy with the share of the "
            "largest class, and look at the balanced accuracy and the AUC."
        )
    if labels.numbers is None and labels.classes.dtype.kind in "iuf" and len(labels.classes) > 2:
        yield (
            f"The {len(labels.classes)} different numbers of the target are read as classes; "
            "outcome='number' (--outcome number) reads them as numbers."
        )
    if context.given.groups is not None:
        yield (
            f"The samples are of {len(pd.unique(context.given.groups))} groups; no group is on "
            "both sides of a fold."
        )


def words_of_test(test: InteractionTest) -> list[str]:
    """What the test leaves out by the user's wish."""
    words = []
    if test.adjust_for is not None:
        covariates = ", ".join(map(str, np.atleast_1d(test.adjust_for)))
        words.append(
            f"The test is adjusted for {covariates}: in its model of the features' own effects, "
            "tested neither alone nor in a pair."
        )
    if test.pairs is not None:
        words.append(
            "Only the pairs that were asked for are tested, and p-values are adjusted for these."
        )
    return words
