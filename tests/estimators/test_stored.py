"""Models on disk: every estimator, three formats, this version and all that came before."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from stored_models import FOLDER, FORMATS, MODELS, answers, dump, fitted, load

import immigrate
from immigrate.estimators import OtherVersionWarning
from immigrate.estimators.every import every_estimator
from immigrate.estimators.stored import VERSION, StoredEstimator, columns_of, frame_of

STORED = sorted(path for path in FOLDER.glob("*/*") if path.suffix in FORMATS)


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
    public = every_estimator()
    assert set(public) <= set(MODELS)
    loose = [name for name, cls in public.items() if not issubclass(cls, StoredEstimator)]
    assert not loose, f"derive {loose} from StoredEstimator"


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_a_file_answers_as_the_model_does(name, suffix, tmp_path):
    model = fitted_once(name)
    dump(model, tmp_path / f"model{suffix}")
    assert_same_answers(answers(name, load(tmp_path / f"model{suffix}")), answers(name, model))


@pytest.mark.parametrize("name", MODELS)
def test_files_hold_the_version_and_no_pandas(name):
    content = pickle.dumps(fitted_once(name))
    assert VERSION.encode() in content
    assert b"pandas" not in content
    assert b"pyarrow" not in content


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_models_of_every_version_still_answer(path):
    said = json.loads((path.parent / "answers.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OtherVersionWarning)
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = load(path)
    assert_same_answers(answers(path.stem, model), said[path.stem])


def test_this_version_has_stored_models():
    found = {path.stem for path in STORED if path.parent.name == immigrate.__version__}
    missing = " ".join(set(MODELS) - found)
    assert not missing, f"run python tests/stored_models.py {missing}"
    assert found == set(MODELS), "delete the files that no model of tests/stored_models.py wrote"


def test_another_version_is_warned_of(monkeypatch):
    model = fitted_once("Relief")
    monkeypatch.setattr("immigrate.estimators.stored.__version__", "0.0.7")
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
    with pytest.warns(OtherVersionWarning, match="a version that did not say which it was"):
        immigrate.Relief().__setstate__(state)


def test_copies_are_made_without_a_word():
    again = copy.deepcopy(fitted_once("InteractionTest"))
    pd.testing.assert_frame_equal(again.table_, fitted_once("InteractionTest").table_)
    assert not {VERSION, "_frames"} & vars(again).keys()


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
    again = frame_of(pickle.loads(pickle.dumps(columns_of(frame))))
    pd.testing.assert_frame_equal(again, frame, check_index_type=False, check_column_type=False)
