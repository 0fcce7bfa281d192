"""Are the probabilities right? Reliability, Brier score and log-loss, pooled over 20 UCI tables.

    python benchmarks/choices/calibration.py

Reads results/default_choice.csv, which default_choice.py writes, and draws
docs/figures/calibration.png. Every table counts alike, however many samples it has.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from default_choice import BOOSTED, NEW, OLD, RESULTS, TABLES, markdown
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parents[2] / "docs" / "figures" / "calibration.png"
WAYS = {
    OLD: "path, before",
    NEW: "path, default",
    "mixture": "path, mixture",
    BOOSTED: "boosted, default",
    "random forest": "random forest",
    "XGBoost": "XGBoost",
    "logistic regression": "logistic regression",
}
DRAWN = (OLD, NEW, "mixture", "random forest", "XGBoost", "logistic regression")


def main():
    results = pd.read_csv(RESULTS)
    for value in ("log_loss", "brier", "accuracy"):
        folds = results[value].str.split(" ")
        results[value] = [np.mean([float(one) for one in row]) for row in folds]
    curves = {way: curve(results[results["way"] == way]) for way in WAYS}
    print(markdown(table(results, curves)))
    draw(curves)
    print(PICTURE)


def curve(rows):
    """Share of samples, mean probability and frequency of each bin; every table counts alike.

    A probability p of class 1 is one of 1 - p of class 0, and which of the two classes of a table
    is called 1 is chance: both count, which makes the curve symmetric.
    """
    total = np.zeros((3, 10))
    for _, group in rows.groupby("table"):
        parts = [bins(text) for text in group["bins"]]
        n, sum_p, sum_y = np.sum(parts, axis=0)
        both = np.array([n + n[::-1], sum_p + (n - sum_p)[::-1], sum_y + (n - sum_y)[::-1]])
        total += both / both[0].sum()
    share, sum_p, sum_y = total
    with np.errstate(invalid="ignore"):
        return share / share.sum(), sum_p / share, sum_y / share


def bins(text):
    return np.array([list(map(float, one.split(":"))) for one in text.split(" ")]).T


def table(results, curves):
    """Measures of each way; the expected error is the mean distance from the diagonal."""
    rows = {}
    for way, name in WAYS.items():
        own = results[results["way"] == way]
        mean = own.groupby("table")[["log_loss", "brier", "accuracy"]].mean().mean()
        share, p, frequency = curves[way]
        sure = slice(9, 10)
        rows[name] = {
            "tables": own["table"].nunique(),
            "log-loss": f"{mean['log_loss']:.3f}",
            "Brier": f"{mean['brier']:.4f}",
            "accuracy %": f"{mean['accuracy']:.1f}",
            "calibration error": f"{np.nansum(share * np.abs(p - frequency)):.3f}",
            "said where sure (> .9)": f"{p[sure][0]:.3f}",
            "right there": f"{frequency[sure][0]:.3f}",
        }
    return pd.DataFrame(rows).T


def draw(curves):
    figure, axes = plt.subplots(2, 3, figsize=(9, 6.2), sharex=True, sharey=True)
    for ax, way in zip(axes.flat, DRAWN):
        share, p, frequency = curves[way]
        ax.plot([0, 1], [0, 1], color="0.6", lw=1, zorder=0)
        ax.bar(np.arange(10) / 10 + 0.05, share, width=0.09, color="0.88", zorder=-1)
        ax.plot(p, frequency, "o-", color="#1f6f8b" if "path" in WAYS[way] else "#b0592b", ms=4)
        ax.set_title(WAYS[way], fontsize=10, loc="left")
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[1]:
        ax.set_xlabel("probability said")
    for ax in axes[:, 0]:
        ax.set_ylabel("how often it happened")
    figure.suptitle(
        f"Held-out probabilities, {len(TABLES)} tables; grey bars: share of the samples",
        fontsize=11,
        x=0.01,
        ha="left",
    )
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
