from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine

from immigrate import (
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    PenaltyPath,
    PenaltyPathDisplay,
    SigmaPathDisplay,
)

mpl.use("Agg")


@pytest.fixture(scope="module")
def model():
    X, y = load_wine(return_X_y=True, as_frame=True)
    base = ImmigrateClassifier(constraint="nonnegative")
    return ImmigrateClassifierCV(base, sigmas=[2.0, 1.0], penalties=PenaltyPath()).fit(X, y)


@pytest.fixture(scope="module")
def display(model):
    return PenaltyPathDisplay.from_estimator(model, top=6)


def test_the_chosen_strength_is_marked_in_every_panel(model, display):
    place = int(np.flatnonzero(model.strengths_ == getattr(model.penalty_, "strength", 0))[0])
    for ax in display.axes_:
        marks = [line for line in ax.lines if len(line.get_xdata()) == 2]
        assert any(line.get_xdata()[0] == place for line in marks)


def test_pairs_are_counted_and_the_strongest_named(model, display):
    counted = display.axes_[1].lines[0].get_ydata()
    rows, columns = np.triu_indices(13, 1)
    expected = (model.weights_by_strength_[:, rows, columns] != 0).sum(axis=1)
    np.testing.assert_array_equal(counted, expected)
    names = [text.get_text() for text in display.axes_[2].texts]
    assert len(names) == 6
    assert all(" × " in name for name in names)


def test_the_last_strength_is_none(display):
    assert display.axes_[2].get_xticklabels()[-1].get_text() == "none"


def test_the_criterion_is_not_called_performance(display):
    title = display.axes_[0].get_title(loc="left")
    assert "not an estimate of performance" in title


def test_draws_into_given_axes(display):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    assert np.array_equal(display.plot(axes=axes).axes_, axes)


def test_sigma_path_of_many_penalties_shows_the_chosen_one(model):
    curves = SigmaPathDisplay.from_estimator(model).axes_[0].get_legend().get_texts()
    assert len(curves) == 3


def test_other_models_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(TypeError, match="no path of strengths"):
        PenaltyPathDisplay.from_estimator(ImmigrateClassifier().fit(X, y))
