"""How the interaction test sees a pair: labels, residuals of the additive model, products."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binned_statistic_2d, rankdata

from immigrate import InteractionTest

N_SAMPLES, N_CELLS = 2000, 7


def draw() -> Figure:
    """Three squares over the ranks of two features."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N_SAMPLES, 2))
    y = (rng.logistic(size=N_SAMPLES) < 1.4 * X[:, 0] + 0.8 * X[:, 0] * X[:, 1]).astype(int)
    test = InteractionTest(stepwise=False).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    expected = np.asarray(test.additive_model_.means).reshape(N_SAMPLES, -1)[:, -1]
    u = (rankdata(X, axis=0) - 0.5) / N_SAMPLES
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    means(panels[0], u, y - 0.5, "share of the class: mostly feature a")
    means(panels[1], u, y - expected, "mean residual of the additive model")
    product(panels[2], "one of 16 products of functions")
    for axes in panels:
        axes.set(xlabel="rank of a", ylabel="rank of b", xticks=[], yticks=[], aspect="equal")
    return figure


def means(axes, u, values, title) -> None:
    """Means in cells, red where there is more of the class, blue where there is less."""
    cells = binned_statistic_2d(*u.T, values, bins=N_CELLS, range=[(0, 1), (0, 1)]).statistic
    limit = np.abs(cells).max()
    axes.imshow(
        cells.T, cmap="RdBu_r", vmin=-limit, vmax=limit, origin="lower", extent=(0, 1, 0, 1)
    )
    axes.set_title(title, fontsize=10)


def product(axes, title) -> None:
    """The product of the first cosines of both features."""
    grid = np.linspace(0, 1, 60)
    wave = np.sqrt(2) * np.cos(np.pi * grid)
    axes.imshow(np.outer(wave, wave), cmap="RdBu_r", origin="lower", extent=(0, 1, 0, 1))
    axes.set_title(title, fontsize=10)
