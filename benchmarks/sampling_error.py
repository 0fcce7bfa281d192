"""How near the weights of a sample are to those of all samples, and whether they know it.

    python benchmarks/sampling_error.py

One exact fit of 20,000 x 20, then fits with the default sizes of samples from 50 seeds. Prints and
writes to ``benchmarks/results/sampling_error.csv`` the cosine of each W to the exact one, the
distance between them, the stated standard error, and the share of the single weights that lie
within two standard errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from immigrate import Descent, ImmigrateClassifier
from immigrate.files import whole_file

sys.path.insert(0, str(Path(__file__).parent))
from scaling import table

RESULTS = Path(__file__).parent / "results" / "sampling_error.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=50)
    given = parser.parse_args()
    X, y = table(given.rows, seed=0)
    whole = Descent(n_anchors=None, n_references=None)
    clock = time.perf_counter()
    exact = ImmigrateClassifier(solver=whole, n_jobs=-1).fit(X, y)
    exact_seconds = time.perf_counter() - clock
    print(f"exact fit: {exact_seconds:.1f} s", flush=True)
    rows = []
    for seed in range(given.draws):
        clock = time.perf_counter()
        # All samples stay references: centres have nothing to do with the weights.
        model = ImmigrateClassifier(references=10, n_jobs=-1, random_state=seed).fit(X, y)
        difference = model.weight_matrix_ - exact.weight_matrix_
        rows.append(
            {
                "seed": seed,
                "sampled": model.n_anchors_,
                "times_exact": (time.perf_counter() - clock) / exact_seconds,
                "cosine": float((model.weight_matrix_ * exact.weight_matrix_).sum()),
                "distance": float(np.linalg.norm(difference)),
                "standard_error": float(np.linalg.norm(model.weight_error_)),
                "weights_covered": float((np.abs(difference) <= 2 * model.weight_error_).mean()),
            }
        )
        print(pd.DataFrame(rows[-1:]).to_string(index=False, header=seed == 0), flush=True)
    found = pd.DataFrame(rows)
    covered = (found["distance"] <= 2 * found["standard_error"]).mean()
    print(found.describe().loc[["mean", "min", "max"]].to_string())
    print(f"distance within two standard errors in {covered:.0%} of {len(found)} draws")
    with whole_file(RESULTS) as place:
        found.to_csv(place, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
