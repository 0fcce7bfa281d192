"""What `InteractionTest` says of the table that a model was given, put before its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.estimators._interaction_test import InteractionTest
from immigrate.estimators._training import as_counts
from immigrate.estimators.tested_terms import ReadTable, fitted_on_read
from immigrate.estimators.weight_table import term_columns, without_rounding

PAIR = ["feature_1", "feature_2"]
EVIDENCE = ["p_value", "p_adjusted", "is_found", "size", "size_low", "size_high", "direction"]
WEIGHT = ["weight", "share", "rank"]
# What stands where the test says nothing.
ABSENT: dict[str, Any] = dict.fromkeys(EVIDENCE, np.nan) | {"is_found": False, "direction": ""}


def given_table(model: Any) -> ReadTable | None:
    """The features that a model was given, those that a screen dropped included.

    None where they are not known: models with prototypes hold no samples, and models from files
    of older versions kept the features in use only.
    """
    references, reader = model.model_.references, model.column_reader_
    if references.is_summary:
        return None
    # Columns that are no features are not in the model, and are not tested either.
    is_feature = reader.is_used
    is_out = is_feature & ~references.is_used
    values = references.values
    if is_out.any():
        if references.screened_out is None:
            return None
        both = np.empty((len(values), len(is_feature)))
        both[:, references.is_used], both[:, is_out] = values, references.screened_out
        values = both[:, is_feature]
    return ReadTable(
        values,
        reader.is_nominal[is_feature],
        references.codes,
        np.array(reader.names, dtype=object)[is_feature],
        # D sums to 1; the test reads weights as counts.
        as_counts(references.anchor_weight),
        level_names=[levels for levels, is_in in zip(reader.level_names, is_feature) if is_in],
    )


def fitted_on_model(test: InteractionTest, model: Any, read: ReadTable) -> InteractionTest:
    """A clone of `test`, fitted on a table that a model has read, with its classes' names."""
    test = fitted_on_read(test, read, model.classes_)
    test.column_reader_ = model.column_reader_
    return test


def seen_classes(read: ReadTable) -> Codes:
    """Codes of the classes of which a sample counts."""
    return np.unique(read.codes if read.weight is None else read.codes[read.weight > 0])


def evidence_table(weights: pd.DataFrame, test: InteractionTest) -> pd.DataFrame:
    """Every feature and pair by evidence, with the weights that the model gives them.

    Rows of `weights`, and those of the test that have no weight because of a screen.
    """
    names = np.array(test.feature_names_in_, dtype=object)
    tested = evidence_rows(test).pipe(_by_place, names)
    weighed = _by_place(weights, names)
    # Rows are known by their place in the matrix of all features; either table may lack some.
    rows = tested.index.union(weighed.index, sort=False)
    a, b = np.divmod(rows.to_numpy(), len(names))
    table = pd.DataFrame(
        {
            **term_columns(names, a, b),
            **{name: _values(tested[name], rows, ABSENT[name]) for name in EVIDENCE},
            **{name: _values(weighed[name], rows, 0) for name in WEIGHT},
        }
    )
    order = np.lexsort(
        (
            -without_rounding(table["share"].to_numpy()),
            without_rounding(table["p_value"].to_numpy()),
            # Approximate p-values, which have no adjusted one, after the exact ones.
            table["p_adjusted"].isna(),
            ~table["is_found"],
        )
    )
    table = table.iloc[order].reset_index(drop=True)
    is_unused = table["rank"] == 0
    # What did not pass a screen has no weight to be ranked by, and comes last.
    table.loc[is_unused, "rank"] = len(weights) + np.arange(1, is_unused.sum() + 1)
    return table


def evidence_rows(test: InteractionTest) -> pd.DataFrame:
    """The features and pairs of a test as one table: the names and what there is to say."""
    features = test.features_.rename(columns={"feature": "feature_1"})
    is_shown = features["p_adjusted"] <= test._fitted_as["alpha"]
    features = features.assign(feature_2=features["feature_1"], is_found=is_shown)
    parts = [part[[*PAIR, *EVIDENCE]] for part in (features, test.table_) if len(part)]
    # An empty part would have a say in the types of the columns.
    return pd.concat(parts or [features[[*PAIR, *EVIDENCE]]], ignore_index=True)


def _by_place(table: pd.DataFrame, names: Array) -> pd.DataFrame:
    """`table` with each row known by its place in the matrix of all features."""
    place = {name: i for i, name in enumerate(names)}
    first = table["feature_1"].map(place).to_numpy(dtype=np.intp)
    # A main effect has no second feature.
    second = table["feature_2"].where(table["feature_2"].notna(), table["feature_1"])
    return table.set_axis(first * len(names) + second.map(place).to_numpy(dtype=np.intp))


def _values(column: pd.Series[Any], rows: pd.Index[Any], absent: Any) -> Any:
    return column.reindex(rows, fill_value=absent).to_numpy()
