"""Models on disk: every estimator in our format, by pickle and by joblib."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from cli.tables import xor_table
from sklearn.linear_model import LogisticRegression
from stored_models import FOLDER, MODELS, OURS, RECORDED, WAYS, answers, dump, fitted, load

import immigrate
from immigrate.estimators import OtherVersionWarning
from immigrate.persistence import (
    CONTENT,
    FORMAT,
    load_model,
    packed,
    public_estimators,
    read_model,
    save_model,
    unpacked,
)
from immigrate.scikit_learn import VERSION, StoredEstimator

RECORDED_FILES = sorted(RECORDED.glob("*.model"))


@functools.cache
def fitted_once(name):
    return fitted(name)


def assert_same_answers(now, before):
    assert now.keys() == before.keys()
    for key, expected in before.items():
        expected = np.asarray(expected)
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(now[key], expected, rtol=1e-9, atol=1e-12, err_msg=key)
        else:
            assert np.asarray(now[key]).tolist() == expected.tolist(), key


def test_every_public_estimator_is_stored_with_its_version():
    public = public_estimators()
    assert set(public) <= set(MODELS)
    loose = [name for name, cls in public.items() if not issubclass(cls, StoredEstimator)]
    assert not loose, f"derive {loose} from StoredEstimator"


@pytest.mark.parametrize(("name", "suffix"), WAYS)
def test_a_file_answers_as_the_model_does(name, suffix, tmp_path):
    model = fitted_once(name)
    dump(model, tmp_path / f"model{suffix}")
    again, before = answers(name, load(tmp_path / f"model{suffix}")), answers(name, model)
    assert again.keys() == before.keys()
    for key in before:
        np.testing.assert_array_equal(again[key], before[key], err_msg=key)


@pytest.mark.parametrize("path", RECORDED_FILES, ids=lambda path: path.name)
def test_recorded_models_still_answer(path):
    said = json.loads((RECORDED / "answers.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OtherVersionWarning)
        model = load(path)
    assert_same_answers(answers(path.stem, model), said[path.stem])


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        save_model(fitted("screened"), tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_files_name_no_module(tmp_path):
    """A class can move without harm to files."""
    for name in OURS:
        save_model(fitted_once(name), tmp_path / name)
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert "immigrate." not in archive.read(CONTENT).decode()


def test_options_that_are_values_can_be_stored(tmp_path):
    table = xor_table()
    X, y = table.drop(columns="outcome"), table["outcome"]
    base = immigrate.ImmigrateClassifier(
        columns=immigrate.options.Columns(),
        screen=immigrate.options.Screen("im4e", threshold=0.1),
        solver=immigrate.options.Descent(),
    )
    for model in (
        immigrate.ImmigrateClassifierCV(base).fit(X, y),
        immigrate.InteractionTest(adjust=immigrate.options.WestfallYoung(n_draws=20)).fit(X, y),
        immigrate.InteractionTest(outcome="number").fit(X.drop(columns="dose"), X["dose"]),
        immigrate.BoostedImmigrateClassifier(variant=immigrate.options.PaperBoosting()).fit(X, y),
    ):
        save_model(model, tmp_path / "model", target="outcome")
        assert read_model(tmp_path / "model").target == "outcome"


@pytest.mark.parametrize(
    "value",
    [
        [None, True, -3, 0.1, "\N{SNOWMAN}", float("inf")],
        ({"a": 1, "b": (2.5,)}, {1: "one", ("x", 2): None}, {}, (), []),
        {"array": 1, "tuple": {"dict": "pairs"}},
        np.arange(6.0).reshape(2, 3),
        np.array([["a", None], [1.5, ("x",)]], dtype=object),
        np.array(["red", "blue"]),
        np.empty((0, 3), dtype=np.float32),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back(value):
    again = unpacked(packed(value))
    assert type(again) is type(value)
    if isinstance(value, np.ndarray):
        assert (again.dtype, again.tolist()) == (value.dtype, value.tolist())
    else:
        assert again == value


def test_an_array_of_two_parts_is_stored_once():
    array = np.ones(3)
    parts = packed([array, {"again": array}])
    assert list(parts) == [CONTENT, "0.npy"]
    first, second = unpacked(parts)
    assert first is second["again"]


def test_what_a_file_cannot_hold_is_named():
    model = immigrate.Simba(random_state=np.random.RandomState(0), n_starts=1)
    model.fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"^random_state is a RandomState, .* joblib\.dump\.$"):
        save_model(model, "never-written.model")
    with pytest.raises(ValueError, match=r"^LogisticRegression is no estimator of immigrate;"):
        save_model(LogisticRegression(), "never-written.model")


@pytest.mark.parametrize("suffix", [".pickle", ".joblib", ".skops"])
def test_files_of_the_first_version_are_refused_in_one_line(suffix):
    path = FOLDER / "0.1.0" / f"Relief{suffix}"
    with pytest.raises(ValueError, match=r"whose files are not read any more; fit the") as refused:
        load_model(path)
    assert str(refused.value).startswith(f"{path} was written by ")
    assert "immigrate 0.1.0" in str(refused.value)
    assert str(refused.value).endswith("store it with immigrate.persistence.save_model.")
    assert "\n" not in str(refused.value)
    assert refused.value.shell.endswith("; fit the model again with immigrate fit.")


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"format": 1}, "was written by immigrate 0.0.7, whose files are not read any more; fit"),
        (
            {"model": {"Fraction": {"_numerator": 1}}},
            "holds what no model of this library holds (Fraction); it was not loaded.",
        ),
        ({"model": {"Relief": {}}}, "was written by immigrate 0.0.7, whose files are not read"),
        ({"model": {"array": 7}}, "is damaged (KeyError: '7.npy')."),
        ({"model": {"Relief": {}, "array": 0}}, "is damaged (ValueError: too many values"),
        ({"model": {"Quadratic": {"size": 3}}}, "was written by immigrate 0.0.7, whose files"),
    ],
)
def test_what_a_file_should_not_hold_is_refused(stored, message, tmp_path):
    head = {"format": FORMAT, "library": "0.0.7", "target": "", "model": None, **stored}
    path = tmp_path / "m.model"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(CONTENT, json.dumps({"dict": head}))
    with pytest.raises(ValueError, match=re.escape(f"{path} {message}")):
        load_model(path)


def test_another_version_is_warned_of(monkeypatch):
    model = fitted_once("Relief")
    monkeypatch.setattr("immigrate.scikit_learn.__version__", "0.0.7")
    content = pickle.dumps(model)
    monkeypatch.undo()
    message = (
        rf"This Relief was stored by immigrate 0\.0\.7 and .* immigrate {immigrate.__version__}"
    )
    with pytest.warns(OtherVersionWarning, match=message) as caught:
        again = pickle.loads(content)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    # The version that wrote a file is that of the library, not of what was loaded.
    assert pickle.loads(pickle.dumps(again)).__getstate__()[VERSION] == immigrate.__version__


def test_a_file_without_a_version_is_warned_of():
    state = fitted_once("Relief").__getstate__()
    del state[VERSION]
    with pytest.warns(OtherVersionWarning, match="a version without a number"):
        immigrate.Relief().__setstate__(state)


def test_copies_are_made_without_a_word():
    again = copy.deepcopy(fitted_once("InteractionTest"))
    pd.testing.assert_frame_equal(again.table_, fitted_once("InteractionTest").table_)
    assert VERSION not in vars(again)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"feature_1": ["a", "b"], "p": [0.5, np.nan], "n": [1, 2], "is": [True, False]}
        ),
        pd.DataFrame({"feature_1": ["a", None], "p": [0.5, 1.0]}, index=[7, 3]),
        pd.DataFrame({"mixed": ["a", 1], 0: [1.0, 2.0]}),
        pd.DataFrame({"a": pd.Series([], dtype=float), "b": pd.Series([], dtype=float)}),
    ],
    ids=["kinds", "index", "mixed", "empty"],
)
def test_a_frame_comes_back_from_its_columns(frame):
    again = unpacked(packed(frame))
    pd.testing.assert_frame_equal(again, frame, check_index_type=False, check_column_type=False)
