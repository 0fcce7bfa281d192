"""The embedded tables: what the script draws, with the truth that their loaders document."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from immigrate import ImmigrateClassifier, InteractionTest
from immigrate.datasets import load_expression, load_harvest, load_loans

LOADERS = {"loans": load_loans, "harvest": load_harvest, "expression": load_expression}
SCRIPT = Path(__file__).parents[2] / "scripts" / "embedded_tables.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("embedded_tables", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(test: InteractionTest) -> list[set[str]]:
    return [{row.feature_1, row.feature_2} for row in test.selected_.itertuples()]


def test_the_script_draws_every_table_that_is_embedded(script):
    assert set(script.TABLES) == set(LOADERS)
    assert {file.stem for file in script.FOLDER.iterdir()} == set(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_the_script_draws_what_is_embedded(name, script, tmp_path):
    drawn = tmp_path / "drawn.csv"
    script.TABLES[name]().to_csv(drawn, index=False)
    frame = LOADERS[name]().frame
    pd.testing.assert_frame_equal(frame, pd.read_csv(drawn), check_exact=True)


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_fields_follow_the_conventions_of_scikit_learn(load):
    bunch = load()
    assert list(bunch.data.columns) == bunch.feature_names
    assert Path(bunch.filename).is_file()
    assert load.__doc__ == bunch.DESCR
    pd.testing.assert_frame_equal(bunch.frame.drop(columns=bunch.target.name), bunch.data)
    X, y = load(return_X_y=True)
    pd.testing.assert_frame_equal(X, bunch.data)
    pd.testing.assert_series_equal(y, bunch.target)


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_without_frames_there_are_arrays(load):
    bunch, framed = load(as_frame=False), load()
    assert bunch.frame is None
    assert isinstance(bunch.data, np.ndarray)
    assert isinstance(bunch.target, np.ndarray)
    assert bunch.data.shape == framed.data.shape
    np.testing.assert_array_equal(bunch.target, framed.target)


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_the_truth_names_columns(load):
    bunch = load()
    pairs = bunch.truth.pop("pairs")
    names = {name for kind in bunch.truth.values() for name in kind} | {
        name for pair in pairs for name in pair
    }
    assert names <= set(bunch.feature_names)
    # A caller who changes what came back does not change the next one's truth.
    assert load().truth["pairs"] == pairs


def test_the_loans_show_their_truth():
    loans = load_loans()
    X = loans.data.drop(columns=loans.truth["identifiers"])
    test = InteractionTest().fit(X, loans.target)
    assert set(test.features_.query("p_adjusted < 0.05")["feature"]) == set(
        loans.truth["features"]
    )
    assert sorted(map(sorted, found(test))) == sorted(map(sorted, loans.truth["pairs"]))


def test_the_harvest_shows_its_truth():
    harvest = load_harvest()
    X = harvest.data.drop(columns=harvest.truth["identifiers"])
    test = InteractionTest(outcome="number", adjust_for=harvest.truth["covariates"])
    test.fit(X, harvest.target)
    assert set(test.features_.query("p_adjusted < 0.05")["feature"]) == set(
        harvest.truth["features"]
    )
    assert sorted(map(sorted, found(test))) == sorted(map(sorted, harvest.truth["pairs"]))


def test_the_genes_show_their_truth():
    genes = load_expression()
    names = [*genes.truth["features"], *genes.truth["pairs"][0], *genes.feature_names[1:40]]
    test = InteractionTest().fit(genes.data[list(dict.fromkeys(names))], genes.target)
    evidence = test.features_.set_index("feature")["p_adjusted"]
    assert (evidence[genes.truth["features"]] < 0.01).all()
    assert found(test) == [set(genes.truth["pairs"][0])]


@pytest.mark.filterwarnings("ignore:Column 'application'")
def test_a_classifier_takes_a_table_as_it_is():
    X, y = load_loans(return_X_y=True)
    model = ImmigrateClassifier().fit(X, y)
    assert set(model.predict(X[:20])) <= {"repaid", "late", "default"}
