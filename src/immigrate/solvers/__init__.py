"""Problem and rule in, weights out. Knows nothing of scikit-learn.

=============  ================================================================
``gap``        Theorem 3.1 for any cone, and the certificate that comes with it
``paper``      Algorithm 2: full steps
``monotone``   spectral projected gradient: a cost that never rises
``path``       one solution for each sigma
``nearest``    one pass under a hard coupling: Relief, ReliefF, LFE
``result``     what comes back
=============  ================================================================
"""

from immigrate.solvers.monotone import spectral_descent
from immigrate.solvers.paper import full_steps
from immigrate.solvers.path import weight_path
from immigrate.solvers.result import Solution, Stop

SOLVERS = {"monotone": spectral_descent, "paper": full_steps}

__all__ = [
    "SOLVERS",
    "Solution",
    "Stop",
    "full_steps",
    "spectral_descent",
    "weight_path",
]
