"""Held-out accuracy at fixed multiples of the median q, for both prediction rules.

    python benchmarks/choices/sigma_multiples.py --data FOLDER

What AUTO_MULTIPLE and the default rule were picked from: on the calibration tables, with the
others as a check. Same tables and folds as sigma_selection.py.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sigma_selection import CALIBRATION, CHECK, markdown, table
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier
from immigrate.margin.sigma import AUTO_MULTIPLES, typical_distance


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    folder = Path(parser.parse_args().data)
    warnings.simplefilter("ignore")
    rows = [row for code in CALIBRATION + CHECK for row in trials(folder, code)]
    trial = pd.DataFrame(rows, columns=["table", "multiple", "rule", "accuracy"])
    mean = trial.groupby(["table", "multiple", "rule"])["accuracy"].mean().unstack([1, 2])
    summary = pd.DataFrame({"7": mean.loc[CALIBRATION].mean(), "10": mean.loc[CHECK].mean()})
    print(markdown(summary.unstack("rule").sort_index(ascending=False).round(1)))


def trials(folder, code):
    """Accuracy of every fold, multiple and rule on one table."""
    X, y = table(folder, code)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
        p = X.shape[1]
        unit = typical_distance(X_train, np.eye(p) / np.sqrt(p))
        for multiple in AUTO_MULTIPLES:
            model = ImmigrateClassifier(multiple * unit).fit(X_train, y[train])
            for rule in ("distance", "energy"):
                model.model_ = replace(model.model_, rule=rule)
                accuracy = model.score(X_test, y[test])
                yield code, multiple, rule, 100 * accuracy


if __name__ == "__main__":
    main()
