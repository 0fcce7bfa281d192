"""Accuracy with centres and with as many random rows in place of all training rows."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from immigrate import ImmigrateClassifier

NUMBERS = (20, 50, 100, 200, 500, 1000)
N_SAMPLES, N_FEATURES = 3000, 8


def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two features that act together, two that act alone, and four of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    score = 2 * X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3]
    return X, (score + 0.5 * rng.logistic(size=N_SAMPLES) > 0).astype(int)


def draw() -> Figure:
    """Two curves and the line of all rows."""
    (X, y), (X_new, y_new) = table(0), table(1)
    everything = ImmigrateClassifier(references="all").fit(X, y).score(X_new, y_new)
    centres = [
        ImmigrateClassifier(references=k, random_state=0).fit(X, y).score(X_new, y_new)
        for k in NUMBERS
    ]
    rows = [ImmigrateClassifier().fit(X[:k], y[:k]).score(X_new, y_new) for k in NUMBERS]
    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    axes.axhline(everything, color="black", linestyle=":", label=f"all {N_SAMPLES:,} rows")
    axes.plot(NUMBERS, centres, "o-", color="#b2182b", label="centres of all rows")
    axes.plot(NUMBERS, rows, "s-", color="#888888", label="a model of so many rows only")
    axes.set(xscale="log", xticks=NUMBERS, xticklabels=NUMBERS)
    axes.set(xlabel="what new rows are compared with", ylabel="accuracy on new rows")
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
