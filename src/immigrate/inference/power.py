"""The smallest effect that a table could have shown, so that "none found" says something.

A pair whose joint effect has the size s moves one normal score by s sqrt(N), N the information
that the samples hold: the sum of V over them, less what main effects take. It is found if it
passes the first step of Holm's adjustment by one of the four forms of the test.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from immigrate.additive.residuals import Contrast

POWER = 0.8
N_FORMS = 4
# Where variances are estimated they are enlarged, and forms that rest on few samples are left out.
# With this factor the power at the size that is named came out near .8
# (``benchmarks/detection/detectable.py``).
ESTIMATED_VARIANCE = 1.18


def detectable_size(contrasts: list[Contrast], n_tests: int, alpha: float, unit: float) -> float:
    """Size of a joint effect that is found with 80 % power.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.inference.power import detectable_size
    >>> from immigrate.additive.residuals import Contrast
    >>> quarter, nothing = np.full(400, 0.25), np.empty((0, 400))
    >>> even = Contrast(nothing.T, quarter, quarter, 1.0, nothing, nothing)
    >>> round(detectable_size([even], n_tests=105, alpha=0.05, unit=1.0), 2)
    0.47
    """
    # Two sides, four forms and one contrast for each logit share alpha with all tests.
    limit = -special.ndtri(alpha / (2 * N_FORMS * len(contrasts) * max(n_tests, 1)))
    needed = limit + special.ndtri(POWER)
    # The variance of an estimated effect: dispersion over curvature, for the mean contrast.
    variance = [c.dispersion / (c.share_left * c.curvature) for c in contrasts]
    cost = ESTIMATED_VARIANCE if contrasts[0].is_estimated else 1.0
    return float(unit * cost * needed * np.sqrt(np.mean(variance)))
