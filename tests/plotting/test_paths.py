from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.options import PenaltyPath
from immigrate.plotting import PenaltyPathDisplay, SigmaPathDisplay

mpl.use("Agg")


@pytest.fixture(scope="module")
def sigmas():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    model = ImmigrateClassifierCV(penalties=(None, "prune"), rules=("energy", "distance")).fit(
        X, y
    )
    return SigmaPathDisplay.from_estimator(model, top=8)


def test_chosen_point_is_marked_in_every_panel(sigmas):
    for ax in sigmas.axes_:
        marks = [line for line in ax.lines if len(line.get_xdata()) == 2]
        assert any(line.get_xdata()[0] == sigmas._chosen["sigma"] for line in marks)


def test_every_candidate_can_be_seen(sigmas):
    """Curves that coincide stand beside each other, and the mark is on the chosen one."""
    *curves, mark = [line for line in sigmas.axes_[0].lines if len(line.get_xdata()) != 2]
    points = [point for line in curves for point in line.get_xydata()]
    assert len(np.unique(points, axis=0)) == len(sigmas.scores)
    assert any(np.array_equal(mark.get_xydata()[0], point) for point in points)
    labels = {text.get_text() for text in sigmas.axes_[0].get_legend().get_texts()}
    assert {"energy rule, no penalty", "distance rule, Prune()"} < labels


def test_criterion_is_called_one(sigmas):
    assert sigmas.axes_[0].get_ylabel() == "selection criterion"
    assert "not an estimate of performance" in sigmas.axes_[0].get_title("left")


def test_labels_do_not_overlap(sigmas):
    renderer = sigmas.figure_.canvas.get_renderer()
    sigmas.figure_.canvas.draw()
    # Of the text alone: an annotation's own extent takes in the line that leads to it.
    extent = mpl.text.Text.get_window_extent
    boxes = [extent(text, renderer) for text in sigmas.axes_[2].texts]
    assert len(boxes) == 8
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])


def test_sigmas_are_drawn_into_given_axes(sigmas):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    assert np.array_equal(sigmas.plot(axes=axes).axes_, axes)
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    X, y = load_wine(return_X_y=True, as_frame=True)
    base = ImmigrateClassifier(constraint="nonnegative")
    return ImmigrateClassifierCV(base, sigmas=[2.0, 1.0], penalties=PenaltyPath()).fit(X, y)


@pytest.fixture(scope="module")
def strengths(model):
    return PenaltyPathDisplay.from_estimator(model, top=6)


def test_the_chosen_strength_is_marked_in_every_panel(model, strengths):
    place = int(np.flatnonzero(model.strengths_ == getattr(model.penalty_, "strength", 0))[0])
    for ax in strengths.axes_:
        marks = [line for line in ax.lines if len(line.get_xdata()) == 2]
        assert any(line.get_xdata()[0] == place for line in marks)


def test_pairs_are_counted_and_the_strongest_named(model, strengths):
    counted = strengths.axes_[1].lines[0].get_ydata()
    rows, columns = np.triu_indices(13, 1)
    expected = (model.weights_by_strength_[:, rows, columns] != 0).sum(axis=1)
    np.testing.assert_array_equal(counted, expected)
    names = [text.get_text() for text in strengths.axes_[2].texts]
    assert len(names) == 6
    assert all(" × " in name for name in names)


def test_the_last_strength_is_none(strengths):
    assert strengths.axes_[2].get_xticklabels()[-1].get_text() == "none"


def test_the_criterion_is_not_called_performance(strengths):
    title = strengths.axes_[0].get_title(loc="left")
    assert "not an estimate of performance" in title


def test_strengths_are_drawn_into_given_axes(strengths):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    assert np.array_equal(strengths.plot(axes=axes).axes_, axes)


def test_sigma_path_of_many_penalties_shows_the_chosen_one(model):
    curves = SigmaPathDisplay.from_estimator(model).axes_[0].get_legend().get_texts()
    assert len(curves) == 3


def test_other_models_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(TypeError, match="no path of strengths"):
        PenaltyPathDisplay.from_estimator(ImmigrateClassifier().fit(X, y))
