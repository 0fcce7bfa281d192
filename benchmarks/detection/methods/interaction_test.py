"""The test of this library, with Holm's adjustment; variants are listed at the end."""

from __future__ import annotations

import numpy as np

from immigrate import InteractionTest
from immigrate.options import WestfallYoung
from methods import Evidence


def evidence(problem, rng, **options):
    test = InteractionTest(**options)
    test.fit(problem.X, problem.y, sample_weight=problem.weight)
    return Evidence(
        terms=_indices(test.table_),
        p_value=test.table_["p_value"].to_numpy(),
        p_adjusted=test.table_["p_adjusted"].to_numpy(),
        selected=[frozenset(row) for row in _indices(test.selected_).tolist()],
    )


def _indices(table):
    """Feature names x0, x1, ... back to numbers."""
    names = table.filter(like="feature_")
    return np.array([[int(name[1:]) for name in row] for row in names.to_numpy()], dtype=int)


def westfall_young(problem, rng):
    draws = WestfallYoung(n_draws=199, random_state=int(rng.integers(2**31)))
    return evidence(problem, rng, adjust=draws)


def triples(problem, rng):
    return evidence(problem, rng, order=3)
