"""How near the weights of a sample are to those of all samples, and whether they know it.

    python benchmarks/size/sampling_error.py
    python benchmarks/size/sampling_error.py --sizes 1000x1000 1000x4000 --draws 6

One exact fit of 20,000 x 20, then fits with the default sizes of samples from 50 seeds. Prints and
writes to ``benchmarks/results/sampling_error.csv`` the cosine of each W to the exact one, the
distance between them, the stated standard error, and the share of the single weights that lie
within two standard errors. With sizes, anchors x references, these are compared instead and
nothing is written.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from immigrate import ImmigrateClassifier
from immigrate.files import whole_file
from immigrate.options import Descent

sys.path.insert(0, str(Path(__file__).parent))
from scaling import table

RESULTS = Path(__file__).parents[1] / "results" / "sampling_error.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--sizes", nargs="*", default=["auto"], metavar="ANCHORSxREFERENCES")
    given = parser.parse_args()
    X, y = table(given.rows, seed=0)
    whole = Descent(n_anchors=None, n_references=None)
    clock = time.perf_counter()
    exact = ImmigrateClassifier(solver=whole, n_jobs=-1).fit(X, y)
    exact_seconds = time.perf_counter() - clock
    print(f"exact fit: {exact_seconds:.1f} s", flush=True)
    rows = []
    for size, seed in itertools.product(given.sizes, range(given.draws)):
        n_anchors, n_references = (size, size) if size == "auto" else map(int, size.split("x"))
        solver = Descent(n_anchors=n_anchors, n_references=n_references)
        clock = time.perf_counter()
        # What the model is compared with later has nothing to do with the weights: few centres.
        model = ImmigrateClassifier(
            solver=solver, references=10, n_jobs=-1, random_state=seed
        ).fit(X, y)
        difference = model.weight_matrix_ - exact.weight_matrix_
        rows.append(
            {
                "size": size,
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
    if given.sizes != ["auto"]:
        print(found.groupby("size", sort=False).mean().to_string())
        return
    covered = (found["distance"] <= 2 * found["standard_error"]).mean()
    print(found.drop(columns="size").describe().loc[["mean", "min", "max"]].to_string())
    print(f"distance within two standard errors in {covered:.0%} of {len(found)} draws")
    with whole_file(RESULTS) as place:
        found.to_csv(place, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
