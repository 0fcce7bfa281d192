"""Known pairs of real tables whose outcome is a number: the test beside least squares.

    python benchmarks/detection/real_numbers.py --data FOLDER [--label now]

FOLDER holds the tables; their sources are in docs/measurements/numbers.md. Beside the p-value of
the test stands that of the F-test of the pair's products in a regression on all features, and the
place of the pair among all pairs by either. Results go to ``results/real_numbers.csv``, one block
of rows per label, so that two versions of the library can stand beside each other.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))

from number_outcomes import _least_squares, dummies

from immigrate import InteractionTest

RESULTS = Path(__file__).parent / "results" / "real_numbers.csv"
MARKERS = ("c4_9_GA1", "c5_35_GH.117C")


def tables(folder):
    """Name, features, numbers, and the known pair, "" where nothing is to be found."""
    read = {
        name: pd.read_csv(folder / f"{name}.csv")
        for name in (
            "adler",
            "poisons",
            "toothgrowth",
            "wool",
            "cps1985",
            "blackmore",
            "cr6261_antibody",
            "qtl_arabidopsis_thin",
        )
    }
    adler, poisons, guinea = read["adler"], read["poisons"], read["toothgrowth"]
    yield (
        "ratings",
        adler[["instruction", "expectation"]],
        adler["rating"],
        "instruction × expectation",
    )
    yield "poisons", poisons[["poison", "treat"]], poisons["time"], "poison × treat"
    yield "poisons, 1/time", poisons[["poison", "treat"]], 1 / poisons["time"], ""
    yield "guinea pigs", guinea[["supp", "dose"]], guinea["len"], "supp × dose"
    wool = read["wool"]
    factors = wool[["len", "amp", "load"]]
    yield "wool", factors, wool["cycles"], "len × amp"
    yield "wool, log", factors, np.log(wool["cycles"]), ""
    wages = read["cps1985"]
    yield "wages", wages.drop(columns="wage"), wages["wage"], "gender × married"
    girls = read["blackmore"]
    yield "exercise", girls[["age", "group"]], girls["exercise"], "age × group"
    antibody = read["cr6261_antibody"].dropna(subset="y_H1_neglogKd")
    sites = [name for name in antibody if name.startswith("S")]
    yield "antibody, H1", antibody[sites], antibody["y_H1_neglogKd"], "S29 × S83"
    made_up = pd.read_csv(folder / "GAMETES_continuous_endpoint.tsv.gz", sep="\t")
    yield "GAMETES", made_up.drop(columns="Class"), made_up["Class"], "M0P0 × M0P1"
    plants = read["qtl_arabidopsis_thin"]
    levels = [name for name in plants if name.startswith("y_")]
    for name in levels:
        yield name[2:], plants.drop(columns=levels), plants[name], " × ".join(MARKERS)


def f_test(X, y):
    """P-values of all pairs by least squares."""
    own = {name: dummies(X[name]) for name in X}
    base = np.column_stack([np.ones(len(y)), *own.values()])
    p = {}
    for a, b in combinations(own, 2):
        products = (own[a][:, :, None] * own[b][:, None, :]).reshape(len(y), -1)
        full = np.column_stack([base, products])
        rss, rank = zip(*(_least_squares(Z, np.asarray(y, float)) for Z in (base, full)))
        more, left = rank[1] - rank[0], len(y) - rank[1]
        F = (rss[0] - rss[1]) / max(more, 1) / (rss[1] / max(left, 1))
        p[frozenset((a, b))] = stats.f.sf(F, more, left) if more and left > 0 else 1.0
    return p


def row_of(name, X, y, known):
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = InteractionTest(outcome="number").fit(X, y)
    seconds, table = time.process_time() - start, test.table_
    pairs = [frozenset(pair) for pair in table[["feature_1", "feature_2"]].to_numpy()]
    p, classical = dict(zip(pairs, table["p_value"])), f_test(X, y)
    target = frozenset(known.split(" × ")) if known else min(p, key=p.get)

    def place(values):
        return 1 + sum(v < values[target] for k, v in values.items() if k != target)

    return {
        "table": name,
        "rows": len(X),
        "pairs": len(p),
        "pair": known or " × ".join(sorted(target)),
        "is_known": bool(known),
        "p": p[target],
        "place": place(p),
        "p_F": classical[target],
        "place_F": place(classical),
        "n_found": len(test.selected_),
        "features": int((test.features_["p_adjusted"] <= 0.05).sum()),
        "of": len(test.features_),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--label", default="now")
    options = parser.parse_args()
    rows = pd.DataFrame([row_of(*table) for table in tables(options.data)])
    rows.insert(0, "label", options.label)
    before = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=rows.columns)
    kept = before[before["label"] != options.label]
    pd.concat([kept, rows] if len(kept) else [rows]).to_csv(
        RESULTS, index=False, float_format="%.3g"
    )
    print(rows.to_string(float_format="%.3g"))


if __name__ == "__main__":
    main()
