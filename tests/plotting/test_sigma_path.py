from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifierCV, SigmaPathDisplay

mpl.use("Agg")


@pytest.fixture(scope="module")
def display():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    model = ImmigrateClassifierCV(penalties=(None, "prune"), rules=("energy", "distance")).fit(
        X, y
    )
    return SigmaPathDisplay.from_estimator(model, top=8)


def test_chosen_point_is_marked_in_every_panel(display):
    for ax in display.axes_:
        marks = [line for line in ax.lines if len(line.get_xdata()) == 2]
        assert any(line.get_xdata()[0] == display._chosen["sigma"] for line in marks)


def test_every_candidate_can_be_seen(display):
    """Curves that coincide stand beside each other, and the mark is on the chosen one."""
    *curves, mark = [line for line in display.axes_[0].lines if len(line.get_xdata()) != 2]
    points = [point for line in curves for point in line.get_xydata()]
    assert len(np.unique(points, axis=0)) == len(display.scores)
    assert any(np.array_equal(mark.get_xydata()[0], point) for point in points)
    labels = {text.get_text() for text in display.axes_[0].get_legend().get_texts()}
    assert {"energy rule, no penalty", "distance rule, Prune()"} < labels


def test_criterion_is_called_one(display):
    assert display.axes_[0].get_ylabel() == "selection criterion"
    assert "not an estimate of performance" in display.axes_[0].get_title("left")


def test_labels_do_not_overlap(display):
    renderer = display.figure_.canvas.get_renderer()
    display.figure_.canvas.draw()
    # Of the text alone: an annotation's own extent takes in the line that leads to it.
    extent = mpl.text.Text.get_window_extent
    boxes = [extent(text, renderer) for text in display.axes_[2].texts]
    assert len(boxes) == 8
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])


def test_draws_into_given_axes(display):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3)
    assert np.array_equal(display.plot(axes=axes).axes_, axes)
    plt.close("all")
