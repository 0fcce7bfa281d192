from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.penalties import pruned

W = np.array([[0.9, 0.1, -0.2], [0.1, 0.3, 0.0], [-0.2, 0.0, 0.05]])


@pytest.mark.parametrize("below", [0.0, 0.15, 1 / 3, 0.9])
def test_pruned_weights_have_unit_norm_and_no_small_entry(below):
    result = pruned(W, below)
    assert np.linalg.norm(result) == pytest.approx(1)
    is_kept = np.abs(W) >= below
    np.testing.assert_array_equal(result != 0, is_kept & (W != 0))
    np.testing.assert_allclose(result[is_kept] * np.linalg.norm(W[is_kept]), W[is_kept])


def test_pruning_everything_keeps_the_largest_weight():
    result = pruned(W, below=2.0)
    assert result[0, 0] == 1
    assert np.count_nonzero(result) == 1
