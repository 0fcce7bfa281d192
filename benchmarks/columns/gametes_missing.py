"""The pair of GAMETES found again after a share of the values was removed.

    OMP_NUM_THREADS=1 python benchmarks/columns/gametes_missing.py --data FOLDER

1,600 samples, 20 columns, a pair without main effects. Writes results/gametes_missing.csv and
prints, for each share, in how many tables the pair is first and its largest adjusted p-value.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from immigrate import InteractionTest

RESULTS = Path(__file__).parents[1] / "results" / "gametes_missing.csv"
PAIR = {"P1", "P2"}
SHARES = [0.0, 0.1, 0.3, 0.5]


def row(table: pd.DataFrame, share: float, seed: int) -> dict[str, float | bool]:
    """What the test says of the table with these values removed."""
    X = table.drop(columns="target").astype(float)
    is_removed = np.random.default_rng(seed).random(X.shape) < share
    test = InteractionTest().fit(X.mask(is_removed), table["target"])
    first = test.table_.iloc[0]
    found = [set(pair) for pair in test.selected_[["feature_1", "feature_2"]].to_numpy()]
    return {
        "share": share,
        "seed": seed,
        "is_first": {first["feature_1"], first["feature_2"]} == PAIR,
        "p_adjusted": first["p_adjusted"],
        "n_false": sum(pair != PAIR for pair in found),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of tables with --data or IMMIGRATE_DATA")
    table = pd.read_csv(Path(arguments.data) / "GAMETES_2way_h04.csv")
    rows = pd.DataFrame(
        [row(table, share, seed) for share in SHARES for seed in range(arguments.seeds)]
    )
    rows.to_csv(RESULTS, index=False)
    print(rows.groupby("share").agg({"is_first": "sum", "p_adjusted": "max", "n_false": "sum"}))
