from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import IM4EClassifier, ImmigrateClassifier
from immigrate.options import Screen
from immigrate.plotting import WeightMatrixDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def model():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    return ImmigrateClassifier().fit(X, y)


@pytest.fixture
def signed():
    W = np.array([[0.1, -0.3, 0.0], [-0.3, 0.9, 0.2], [0.0, 0.2, 0.4]])
    return WeightMatrixDisplay(weights=W, feature_names=["a", "b", "c"])


def names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_rows_and_columns_are_named_strongest_first(model):
    display = WeightMatrixDisplay.from_estimator(model, top=4)
    strongest = np.argsort(-model.feature_importances_)[:4]
    expected = list(model.feature_names_in_[strongest])
    assert names(display.ax_.xaxis) == names(display.ax_.yaxis) == expected
    W = model.weight_matrix_[np.ix_(strongest, strongest)]
    np.testing.assert_array_equal(display.im_.get_array(), W)
    assert display.ax_.get_title() == "4 strongest of 13 features"


def test_order_of_the_table_can_be_kept(model):
    display = WeightMatrixDisplay.from_estimator(model, top=4, order="input")
    assert list(display.shown_) == sorted(np.argsort(-model.feature_importances_)[:4])
    with pytest.raises(ValueError, match="choose 'strength' or 'input'"):
        display.plot(order="size")


def test_zero_is_the_neutral_colour_of_signed_weights(signed):
    image = signed.plot().im_
    assert image.norm(0.0) == 0.5
    assert signed.plot(absolute=True).im_.get_array().min() == 0


def test_numbers_can_be_read_on_every_colour(signed):
    display = signed.plot()
    assert [text.get_text() for text in display.ax_.texts[:3]] == ["0.90", "0.20", "-0.30"]
    for text, weight in zip(display.ax_.texts, display.im_.get_array().ravel()):
        back = np.dot(display.im_.cmap(display.im_.norm(weight))[:3], [0.299, 0.587, 0.114])
        assert abs(mpl.colors.to_rgb(text.get_color())[0] - back) >= 0.5


def test_screened_models_show_the_kept_features():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    model = ImmigrateClassifier(screen=Screen(threshold=0.1)).fit(X, y)
    display = WeightMatrixDisplay.from_estimator(model)
    assert set(names(display.ax_.yaxis)) == set(model.get_feature_names_out())


def test_long_names_are_shortened_but_stay_distinct():
    long = [f"expression of gene {i} in the tissue that was sampled" for i in range(3)]
    display = WeightMatrixDisplay(weights=np.eye(3), feature_names=[*long[:2], "x" * 60])
    shown = names(display.plot().ax_.yaxis)
    assert len(set(shown)) == 3
    (short,) = names(
        WeightMatrixDisplay(weights=np.eye(1), feature_names=long[:1]).plot().ax_.yaxis
    )
    assert short == "expression of ge…hat was sampled"


def test_names_that_differ_in_their_middle_stay_short():
    visits = [f"concentration in the serum at visit {i} (nanomoles per litre)" for i in range(12)]
    shown = names(WeightMatrixDisplay(weights=np.eye(12), feature_names=visits).plot().ax_.yaxis)
    assert len(set(shown)) == 12
    assert max(map(len, shown)) <= 32
    assert all(f"visit {i} " in text for text, i in zip(shown, range(12)))


@pytest.mark.parametrize("side", [3, 6])
def test_names_do_not_touch(side):
    ax = mpl.figure.Figure(figsize=(side, side), layout="constrained").add_subplot()
    WeightMatrixDisplay(weights=np.eye(20), feature_names=[f"f{i}" for i in range(20)]).plot(ax=ax)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(above.y0 > below.y1 - 1 for above, below in pairwise(boxes))


def test_draws_into_given_axes(signed):
    figure = mpl.figure.Figure()
    ax = figure.add_subplot()
    assert signed.plot(ax=ax).figure_ is figure


def test_models_without_weights_are_refused():
    X, y = load_wine(return_X_y=True)
    for other in (IM4EClassifier().fit(X, y), make_pipeline(ImmigrateClassifier()).fit(X, y)):
        with pytest.raises(TypeError, match="no weight matrix to draw"):
            WeightMatrixDisplay.from_estimator(other)
