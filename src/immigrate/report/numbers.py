"""Predictions of held-out numbers, beside simple methods, and what the page says of a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate.arrays import Array
from immigrate.estimators.immigrate_cv import is_wide
from immigrate.progress import print_line
from immigrate.report.folds import (
    FOLDS,
    FOLDS_OF_WIDE,
    LEVEL,
    SEED,
    Fold,
    Measure,
    Split,
    predicted_folds,
    prepared,
)
from immigrate.report.input import Context, ReportInput
from immigrate.table import Reader

GUESS = "guessing the mean"
STRENGTHS = np.logspace(-2, 4, 25)
# Fewer samples are too few to hold some out; more points hide each other.
FEWEST_SAMPLES, MOST_POINTS = 6, 1_000


def splits_of_numbers(given: ReportInput) -> list[Split] | None:
    """Training and test samples of each fold; None where samples are too few."""
    n, groups, cv = len(given.outcome.codes), given.groups, given.cv
    if cv is None:
        cv = FOLDS_OF_WIDE if is_wide(np.shape(given.X)[1]) else FOLDS
    if not isinstance(cv, int | np.integer):
        found = check_cv(cv).split(given.X, given.outcome.numbers, groups)
    elif n < FEWEST_SAMPLES:
        return None
    elif groups is not None:
        n_folds = min(int(cv), len(pd.unique(groups)))
        if n_folds < 2:
            raise ValueError(
                "groups says that all samples are of one group, so that no group can be held out. "
                "Leave groups out, or check that the right column is used."
            )
        found = GroupKFold(n_folds, shuffle=True, random_state=SEED).split(given.X, groups=groups)
    else:
        # A fixed seed: the same table gives the same page. Shuffled, because tables may be sorted.
        found = KFold(min(int(cv), n // 3), shuffle=True, random_state=SEED).split(np.zeros(n))
    splits = [(np.asarray(train), np.asarray(test)) for train, test in found]
    if not splits:
        raise ValueError("cv has no fold; give a number of folds, or splits.")
    return splits


def number_baselines(reader: Reader, seed: int = SEED) -> dict[str, Pipeline]:
    """Simple methods by name, not fitted, for values as `reader` reads them.

    Columns are prepared as for classes: `report.folds.baselines`.
    """
    scaled = make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=0.0))
    encoder = prepared(reader, scaled)
    return {
        "ridge regression": make_pipeline(encoder, RidgeCV(STRENGTHS)),
        "random forest": make_pipeline(encoder, RandomForestRegressor(random_state=seed)),
        GUESS: make_pipeline(encoder, DummyRegressor()),
    }


def held_out_numbers(folds: Sequence[Fold], name: str, n: int) -> Array:
    """Mean prediction of each sample over the times it was held out; NaN where it never was."""
    total, times = np.zeros(n), np.zeros(n)
    for fold in folds:
        total[fold.test] += fold.probability[name][:, 0]
        times[fold.test] += 1
    return np.divide(total, times, out=np.full(n, np.nan), where=times > 0)


def number_measures(y: Array, predicted: Array, guess: Array) -> dict[str, Measure]:
    """R2 against guessing the mean of the training samples, and the mean absolute error.

    Each with the ends of its interval over the samples that were held out: normal ones, that of
    R2 for a ratio of two means.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report.numbers import number_measures
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = number_measures(y, y + [0.5, -0.5, 0.5, -0.5], np.full(4, 1.5))
    >>> found["r2"]["value"], found["mae"]["value"]
    (0.8, 0.5)
    """
    squares, base, size = (y - predicted) ** 2, (y - guess) ** 2, np.abs(y - predicted)
    reach = stats.norm.ppf((1 + LEVEL) / 2) / np.sqrt(len(y))
    ratio = squares.mean() / base.mean()
    r2, mae = 1 - ratio, size.mean()
    around = reach * np.std(squares - ratio * base) / base.mean()
    return {
        "r2": {"value": float(r2), "low": float(r2 - around), "high": float(min(r2 + around, 1))},
        "mae": {
            "value": float(mae),
            "low": float(max(mae - reach * size.std(), 0)),
            "high": float(mae + reach * size.std()),
        },
    }


def number_performance(context: Context) -> dict[str, Any] | None:
    """Measures on held-out samples; None where there are too few to hold some out."""
    given, y = context.given, context.given.outcome.numbers
    assert y is not None
    splits = splits_of_numbers(given)
    if splits is None:
        return None
    name, folds = type(context.model).__name__, []
    for fold in predicted_folds({name: context.estimator}, number_baselines, given, splits):
        folds.append(fold)
        if given.verbose:
            print_line(f"cross-validation: fold {len(folds)} of {len(splits)}")
    said = {method: held_out_numbers(folds, method, len(y)) for method in folds[0].probability}
    is_seen = ~np.isnan(said[name])
    rows = np.flatnonzero(is_seen)
    measures = {
        method: number_measures(y[rows], found[rows], said[GUESS][rows])
        for method, found in said.items()
    }
    drawn = rows
    if len(rows) > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(SEED).choice(rows, MOST_POINTS, replace=False))
    return {
        "n_folds": len(splits),
        "by_groups": given.groups is not None,
        "n_never_held_out": int(len(y) - len(rows)),
        **measures[name],
        "smaller": 1 - measures[name]["mae"]["value"] / measures[GUESS]["mae"]["value"],
        "methods": [{"name": one, "is_model": one == name, **measures[one]} for one in measures],
        "rows": drawn,
        "observed": y[drawn],
        "predicted": said[name][drawn],
    }
