"""Draw planted against measured sizes: ``docs/figures/recovered-sizes.png``.

    python benchmarks/detection/recovered.py

From the rows that ``evidence.py`` has left in ``build``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd

ROOT = Path(__file__).parents[2]


def main():
    rows = pd.read_csv(ROOT / "build" / "evidence.csv")
    rows = rows[rows["study"] == "sizes split"]
    wide = rows.pivot_table(
        index=["scenario", "replicate"], columns="measure", values="value"
    ).reset_index()
    scenarios = wide.groupby("scenario")["true size"].first().sort_values().index
    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    for i, scenario in enumerate(scenarios):
        own = wide[wide["scenario"] == scenario]
        low, high = own["size"].quantile([0.05, 0.95])
        ax.plot([i, i], [low, high], color="0.6", lw=6, solid_capstyle="butt")
        ax.plot(i, own["size"].mean(), "o", color="C0", ms=8)
        ax.plot([i - 0.35, i + 0.35], [own["true size"].iloc[0]] * 2, color="C1", lw=2)
    ax.plot([], [], color="C1", lw=2, label="planted")
    ax.plot([], [], "o", color="C0", label="mean of the measured sizes")
    ax.plot([], [], color="0.6", lw=6, label="90 % of the measured sizes")
    names = [name.replace("_", "\n") for name in scenarios]
    ax.set_xticks(range(len(scenarios)), names, fontsize=9)
    n = wide.groupby("scenario").size().min()
    ax.set(ylabel="size (spread of the log-odds)", ylim=(0, None))
    ax.set_title(f"{n} tables each; measured on 200 samples that did not choose", fontsize=10)
    ax.legend(frameon=False, loc="upper left")
    place = ROOT / "docs" / "figures" / "recovered-sizes.png"
    place.parent.mkdir(exist_ok=True)
    figure.savefig(place, dpi=110)
    print(place)


if __name__ == "__main__":
    main()
