"""The cost on MONK-1: the paper's full steps against descent."""

import warnings

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from immigrate import ImmigrateClassifier
from immigrate.datasets import make_monk1
from immigrate.options import Descent, FullSteps

SIGMA, N_STEPS = 0.5, 12
SOLVERS = {
    "the paper's full steps": (FullSteps(max_iter=N_STEPS, tol=0), "#b2182b"),
    "descent": (Descent(max_iter=N_STEPS), "#2166ac"),
}


def draw() -> Figure:
    """One line per solver."""
    X, y = make_monk1()
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, (solver, colour) in SOLVERS.items():
        with warnings.catch_warnings():
            # Full steps that circle do not converge, which is the point of the picture.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = ImmigrateClassifier(sigma=SIGMA, solver=solver).fit(X, y)
        axes.plot(model.objective_path_, "o-", color=colour, label=name)
    axes.set(xlabel="step", ylabel="cost C(W)", title=f"MONK-1, σ = {SIGMA}")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
