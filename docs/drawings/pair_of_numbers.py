"""Two numeric features, of which one reverses the effect of the other."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from immigrate import InteractionTest
from immigrate.plotting import PairEffectDisplay


def draw() -> Figure:
    """The surface of two numbers."""
    rng = np.random.default_rng(1)
    dose, age, other = rng.normal(size=(3, 500))
    is_cured = rng.logistic(size=500) < 1.2 * dose * age + 0.5 * dose
    X = pd.DataFrame({"dose": 30 + 8 * dose, "age": 55 + 12 * age, "weight": 75 + 10 * other})
    test = InteractionTest().fit(X, np.where(is_cured, "cured", "ill"))
    return PairEffectDisplay.from_estimator(test, "dose", "age").figure_
