"""`WestfallYoung`: an adjustment by label sets drawn from the null model, with its options."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from immigrate.checks import check_count
from immigrate.inference.adjustment import Adjustment
from immigrate.inference.residuals import Draws


class WestfallYoung(BaseEstimator):
    """Adjusted p-values by the smallest p-value over labels drawn from the null model.

    Parameters
    ----------
    n_draws : int, default=999
        Label sets drawn. No adjusted p-value is below 1 / (n_draws + 1).
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Examples
    --------
    >>> from immigrate import InteractionTest, WestfallYoung
    >>> InteractionTest(adjust=WestfallYoung(n_draws=199, random_state=0))
    InteractionTest(adjust=WestfallYoung(n_draws=199, random_state=0))
    """

    def __init__(
        self, *, n_draws: int = 999, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_draws = n_draws
        self.random_state = random_state

    def adjustment(self) -> Adjustment:
        """What the test works with."""
        check_count("n_draws", self.n_draws)
        # One number is drawn from the user's generator: all later draws are made from it alone.
        seed = check_random_state(self.random_state).randint(2**31)
        return Adjustment("westfall-young", Draws(self.n_draws, seed))
