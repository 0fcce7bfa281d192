"""The same table, the same words: every public estimator refuses and warns with one text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from relief_family import selectors
from sklearn.base import clone

from immigrate import (
    LFE,
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    ImmigrateSelector,
    InteractionTest,
    ReliefF,
    make_margin_knn,
)
from immigrate.options import Columns
from immigrate.table import ColumnWarning

N = 30
Y = np.arange(N) % 2


def base(choice):
    return ImmigrateClassifier(columns=Columns(choice), sigma=1.0)


def family_reader(model):
    return lambda choice: clone(model).set_params(categorical_features=choice)


# By what `categorical_features` is to be.
READERS = {
    "ImmigrateClassifier": base,
    "ImmigrateClassifierCV": lambda choice: ImmigrateClassifierCV(base(choice), sigmas=[1.0, 2.0]),
    "BoostedImmigrateClassifier": lambda choice: BoostedImmigrateClassifier(
        base(choice), n_estimators=2
    ),
    "IM4EClassifier": lambda choice: IM4EClassifier(columns=Columns(choice)),
    "CubicImmigrateClassifier": lambda choice: CubicImmigrateClassifier(columns=Columns(choice)),
    "InteractionTest": lambda choice: InteractionTest(categorical_features=choice),
    "ImmigrateSelector": lambda choice: ImmigrateSelector(categorical_features=choice),
    "make_margin_knn": lambda choice: make_margin_knn(ReliefF(categorical_features=choice)),
    **{type(model).__name__: family_reader(model) for model in selectors()},
}
# Takes numbers only, and so has no choice.
EVERY = {**READERS, "LFE": lambda choice: LFE()}
# One reader serves all: every text is tried on one estimator of each family, and on every other
# estimator one text of each kind.
FAMILIES = ["ImmigrateClassifier", "InteractionTest", "ReliefF"]
one_of_each_family = pytest.mark.parametrize("name", FAMILIES)
every_estimator = pytest.mark.parametrize("name", EVERY)
every_classifier = pytest.mark.parametrize("name", [n for n in EVERY if n != "InteractionTest"])


def measured():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"dose": Y + 0.8 * rng.normal(size=N), "age": rng.normal(size=N)})


def warned_of(name, table):
    """What a fit says about columns, each sentence once."""
    with pytest.warns(ColumnWarning) as caught:
        EVERY[name]("from_dtype").fit(table, Y)
    said = [str(one.message) for one in caught if issubclass(one.category, ColumnWarning)]
    assert len(said) == len(set(said))
    return said


def refused(name, table, y, choice="from_dtype"):
    with pytest.raises(ValueError) as caught:
        EVERY[name](choice).fit(table, y)
    return str(caught.value)


WARNED = {
    "identifier": (
        lambda: measured().assign(patient=[f"P{i}" for i in range(N)]),
        "Column 'patient' (30 levels in 30 rows): fewer than two rows per level, as an identifier "
        "has. Left out of the model, with weight 0; drop it, or declare it categorical "
        "if its levels come back in new rows.",
    ),
    "dates as text": (
        lambda: measured().assign(visit=[f"{1 + i % 28:02d}.02.2021" for i in range(N)]),
        "Column 'visit' (such as '01.02.2021'): dates written as text. Left out of the model, "
        "with weight 0; to use them, turn them into numbers, such as days since a start, or into "
        "categories, such as the month.",
    ),
    "numbers as text": (
        lambda: measured().assign(price=[f"{i % 5},5" for i in range(N)]),
        "Column 'price' (such as '0,5'): numbers written as text. Left out of the model, with "
        "weight 0; to use them, turn every cell into a number, or into a missing "
        "value where it holds none.",
    ),
    "constant": (
        lambda: measured().assign(study=3),
        "Column 'study' (always 3): constant, and so no help in telling samples apart; drop it.",
    ),
    "constant text": (
        lambda: measured().assign(study=pd.Categorical(["CARE"] * N, ordered=True)),
        "Column 'study' (always 'CARE'): constant, and so no help in telling samples apart; "
        "drop it.",
    ),
    "copy": (
        lambda: measured().assign(again=measured()["dose"]),
        "Column 'again' (the same as 'dose'): the values of an earlier column, with which it "
        "shares the weight; drop one of them.",
    ),
    "one name twice": (
        lambda: measured().set_axis(["dose", "dose"], axis=1),
        "Column 'dose.1' (position 1, named 'dose' as position 0): renamed, as pandas.read_csv "
        "does, because two columns have one name; give each column a name of its own.",
    ),
}


def with_one_for_others(others, cases):
    """Pairs of an estimator and a case: all for one of each family, the first for the others."""
    return [(name, case) for name in FAMILIES for case in cases] + [
        (name, cases[0]) for name in others if name not in FAMILIES
    ]


@pytest.mark.parametrize(("name", "case"), with_one_for_others(EVERY, list(WARNED)))
def test_columns_that_are_no_features_are_warned_of_in_one_text(name, case):
    table, text = WARNED[case]
    assert warned_of(name, table()) == [text]


@one_of_each_family
def test_a_column_without_a_value_is_warned_of_in_one_text(name):
    table = measured().assign(empty=np.nan)
    assert warned_of(name, table) == [
        "Column 'empty': no known value. Left out of the model, with weight 0; drop it."
    ]


@every_estimator
def test_dates_are_refused_in_one_text(name):
    table = measured().assign(day=pd.date_range("2021", periods=N, unit="ns"))
    assert refused(name, table, Y) == (
        "Column 'day' holds dates or times (datetime64[ns]); a feature is a number or a category. "
        "Turn it into a number, such as days since a start, or into a category, such as the "
        "month; or drop it."
    )


@one_of_each_family
def test_infinity_is_refused_in_one_text(name):
    table = measured()
    table.loc[[4, 7], "age"] = np.inf
    assert refused(name, table, Y) == (
        "Column 'age' holds infinity in 2 rows, first in row 4; a finite number was expected. "
        "Replace it by NaN if the value is not known, or by a limit."
    )


@one_of_each_family
def test_a_table_without_features_is_refused_in_one_text(name):
    table = pd.DataFrame({name: [f"{name} {i}" for i in range(N)] for name in ("patient", "bed")})
    assert refused(name, table, Y) == (
        "X has no column that can be used as a feature: "
        "Columns 'patient' (30 levels in 30 rows), 'bed' (30 levels in 30 rows): fewer than two "
        "rows per level, as an identifier has. Left out of the model, with weight 0; drop it, or "
        "declare it categorical if its levels come back in new rows."
    )


@pytest.mark.parametrize(
    ("name", "choice"), with_one_for_others(READERS, [None, ["age"], [1], [False, True, False]])
)
def test_text_that_is_not_chosen_is_refused_in_one_text(name, choice):
    table = measured().round().assign(sex=np.where(Y, "f", "m"))
    assert refused(name, table, Y, choice) == (
        "Column 'sex' holds categories, but categorical_features leaves it out. Add it, or use "
        "categorical_features='from_dtype'."
    )


@one_of_each_family
def test_a_choice_that_is_no_column_is_refused_in_one_text(name):
    assert refused(name, measured(), Y, ["sex"]) == (
        "categorical_features names 'sex', but the columns of X are 'dose', 'age'. Use one of "
        "these names, indices or a mask."
    )


MISSING = {
    "number": np.where(np.arange(N) == 5, np.nan, Y),
    "text": pd.Series(np.where(np.arange(N) == 5, None, np.array(["ill", "well"])[Y])),
    "category": pd.Series(
        pd.Categorical(np.where(np.arange(N) == 5, None, np.array(["a", "b"])[Y]))
    ),
}


@pytest.mark.parametrize(("name", "kind"), with_one_for_others(EVERY, list(MISSING)))
def test_a_missing_label_is_refused_in_one_text(name, kind):
    assert refused(name, measured(), MISSING[kind]) == (
        "The target is missing (NaN) in 1 of 30 samples, first in row 5; every sample needs "
        "one. Drop these rows, or label them."
    )


@every_estimator
def test_a_measured_label_is_refused_in_one_text(name):
    if name in ("InteractionTest", "ImmigrateSelector", "MultiSURF", "Relief", "ReliefF"):
        pytest.skip(f"{name} takes numbers")
    assert refused(name, measured(), np.linspace(0, 1, N)).startswith(
        "Unknown label type: The target is continuous, with 30 different numbers in 30 "
        "samples; classes were expected."
    )


@one_of_each_family
def test_one_class_is_refused_in_one_text(name):
    assert refused(name, measured(), np.full(N, "ill")) == (
        "The target has one class only ('ill'); a margin needs at least 2 classes. Check that "
        "the right column is used as the target."
    )


@every_classifier
def test_a_class_of_one_sample_is_refused_in_one_text(name):
    """The interaction test needs no hits, and so takes it."""
    assert refused(name, measured(), np.where(np.arange(N) == 0, "rare", "often")) == (
        "Class 'rare' has 1 sample; a nearest hit needs at least 2. Merge rare classes or drop "
        "them."
    )


LABELS = {
    "text": np.array(["ill", "well"])[Y],
    "flags": Y.astype(bool),
    "category": pd.Series(pd.Categorical(np.array(["ill", "well"])[Y])),
    "nullable flags": pd.Series(Y == 1, dtype="boolean"),
    "nullable text": pd.Series(np.array(["ill", "well"])[Y], dtype="string"),
}


@pytest.mark.parametrize(("name", "kind"), with_one_for_others(EVERY, list(LABELS)))
def test_labels_of_every_kind_are_classes(name, kind):
    label = LABELS[kind]
    model = EVERY[name]("from_dtype").fit(measured(), label)
    expected = sorted(set(np.asarray(label, dtype=object).tolist()))
    assert model.classes_.tolist() == expected
