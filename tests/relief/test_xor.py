"""Two features that matter only together, among 48 that do not: who finds both."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate import IRelief, Relief, ReliefF, Simba
from immigrate.datasets import make_xor
from immigrate.options import FullSteps

N_SEEDS = 10


def n_found(model):
    count = 0
    for seed in range(N_SEEDS):
        X, y = make_xor(n_samples=500, n_features=50, random_state=seed)
        best = np.argsort(-model.fit(X, y).feature_importances_)[:2]
        count += set(best) == {0, 1}
    return count


@pytest.mark.parametrize("model", [Relief(), ReliefF()], ids=lambda m: type(m).__name__)
def test_one_pass_finds_both(model):
    assert n_found(model) >= 9


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [Simba(random_state=0), IRelief()], ids=lambda m: type(m).__name__
)
def test_learned_weights_find_both(model):
    assert n_found(model) >= 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_full_steps_of_irelief_circle_and_lose_one():
    """Why descent is the default: weight moves to and fro between the two, further every time."""
    assert n_found(IRelief(solver=FullSteps(max_iter=100, tol=1e-8))) < 9
