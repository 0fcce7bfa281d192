"""The layers of the library and their imports, read from the sources."""

import ast
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import immigrate

PACKAGE = Path(immigrate.__file__).parent
LEAVES = {
    "arrays", "_version", "checks", "durations", "files", "progress", "scikit_learn", "datasets",
}  # fmt: skip
NO_LAYERS = LEAVES | {"__init__", "__main__"}


def imports() -> Counter:
    """How many import statements lead from one layer to another."""
    found: Counter = Counter()
    for file in PACKAGE.rglob("*.py"):
        layer = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("immigrate."):
                target = str(node.module).split(".")[1]
                if layer not in NO_LAYERS and target not in NO_LAYERS | {layer}:
                    found[layer, target] += 1
    return found


def in_layers(found: Counter) -> list[str]:
    """The layers from top to bottom: each stands above all that it imports."""
    below = {layer: {b for a, b in found if a == layer} for pair in found for layer in pair}
    order: list[str] = []
    while len(order) < len(below):
        ready = [one for one in below if one not in order and below[one] <= set(order)]
        if not ready:
            raise ValueError("The imports of the layers form a circle.")
        order.append(min(ready))
    return order[::-1]


def draw() -> Figure:
    """Layers in a column; imports as arcs on its right, of next neighbours as short lines."""
    found = imports()
    layers = in_layers(found)
    place = {layer: -i for i, layer in enumerate(layers)}
    figure, axes = plt.subplots(figsize=(7, 7.5), layout="constrained")
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, len(layers)))
    for layer, colour in zip(layers, colours):
        axes.text(
            0.5, place[layer], layer, ha="right", va="center", fontsize=11, color="white",
            bbox={"boxstyle": "round,pad=0.35", "fc": colour, "ec": "none"},
        )  # fmt: skip
    for (above, target), count in found.items():
        start, end = place[above], place[target]
        axes.add_patch(
            FancyArrowPatch(
                (0.62, start),
                (0.62, end),
                arrowstyle="-|>",
                mutation_scale=9,
                connectionstyle=f"arc3,rad={-0.28 - 0.035 * (start - end):.3f}",
                linewidth=0.5 + 0.35 * np.sqrt(count),
                alpha=0.65,
                color=colours[layers.index(above)],
            )
        )
    axes.set(xlim=(-1.2, 4.6), ylim=(-len(layers) + 0.3, 0.7))
    axes.axis("off")
    return figure
