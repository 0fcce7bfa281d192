"""How well numbers are predicted: `ImmigrateRegressor` beside three others, on eight tables.

    python benchmarks/choices/regression.py --real FOLDER [--tables NAME ...] [--methods NAME ...]

Five folds in three repeats; R2 on the rows that were held out. FOLDER has the tables of
`REAL`, which cannot be given away; without it there are scikit-learn's diabetes and three made
ones. What is in results/regression.csv is not run again, so that a run goes on where it was
stopped; a row is one repeat, the mean over its folds.

    relief neighbours   ReliefF's weights, Manhattan distance, k of 3, 5, 10 or 20 neighbours by
                        five inner folds
    ridge               levels as columns of 0 and 1, strength by leave-one-out
    forest              300 trees
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from immigrate import ImmigrateRegressor, ReliefF
from immigrate.relief.metric import WeightedFeatures

RESULTS = Path(__file__).parents[1] / "results" / "regression.csv"
N_FOLDS, N_REPEATS = 5, 3
KEPT = tempfile.mkdtemp()
# File, outcome, columns that are none of the features, and rows if not all.
REAL = {
    "adler": ("adler.csv", "rating", (), None),
    "arabidopsis": ("qtl_arabidopsis_thin.csv", "y_X3.Hydroxypropyl", ("y_",), None),
    "cps1985": ("cps1985.csv", "wage", (), None),
    "blackmore": ("blackmore.csv", "exercise", ("subject",), None),
    "omicron": ("omicron_rbd_ace2.csv.gz", "y_neglog10Kd", ("se",), 1500),
    "cr6261": ("cr6261_antibody.csv", "y_H1_neglogKd", ("y_",), None),
    "GAMETES": ("GAMETES_continuous_endpoint.tsv.gz", "Class", (), None),
}


def real_table(folder, name):
    file, outcome, others, n_rows = REAL[name]
    table = pd.read_csv(folder / file, sep="\t" if "tsv" in file else ",")
    table = table.dropna(subset=outcome)
    if n_rows:
        table = table.sample(n_rows, random_state=0)
    table = table.reset_index(drop=True)
    is_other = [c == outcome or (bool(others) and c.startswith(others)) for c in table]
    return table.loc[:, np.logical_not(is_other)], table[outcome].to_numpy(float)


def product_table(seed=0, n=400):
    """A product of two numbers among six, and as much noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = X[:, 0] * X[:, 1] + rng.normal(size=n)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]), y


def skewed_table(seed=0, n=400):
    """An outcome with a long tail, of two levels and a number."""
    rng = np.random.default_rng(seed)
    a, b, number = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": b, "number": number, "noise": rng.normal(size=n)})
    return frame, np.exp((a == b) + number + 0.5 * rng.normal(size=n))


def friedman_table(seed=0, n=400):
    X, y = make_friedman1(n, random_state=seed)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y


MADE = {
    "diabetes": lambda: load_diabetes(return_X_y=True, as_frame=True),
    "product": product_table,
    "skewed": skewed_table,
    "Friedman": friedman_table,
}


def coded(model, *, scaled):
    numbers = StandardScaler() if scaled else "passthrough"
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    return make_pipeline(columns, model)


def relief_neighbours():
    weigher = WeightedFeatures(ReliefF(outcome="number"), metric="manhattan")
    # Weights are learned once for all k.
    model = make_pipeline(weigher, KNeighborsRegressor(metric="manhattan"), memory=KEPT)
    grid = {"kneighborsregressor__n_neighbors": [3, 5, 10, 20]}
    return GridSearchCV(model, grid, cv=KFold(5, shuffle=True, random_state=0))


METHODS = {
    "ImmigrateRegressor": lambda: ImmigrateRegressor(random_state=0),
    "relief neighbours": relief_neighbours,
    "ridge": lambda: coded(RidgeCV(np.logspace(-2, 4, 25)), scaled=True),
    "forest": lambda: coded(RandomForestRegressor(300, random_state=0), scaled=False),
}


def repeat_row(X, y, make, repeat):
    """Means over the folds of a repeat."""
    r2, mae, seconds = [], [], 0.0
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=repeat).split(X):
        start = time.perf_counter()
        model = make().fit(X.iloc[train], y[train])
        seconds += time.perf_counter() - start
        found = model.predict(X.iloc[test])
        r2.append(r2_score(y[test], found))
        base = np.abs(y[test] - np.median(y[train])).mean()
        mae.append(np.abs(y[test] - found).mean() / base)
    return {
        "r2": round(float(np.mean(r2)), 4),
        "se": round(float(np.std(r2, ddof=1) / np.sqrt(N_FOLDS)), 4),
        "mae_ratio": round(float(np.mean(mae)), 4),
        "fit_seconds": round(seconds / N_FOLDS, 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--real", type=Path, help="folder with the real tables")
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["diabetes", *REAL] if options.real else list(MADE)
    done = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    known = {(row["table"], row["method"], row["repeat"]) for row in done}
    for name in options.tables or names:
        X, y = real_table(options.real, name) if name in REAL else MADE[name]()
        for method in options.methods:
            for repeat in range(N_REPEATS):
                if (name, method, repeat) in known:
                    continue
                key = {"table": name, "n": len(X), "p": X.shape[1], "method": method}
                row = {**key, "repeat": repeat, **repeat_row(X, y, METHODS[method], repeat)}
                done.append(row)
                print(*row.values(), flush=True)
                pd.DataFrame(done).to_csv(RESULTS, index=False)
    report(pd.DataFrame(done))


def report(results):
    """Mean R2 over the repeats, and the mean standard error over the folds of one."""
    means = results.groupby(["table", "method"], sort=False)[["r2", "se"]].mean()
    words = means.apply(lambda row: f"{row['r2']:.3f} ± {row['se']:.3f}", axis=1)
    print(words.unstack().to_string())


if __name__ == "__main__":
    main()
