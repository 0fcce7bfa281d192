"""What a diagonal screen keeps of a planted table, and where a pure pair's weight then ranks.

100 samples, 5,000 genes of noise, three genes whose class means differ by 1.5 standard
deviations, and two genes that say nothing alone: the product of their signs is the class.

    python benchmarks/weights/planted_genes.py --seeds 20

Writes benchmarks/results/planted_genes.csv and prints the table of
docs/measurements/wide-tables.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from immigrate import IM4EClassifier, ImmigrateClassifier
from immigrate.options import Screen

RESULTS = Path(__file__).parents[1] / "results" / "planted_genes.csv"
MAIN = ["main1", "main2", "main3"]
PAIR = ["pair1", "pair2"]


def planted_table(seed, n=100, n_noise=5000, shift=1.5):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    sign = 2 * y - 1
    names = [*MAIN, *PAIR, *(f"noise{i}" for i in range(n_noise))]
    X = rng.standard_normal((n, len(names)))
    X[:, :3] += shift / 2 * sign[:, None]
    X[:, 4] = np.abs(X[:, 4]) * np.sign(X[:, 3]) * sign
    X = pd.DataFrame(X, columns=names)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


def screen_row(X, y, sigma):
    """Which planted genes pass the limit 2 / p, and their ranks among all genes."""
    weight = pd.Series(IM4EClassifier(sigma).fit(X, y).feature_weights_, X.columns)
    rank = weight.rank(ascending=False)
    is_kept = weight > 2 / len(weight)
    return {
        "n_passing": int(is_kept.sum()),
        "n_main_kept": int(is_kept[MAIN].sum()),
        "worst_main_rank": int(rank[MAIN].max()),
        "n_pair_kept": int(is_kept[PAIR].sum()),
        "worst_pair_rank": int(rank[PAIR].max()),
    }


def pair_rank(X, y, **screening):
    """Rank of the pure pair's |weight| among all pairs of the model, and how many there are."""
    model = ImmigrateClassifier(sigma=1.0, screen=Screen("im4e", **screening)).fit(X, y)
    table = model.interactions()
    table = table[table["kind"] == "pair"].reset_index(drop=True)
    is_pair = table["feature_1"].isin(PAIR) & table["feature_2"].isin(PAIR)
    return table.index[is_pair][0] + 1, len(table)


def pair_ranks(X, y):
    """Where both genes pass the paper's limit, and where they are named in `keep`."""
    forced, n_forced = pair_rank(X, y, keep=PAIR)
    ranks = {"rank_if_named": forced, "of_named": n_forced}
    if screen_row(X, y, IM4EClassifier().sigma)["n_pair_kept"] == 2:
        ranks["rank_if_passed"], ranks["of_passed"] = pair_rank(X, y, max_features=None)
    return ranks


def run(n_seeds, sigmas):
    rows = []
    for seed in range(n_seeds):
        X, y = planted_table(seed)
        ranks = pair_ranks(X, y)
        rows += [{"seed": seed, "sigma": s, **screen_row(X, y, s), **ranks} for s in sigmas]
        pd.DataFrame(rows).to_csv(RESULTS, index=False)
    return pd.DataFrame(rows)


def summary(rows):
    by_sigma = rows.groupby("sigma")
    return pd.DataFrame(
        {
            "genes passing": by_sigma["n_passing"].median(),
            "all 3 main kept": by_sigma["n_main_kept"].agg(lambda n: (n == 3).sum()),
            "worst main rank": by_sigma["worst_main_rank"].max(),
            "both of the pair kept": by_sigma["n_pair_kept"].agg(lambda n: (n == 2).sum()),
            "one of the pair kept": by_sigma["n_pair_kept"].agg(lambda n: (n == 1).sum()),
            "median worst pair rank": by_sigma["worst_pair_rank"].median(),
        }
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sigmas", type=float, nargs="+", default=[1.0, 0.125, 0.03125])
    arguments = parser.parse_args()
    rows = run(arguments.seeds, arguments.sigmas)
    print(summary(rows).to_string())
    print(rows.drop_duplicates("seed").filter(regex="seed|rank_if|of_").to_string(index=False))
