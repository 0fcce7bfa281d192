"""Features and pairs of the trial, by weight and by evidence."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from immigrate import ImmigrateClassifierCV, InteractionTest
from immigrate.datasets import make_trial

TRUE = {"treatment × variant": "#b2182b", "age": "#2166ac", "severity": "#2166ac"}
N_SHOWN = 30


def draw() -> Figure:
    """Two rows of bars over the same features and pairs, each in its own order."""
    trial = make_trial(random_state=0).set_index("patient")
    X, y = trial.drop(columns="outcome"), trial["outcome"]
    table = ImmigrateClassifierCV().fit(X, y).interactions(test=InteractionTest().fit(X, y))
    second = table["feature_2"].where(table["feature_2"].notna(), None)
    table["name"] = [a if b is None else f"{a} × {b}" for a, b in zip(table["feature_1"], second)]
    table["size_of_weight"] = table["weight"].abs()
    table["evidence"] = -np.log10(table["p_adjusted"].clip(lower=1e-30))
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    bars(axes[0], table, "size_of_weight", "weight (absolute value)")
    bars(axes[1], table, "evidence", "evidence: −log₁₀ of the adjusted p")
    axes[1].axvline(-np.log10(0.05), color="black", linewidth=0.8, linestyle=":")
    return figure


def bars(axes, table, column, label) -> None:
    """The largest values of a column, the true effects coloured and named."""
    largest = table.nlargest(N_SHOWN, column, keep="first").reset_index(drop=True)
    colours = [TRUE.get(name, "#cccccc") for name in largest["name"]]
    axes.barh(largest.index, largest[column], color=colours)
    for place, name in largest["name"].items():
        if name in TRUE:
            axes.annotate(
                name, (largest[column][place], place), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=9, color=TRUE[name],
            )  # fmt: skip
    axes.invert_yaxis()
    axes.set(xlabel=label, yticks=[])
    axes.set_ylabel(f"the first {N_SHOWN} of {len(table)} features and pairs")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(right=1.35 * largest[column].max())
