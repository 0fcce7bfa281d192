"""``immigrate predict``: what a stored model says of new rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from immigrate.cli.app import Out, Reading, Table
from immigrate.cli.ending import CommandError, listed
from immigrate.cli.terminal import check_outputs, note, say, show, working, write_text
from immigrate.files import spreadsheet_csv

if TYPE_CHECKING:
    import pandas as pd


def command(
    *,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", readable=False, help="What immigrate fit wrote.")
    ],
    table: Table,
    out: Out = None,
    reading: Reading,
) -> None:
    """Predict the classes, or the number, of the rows of a table, as CSV."""
    check_outputs(out, inputs=(model, table))
    with working(f"reading {model.name}"):
        from immigrate.cli.files import opening
        from immigrate.cli.tables import columns_at_hand, read_aloud
        from immigrate.persistence import read_model

        with opening(model):
            stored = read_model(model)
    if not hasattr(stored.estimator, "predict"):
        raise CommandError(f"{model} predicts nothing: {type(stored.estimator).__name__}.")
    # The model knows which columns were text; a file of new rows cannot tell by itself.
    as_text = names_as_text(stored.estimator)
    classes = getattr(stored.estimator, "classes_", None)
    if classes is not None and all(isinstance(label, str) for label in classes):
        # Labels are compared as they were read in fit: "1.50" is another name than "1.5".
        as_text |= {stored.target}
    read = read_aloud(table, replace(reading, as_text=as_text))
    wanted, unused = feature_names(stored.estimator), names_left_out(stored.estimator)
    X = columns_at_hand(wanted, unused, read.frame, read.name)
    extra = [one for one in read.frame.columns if one not in X.columns and one != stored.target]
    if extra:
        note(f"the model does not use {listed(extra)}.")
    with working("prediction"):
        said = predictions(stored.estimator, X)
    text = spreadsheet_csv(said)
    if out is None:
        # Printed unchanged, for programs: `show` would replace control characters.
        print(text, end="")
    else:
        write_text(out, text)
        show(f"predictions: {out}")
    if stored.target in read.frame.columns:
        compared = error_words if classes is None else accuracy_words
        words = compared(said["prediction"], read.frame[stored.target], stored.target)
        # What a program reads from standard output is to be a table and nothing else.
        (say if out is None else show)(words)


def feature_names(estimator: Any) -> list[str]:
    """Columns that the model was fitted on."""
    return [str(name) for name in estimator.feature_names_in_]


def names_as_text(estimator: Any) -> frozenset[str]:
    """Columns that were text in fit; cells such as "1" are names there even if all are numbers."""
    reader = getattr(estimator, "column_reader_", None)
    if reader is None:
        return frozenset()
    return frozenset(
        name
        for name, levels in zip(reader.names, reader.levels, strict=True)
        if levels and all(isinstance(level, str) for level in levels)
    )


def names_left_out(estimator: Any) -> frozenset[str]:
    """Columns that are no features: identifiers, dates as text and such."""
    reader = getattr(estimator, "column_reader_", None)
    if reader is None:
        return frozenset()
    return frozenset(
        name for name, is_used in zip(reader.names, reader.is_used, strict=True) if not is_used
    )


def predictions(estimator: Any, X: pd.DataFrame) -> pd.DataFrame:
    """Row number, class and probabilities."""
    import pandas as pd

    columns: dict[str, Any] = {"row": range(1, len(X) + 1), "prediction": estimator.predict(X)}
    if hasattr(estimator, "predict_proba"):
        shares = estimator.predict_proba(X)
        for k, label in enumerate(estimator.classes_):
            columns[f"probability of {label}"] = shares[:, k]
    return pd.DataFrame(columns)


def accuracy_words(predicted: pd.Series[Any], actual: pd.Series[Any], target: str) -> str:
    """How many are right, of the rows that say what is right."""
    is_known = actual.notna()
    if not is_known.any():
        return f"'{target}' has no value in these rows: nothing to compare with."
    # Beside gaps 1 was read as 1.0: whole numbers first, because texts are compared.
    from immigrate.cli.tables import whole

    known = whole(actual[is_known].infer_objects()).astype(str).to_numpy()
    n_right = int((predicted[is_known].astype(str).to_numpy() == known).sum())
    share = f"{100 * n_right / len(known):.1f} %"
    return (
        f"right in {n_right} of the {len(known)} rows that have '{target}' ({share}); on rows "
        "that the model was fitted on, this does not measure its accuracy."
    )


def error_words(predicted: pd.Series[Any], actual: pd.Series[Any], target: str) -> str:
    """How far predictions are from the numbers of the rows that have one."""
    import numpy as np
    import pandas as pd

    known = pd.to_numeric(actual, errors="coerce")
    is_known = known.notna().to_numpy()
    if not is_known.any():
        return f"'{target}' has no value in these rows: nothing to compare with."
    y, found = known.to_numpy(float)[is_known], predicted.to_numpy(float)[is_known]
    squares = np.sum((y - y.mean()) ** 2)
    share = f"R² {1 - np.sum((y - found) ** 2) / squares:.2f}, " if squares else ""
    return (
        f"{share}mean absolute error {np.abs(y - found).mean():.4g} in the {len(y)} rows that "
        f"have '{target}'; on rows that the model was fitted on, this does not measure its error."
    )
