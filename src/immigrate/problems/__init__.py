"""What a solver is given: the constants of an optimisation, and its cost and gradient at any W.

=============  ================================================================
``margin``     the soft margin of the paper: samples, labels, anchor weights
``inliers``    I-RELIEF's cost, made of the same passes
=============  ================================================================
"""

from immigrate.problems.inliers import InlierProblem
from immigrate.problems.margin import MarginProblem

__all__ = ["InlierProblem", "MarginProblem"]
