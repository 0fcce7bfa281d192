"""What `InteractionTest` says of the table that a model was given, put before its weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.estimators._interaction_test import InteractionTest
from immigrate.estimators._training import as_counts
from immigrate.estimators.tested_terms import ReadTable, fitted_on_read


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
