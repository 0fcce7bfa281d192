"""Tables of OpenML, from a stored answer: no test here opens a connection."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.error import URLError

import pytest

from immigrate import InteractionTest
from immigrate.datasets import fetch_table

ANSWERS = Path(__file__).parents[1] / "data" / "openml"
TITANIC = 40945
# Where scikit-learn keeps what OpenML answered; 1.9 keeps the name of the file as well.
PLACES = {
    f"api/v1/json/data/{TITANIC}": "description.json",
    f"api/v1/json/data/features/{TITANIC}": "features.json",
    f"api/v1/json/data/qualities/{TITANIC}": "qualities.json",
    "data/v1/download/16826755": "titanic.arff",
    "data/v1/download/16826755/Titanic.arff": "titanic.arff",
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refused(*_, **__):
        raise URLError("there is no network in this test")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refused)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _: None)


@pytest.fixture
def data_home(tmp_path):
    """A folder with copies, as an earlier call would have left it."""
    for place, name in PLACES.items():
        copy = tmp_path / "openml" / "openml.org" / f"{place}.gz"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ANSWERS / f"{name}.gz", copy)
    return str(tmp_path)


def test_a_table_comes_as_it_is(data_home):
    titanic = fetch_table(data_id=TITANIC, data_home=data_home)
    assert titanic.data.shape == (1309, 13)
    assert titanic.data["age"].isna().sum() == 263
    assert list(titanic.data["sex"].cat.categories) == ["female", "male"]
    assert titanic.target_names == ["0", "1"]
    assert titanic.truth is None


def test_another_column_can_be_the_target(data_home):
    X, y = fetch_table(data_id=TITANIC, data_home=data_home, target="sibsp", return_X_y=True)
    assert y.name == "sibsp"
    assert "survived" in X.columns
    assert "sibsp" not in X.columns
    assert fetch_table(data_id=TITANIC, data_home=data_home, target="sibsp").target_names == [
        "sibsp"
    ]


def test_the_estimators_take_such_a_table(data_home):
    X, y = fetch_table(data_id=TITANIC, data_home=data_home, return_X_y=True)
    test = InteractionTest().fit(X[["pclass", "sex", "age", "fare", "embarked"]], y)
    # Women of the third class drowned like men; in the first they did not.
    assert test.selected_.iloc[0][["feature_1", "feature_2"]].tolist() == ["pclass", "sex"]


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_without_a_network_the_message_says_so(tmp_path):
    with pytest.raises(ConnectionError, match=r"OpenML did not answer for 40945 .* load_loans"):
        fetch_table(data_id=TITANIC, data_home=str(tmp_path))
