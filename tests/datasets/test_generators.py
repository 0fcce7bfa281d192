from __future__ import annotations

import numpy as np
import pytest

from immigrate.datasets import make_monk1, make_trial, make_xor


def test_monk1_holds_every_robot_once():
    X, y = make_monk1()
    assert len(X) == len(X.drop_duplicates()) == 432
    same_shape = X["head_shape"] == X["body_shape"]
    np.testing.assert_array_equal(y == 1, same_shape | (X["jacket_color"] == 1))


def test_xor_has_no_main_effect_but_an_interaction():
    X, y = make_xor(4000, 5, random_state=0)
    assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 0.06
    np.testing.assert_array_equal(y == 1, X["a"] * X["b"] > 0)


def test_xor_noise_flips_labels():
    clean = make_xor(1000, 2, random_state=0)[1]
    noisy = make_xor(1000, 2, noise=0.2, random_state=0)[1]
    assert 0.15 < (clean != noisy).mean() < 0.25


def test_xor_needs_two_features():
    with pytest.raises(ValueError, match="at least 2"):
        make_xor(n_features=1)


def test_the_trial_has_its_documented_truth():
    table = make_trial(200_000, random_state=0)
    is_ill = table["outcome"] == "relapse"
    by_pair = is_ill.groupby([table["treatment"], table["variant"]]).mean()
    # The drug helps carriers as much as it harms the others, and neither matters on average.
    assert by_pair["drug", "carrier"] == pytest.approx(by_pair["placebo", "other"], abs=0.01)
    assert by_pair["drug", "other"] == pytest.approx(by_pair["placebo", "carrier"], abs=0.01)
    assert by_pair["drug", "other"] - by_pair["drug", "carrier"] > 0.3
    for name in ("treatment", "variant", "centre", "smoker"):
        assert is_ill.groupby(table[name]).mean().to_numpy() == pytest.approx(0.5, abs=0.01)
    assert table.loc[is_ill, "severity"].mean() > table.loc[~is_ill, "severity"].mean() + 5
    assert table["severity"].isna().mean() == pytest.approx(0.04, abs=0.005)


def test_the_trial_repeats_itself():
    assert make_trial(50, random_state=3).equals(make_trial(50, random_state=3))
