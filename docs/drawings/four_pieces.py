"""From two samples to a cost, drawn as boxes and arrows."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

BOXES = {
    "pairs\nwhich samples meet": (0.0, 1.0),
    "differences\n$d = |x_n - x_j|$": (2.4, 1.0),
    "form\n$q = d^T W d$": (4.8, 1.0),
    "target\nhit or miss?": (4.8, 0.0),
    "free energies\n$F^{hit}_n,\\ F^{miss}_n$": (7.2, 0.5),
    "cost and gradient\n$C(W),\\ \\Sigma$": (9.6, 0.5),
}
ARROWS = [(0, 1), (1, 2), (2, 4), (3, 4), (4, 5)]
WIDTH, HEIGHT = 1.9, 0.62
PIECES = 4


def draw() -> Figure:
    """The four pieces in colour, what follows from them in grey."""
    figure, axes = plt.subplots(figsize=(10, 2.2), layout="constrained")
    places = list(BOXES.values())
    for i, (text, (x, y)) in enumerate(BOXES.items()):
        colour = "#d1e5f0" if i < PIECES else "#eeeeee"
        axes.add_patch(
            FancyBboxPatch((x, y), WIDTH, HEIGHT, "round,pad=0.06", fc=colour, ec="#555555")
        )
        axes.text(x + WIDTH / 2, y + HEIGHT / 2, text, ha="center", va="center", fontsize=10)
    for start, end in ARROWS:
        (x0, y0), (x1, y1) = places[start], places[end]
        axes.annotate(
            "",
            (x1 - 0.08, y1 + HEIGHT / 2),
            (x0 + WIDTH + 0.08, y0 + HEIGHT / 2),
            arrowprops={"arrowstyle": "->", "color": "#555555"},
        )
    axes.set(xlim=(-0.2, 11.7), ylim=(-0.2, 1.8))
    axes.axis("off")
    return figure
