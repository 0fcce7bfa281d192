"""What the library does, in half a minute: ``python -m immigrate.demo``."""

from __future__ import annotations

from sklearn.datasets import load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, __version__
from immigrate.datasets import make_monk1


def wine():
    """The two largest cultivars of the wine data, as in the paper (WIN)."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[y < 2], y[y < 2]


def main():
    """Fit two embedded data sets, print what matters in them and how well it predicts."""
    print(f"immigrate {__version__}: which features matter, and which pairs?")
    _show("Wine: 130 samples, 13 features, 2 cultivars", *wine(), sigma=1.0)
    _show("MONK-1: head and body matter only together, the jacket alone", *make_monk1(), sigma=0.5)
    print(
        "\nA weight says how much the model uses a feature or pair, "
        "not that two features act together."
    )


def _show(title, X, y, sigma):
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, ImmigrateClassifier(sigma)).fit(X, y)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=1, random_state=0)
    accuracy = cross_val_score(model, X, y, cv=cv).mean()
    table = model[-1].interactions()
    print(f"\n{title}\n{'=' * len(title)}")
    print(f"accuracy in 10-fold cross-validation: {accuracy:.1%}")
    for kind, heading in (("main", "strongest features"), ("pair", "strongest pairs")):
        rows = table[table["kind"] == kind].head(5)
        columns = ["feature_1"] if kind == "main" else ["feature_1", "feature_2"]
        print(f"\n{heading}")
        print(
            rows[[*columns, "weight", "share", "rank"]].to_string(index=False, float_format="%.3f")
        )


if __name__ == "__main__":
    main()
