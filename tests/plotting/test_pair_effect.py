from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from immigrate import ImmigrateClassifier, InteractionTest
from immigrate.datasets import make_monk1, make_xor
from immigrate.estimators import PairEffect
from immigrate.interactions.pair_effect import EffectAxis
from immigrate.plotting import PairEffectDisplay
from immigrate.plotting.pair_panels import on_finer_grid, window_sums
from immigrate.plotting.style import signed

mpl.use("Agg")

LONG = "concentration of the metabolite in the plasma of patients"
LONG_AS_ONE_WORD = "years_since_first_diagnosis_at_any_participating_centre"


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def test_of_numbers():
    X, y = make_xor(300, 4, noise=0.1, random_state=0)
    return InteractionTest().fit(X, y)


@pytest.fixture(scope="module")
def test_of_levels():
    return InteractionTest().fit(*make_monk1())


def axis(name, values, n_samples=200):
    rng = np.random.default_rng(len(name))
    has_levels = isinstance(values, list)
    top = len(values) if has_levels else values[-1]
    samples = rng.integers(top, size=n_samples) if has_levels else rng.uniform(0, top, n_samples)
    samples = np.where(rng.random(n_samples) < 0.1, np.nan, samples)
    return EffectAxis(
        name, has_levels, np.array(values, dtype=object if has_levels else float), samples
    )


def effect(first, second, classes=("relapse",), *, is_number=False, seed=0):
    """An effect with made-up numbers: all signs, sure and unsure, few and many samples."""
    rng = np.random.default_rng(seed)
    shape = len(classes), len(first.values), len(second.values)
    value = rng.normal(size=shape)
    reach = rng.uniform(0.1, 2, size=shape)
    n = len(first.samples)
    names = ["none", *classes]
    return PairEffect(
        axes=(first, second),
        classes=tuple(classes),
        value=value,
        low=value - reach,
        high=value + reach,
        counts=rng.integers(0, 12, size=shape[1:]).astype(float),
        size=1.0,
        size_low=0.5,
        size_high=1.5,
        direction=f"{classes[0]} is higher where {first.name} and {second.name} are both high",
        labels=rng.normal(size=n) if is_number else rng.choice(names, n).astype(object),
        is_number=is_number,
    )


GRID = np.linspace(0.5, 9, 25)
STAGES = [f"stage {i}: spread as in the protocol" for i in range(3)]
THIRTY = [f"centre {i:02d}" for i in range(30)]
FOUR = ("cured", "relapse", "second tumour, of another organ", "stable")
DIFFICULT = {
    "number-number": (axis(LONG, GRID), axis(LONG_AS_ONE_WORD, GRID)),
    "level-number": (axis(LONG, STAGES), axis(LONG_AS_ONE_WORD, GRID)),
    "level-level": (axis(LONG, STAGES), axis(LONG_AS_ONE_WORD, ["female", "male"])),
    "thirty-number": (axis("centre", THIRTY), axis("dose", GRID)),
    "thirty-level": (axis("centre", THIRTY), axis(LONG, STAGES)),
    "thirty-thirty": (axis("centre", THIRTY), axis("ward", THIRTY)),
}


def drawn_texts(figure):
    """Texts that are drawn, with their boxes in pixels; hidden tick labels are none of them."""
    found = []

    def noted(text, renderer):
        if text.get_visible() and text.get_text().strip():
            found.append((text.get_text(), text.get_window_extent(renderer)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", noted)
        figure.draw_without_rendering()
    return found


def overlaps(texts):
    """Texts that stand on one another by more than a pixel."""
    found = []
    for (one, box), (other, second) in combinations(texts, 2):
        width = min(box.x1, second.x1) - max(box.x0, second.x0)
        height = min(box.y1, second.y1) - max(box.y0, second.y0)
        if width > 1 and height > 1:
            found.append((one, other))
    return found


@pytest.mark.parametrize("classes", [("relapse",), FOUR], ids=["two", "four"])
@pytest.mark.parametrize("kind", DIFFICULT)
def test_texts_neither_overlap_nor_leave_the_picture(kind, classes):
    display = PairEffectDisplay(effect=effect(*DIFFICULT[kind], classes)).plot()
    assert display.ax_ is display.axes_[0]
    # Every class of four has a panel with its name; of two there is one.
    titles = [ax.get_title()[:5] for ax in display.axes_]
    assert len(titles) == len(classes)
    if classes is FOUR:
        assert titles == [name[:5] for name in FOUR]
    figure = display.figure_
    texts = drawn_texts(figure)
    assert overlaps(texts) == []
    page = figure.bbox.padded(1)
    corners = [(text, corner) for text, box in texts for corner in box.corners()]
    assert [text for text, corner in corners if not page.contains(*corner)] == []


def test_an_overlap_would_be_seen():
    figure = mpl.figure.Figure()
    figure.text(0.5, 0.5, "one text")
    figure.text(0.51, 0.5, "another")
    assert overlaps(drawn_texts(figure)) == [("one text", "another")]


def test_the_estimator_draws_what_its_effect_draws(test_of_numbers):
    one = PairEffectDisplay.from_estimator(test_of_numbers, "a", "b")
    other = PairEffectDisplay(effect=test_of_numbers.effect("a", "b")).plot()
    surfaces = [display.ax_.collections[0].get_array() for display in (one, other)]
    np.testing.assert_array_equal(*surfaces)
    assert one.figure_.get_suptitle() == other.figure_.get_suptitle()
    assert (one.ax_.get_xlabel(), one.ax_.get_ylabel()) == ("a", "b")


def test_the_title_says_which_way(test_of_numbers):
    title = PairEffectDisplay.from_estimator(test_of_numbers, "a", "b").figure_.get_suptitle()
    assert title.splitlines()[0] == "a × b"
    assert "a and b are both high or both low" in " ".join(title.split())


def test_axes_follow_the_order_that_was_asked_for(test_of_numbers):
    one = PairEffectDisplay.from_estimator(test_of_numbers, "a", "b")
    other = PairEffectDisplay.from_estimator(test_of_numbers, "b", "a")
    assert (other.ax_.get_xlabel(), other.ax_.get_ylabel()) == ("b", "a")
    first, second = (d.ax_.collections[0].get_array() for d in (one, other))
    np.testing.assert_allclose(first, second.T)


def test_the_samples_on_the_surface_are_those_of_the_table(test_of_numbers):
    display = PairEffectDisplay.from_estimator(test_of_numbers, "a", "b")
    X, y = make_xor(300, 4, noise=0.1, random_state=0)
    others, own = display.ax_.collections[-2:]
    np.testing.assert_allclose(own.get_offsets(), np.asarray(X)[np.asarray(y) == 1, :2])
    np.testing.assert_allclose(others.get_offsets(), np.asarray(X)[np.asarray(y) == 0, :2])


def test_cells_hold_values_and_counts(test_of_levels):
    display = PairEffectDisplay.from_estimator(test_of_levels, "head_shape", "body_shape")
    X, _ = make_monk1()
    counts = pd.crosstab(X["head_shape"], X["body_shape"]).to_numpy().ravel()
    cells = sorted(text.get_text() for text in display.ax_.texts)
    assert len(cells) == 9
    shown = [int(text.split("(")[1].rstrip(")")) for text in cells]
    assert sorted(shown) == sorted(counts)


def test_cells_are_framed_where_the_interval_excludes_0(test_of_levels):
    display = PairEffectDisplay.from_estimator(test_of_levels, "head_shape", "body_shape")
    is_sure = (display.effect.low[0] > 0) | (display.effect.high[0] < 0)
    hatched, framed = display.ax_.collections[1:]
    assert len(framed.get_paths()) == is_sure.sum() > 0
    assert len(hatched.get_paths()) == 0  # every cell holds 48 samples


def test_a_curve_is_the_effect_of_its_level():
    made = effect(axis("stage", ["I", "II"]), axis("dose", GRID))
    display = PairEffectDisplay(effect=made).plot()
    drawn = [line.get_ydata() for line in display.ax_.lines if len(line.get_ydata()) == len(GRID)]
    for k in range(2):
        assert any(np.array_equal(values, made.value[0, k]) for values in drawn)


def test_of_many_levels_the_strongest_have_colours():
    weak = effect(axis("centre", THIRTY), axis("dose", GRID))
    strong = ["centre 03", "centre 11", "centre 12", "centre 20", "centre 29"]
    factor = np.where(np.isin(weak.axes[0].values, strong), 50.0, 1.0)[:, None]
    made = replace(weak, value=weak.value * factor)
    (legend,) = PairEffectDisplay(effect=made).plot().figure_.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:5] == strong
    assert "25 other levels" in texts


@pytest.mark.parametrize(
    ("classes", "is_number", "words"),
    [
        (("relapse",), False, "adds to the log-odds of relapse"),
        (("1",), False, "adds to the log-odds of class 1"),
        (FOUR, False, "adds to the log-odds of the class"),
        (("ng/ml",), True, "adds to ng/ml"),
    ],
)
def test_the_colour_bar_says_what_is_added_to_what(classes, is_number, words):
    made = effect(axis("dose", GRID), axis("age", GRID), classes, is_number=is_number)
    display = PairEffectDisplay(effect=made).plot()
    (bar,) = (ax for ax in display.figure_.axes if ax not in display.axes_)
    assert bar.get_ylabel() == words


def test_colours_are_even_around_0_and_shared_by_panels():
    display = PairEffectDisplay(effect=effect(axis("dose", GRID), axis("age", GRID), FOUR)).plot()
    ends = {ax.collections[0].get_clim() for ax in display.axes_}
    ((low, high),) = ends
    assert low == -high < 0


def test_missing_values_are_counted_and_not_drawn():
    made = effect(axis("dose", GRID), axis("age", GRID))
    display = PairEffectDisplay(effect=made).plot()
    n_known = int(np.sum(~np.isnan(made.axes[0].samples + made.axes[1].samples)))
    assert sum(len(points.get_offsets()) for points in display.ax_.collections[-2:]) == n_known
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert f"{n_known} of 200 samples have both values" in texts


def test_of_very_many_samples_some_are_drawn():
    made = effect(axis("dose", GRID, 5000), axis("age", GRID, 5000))
    display = PairEffectDisplay(effect=made).plot()
    assert 500 <= sum(len(one.get_offsets()) for one in display.ax_.collections[-2:]) <= 1000
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert "samples of relapse (1 in 5)" in texts


def test_skewed_numbers_have_a_logarithmic_axis():
    made = effect(axis("dose", np.geomspace(0.1, 100, 25)), axis("age", GRID))
    ax = PairEffectDisplay(effect=made).plot().ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")


def test_an_effect_of_nothing_is_drawn():
    made = effect(axis("dose", GRID), axis("age", GRID))
    nothing = replace(made, value=0 * made.value, low=0 * made.low - 1, high=0 * made.high + 1)
    PairEffectDisplay(effect=nothing).plot().figure_.draw_without_rendering()


def test_dollar_signs_are_no_mathematics():
    made = effect(axis("cost in $ or $", ["$a", "b$"]), axis("x$y$", ["1", "2"]))
    figure = PairEffectDisplay(effect=made).plot().figure_
    figure.draw_without_rendering()
    assert r"cost in \$ or \$ × x\$y\$" in figure.get_suptitle()


def test_classes_can_be_chosen():
    made = effect(axis("dose", GRID), axis("age", GRID), FOUR)
    display = PairEffectDisplay(effect=made).plot(classes=["stable", "cured"])
    assert [ax.get_title() for ax in display.axes_] == ["stable", "cured"]
    for wrong in ([], ["dead"]):
        with pytest.raises(ValueError, match="choose at least one of cured, relapse"):
            PairEffectDisplay(effect=made).plot(classes=wrong)


def test_of_very_many_classes_the_strongest_have_panels():
    made = effect(axis("dose", GRID), axis("sex", ["f", "m"]), [f"c{i}" for i in range(12)])
    weak = np.where(np.isin(made.classes, ["c0", "c5", "c9"]), 0.01, 1.0)[:, None, None]
    display = PairEffectDisplay(effect=replace(made, value=made.value * weak)).plot()
    wanted = [f"c{i}" for i in range(12) if i not in (0, 5, 9)]
    assert [ax.get_title() for ax in display.axes_] == wanted
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert "9 of 12 classes are shown" in texts


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_draws_into_given_axes_without_touching_other_figures(layout):
    import matplotlib.pyplot as plt

    figure = mpl.figure.Figure(layout=layout)
    axes = figure.subplots(1, 4)
    made = effect(axis("dose", GRID), axis("age", GRID), FOUR)
    display = PairEffectDisplay(effect=made).plot(ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes)
    assert plt.get_fignums() == []


def test_too_few_axes_are_refused():
    made = effect(axis("dose", GRID), axis("age", GRID), FOUR)
    ax = mpl.figure.Figure().add_subplot()
    with pytest.raises(ValueError, match="ax holds 1 axes and the picture has 4 panels"):
        PairEffectDisplay(effect=made).plot(ax=ax)


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="ImmigrateClassifier measures no joint effects"):
        PairEffectDisplay.from_estimator(ImmigrateClassifier(), "a", "b")


def test_levels_come_in_the_order_of_their_names():
    rng = np.random.default_rng(0)
    names = np.array([f"centre {i:02d}" for i in range(14)])
    X = pd.DataFrame({"centre": rng.choice(names, 600), "dose": rng.normal(size=600)})
    y = rng.random(600) < 0.5
    shown = InteractionTest().fit(X, y).effect("centre", "dose")
    centre = shown.axes[0]
    assert list(centre.values) == sorted(names)
    assert list(centre.values[centre.samples.astype(int)]) == list(X["centre"])
    counts = X["centre"].value_counts().sort_index()
    np.testing.assert_array_equal(shown.counts.sum(axis=1), counts)


def test_a_finer_grid_keeps_the_values_at_old_points():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(4)), np.sort(rng.random(5))
    values = rng.normal(size=(4, 5))
    np.testing.assert_allclose(on_finer_grid(values, (x, y), (x, y)), values)
    middle = (x[:-1] + x[1:]) / 2
    means = (values[:-1] + values[1:]) / 2
    np.testing.assert_allclose(on_finer_grid(values, (x, y), (middle, y)), means)


def test_a_value_has_its_sign_and_0_has_none():
    texts = [signed(value, 1) for value in (0.31, -1.25, 0.04, -0.04)]
    assert texts == ["+0.3", "−1.2", "0", "0"]


@pytest.mark.parametrize("along", [0, 1])
def test_window_sums_are_those_of_a_loop(along):
    counts = np.random.default_rng(0).integers(0, 9, size=(6, 7)).astype(float)
    rows = np.moveaxis(counts, along, 0)
    wanted = [sum(rows[max(i - 2, 0) : i + 3]) for i in range(len(rows))]
    np.testing.assert_array_equal(np.moveaxis(window_sums(counts, along), along, 0), wanted)
