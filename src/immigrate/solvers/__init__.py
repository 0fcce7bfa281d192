"""Problem and weight set in, weights out. Knows nothing of tables, labels or classifiers.

=============  ================================================================
``solver``     what a solver is, what it needs, and what it returns
``paper``      Algorithm 2: full steps
``monotone``   spectral projected gradient: a cost that never rises
``nearest``    one pass under a hard coupling: Relief, ReliefF, LFE
``boosting``   Algorithm 3: a vote of solutions
=============  ================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.arrays import Array
from immigrate.checks import check_option
from immigrate.solvers.monotone import Descent, spectral_descent
from immigrate.solvers.paper import FullSteps, full_steps
from immigrate.solvers.solver import Problem, Solution, Solver, Stop

SOLVERS: dict[str, type[Solver]] = {"monotone": Descent, "paper": FullSteps}

__all__ = [
    "SOLVERS",
    "Descent",
    "FullSteps",
    "Problem",
    "Solution",
    "Solver",
    "Stop",
    "even_start",
    "full_steps",
    "resolved_solver",
    "spectral_descent",
]


def resolved_solver(solver: str | Solver, **limits: Any) -> Solver:
    """The solver that a name stands for, with these limits; a solver stays what it is."""
    if isinstance(solver, Solver):
        return solver.checked()
    return SOLVERS[check_option("solver", solver, SOLVERS)](**limits)


def even_start(solver: Solver, n_features: int) -> Array:
    """Even weights that sum to 1, where a method with a weight vector starts."""
    if not isinstance(solver.init, str) or solver.init != "auto":
        raise ValueError(
            f"A weight vector starts from even weights, got init={solver.init!r}; use init='auto'."
        )
    return np.full(n_features, 1 / n_features)
