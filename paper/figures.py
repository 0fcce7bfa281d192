"""The paper's figures, drawn like its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from immigrate.files import whole_file
from paper.cells import error_text
from paper.comparison import VERDICTS, verdicts
from paper.datasets import DATASETS, load
from paper.datasets.synthetic import noisy_gaussians
from paper.methods import METHODS
from paper.published import REFERENCE, table_datasets, table_methods, win_tie_loss
from paper.robustness import PUBLISHED_P_VALUES, interaction_p_values, interaction_weights

HEAT_MAPS = ("GLA", "LYM", "SMR", "STA")
MOST_NAMED = 20
WIN_TIE_LOSS_COLORS = {"win": "#d7301f", "tie": "#41ab5d", "loss": "#4292c6"}


def draw_all(
    frame: pd.DataFrame, folder: Path, data: str | None = None, n_seeds: int = 20
) -> Iterator[str]:
    """Draw each figure into `folder`; yields its path, or why it could not be drawn."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {
        "synthetic": lambda: synthetic_scatter(),
        "robustness": lambda: robustness(n_seeds),
        "win_tie_loss": lambda: win_tie_loss_bars(frame),
        "heat_maps": lambda: heat_maps(data),
    }
    for name, draw in drawings.items():
        try:
            figure = draw()
        except (ImportError, FileNotFoundError) as error:
            yield f"{name}: not drawn, {error_text(error)}"
            continue
        with whole_file(folder / f"{name}.png") as place:
            figure.savefig(place, dpi=150, bbox_inches="tight")
        yield str(folder / f"{name}.png")


def synthetic_scatter(noise=0.1, random_state=0):
    """Two classes with 10 % noise and the line of slope 1 that separates them."""
    from matplotlib.figure import Figure

    X, y, is_noise = noisy_gaussians(noise, random_state=random_state)
    figure = Figure(figsize=(5, 4))
    axes = figure.add_subplot()
    for label, color in ((0, "#d7301f"), (1, "#4292c6")):
        for of_noise, marker in ((False, "o"), (True, "^")):
            rows = (y == label) & (is_noise == of_noise)
            name = f"class {label + 1}" + (", noise" if of_noise else "")
            axes.scatter(*X[rows].T, c=color, marker=marker, s=18, alpha=0.8, label=name)
    axes.axline((5, 1), slope=1, color="orange", linestyle=":", linewidth=2)
    axes.set(xlabel="feature 1", ylabel="feature 2", title=f"{noise:.0%} noise")
    axes.legend(fontsize=8)
    return figure


def robustness(n_seeds=20):
    """Interaction weight of IMMIGRATE and LFE, and the logistic p values, as noise grows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    weights = interaction_weights(n_seeds)
    for method, color, shift in (("IGT", "#d7301f", -0.003), ("LFE", "#4292c6", 0.003)):
        rows = weights[weights["method"] == method]
        level = rows.groupby("noise")["weight"].agg(["mean", "std"])
        left.errorbar(
            level.index + shift, level["mean"], level["std"], color=color, marker="o",
            capsize=3, label=method,
        )  # fmt: skip
    left.set(xlabel="noise level", ylabel="weight of the interaction, $|W_{12}|$")
    left.set_title(f"mean and standard deviation, {n_seeds} seeds", fontsize=10)
    left.legend(fontsize=8)
    _draw_p_values(right, interaction_p_values(n_seeds))
    return figure


def _draw_p_values(axes, p_values: pd.DataFrame) -> None:
    labels = {"alone": "$x_1 x_2$ alone", "beside": "$x_1 x_2$ beside $x_1$, $x_2$"}
    for (column, label), color in zip(labels.items(), ("#222222", "#999999")):
        by_noise = p_values.groupby("noise")[column]
        low, middle, high = (by_noise.quantile(q) for q in (0.1, 0.5, 0.9))
        axes.plot(middle.index, middle, color=color, label=label)
        axes.fill_between(middle.index, low, high, color=color, alpha=0.15, linewidth=0)
    axes.plot(*zip(*PUBLISHED_P_VALUES.items()), "k*", markersize=10, label="paper")
    axes.axhline(0.05, color="orange", linestyle=":")
    axes.set(yscale="log", xlabel="noise level", ylabel="p value in logistic regression")
    axes.set_title("median and 10-90 % range over seeds", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")


def win_tie_loss_bars(frame: pd.DataFrame):
    """Wins, ties and losses against each method: the paper's bars, and ours beside them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    for axes, tables in zip(figure.subplots(2, 1), ((1,), (2, 3))):
        groups = [
            (table, method)
            for table in tables
            for method in table_methods(table)
            if method != REFERENCE[table] and (table, method) != (1, "EGT")
        ]
        for x, (table, method) in enumerate(groups):
            _stack(axes, x - 0.2, _published_counts(table, method), hatch="")
            _stack(axes, x + 0.2, _our_counts(frame, table, method), hatch="//")
        axes.set_xticks(range(len(groups)), [method for _, method in groups])
        axes.set_xlim(-0.7, len(groups) - 0.3)
        for tick, (table, _) in zip(axes.get_xticklabels(), groups):
            tick.set_color("blue" if table == 3 else "black")
        against = " and (blue) ".join(REFERENCE[table] for table in tables)
        axes.set(ylabel="data sets", title=f"{against} against other methods, by paired t-test")
        axes.yaxis.get_major_locator().set_params(integer=True)
    _legend(figure)
    return figure


def _stack(axes, x, numbers, hatch) -> None:
    bottom = 0
    for number, color in zip(numbers, WIN_TIE_LOSS_COLORS.values()):
        axes.bar(x, number, 0.38, bottom, color=color, hatch=hatch, edgecolor="white", linewidth=0)
        bottom += number


def _legend(figure) -> None:
    from matplotlib.patches import Patch

    colors = [Patch(color=color, label=name) for name, color in WIN_TIE_LOSS_COLORS.items()]
    grey = {"facecolor": "#bbbbbb", "edgecolor": "white"}
    sides = [Patch(label="left: paper", **grey), Patch(label="right: ours", hatch="//", **grey)]
    figure.legend(handles=colors + sides, ncols=5, loc="outside lower center", fontsize=9)


def _published_counts(table, method) -> list[int]:
    rows = win_tie_loss().query("table == @table and method == @method")
    return list(rows[["wins", "ties", "losses"]].iloc[0])


def _our_counts(frame, table, method) -> list[int]:
    found = verdicts(frame, REFERENCE[table], method, table_datasets(table))
    return [int((found == kind).sum()) for kind in VERDICTS] if len(found) else []


def heat_maps(data: str | None = None):
    """|W| of IMMIGRATE with the paper's settings on four data sets (Figure B1)."""
    from matplotlib.figure import Figure
    from sklearn.preprocessing import StandardScaler

    from immigrate.plotting import WeightMatrixDisplay

    figure = Figure(figsize=(10, 9), layout="constrained")
    for axes, code in zip(figure.subplots(2, 2).flat, HEAT_MAPS):
        table = load(code, data)
        model = METHODS["IGT"].estimator(random_state=0)
        # Ten full steps are the paper's rule, converged or not.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(StandardScaler().fit_transform(table.X), table.y)
        names = [name.replace("_", " ") for name in table.feature_names]
        display = WeightMatrixDisplay(weights=model.weight_matrix_, feature_names=names)
        display.plot(top=None, order="input", absolute=True, ax=axes)
        axes.set_title(f"{code}: {DATASETS[code].name}")
        axes.tick_params(labelsize=7)
        if len(names) > MOST_NAMED:
            axes.set(xticks=[], yticks=[], xlabel="feature", ylabel="feature")
    return figure
