"""Who counts as a neighbour, with a small, a middling and a large sigma."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

SIGMAS = {"small σ: the nearest few": 0.1, "middling σ": 0.8, "large σ: everybody": 10.0}


def draw() -> Figure:
    """Three panels; the area of a sample is its weight exp(-q / sigma)."""
    rng = np.random.default_rng(4)
    samples = rng.normal(size=(60, 2))
    q = np.abs(samples).sum(axis=1)  # the distance to the origin, all weights equal
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    for axes, (title, sigma) in zip(panels, SIGMAS.items()):
        weights = np.exp(-(q - q.min()) / sigma)
        axes.scatter(*samples.T, s=6, color="#bbbbbb")
        axes.scatter(*samples.T, s=120 * weights, color="#2166ac", alpha=0.5)
        axes.scatter(0, 0, marker="*", s=130, color="#b2182b")
        axes.set(title=title, xticks=[], yticks=[], aspect="equal")
    return figure
