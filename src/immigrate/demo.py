"""What the library does, in half a minute: ``python -m immigrate.demo``."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifierCV, SigmaPathDisplay, __version__
from immigrate.datasets import make_monk1

FOLDER = Path("immigrate-demo")
TOP = 5


def wine():
    """The two largest cultivars of the wine data, as in the paper (WIN)."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[y < 2], y[y < 2]


def main():
    """Fit two embedded data sets; print what matters in them and how well it predicts."""
    print(f"immigrate {__version__}: which features matter, and which pairs?")
    show("Wine: 130 samples, 13 features, 2 cultivars", *wine())
    show("MONK-1: head and body matter only together, the jacket alone", *make_monk1())
    print(
        "\nweight: how much the model uses a feature or pair."
        "\np_adjusted: how often chance would show as much if no two features acted together,"
        "\neach having its own effect; small means that the two do (InteractionTest)."
    )


def show(title, X, y):
    """Choose sigma, rank features and pairs, cross-validate, draw the path."""
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, ImmigrateClassifierCV())
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    accuracy = cross_val_score(model, X, y, cv=folds).mean()
    fitted = model.fit(X, y)[-1]
    print(f"\n{title}\n{'=' * len(title)}")
    print(f"accuracy in 10-fold cross-validation: {accuracy:.1%}")
    table = fitted.interactions(test=True)
    columns = ["weight", "share", "rank"]
    show_top("features", table, "main", ["feature_1", *columns])
    show_top("pairs", table, "pair", ["feature_1", "feature_2", *columns, "p_adjusted"])
    print(f"\npath of sigma: {picture(fitted, title.split(':')[0])}")


def show_top(title, table, kind, columns):
    """Print the strongest rows of one kind."""
    rows = table.loc[table["kind"] == kind, columns].head(TOP)
    print(f"\nstrongest {title}")
    print(
        rows.to_string(
            index=False, float_format="%.3f", formatters={"p_adjusted": "{:.2g}".format}
        )
    )


def picture(model, name):
    """Draw the path of sigma and say where."""
    import matplotlib as mpl

    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name.lower()}-sigma-path.png"
    SigmaPathDisplay.from_estimator(model).figure_.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    main()
