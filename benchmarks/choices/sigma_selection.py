"""How to choose sigma: held-out accuracy and time of each way, over the paper's small tables.

    python benchmarks/choices/sigma_selection.py --data FOLDER

10-fold cross-validation, two repeats; scaling and the choice of sigma inside the folds. The
multiple behind sigma="auto" was picked on CALIBRATION and is checked on the other tables.
Appends to results/sigma_selection.csv as it goes and skips what is there.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.options import Columns

CALIBRATION = ["GLA", "PAR", "WIN", "MON", "SMR", "ION", "PID"]
CHECK = ["BCW", "CRY", "CUS", "ECO", "HMS", "IMM", "LYM", "STA", "URB", "USE"]
RESULTS = Path(__file__).parents[1] / "results" / "sigma_selection.csv"

# Shuffled, because some tables are sorted.
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
# The criterion of these ways; default_choice.py compares it with others.
ACCURACY = {"temperatures": (1.0,), "scoring": "accuracy"}
PAPER = ACCURACY | {"sigmas": "paper", "penalties": (None, "prune"), "rules": ("energy",)}
# As the scaler leaves them: the default would bring back the standard deviation.
RAW = Columns(scale=None)
WAYS = {
    "auto": (StandardScaler(), ImmigrateClassifier()),
    "auto, other units": (StandardScaler(), ImmigrateClassifier()),
    "auto, min-max": (MinMaxScaler(), ImmigrateClassifier(columns=RAW)),
    "sigma = 1": (StandardScaler(), ImmigrateClassifier(1.0)),
    "leave-one-out": (StandardScaler(), ImmigrateClassifierCV(**ACCURACY)),
    "leave-one-out, free energy only": (
        StandardScaler(),
        ImmigrateClassifierCV(rules=("energy",), **ACCURACY),
    ),
    "5-fold": (StandardScaler(), ImmigrateClassifierCV(cv=FOLDS, **ACCURACY)),
    "leave-one-out, min-max": (
        MinMaxScaler(),
        ImmigrateClassifierCV(ImmigrateClassifier(columns=RAW), **ACCURACY),
    ),
    "leave-one-out, paper's grid": (StandardScaler(), ImmigrateClassifierCV(**PAPER)),
    "5-fold, paper's grid": (StandardScaler(), ImmigrateClassifierCV(cv=FOLDS, **PAPER)),
    "leave-one-out, one standard error": (
        StandardScaler(),
        ImmigrateClassifierCV(one_standard_error=True, **ACCURACY),
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    folder = parser.parse_args().data
    if folder is None:
        parser.error("name the folder of tables with --data or IMMIGRATE_DATA")
    RESULTS.parent.mkdir(exist_ok=True)
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["table", "way"])
    for code in CALIBRATION + CHECK:
        for way in WAYS:
            if not ((done["table"] == code) & (done["way"] == way)).any():
                row = measured(folder, code, way)
                row.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)
                print(row.to_string(index=False, header=False), flush=True)
    report(pd.read_csv(RESULTS))


def measured(folder, code, way):
    """Mean held-out accuracy and summed processor time of the fits of one way on one table."""
    X, y = table(folder, code)
    if way == "auto, other units":
        X = X * np.logspace(-3, 3, X.shape[1])
    scaler, model = WAYS[way]
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)
    correct, seconds = [], 0.0
    for train, test in folds.split(X, y):
        start = time.process_time()
        fitted = make_pipeline(scaler, model).fit(X[train], y[train])
        seconds += time.process_time() - start
        correct.append(fitted.score(X[test], y[test]))
    return pd.DataFrame(
        {"table": [code], "way": way, "accuracy": 100 * np.mean(correct), "seconds": seconds}
    )


def table(folder, code):
    data = pd.read_csv(folder / f"{code}.csv")
    return data.drop(columns="target").to_numpy(float), pd.factorize(data["target"], sort=True)[0]


def report(results):
    """Means over all tables and over the check tables, and fit time against leave-one-out."""
    wide = results.pivot(index="way", columns="table", values="accuracy")
    seconds = results.groupby("way")["seconds"].sum()
    summary = pd.DataFrame(
        {
            "all 17": wide.mean(axis=1),
            "calibration 7": wide[CALIBRATION].mean(axis=1),
            "check 10": wide[CHECK].mean(axis=1),
            "time / leave-one-out": seconds / seconds["leave-one-out"],
        }
    )
    print(markdown(summary.loc[list(WAYS)].round(2)))
    print()
    print(markdown(wide.loc[list(WAYS)].T.round(1)))


def markdown(frame):
    rows = [["", *frame.columns], ["---"] * (1 + frame.shape[1])]
    rows += [[name, *values] for name, values in zip(frame.index, frame.to_numpy().tolist())]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


if __name__ == "__main__":
    main()
