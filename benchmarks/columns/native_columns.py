"""Tables read as they are against tables prepared by hand: accuracy, log-loss and AUC.

    OMP_NUM_THREADS=1 python benchmarks/columns/native_columns.py --data FOLDER [--repeats 5]

10-fold cross-validation, the same folds for every way, everything learned inside the folds.
Prepared by hand is what scikit-learn's guide shows: means for missing numbers, then a
StandardScaler; the most frequent level for missing levels, then one 0/1 column per level.

Appends to results/native_columns.csv as it goes and skips what is there. The page
docs/measurements/columns.md shows
the tables that ``--tables`` prints.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.arrays import Codes
from immigrate.options import Columns

RESULTS = Path(__file__).parents[1] / "results" / "native_columns.csv"
# Columns whose numbers stand for names. Counts and grades stay numbers: lym_enlar and no_does of
# LYM, slope and ca of STA. BCW has no column of levels; it shows that units alone do no harm.
CATEGORICAL = {
    "LYM": [
        "lymphatics", "block_of_affere", "bl._of_lymph_c", "by_pass", "extravasates",
        "regeneration", "erl_up_in", "changes_in_lym", "defect_in_n", "changes_in_n",
        "changes_in_stru", "spec_f", "desloca", "excl",
    ],
    "STA": ["sex", "cp", "fbs", "restecg", "exang"],
    "MON": ["a1", "a2", "a3", "a4", "a5", "a6"],
    "IMM": ["sex", "Type"],
    "CRY": ["sex", "Type"],
    "BCW": [],
}  # fmt: skip
NUMERIC = ["WIN", "GLA", "PAR", "PID", "USE"]
MISSING_SHARES = [0.1, 0.3]
NOMINALS = ["auto", "mismatch", "levels"]
# In standard deviations of the numbers. 0/1 columns for all levels start with sqrt(2).
ONE_HOT_MISMATCH = 2**0.5
MISMATCHES = [0.5, 1.0, ONE_HOT_MISMATCH, 2.0]
PREPARED, ALL_SCALED = "prepared", "prepared, levels scaled too"
MEASURES = ["accuracy", "log_loss", "auc", "seconds"]
KEY = ["table", "missing", "way", "repeat"]


@dataclass(frozen=True)
class Case:
    """One table, whole or with a share of its values removed."""

    table: str
    missing: float = 0.0

    @property
    def categorical(self) -> list[str]:
        """Columns of levels."""
        return CATEGORICAL.get(self.table, [])

    def data(self, folder: Path) -> tuple[pd.DataFrame, Codes]:
        """Features and class codes."""
        data = pd.read_csv(folder / f"{self.table}.csv")
        y = pd.factorize(data.pop("target"), sort=True)[0]
        X = data.astype(float)
        rng = np.random.default_rng([ord(letter) for letter in self.table])
        # The same draws for every share, so that what is missing at 10 % is at 30 % too.
        return X.mask(rng.random(X.shape) < self.missing), y

    def ways(self) -> dict[str, BaseEstimator]:
        """What is compared on this table."""
        ways = {f"nominal={nominal!r}": self._native(nominal) for nominal in NOMINALS}
        if not self.categorical:
            ways = {"nominal='auto'": self._native("auto")}
        ways[PREPARED] = make_pipeline(self._preparation(), model(None, scale=None))
        if self.categorical:
            ways[ALL_SCALED] = make_pipeline(
                self._preparation(), StandardScaler(), model(None, scale=None)
            )
        # With levels alone there is nothing beside which a mismatch has a scale.
        if self.categorical and self.table != "MON":
            ways |= {f"mismatch {size:.3g}": self._with_mismatch(size) for size in MISMATCHES}
            ways |= {
                f"nominal={nominal!r}, mismatch {ONE_HOT_MISMATCH:.3g}": self._with_mismatch(
                    ONE_HOT_MISMATCH, nominal
                )
                for nominal in ("auto", "levels")
            }
        return ways

    def _native(self, nominal: str) -> BaseEstimator:
        return model(self.categorical or "from_dtype", nominal=nominal)

    def _preparation(self) -> ColumnTransformer:
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        levels = make_pipeline(
            SimpleImputer(strategy="most_frequent"),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        return ColumnTransformer([("levels", levels, self.categorical)], remainder=numbers)

    def _with_mismatch(self, size: float, nominal: str = "mismatch") -> BaseEstimator:
        """A mismatch of `size`: numbers are divided by it, and sigma follows the distances."""
        divided = FunctionTransformer(partial(np.multiply, 1 / size))
        scaled = ColumnTransformer(
            [("levels", "passthrough", self.categorical)],
            remainder=make_pipeline(StandardScaler(), divided),
        )
        levels = list(range(len(self.categorical)))
        return make_pipeline(scaled, model(levels, scale=None, nominal=nominal))


def model(categorical: object, **columns: Any) -> ClassifierMixin:
    """The path with these columns, chosen by accuracy as it was when the results were written."""
    base = ImmigrateClassifier(columns=Columns(categorical, **columns))
    return ImmigrateClassifierCV(base, temperatures=(1.0,), scoring="accuracy")


def cases() -> Iterator[Case]:
    """Tables with levels, and tables of numbers with missing values."""
    yield from (Case(table) for table in CATEGORICAL)
    yield from (Case(table, share) for share in MISSING_SHARES for table in NUMERIC)


def measured(X: pd.DataFrame, y: Codes, way: BaseEstimator, repeat: int) -> dict[str, float]:
    """Means over the folds, and the processor time of the fits."""
    folds = StratifiedKFold(10, shuffle=True, random_state=repeat)
    rows = [_of_fold(X, y, clone(way), fold) for fold in folds.split(X, y)]
    means = np.mean(rows, axis=0)
    means[-1] *= len(rows)  # all fits together
    return dict(zip(MEASURES, means.tolist()))


def _of_fold(
    X: pd.DataFrame, y: Codes, way: BaseEstimator, fold: tuple[Codes, Codes]
) -> tuple[float, float, float, float]:
    train, test = fold
    start = time.process_time()
    way.fit(X.iloc[train], y[train])
    seconds = time.process_time() - start
    share = way.predict_proba(X.iloc[test])
    return (
        accuracy_score(y[test], way.predict(X.iloc[test])),
        log_loss(y[test], share, labels=way.classes_),
        roc_auc_score(y[test], share[:, 1]),
        seconds,
    )


def run(folder: Path, n_repeats: int) -> None:
    """Measure what is not there yet, repeat by repeat."""
    done = set()
    if RESULTS.exists():
        done = set(pd.read_csv(RESULTS)[KEY].itertuples(index=False, name=None))
    for repeat in range(n_repeats):
        for case in cases():
            X, y = case.data(folder)
            for name, way in case.ways().items():
                key = (case.table, case.missing, name, repeat)
                if key in done:
                    continue
                row = pd.DataFrame([dict(zip(KEY, key)) | measured(X, y, way, repeat)]).round(6)
                row.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)
                print(row.to_string(index=False, header=False), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of tables with --data or IMMIGRATE_DATA")
    run(Path(arguments.data), arguments.repeats)
