from __future__ import annotations

import base64
import re
import sys
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from immigrate import (
    BoostedImmigrateClassifier,
    Columns,
    IM4EClassifier,
    ImmigrateClassifier,
    Report,
    Screen,
    plotting,
)
from immigrate.datasets import make_monk1, make_xor
from immigrate.report._performance import possible_folds

# Of one pair found.
N_PAIR_PICTURES = int(hasattr(plotting, "PairEffectDisplay"))
VOID = {"meta", "link", "br", "hr", "img", "input", "path", "use"}


class Balance(HTMLParser):
    """Fails on a tag that is closed and was not the last to open."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def text_of(html):
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    return re.sub(r"\s+", " ", " ".join(parser.texts))


@pytest.fixture(scope="module")
def monk():
    return Report.of(*make_monk1(), title="Robots & <friends>", cv=3)


@pytest.fixture(scope="module")
def monk_page(monk):
    return monk.html()


@pytest.fixture
def small():
    X, y = make_xor(60, 3, random_state=0)
    return X, y


def quick():
    return ImmigrateClassifier()


def test_page_answers_the_questions(monk_page):
    text = text_of(monk_page)
    assert "Which pairs act together? head_shape × body_shape" in text
    assert "Which features matter? jacket_color" in text
    assert "Class 1 is more likely where jacket_color is 1." in text
    assert "100.0% right on samples held out in 3-fold cross-validation" in text
    assert "always guessing the largest class gives 50.0%" in text


def test_page_needs_nothing_from_elsewhere(monk_page):
    outside = re.findall(
        r"""(?:src|href)\s*=\s*["'](?!#|data:)[^"']*|@import|url\((?!#)""", monk_page
    )
    assert outside == []
    assert monk_page.count("<svg") == 3 + N_PAIR_PICTURES


def test_names_are_text_and_never_markup(small):
    X, y = small
    X = X.rename(columns={"a": "<script>alert('a')</script>", "b": 'b"&b'})
    report = Report.of(X, y, quick(), title="<b>", cv=2)
    page = report.html()
    assert "<script>alert" not in page
    assert "<title>&lt;b&gt;</title>" in page
    assert "<script>alert('a')</script>" in text_of(page)


def test_carried_file_is_the_table_of_the_model(monk, monk_page):
    (content,) = re.findall(r'href="data:text/csv;base64,([^"]*)"', monk_page)
    carried = pd.read_csv(StringIO(base64.b64decode(content).decode()))
    expected = monk.estimator.interactions(test=True)
    assert expected["is_found"].sum() == 2  # a feature and a pair
    # The second feature of a main effect is None, an empty field in the file.
    assert carried["feature_2"].isna().equals(expected["kind"] == "main")
    expected["feature_2"] = expected["feature_2"].astype("str").where(expected["kind"] == "pair")
    # So is a direction that cannot be said.
    expected["direction"] = expected["direction"].where(expected["direction"] != "")
    pd.testing.assert_frame_equal(carried, expected, check_dtype=False, rtol=1e-12)


def test_the_carried_file_runs_no_formula(small):
    X, y = small
    page = Report.of(X.rename(columns={"a": "=1+1"}), y, quick(), cv=2).html()
    (content,) = re.findall(r'href="data:text/csv;base64,([^"]*)"', page)
    carried = pd.read_csv(StringIO(base64.b64decode(content).decode()))
    assert "'=1+1" in set(carried["feature_1"])
    assert not carried["feature_1"].str.startswith("=").any()


def test_accuracy_is_that_of_cross_validation():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), quick())
    found = Report.of(X, y.map({0: "x", 1: "y", 2: "z"}), model, cv=5).summary["performance"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds)
    sizes = [len(test) for _, test in folds.split(X, y)]
    assert found["accuracy"] == pytest.approx(np.average(scores, weights=sizes))
    assert (found["lowest"], found["highest"]) == pytest.approx((scores.min(), scores.max()))
    assert np.sum(found["confusion"]) == len(y)
    assert found["labels"] == ["x", "y", "z"]


def test_names_pass_through_a_pipeline(small):
    X, y = small
    report = Report.of(X, y, make_pipeline(StandardScaler(), quick()), cv=2)
    assert {row["name"] for row in report.summary["features"]} == set(X.columns)


def test_tables_without_names_have_numbered_ones(small):
    X, y = small
    report = Report.of(X.to_numpy(), y, quick(), cv=2)
    assert {row["name"] for row in report.summary["features"]} == {"x0", "x1", "x2"}


def test_same_input_same_page(small):
    pages = [Report.of(*small, quick(), cv=2).html() for _ in range(2)]
    assert pages[0] == pages[1]


def test_ensembles_have_no_path_but_a_report(small):
    report = Report.of(*small, BoostedImmigrateClassifier(n_estimators=3), cv=2)
    n_found = min(len(report.test.selected_), 6)
    assert report.html().count("<svg") == 2 + n_found * N_PAIR_PICTURES


def test_screened_out_features_are_tested_all_the_same():
    X, y = make_xor(300, 30, noise=0.05, random_state=0)
    noise = np.random.default_rng(0).standard_normal((len(y), 3))
    X[["strong", "stronger", "strongest"]] = y[:, None] + 1.2 * noise
    # As the numbers are: the strong features have the larger ones.
    model = ImmigrateClassifier(columns=Columns(scale=None), screen=Screen("im4e", max_features=3))
    report = Report.of(X, y, model, cv=2)
    (pair,) = report.summary["test"]["found"]
    assert (pair["feature_1"], pair["feature_2"]) == ("a", "b")
    assert report.summary["test"]["n_pairs"] == 33 * 32 / 2
    assert "a" not in {row["name"] for row in report.summary["features"]}  # strong ones only
    assert pair["weight"] == 0
    assert "30 of 33 features were screened out and have no weight" in text_of(report.html())


def test_mirrors_of_a_pair_are_not_found_again():
    X, y = make_xor(400, 4, noise=0.1, random_state=0)
    X["like_a"] = X["a"] + 0.3 * np.random.default_rng(0).standard_normal(len(X))
    report = Report.of(X, y, quick(), cv=2)
    assert [pair["feature_2"] for pair in report.summary["test"]["found"]] == ["b"]
    assert report.summary["test"]["n_mirrors"] == 1
    page = report.html()
    assert "1 more have a small adjusted p before these are taken into account" in text_of(page)
    # Among the pairs found; no feature matters on its own.
    assert page.count('<tr class="found">') == 1
    assert page.count("<td>act together</td>") == 1


def test_a_class_too_small_to_hold_out_is_said(small):
    X, y = small
    rows = np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:2]]
    report = Report.of(X.iloc[rows], y[rows], quick())
    assert report.summary["performance"] is None
    assert "Not measured The smallest class has too few samples" in text_of(report.html())


@pytest.mark.parametrize("n_smallest", range(2, 13))
def test_folds_leave_two_samples_of_every_class(n_smallest):
    n_folds = possible_folds(n_smallest, 10)
    y = np.repeat([0, 1], [n_smallest, 40])

    def leaves_two(k):
        folds = StratifiedKFold(k, shuffle=True, random_state=0).split(y, y)
        return all(np.sum(y[train] == 0) >= 2 for train, _ in folds)

    possible = [k for k in range(2, min(10, n_smallest) + 1) if leaves_two(k)]
    assert n_folds == max(possible, default=None)


def test_one_feature_has_no_pairs(small):
    X, y = small
    X = X.assign(strong=y + 0.3 * X["a"])
    text = text_of(Report.of(X[["strong"]], y, quick(), cv=2).html())
    assert "Which features matter? strong" in text
    assert "Not tested There is one feature that varies, and so no pair." in text


def test_guessing_is_called_guessing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.repeat([0, 1], [50, 10])
    report = Report.of(X, y, quick(), cv=5)
    is_guess = report.summary["performance"]["accuracy"] <= 50 / 60
    assert is_guess
    assert "no better than that: read the rest of this page with care" in text_of(report.html())


def test_notes_name_what_deserves_a_look():
    y = np.repeat([0, 1], [20, 4])
    a = np.random.default_rng(0).normal(size=24) + 4 * y
    frame = pd.DataFrame({"a": a.round(), "flat": 7, "again": a.round().astype(int)})
    frame["b"] = np.random.default_rng(1).normal(size=24)
    frame.iloc[1] = frame.iloc[0]
    notes = Report.of(frame, y, quick(), cv=2).summary["data"]["notes"]
    constant, copy, rows, sizes = notes
    assert constant.startswith("Column 'flat' (always 7): constant, and so no help")
    assert copy.startswith("Column 'again' (the same as 'a'): the values of an earlier column")
    assert rows.startswith("1 row repeats")
    assert "very different size" in sizes


def test_save_makes_the_folder(monk, monk_page, tmp_path):
    path = monk.save(tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == monk_page


def test_notebooks_show_it_in_a_frame(monk):
    assert monk._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')


def test_other_models_are_refused(small):
    for other in (LogisticRegression(), make_pipeline(StandardScaler(), IM4EClassifier())):
        with pytest.raises(TypeError, match="has no weights of pairs to report"):
            Report.of(*small, other)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"cv": 1}, "cv must be at least 2"), ({"alpha": 2}, "alpha must be a number between 0")],
)
def test_bad_parameters_say_what_to_do(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        Report.of(*small, quick(), **parameters)


def test_missing_jinja_says_what_to_install_before_any_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install immigrate\[report\]"):
        Report.of("no table", "no label")


def test_nothing_learned_is_said():
    X = np.column_stack([np.random.default_rng(2).standard_normal(80), np.ones(80)])
    y = np.random.default_rng(0).integers(0, 2, 80)
    model = make_pipeline(StandardScaler(), quick())
    with pytest.warns(ConvergenceWarning, match="No admissible direction"):
        report = Report.of(X, y, model, cv=2)
    text = text_of(report.html())
    assert "Which features matter? None is shown to" in text
    assert "Nothing was learned. No change of the weights" in text
    assert "Warning: No admissible direction improves the margin" in text
    assert "Column 'x1' (always 0): constant, and so no help" in text
    assert "Not tested There is one feature that varies" in text


@pytest.mark.filterwarnings("ignore:No admissible direction")
def test_separated_classes_leave_nothing_to_explain_and_noise_does_not():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), quick())
    assert Report.of(X, y, model, cv=2).summary["test"]["is_separated"]
    rng = np.random.default_rng(2)
    X, y = (rng.uniform(size=(60, 2)) < 0.08) * 1.0, rng.integers(0, 2, 60)
    test = Report.of(X, y, quick(), cv=2).summary["test"]
    assert test["least_p"] == 1
    assert not test["is_separated"]


def test_pipelines_of_one_step_and_with_steps_that_know_no_pandas(small):
    X, y = small
    assert Report.of(X, y, make_pipeline(quick()), cv=2).summary["features"][0]["name"] in X
    dense = FunctionTransformer(lambda table: table.toarray(), accept_sparse=True)
    levels = (X > 0).astype(int)
    report = Report.of(levels, y, make_pipeline(OneHotEncoder(drop="first"), dense, quick()), cv=2)
    assert {row["name"] for row in report.summary["features"]} == {"x0", "x1", "x2"}


def test_labels_may_be_a_column_of_a_frame(small):
    X, y = small
    with pytest.warns(DataConversionWarning):
        report = Report.of(X, pd.DataFrame({"label": y}), quick(), cv=2)
    assert report.summary["data"]["n_samples"] == len(y)


def test_pictures_do_not_follow_the_style_of_the_user(small):
    import matplotlib as mpl

    report = Report.of(*small, quick(), cv=2)
    plain = report.html()
    with mpl.style.context("dark_background"):
        assert report.html() == plain


def test_dollars_in_names_are_dollars(small):
    X, y = small
    X = X.rename(columns={"a": "income_$", "b": "debt_$"})
    assert "income_$" in text_of(Report.of(X, y, cv=2).html())


def test_estimator_of_the_user_stays_unfitted(small):
    model = make_pipeline(StandardScaler(), quick())
    Report.of(*small, model, cv=2)
    assert not hasattr(model[-1], "weight_matrix_")


def hospital():
    """Names, gaps, flags and columns that are no features beside a pair that acts together."""
    rng = np.random.default_rng(0)
    table, _ = make_xor(240, 2, noise=0.05, random_state=0)
    table = table.assign(
        colour=rng.choice(["red", "blue", "grey"], 240),
        visit=pd.date_range("2021", periods=240),
        written=pd.date_range("2021", periods=240).strftime("%d.%m.%Y"),
        patient=[f"P{i}" for i in range(240)],
        study="CARE",
        empty=np.nan,
        outcome=np.where(make_xor(240, 2, noise=0.05, random_state=0)[1], "ill", "well"),
    )
    table.loc[rng.random(240) < 0.1, "a"] = np.nan
    return table


def test_a_raw_table_needs_nothing_but_the_name_of_its_target():
    report = Report.of(hospital(), "outcome", quick(), cv=3)
    data = report.summary["data"]
    assert (data["n_features"], data["n_left_out"]) == (8, 4)
    assert [one["label"] for one in data["classes"]] == ["ill", "well"]
    (pair,) = report.summary["test"]["found"]
    assert {pair["feature_1"], pair["feature_2"]} == {"a", "b"}
    assert {row["name"] for row in report.summary["features"]} == {"a", "b", "colour", "study"}
    text = text_of(report.html())
    assert "Column 'visit' (datetime64" in text
    assert "dates or times, which are neither numbers nor names. Left out" in text
    assert "Column 'patient' (240 levels in 240 rows): fewer than two rows per level" in text
    assert "Column 'written' (such as '01.01.2021'): dates written as text" in text
    assert "Column 'empty': no known value" in text
    assert "Column 'study' (always 'CARE'): constant" in text
    assert "4 of 8 columns can be no feature and are left out" in text


def test_a_target_that_is_no_column_is_refused():
    with pytest.raises(ValueError, match="y='outcomes' is to name one column of the table"):
        Report.of(hospital(), "outcomes", quick())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_auc_is_that_of_held_out_probabilities(n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    found = Report.of(X, y, quick(), cv=3).summary["performance"]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    probability = cross_val_predict(quick(), X, y, cv=folds, method="predict_proba")
    wins = [
        np.mean((p[y == c][:, None] > p[y != c]) + 0.5 * (p[y == c][:, None] == p[y != c]))
        for c, p in enumerate(probability.T)
    ]
    assert found["auc"] == pytest.approx(np.mean(wins), rel=1e-12)
    page = text_of(Report.of(X, y, quick(), cv=3).html())
    assert f"AUC {found['auc']:.3f}" in page
    assert ("each against the rest" in page) == (n_classes == 3)


def noise(n_samples=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n_samples, 5)), columns=[f"gene_{i}" for i in range(5)])
    return X, rng.integers(0, 2, n_samples)


def test_on_noise_the_answers_name_nothing():
    report = Report.of(*noise(), quick(), cv=2)
    assert (report.summary["test"]["shown"], report.summary["test"]["found"]) == ([], [])
    text = text_of(report.html())
    assert "Which features matter? None is shown to" in text
    assert "Which pairs act together? None is shown to" in text
    answers = text[text.index("Which features matter?") : text.index("Evidence for features")]
    assert "gene_" not in answers
    assert re.search(r"A joint effect of size [0-9.]+ would have been found", answers)


def test_the_largest_weights_are_drawn_whatever_their_evidence(monkeypatch):
    monkeypatch.setattr("immigrate.report._summary.MOST_CARRIED", 4)
    X, y = make_xor(200, 6, noise=0.1, random_state=0)
    report = Report.of(X, y, quick(), cv=2)
    assert len(report.summary["table"]) == 4
    expected = report.estimator.interactions(test=False)
    drawn = report.summary["network"].sort_values("rank")
    assert drawn["weight"].tolist() == expected["weight"].tolist()


def test_answers_come_before_evidence_and_evidence_before_weights(monk_page):
    heads = re.findall("<h2>(.*?)</h2>", monk_page)
    order = [
        "Which features matter?",
        "Which pairs act together?",
        "Can it predict?",
        "Evidence for features",
        "Evidence for pairs",
        "Predictions of held-out samples",
        "What the model uses",
        "All weights",
    ]
    assert [head for head in heads if head in order] == order


def test_answers_have_sizes_intervals_and_directions(monk, monk_page):
    (pair,) = monk.summary["test"]["found"]
    text = text_of(monk_page)
    size = f"size {pair['size']:.2f} ({pair['size_low']:.2f} to {pair['size_high']:.2f})"
    assert f"adjusted p < 0.0001, {size}. Class 1 is more likely where head_shape is 1" in text
    assert monk.test.summary("methods") in text


def test_one_pair_has_one_adjusted_p_everywhere(monk):
    (pair,) = monk.summary["test"]["found"]
    row = monk.estimator.interactions(top=1).iloc[0]
    both = [row, monk.test.selected_.iloc[0], monk.test.table_.iloc[0]]
    assert {one["p_adjusted"] for one in both} == {pair["p_adjusted"]}


def test_each_pair_found_has_its_picture_where_there_is_a_display_of_it(monk, monkeypatch):
    from matplotlib.figure import Figure

    class Display:
        def __init__(self, figure):
            self.figure_ = figure

        @classmethod
        def from_estimator(cls, test, a, b):
            assert test is monk.test
            figure = Figure()
            figure.text(0.5, 0.5, f"surface of {a} and {b}")
            return cls(figure)

    monkeypatch.setattr("immigrate.plotting.PairEffectDisplay", Display, raising=False)
    page = monk.html()
    assert page.count("surface of head_shape and body_shape") == 1
    assert 'aria-label="Joint effect of head_shape × body_shape"' in page
