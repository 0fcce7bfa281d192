"""What `InteractionTest` says of the table that a model was given, put before its weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.estimators._interaction_test import InteractionTest
from immigrate.estimators.tested_terms import fitted_on_read
from immigrate.outcomes import Labels
from immigrate.table import SampleWeight, Table


def given_table(model: Any) -> Table | None:
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
    labels = Labels(model.classes_, references.codes)
    # D sums to 1; the test reads weights as counts.
    D = references.anchor_weight
    weight = None if D is None else SampleWeight(D, "importance")
    return Table.of_values(reader.features(is_feature), values, labels, weight)


def fitted_on_model(test: InteractionTest, model: Any, read: Table) -> InteractionTest:
    """A clone of `test`, fitted on a table that a model has read, with its classes' names."""
    test = fitted_on_read(test, read)
    test.column_reader_ = model.column_reader_
    return test
