"""Simba with margins to class means, under wrong labels: how well true features rank.

Tables of 200 samples and 20 features, of which the first three carry the label: by their means
(each shifted by one standard deviation), by an exclusive or of the first two beside a third that
is shifted, or by an exclusive or alone (two true features). A share of the labels is turned. For
each share of global information: the share of true features among as many with the highest
scores, mean over 30 seeds, and its standard error. Writes ``benchmarks/results/simba_noise.csv``.

    python benchmarks/weights/simba_noise.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from immigrate import Simba

RESULTS = Path(__file__).parents[1] / "results" / "simba_noise.csv"
N_SAMPLES, N_FEATURES, N_SEEDS = 200, 20, 30
SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]
NOISES = [0.0, 0.1, 0.2, 0.3]


def table(kind, noise, seed):
    """X, y with wrong labels, and the number of true features, which come first."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    y = np.arange(N_SAMPLES) % 2
    n_true = 3
    if kind == "means":
        X[:, :3] += y[:, None]
    else:
        # The sign of the product of the first two features is the label.
        X[:, 1] = np.abs(X[:, 1]) * np.sign(X[:, 0]) * (2 * y - 1)
        if kind == "xor and mean":
            X[:, 2] += y
        else:
            n_true = 2
    return X, y ^ (rng.uniform(size=N_SAMPLES) < noise), n_true


def recovered(kind, noise, share, seed):
    X, y, n_true = table(kind, noise, seed)
    model = Simba(n_starts=2, global_share=share, random_state=0).fit(X, y)
    best = np.argsort(-model.feature_importances_, kind="stable")[:n_true]
    return float((best < n_true).mean())


def main():
    rows = []
    for kind in ("means", "xor and mean", "xor"):
        for noise in NOISES:
            for share in SHARES:
                found = [recovered(kind, noise, share, seed) for seed in range(N_SEEDS)]
                error = np.std(found, ddof=1) / np.sqrt(N_SEEDS)
                row = {"table": kind, "wrong_labels": noise, "global_share": share}
                rows.append(row | {"true_features": np.mean(found), "standard_error": error})
            print(
                pd.DataFrame(rows[-len(SHARES) :]).to_string(index=False, header=False), flush=True
            )
    RESULTS.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
