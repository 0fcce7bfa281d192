"""MONK-1, enumerated from its definition."""

from __future__ import annotations

from itertools import product

import numpy as np


def monk1() -> tuple[np.ndarray, np.ndarray]:
    """All 432 robots and whether (a1 = a2) or (a5 = 1).

    References
    ----------
    S. Thrun et al., The MONK's problems: a performance comparison of different learning
    algorithms, Carnegie Mellon University CS-91-197, 1991.
    """
    n_values = (3, 3, 2, 3, 4, 2)
    X = np.array(list(product(*(range(1, n + 1) for n in n_values))), dtype=float)
    y = (X[:, 0] == X[:, 1]) | (X[:, 4] == 1)
    return X, y.astype(int)
