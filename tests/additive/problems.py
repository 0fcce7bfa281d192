"""Small data sets in the form that the additive model and the interaction test take."""

from __future__ import annotations

import numpy as np

from immigrate.additive.design import table_design
from immigrate.interactions.adjustments import ADJUSTMENTS
from immigrate.interactions.question import Question
from immigrate.interactions.search import Search, first_round
from immigrate.kinds.circular import Circular
from immigrate.kinds.nominal import Nominal
from immigrate.kinds.number import Number
from immigrate.outcomes import Labels
from immigrate.progress import Run
from immigrate.table import Reader, SampleWeight, Table


def encoded(X, y, weight=None, nominal=(), circular=()):
    """The design of columns of numbers, levels and, with the period 1, values on a circle."""
    other = {**dict.fromkeys(circular, Circular(period=1.0)), **dict.fromkeys(nominal, Nominal())}
    kinds = [other.get(j, Number()) for j in range(X.shape[1])]
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    reader = Reader(names, tuple(kinds))
    labels = Labels(np.arange(max(y) + 1), np.asarray(y))
    counts = None if weight is None else SampleWeight(weight, "count")
    return table_design(Table.of_values(reader, X.astype(np.float64), labels, counts))


def additive_problem(n=200, p=5, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    logits = np.zeros((n, n_classes))
    logits[:, 0], logits[:, 1] = X[:, 0] - X[:, 1], np.abs(X[:, 2])
    return encoded(X, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1))


def mixed_problem(n=300, seed=0):
    """Continuous, binary, genotype and nominal columns; few cases."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.standard_t(2, n),
            rng.integers(0, 2, n),
            rng.binomial(2, 0.4, n),
            rng.integers(0, 4, n),
        ]
    ).astype(float)
    y = (X[:, 0] + X[:, 2] + rng.logistic(size=n) > 2).astype(int)
    return encoded(X, y, nominal=[4])


def search_for_pairs(alpha=0.05, n_jobs=None, **options):
    return Search(Question(), ADJUSTMENTS["holm"], alpha, run=Run(n_jobs), **options)


def pair_search(data, model):
    return first_round(search_for_pairs(), model, Question())
