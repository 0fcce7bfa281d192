from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from immigrate import (
    BoostedImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    InteractionTest,
    Report,
)
from immigrate.datasets import make_monk1, make_trial, make_xor
from immigrate.estimators import immigrate_cv
from immigrate.options import Columns, Screen

VOID = {"meta", "link", "br", "hr", "img", "input"}


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
        if self.open[-1:] not in (["script"], ["style"]):
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


def test_names_pass_through_a_pipeline(small):
    X, y = small
    report = Report.of(X, y, make_pipeline(StandardScaler(), quick()), cv=2)
    assert set(report.summary["features"]["name"]) == set(X.columns)


def test_tables_without_names_have_numbered_ones(small):
    X, y = small
    report = Report.of(X.to_numpy(), y, quick(), cv=2)
    assert set(report.summary["features"]["name"]) == {"x0", "x1", "x2"}


def test_a_class_too_small_to_hold_out_is_said(small):
    X, y = small
    rows = np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:2]]
    report = Report.of(X.iloc[rows], y[rows], quick())
    assert report.summary["performance"] is None
    assert "Not measured The smallest class has too few samples" in text_of(report.html())


def test_one_feature_has_no_pairs(small):
    X, y = small
    X = X.assign(strong=y + 0.3 * X["a"])
    text = text_of(Report.of(X[["strong"]], y, quick(), cv=2).html())
    assert "Which features matter? strong" in text
    assert "Not tested There is one feature that varies, and so no pair." in text


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
    [
        ({"cv": 1}, "cv must be at least 2"),
        ({"test": InteractionTest(alpha=2)}, "alpha must be a number between 0"),
        ({"test": InteractionTest(order=3)}, "The report shows pairs, and "),
        ({"test": InteractionTest(adjust_for=["aeg"])}, "adjust_for names 'aeg', but the columns"),
    ],
)
def test_bad_parameters_say_what_to_do(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        Report.of(*small, quick(), **parameters)


def test_the_test_of_a_report_can_be_chosen():
    table = make_trial(random_state=0)
    test = InteractionTest(adjust_for=["age"], pairs="treatment", adjust="fdr_bh", alpha=0.1)
    report = Report.of(table, "outcome", quick(), test=test, cv=2)
    said, text = report.summary["test"], text_of(report.html())
    assert said["n_pairs"] == 7  # of nine features one is adjusted for, and seven others remain
    assert "age" not in report.summary["features"]["name"]
    assert said["alpha"] == 0.1
    assert "at a false discovery rate of 0.1." in text
    assert "adjust_for=['age']" in text
    assert "The test is adjusted for age" in text
    assert "Only the pairs that were asked for are tested" in text
    assert not hasattr(test, "table_")


def test_a_label_is_written_as_the_user_wrote_it():
    table = make_trial(random_state=0).replace({"outcome": {"relapse": "a", "recovered": "A"}})
    report = Report.of(table, "outcome", quick(), cv=2)
    words = {d["words"] for answer in report.summary["answers"] for d in answer["details"]} - {""}
    directions = {row["direction"] for row in report.summary["test"]["found"]}
    assert words
    assert {f"{direction}." for direction in directions} <= words


def test_missing_jinja_says_what_to_install_before_any_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'immigrate\[report\]'"):
        Report.of("no table", "no label")


def test_nothing_learned_is_said():
    X = np.column_stack([np.random.default_rng(2).standard_normal(80), np.ones(80)])
    y = np.random.default_rng(0).integers(0, 2, 80)
    model = make_pipeline(StandardScaler(), quick())
    with pytest.warns(ConvergenceWarning, match="No admissible direction"):
        report = Report.of(X, y, model, cv=2)
    text = text_of(report.html())
    assert "Which features matter? None detected" in text
    assert "Nothing was learned. No change of the weights" in text
    assert "Warning: No admissible direction improves the margin" in text
    assert "Column 'x1' (always 0): constant, and so no help" in text
    assert "Not tested There is one feature that varies" in text


@pytest.mark.filterwarnings("ignore:No admissible direction")
def test_separated_classes_leave_nothing_to_explain_and_noise_does_not():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), quick())
    report = Report.of(X, y, model, cv=2)
    assert report.summary["test"]["is_separated"]
    # What a ridge leaves of log-odds without limit is no size.
    assert set(report.summary["features"]["size"]) == {None}
    assert set(report.summary["pairs"]["size"]) == {None}
    rng = np.random.default_rng(2)
    X, y = (rng.uniform(size=(60, 2)) < 0.08) * 1.0, rng.integers(0, 2, 60)
    test = Report.of(X, y, quick(), cv=2).summary["test"]
    assert test["least_p"] is None
    assert not test["is_separated"]
    assert "1 of 1 pair could not be tested (x0 × x1)" in test["why_no_pairs"]


def test_pipelines_of_one_step_and_with_steps_that_know_no_pandas(small):
    X, y = small
    assert Report.of(X, y, make_pipeline(quick()), cv=2).summary["features"]["name"][0] in X
    dense = FunctionTransformer(lambda table: table.toarray(), accept_sparse=True)
    levels = (X > 0).astype(int)
    report = Report.of(levels, y, make_pipeline(OneHotEncoder(drop="first"), dense, quick()), cv=2)
    assert set(report.summary["features"]["name"]) == {"x0", "x1", "x2"}


def test_labels_may_be_a_column_of_a_frame(small):
    X, y = small
    with pytest.warns(DataConversionWarning):
        report = Report.of(X, pd.DataFrame({"label": y}), quick(), cv=2)
    assert report.summary["data"]["n_samples"] == len(y)


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
    assert set(report.summary["features"]["name"]) == {"a", "b", "colour"}
    text = text_of(report.html())
    assert "Column 'visit' (datetime64" in text
    assert "dates or times, which are neither numbers nor names. Left out" in text
    assert "Column 'patient' (240 levels in 240 rows): fewer than two rows per level" in text
    assert "Column 'written' (such as '01.01.2021'): dates written as text" in text
    assert "Column 'empty': no known value" in text
    assert "Column 'study' (always 'CARE'): constant" in text
    assert "4 of 8 columns are used, left out: visit , written , patient , empty" in text


def test_a_target_that_is_no_column_is_refused():
    with pytest.raises(ValueError, match="y='outcomes' is to name one column of the table"):
        Report.of(hospital(), "outcomes", quick())


def noise(n_samples=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n_samples, 5)), columns=[f"gene_{i}" for i in range(5)])
    return X, rng.integers(0, 2, n_samples)


def test_on_noise_the_answers_name_nothing():
    report = Report.of(*noise(), quick(), cv=2)
    assert (report.summary["test"]["shown"], report.summary["test"]["found"]) == ([], [])
    text = text_of(report.html())
    assert "Which features matter? None detected" in text
    assert "Which pairs act together? None detected" in text
    answers = text[text.index("Which features matter?") : text.index("Is the joint effect")]
    assert "gene_" not in answers
    assert re.search(r"a product of size [0-9.]+ would have been found", answers)


def test_answers_have_sizes_intervals_and_directions(monk, monk_page):
    (pair,) = monk.summary["test"]["found"]
    text = text_of(monk_page)
    size = f"size {pair['size']:.2f} ({pair['size_low']:.2f} to {pair['size_high']:.2f})"
    assert f"adjusted p < 0.0001, {size}: Class 1 is more likely where head_shape is 1" in text
    assert monk.test.summary("methods") in text


def test_page_answers_the_questions(monk_page):
    text = text_of(monk_page)
    assert "Which pairs act together? head_shape × body_shape" in text
    assert "Which features matter? jacket_color" in text
    assert "Class 1 is more likely where jacket_color is 1." in text
    assert "How well does it predict? 100 % right" in text
    assert "guessing the largest class gives 50 %" in text
    assert "Samples held out in 3 folds" in text


def test_page_needs_nothing_from_elsewhere(monk_page):
    outside = re.findall(
        r"""(?:src|href)\s*=\s*["'](?!#|data:)[^"']*|@import|url\((?!#)|https?://(?!www.w3.org/2000/svg)""",
        monk_page,
    )
    assert outside == []
    assert "default-src 'none'" in monk_page


def test_names_are_text_and_never_markup(small):
    X, y = small
    X = X.rename(columns={"a": "</script><script>alert('a')</script>", "b": 'b"&b'})
    report = Report.of(X, y, quick(), title="<b>", cv=2)
    page = report.html()
    assert "<script>alert" not in page
    assert "<title>&lt;b&gt;</title>" in page
    assert page.count("</script>") == 2


def test_every_pair_is_on_the_page_with_evidence_and_weight(monk):
    pairs = monk.summary["pairs"]
    assert len(pairs["a"]) == 15
    expected = monk.table
    expected = expected[expected["kind"] == "pair"]
    known = {
        frozenset((row.feature_1, row.feature_2)): (row.p_value, row.weight, row.is_found)
        for row in expected.itertuples()
    }
    for i, (a, b) in enumerate(zip(pairs["a"], pairs["b"])):
        p, weight, is_found = known[frozenset((pairs["names"][a], pairs["names"][b]))]
        assert pairs["p"][i] == pytest.approx(p, rel=1e-3)
        assert pairs["weight"][i] == pytest.approx(weight, rel=1e-3, abs=1e-12)
        assert pairs["is_found"][i] == is_found


def test_one_pair_has_one_adjusted_p_everywhere(monk):
    (pair,) = monk.summary["test"]["found"]
    row = monk.estimator.interactions(top=1, test=monk.test).iloc[0]
    both = [row, monk.test.selected_.iloc[0], monk.test.table_.iloc[0], monk.table.iloc[0]]
    assert len({one["p_adjusted"] for one in both}) == 1
    assert pair["p_adjusted"] == pytest.approx(row["p_adjusted"], rel=1e-3)


def test_ensembles_have_no_path_but_a_report(small):
    report = Report.of(*small, BoostedImmigrateClassifier(n_estimators=3), cv=2)
    assert report.summary["model"]["path"] == []
    assert "How sigma" not in report.html()
    assert report.summary["performance"]["explained"]


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
    weight = dict(zip(report.summary["features"]["name"], report.summary["features"]["weight"]))
    assert weight["a"] == 0
    assert sum(value > 0 for value in weight.values()) == 3
    assert report.summary["pairs"]["weight"][0] == 0
    assert "30 of 33 features were screened out and have no weight" in text_of(report.html())


def test_mirrors_of_a_pair_are_not_found_again():
    X, y = make_xor(400, 4, noise=0.1, random_state=0)
    X["like_a"] = X["a"] + 0.3 * np.random.default_rng(0).standard_normal(len(X))
    report = Report.of(X, y, quick(), cv=2)
    assert [pair["feature_2"] for pair in report.summary["test"]["found"]] == ["b"]
    assert report.summary["test"]["n_mirrors"] == 1
    said = "1 more has a small adjusted p before those found are taken into account"
    assert said in text_of(report.html())
    assert sum(report.summary["pairs"]["is_found"]) == 1


def test_wide_tables_are_screened_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(immigrate_cv, "MOST_FEATURES_UNSCREENED", 20)
    X, y = make_xor(60, 25, random_state=0)
    report = Report.of(X.assign(strong=y + 2 * X["a"]), y)
    screen = report.estimator.estimator.screen
    assert (screen.by, screen.max_features) == ("pairs", 100)
    assert report.summary["performance"]["n_folds"] == 5
    text = text_of(report.html())
    assert "With 26 features the model is screened: at most 100 of them" in text
    assert report.summary["test"]["n_pairs"] == 26 * 25 / 2


def test_printing_gives_the_three_answers(monk):
    lines = str(monk).splitlines()
    assert lines[0] == "Robots & <friends>"
    answers = [line for line in lines if line.endswith(("jacket_color", "body_shape", "right"))]
    assert answers == [
        "Which features matter? jacket_color",
        "Which pairs act together? head_shape × body_shape",
        "How well does it predict? 100 % right",
    ]
    assert repr(monk) == "<Report 'Robots & <friends>': 432 samples, 6 features>"


def test_progress_reaches_every_part(small, capsys):
    Report.of(*small, quick(), cv=2, verbose=True)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "fit of ImmigrateClassifier on all samples"
    assert "test of 3 features and their pairs" in said
    assert [line for line in said if "fold" in line] == [
        "cross-validation: fold 1 of 2",
        "cross-validation: fold 2 of 2",
    ]
    Report.of(*small, quick(), cv=2)
    assert capsys.readouterr().out == ""
