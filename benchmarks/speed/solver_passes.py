"""How many passes over the pairs does the monotone solver need to a relative gap of 1e-3?

    python benchmarks/speed/solver_passes.py --data FOLDER

Seven of the paper's tables, standardised, sigma = 4, 1 and 0.25, from the identity. Beside it,
the gap that ten full steps of the paper leave.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from immigrate.core.cones import MATRIX_SETS
from immigrate.margin.problem import MarginProblem
from immigrate.solvers import full_steps, spectral_descent

TABLES = ("GLA", "PAR", "WIN", "MON", "SMR", "ION", "PID")
SIGMAS = (4.0, 1.0, 0.25)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    folder = Path(parser.parse_args().data)
    passes, gaps = [], []
    for code in TABLES:
        data = pd.read_csv(folder / f"{code}.csv")
        X = StandardScaler().fit_transform(data.drop(columns="target").to_numpy(float))
        problem = MarginProblem(X, pd.factorize(data["target"])[0])
        start = np.eye(X.shape[1]) / np.sqrt(X.shape[1])
        for sigma in SIGMAS:
            ours = spectral_descent(
                problem, start, sigma, MATRIX_SETS["psd"], max_iter=100, tol=1e-3
            )
            theirs = full_steps(problem, start, sigma, MATRIX_SETS["psd"], max_iter=10, tol=0)
            passes.append(ours.n_passes)
            gaps.append(theirs.gap)
            print(
                f"{code}  sigma {sigma:<5g} {ours.n_passes:2d} passes to a gap of {ours.gap:.1e};"
                f"  ten full steps leave {theirs.gap:.1e}"
            )
    print(f"mean {np.mean(passes):.2f} passes, at most {max(passes)}")
    print(f"full steps above 1e-3 after ten: {np.mean(np.array(gaps) > 1e-3):.0%}")


if __name__ == "__main__":
    main()
