"""Predicted probabilities against observed shares, on new rows of the made-up trial."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from sklearn.calibration import CalibrationDisplay
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from immigrate import ImmigrateClassifierCV
from immigrate.datasets import make_trial

CATEGORIES = ["treatment", "variant", "centre", "smoker"]


def draw() -> Figure:
    """One curve per model."""
    trial = make_trial(3000, random_state=0).set_index("patient")
    X, y = trial.drop(columns="outcome"), trial["outcome"]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    prepared = make_column_transformer((OneHotEncoder(), CATEGORIES), remainder=numbers)
    models = {
        "immigrate": ImmigrateClassifierCV(),
        "logistic regression": make_pipeline(prepared, LogisticRegression()),
    }
    figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained")
    for name, model in models.items():
        model.fit(X[:500], y[:500])
        CalibrationDisplay.from_estimator(
            model, X[500:], y[500:], n_bins=8, strategy="quantile", pos_label="relapse",
            name=name, ax=axes,
        )  # fmt: skip
    axes.set(xlabel="predicted probability of a relapse", ylabel="share with a relapse")
    return figure
