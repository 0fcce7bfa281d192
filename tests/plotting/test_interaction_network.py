from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from immigrate import IM4EClassifier, ImmigrateClassifier, InteractionTest
from immigrate.datasets import make_xor
from immigrate.estimators.weight_matrix import interaction_table
from immigrate.plotting import InteractionNetworkDisplay
from immigrate.plotting.interaction_network import (
    FOUND,
    NEGATIVE,
    NOT_FOUND,
    NOT_SHOWN,
    POSITIVE,
    SHOWN,
    THINNEST_FOUND,
)
from immigrate.plotting.style import on_paper

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def table():
    W = np.array([[0.5, -0.3, 0.2], [-0.3, 0.4, 0.0], [0.2, 0.0, 0.1]])
    return interaction_table(W, np.abs(W), ["a", "b", "c"])


def lines(display):
    """Colour and width of each line, by its pair; the strongest is drawn last."""
    patches = [p for p in display.ax_.patches if isinstance(p, mpl.patches.PathPatch)]
    pairs = display.pairs_[::-1][["feature_1", "feature_2"]].to_numpy().tolist()
    colors = [mpl.colors.to_hex(patch.get_edgecolor()) for patch in patches]
    widths = [patch.get_linewidth() for patch in patches]
    return {tuple(pair): line for pair, line in zip(pairs, zip(colors, widths), strict=True)}


def hexed(color):
    return mpl.colors.to_hex(color)


def test_lines_are_the_pairs_with_weight(table):
    drawn = lines(InteractionNetworkDisplay(table=table).plot())
    assert set(drawn) == {("a", "b"), ("a", "c")}
    (ab_color, ab_width), (ac_color, ac_width) = drawn["a", "b"], drawn["a", "c"]
    assert (ab_color, ac_color) == (hexed(NEGATIVE), hexed(POSITIVE))
    assert ab_width > ac_width


def test_pairs_that_act_together_come_first(table):
    tested = table.assign(is_found=table["weight"] == 0.2)
    drawn = lines(InteractionNetworkDisplay(table=tested).plot())
    assert drawn["a", "c"][0] == hexed(FOUND)
    assert drawn["a", "b"][0] == hexed(NOT_FOUND)
    (only,) = lines(InteractionNetworkDisplay(table=tested).plot(top=1))
    assert only == ("a", "c")


def test_a_pair_that_acts_together_is_drawn_and_seen_without_a_weight(table):
    tested = table.assign(is_found=table["weight"] == 0)
    drawn = lines(InteractionNetworkDisplay(table=tested).plot())
    assert drawn["b", "c"] == (hexed(FOUND), THINNEST_FOUND)
    assert {drawn["a", "b"][0], drawn["a", "c"][0]} == {hexed(NOT_FOUND)}


def test_circles_of_features_that_matter_are_dark(table):
    tested = table.assign(is_found=(table["kind"] == "main") & (table["feature_1"] == "b"))
    display = InteractionNetworkDisplay(table=tested).plot()
    (circles,) = display.ax_.collections
    places = [tuple(np.round(place, 6)) for place in circles.get_offsets()]
    color = dict(zip(places, map(mpl.colors.to_hex, circles.get_facecolors())))
    shown = {text.get_text(): color[tuple(np.round(text.xy, 6))] for text in display.ax_.texts}
    assert shown == {"a": hexed(NOT_SHOWN), "b": hexed(SHOWN), "c": hexed(NOT_SHOWN)}


def test_pairs_that_a_test_found_are_shown_as_such():
    X, y = make_xor(200, 4, noise=0.1, random_state=0)
    model, test = ImmigrateClassifier().fit(X, y), InteractionTest().fit(X, y)
    display = InteractionNetworkDisplay.from_estimator(model, test=test)
    assert lines(display)["a", "b"][0] == hexed(FOUND)


def test_mirrors_of_a_pair_have_the_colour_of_the_others():
    X, y = make_xor(400, 4, noise=0.1, random_state=0)
    X["like_a"] = X["a"] + 0.3 * np.random.default_rng(0).standard_normal(len(X))
    model, test = ImmigrateClassifier().fit(X, y), InteractionTest().fit(X, y)
    display = InteractionNetworkDisplay.from_estimator(model, test=test)
    small = display.pairs_[display.pairs_["p_adjusted"] < 0.05]
    assert len(small) == 2
    found = [pair for pair, (color, _) in lines(display).items() if color == hexed(FOUND)]
    assert found == [("a", "b")]


def test_circles_grow_with_the_weight_of_the_feature(table):
    display = InteractionNetworkDisplay(table=table).plot()
    (circles,) = display.ax_.collections
    by_place = {tuple(np.round(place, 6)): size for place, size in zip(
        circles.get_offsets(), circles.get_sizes())}  # fmt: skip
    size = {text.get_text(): by_place[tuple(np.round(text.xy, 6))] for text in display.ax_.texts}
    assert size["a"] > size["b"] > size["c"]


@pytest.mark.parametrize(("top", "size"), [(3, (8, 6)), (12, (8, 6)), (40, (8, 6)), (12, (5, 4))])
def test_labels_do_not_overlap_and_stay_in_the_picture(top, size):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    X = X.rename(columns={"worst area": "area of the largest nucleus of all, as photographed"})
    model = ImmigrateClassifier().fit(X, y)
    figure = FigureCanvasAgg(mpl.figure.Figure(figsize=size, layout="constrained")).figure
    display = InteractionNetworkDisplay.from_estimator(model, top=top, ax=figure.add_subplot())
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    extent = mpl.text.Text.get_window_extent
    boxes = [extent(text, renderer) for text in display.ax_.texts]
    assert len(boxes) == len(np.unique(display.pairs_[["feature_1", "feature_2"]]))
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])
        assert one.x0 >= 0
        assert one.x1 <= figure.bbox.x1


def test_nothing_to_draw_is_said(table):
    display = InteractionNetworkDisplay(table=table[table["kind"] == "main"]).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["no pair has a weight"]


def test_one_pair_is_enough():
    W = np.array([[0.5, 0.3], [0.3, 0.0]])
    table = interaction_table(W, W, ["a", "b"])
    display = InteractionNetworkDisplay(table=pd.DataFrame(table)).plot()
    assert len(lines(display)) == 1


def test_dollars_are_no_mathematics(table):
    priced = table.replace({"a": "a_$ per_$", "b": "b_$"})
    display = InteractionNetworkDisplay(table=priced).plot()
    display.figure_.canvas.draw()
    assert r"a_\$ per_\$" in {text.get_text() for text in display.ax_.texts}


def test_top_must_be_a_count(table):
    with pytest.raises(ValueError, match="top must be a whole number"):
        InteractionNetworkDisplay(table=table).plot(top=0)


def test_models_without_pairs_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(TypeError, match="no table of pairs to draw"):
        InteractionNetworkDisplay.from_estimator(IM4EClassifier().fit(X, y))


def test_pale_stays_pale_on_dark_paper():
    import matplotlib.pyplot as plt
    from matplotlib.colors import to_rgb

    with plt.style.context("dark_background"):
        axes = plt.subplots()[1]
        shades = [on_paper(axes, grey) for grey in (SHOWN, NOT_SHOWN, NOT_FOUND)]
    values = [to_rgb(shade)[0] for shade in shades]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.7 > 0.3 > values[-1] > 0.1


@pytest.mark.parametrize("size", [(4, 3), (8, 6), (14, 10)])
def test_no_name_stands_on_a_circle(size):
    """A circle may be large and the picture small."""
    import matplotlib.pyplot as plt

    axes = plt.subplots(figsize=size, layout="constrained")[1]
    names = [f"feature {k}" for k in range(6)]
    rows = [(name, None, "main", 1.0) for name in names]
    rows += [(names[k], names[k - 1], "pair", 1.0) for k in range(6)]
    table = pd.DataFrame(rows, columns=["feature_1", "feature_2", "kind", "weight"])
    InteractionNetworkDisplay(table=table).plot(ax=axes)
    axes.figure.canvas.draw()
    circles = axes.collections[0]
    places = axes.transData.transform(circles.get_offsets())
    radii = np.sqrt(circles.get_sizes() / np.pi) * axes.figure.dpi / 72
    for text in axes.texts:
        box = text.get_window_extent()
        near = np.clip(places, [box.x0, box.y0], [box.x1, box.y1])
        assert (np.hypot(*(places - near).T) >= radii - 2).all()
