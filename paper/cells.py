"""The unit of work: one method on one fold of one data set."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper.datasets import load
from paper.methods import METHODS

UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class Cell:
    """A trial: the method is trained on all folds of a repeat but one, and tested there."""

    data: str
    method: str
    repeat: int
    fold: int
    n_folds: int


@dataclass(frozen=True)
class Outcome:
    """What came of a cell. `status` is "ok", "error" or "time-out"; `note` holds warnings."""

    status: str
    n_correct: int | None = None
    n_tested: int | None = None
    seconds: float = 0.0
    error: str = ""
    note: str = ""


def planned_cells(data, methods, n_repeats, n_folds) -> list[Cell]:
    """All cells, repeat by repeat, so that an early stop leaves whole repeats behind."""
    order = product(range(n_repeats), data, methods, range(n_folds))
    return [Cell(d, m, repeat, fold, n_folds) for repeat, d, m, fold in order]


def folds(y, repeat, n_folds) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of a repeat: a function of the labels only, so shared by methods."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=repeat)
    return list(splitter.split(np.zeros((len(y), 1)), y))


def outcome(cell: Cell, folder: str | None = None) -> Outcome:
    """Train and test; whatever goes wrong is part of the result."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            n_correct, n_tested = _correct_predictions(cell, folder)
        except Exception as error:
            seconds = time.perf_counter() - start
            return Outcome("error", seconds=seconds, error=error_text(error))
    note = "; ".join(sorted({f"{w.category.__name__}: {w.message}"[:120] for w in caught}))
    return Outcome("ok", n_correct, n_tested, time.perf_counter() - start, note=note)


def _correct_predictions(cell: Cell, folder: str | None) -> tuple[int, int]:
    table = load(cell.data, folder)
    train, test = folds(table.y, cell.repeat, cell.n_folds)[cell.fold]
    seed = 1000 * cell.repeat + cell.fold
    # Imputing and standardising are learned on the training rows: no look at the test rows.
    imputer = [SimpleImputer(strategy="median", keep_empty_features=True)]
    steps = (imputer if np.isnan(table.X).any() else []) + [StandardScaler()]
    model = make_pipeline(*steps, METHODS[cell.method].estimator(random_state=seed))
    model.fit(table.X[train], table.y[train])
    return int(np.sum(model.predict(table.X[test]) == table.y[test])), len(test)


def settings(method: str) -> str:
    """The method's settings in one line, or why it is not available."""
    try:
        return METHODS[method].settings()
    except Exception as error:
        return f"{UNAVAILABLE}: {error_text(error)}"


def current_settings() -> dict[str, str]:
    """The settings of every method that can be built here."""
    described = {method: settings(method) for method in METHODS}
    return {m: text for m, text in described.items() if not text.startswith(UNAVAILABLE)}


def error_text(error: Exception) -> str:
    """An error in one line, without the paths of this machine that import errors carry."""
    text = re.sub(r"\s*\(/[^)]*\)", "", f"{type(error).__name__}: {error}")
    return " ".join(text.split())[:500]
