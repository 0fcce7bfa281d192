"""Where weights are counts, a count of k is the row k times."""

import numpy as np
import pandas as pd
import pytest

from immigrate import InteractionTest


def drawn_table(rng, n):
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "rank": rng.integers(0, 4, n).astype(float),
            "color": rng.choice(list("abc"), n),
        }
    )
    return table.mask(rng.uniform(size=table.shape) < 0.05)


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_count_is_a_row_that_many_times(seed, stepwise):
    rng = np.random.default_rng(seed)
    X = drawn_table(rng, 40)
    y = rng.permutation(np.arange(40) % (2 + seed % 2))
    count = rng.integers(0, 6, 40)
    rows = rng.permutation(np.repeat(np.arange(40), count))
    test = InteractionTest(stepwise=stepwise)
    counted = test.fit(X, y, sample_weight=count).table_
    repeated = test.fit(X.iloc[rows].reset_index(drop=True), y[rows]).table_
    both = counted.merge(repeated, on=["feature_1", "feature_2"])
    assert len(both) == len(counted) == len(repeated)
    np.testing.assert_allclose(both["p_value_x"], both["p_value_y"], rtol=0, atol=1e-6)
