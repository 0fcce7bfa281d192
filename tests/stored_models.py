"""Fitted models on disk, one of every kind, and what they answered when they were stored.

``python tests/stored_models.py`` writes those of the format at hand to ``data/models``, and with
names after it those alone; once a version with this format is released they stay as they are, and
`test_persistence.py` loads them until the format changes.
"""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

import immigrate as im
from immigrate.persistence import FORMAT, load_model, public_estimators, save_model

FOLDER = Path(__file__).parent / "data" / "models"
# Every public estimator with its defaults, or as it is here; and some that are made in other ways.
MODELS = {name: cls() for name, cls in public_estimators().items()} | {
    "BoostedImmigrateClassifier": im.BoostedImmigrateClassifier(n_estimators=3),
    "ImmigrateSelector": im.ImmigrateSelector(pairs=True, test=True),
    "Simba": im.Simba(n_starts=1),
    "mixture": im.ImmigrateClassifierCV(combine="mixture"),
    "screened": im.ImmigrateClassifier(screen="im4e"),
    "margin_knn": im.make_margin_knn(im.ReliefF()),
}
ONLY_COMPLETE_NUMBERS, WITHOUT_GAPS = ("LFE",), ("margin_knn", "ImmigrateSelector")


def table(name: str, n: int = 30) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numbers that act together, text, flags and a gap, as far as the model takes them."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, n)).round(2)
    frame = pd.DataFrame({"a": a, "b": b, "color": rng.choice(["red", "blue"], n)})
    frame["flag"] = rng.uniform(size=n) < 0.5
    if name not in WITHOUT_GAPS:
        frame.loc[3, "b"] = np.nan
    if name in ONLY_COMPLETE_NUMBERS:
        frame = pd.DataFrame({"a": a, "b": b})
    if name == "ImmigrateRegressor":
        return frame, (a * b).round(3)
    return frame, np.where((a > 0) ^ (b > 0), "yes", "no")


def fitted(name: str):
    """A fitted copy of a model of the list."""
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(MODELS[name]).fit(*table(name))


def answers(name: str, model) -> dict[str, list]:
    """What a model says of its table: predictions, importances, names and numbers."""
    X, _ = table(name)
    said = {}
    for method in ("predict_proba", "transform"):
        if hasattr(model, method):
            values = np.asarray(getattr(model, method)(X))
            said[method] = np.array(pd.DataFrame(values).select_dtypes("number"), float).tolist()
    if hasattr(model, "predict"):
        said["predict"] = model.predict(X).tolist()
    if hasattr(model, "feature_importances_"):
        said["feature_importances_"] = model.feature_importances_.tolist()
    if hasattr(model, "table_"):
        said["table_"] = [*model.table_["feature_1"], *model.table_["p_value"]]
        said["summary"] = model.summary().splitlines()
    return said


def dump(model, path: Path) -> None:
    """Store a model in the format that the file's ending names."""
    if path.suffix == ".pickle":
        path.write_bytes(pickle.dumps(model, protocol=5))
    elif path.suffix == ".joblib":
        joblib.dump(model, path, compress=3)
    else:
        save_model(model, path)


def load(path: Path):
    """The model that a file holds."""
    if path.suffix == ".pickle":
        return pickle.loads(path.read_bytes())
    if path.suffix == ".joblib":
        return joblib.load(path)
    return load_model(path)


RECORDED = FOLDER / f"format-{FORMAT}"
# Those of scikit-learn are stored by pickle and joblib alone.
OURS = [name for name in MODELS if name != "margin_knn"]
WAYS = [(name, way) for name in MODELS for way in (".pickle", ".joblib")]
WAYS += [(name, ".model") for name in OURS]


def main(*names: str) -> None:
    """Write the models of this format, all or those that are named."""
    kept = RECORDED / "answers.json"
    said = json.loads(kept.read_text()) if names else {}
    for name in names or OURS:
        model = fitted(name)
        said[name] = answers(name, model)
        save_model(model, RECORDED / f"{name}.model")
    kept.write_text(json.dumps(said, indent=0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
