"""A million rows: weights, choice of sigma, centres and predictions, against histogram boosting.

    python benchmarks/size/scaling.py                # 100,000 and 1,000,000 rows of 20 features
    python benchmarks/size/scaling.py --rows 100000 --centres 500 2000 8000

Each case runs in a process of its own, after a small fit that compiles everything: growth of
memory is the peak of the process less what it held when the tables were there. Both methods see
the same rows, and predict as many new ones. Writes ``benchmarks/results/scaling.csv``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.files import whole_file

RESULTS = Path(__file__).parents[1] / "results" / "scaling.csv"
N_FEATURES, LABEL_NOISE = 20, 0.1


def table(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three main effects, a pair that matters only together, and 10 % wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES))
    score = X[:, 0] - 0.8 * X[:, 1] + 0.6 * X[:, 2] + 1.5 * X[:, 3] * X[:, 4]
    return X, (score > 0) ^ (rng.uniform(size=n_rows) < LABEL_NOISE)


def resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak_mb() -> float:
    """The most that it ever was."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def measured(model: Any, n_rows: int) -> dict[str, Any]:
    """Seconds of fit and prediction, accuracy on new rows, growth of memory."""
    X, y = table(n_rows, seed=0)
    X_new, y_new = table(n_rows, seed=1)
    before = resident_mb()
    clock = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    accuracy = float((model.predict(X_new) == y_new).mean())
    return {
        "fit": fitted - clock,
        "predict": time.perf_counter() - fitted,
        "accuracy": accuracy,
        "growth_mb": peak_mb() - before,
    }


def ours(n_rows: int, centres: str) -> dict[str, Any]:
    references = centres if centres in ("auto", "all") else int(centres)
    # By accuracy, as it was when the results were written.
    model = ImmigrateClassifierCV(
        ImmigrateClassifier(references=references, random_state=0),
        temperatures=(1.0,),
        scoring="accuracy",
        n_jobs=-1,
    )
    warm_up(model)
    found = measured(model, n_rows)
    return found | {
        "sampled": model.n_anchors_,
        "references": len(model.model_.references.codes),
        "weight_error": float(np.linalg.norm(model.weight_error_)),
        "sigma": model.sigma_,
    }


def warm_up(model: ImmigrateClassifierCV) -> None:
    """A fit of a few rows with centres: nothing is compiled after it."""
    X, y = table(500, seed=2)
    few = ImmigrateClassifierCV(ImmigrateClassifier(references=50), n_jobs=model.n_jobs)
    few.fit(X, y).predict(X)


def boosting(n_rows: int, centres: str) -> dict[str, Any]:
    model = HistGradientBoostingClassifier(random_state=0)
    model.fit(*table(500, seed=2))
    return measured(model, n_rows)


METHODS = {"ours": ours, "boosting": boosting}


def in_own_process(method: str, n_rows: int, centres: str) -> dict[str, Any]:
    case = [sys.executable, __file__, "--case", method, str(n_rows), centres]
    done = subprocess.run(case, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {"method": method, "rows": n_rows, "centres": centres} | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--centres", nargs="*", default=["auto"])
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        method, n_rows, centres = given.case
        print(json.dumps(METHODS[method](int(n_rows), centres)))
        return
    rows = []
    for n_rows in given.rows:
        for method, centres in [("boosting", "-"), *(("ours", c) for c in given.centres)]:
            rows.append(in_own_process(method, n_rows, centres))
            print(pd.DataFrame(rows[-1:]).to_string(index=False), flush=True)
    found = pd.DataFrame(rows)
    found["total"] = found["fit"] + found["predict"]
    first = found[found["method"] == "boosting"].set_index("rows")
    found["times_boosting"] = found["total"] / found["rows"].map(first["total"])
    found["points_above_boosting"] = 100 * (
        found["accuracy"] - found["rows"].map(first["accuracy"])
    )
    print(found.to_string(index=False, float_format="{:.4g}".format))
    with whole_file(RESULTS) as place:
        found.to_csv(place, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
