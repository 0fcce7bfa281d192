"""Tables that no memory holds: samples of their rows, predictions partition by partition."""

from __future__ import annotations

import shutil
from collections import Counter

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from immigrate import (
    BoostedImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
)
from immigrate.cluster import on, stratified_sample
from immigrate.cluster.tables import allocation, is_collection


def arrays(n=5000, chunk=700):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    y[rng.random(n) < 0.01] = "rare"
    return da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.standard_normal((4000, 3)), columns=["a", "b", "c"])
    table["kind"] = pd.Categorical(rng.choice(["red", "green", "blue"], 4000))
    table["label"] = np.where((table["a"] > 0) ^ (table["kind"] == "red"), "yes", "no")
    return table


def test_a_sample_has_the_shares_of_the_table():
    X, y = arrays()
    sample = stratified_sample(X, y, 400)
    sizes, drawn = Counter(y.compute().tolist()), Counter(sample.y.tolist())
    assert len(sample.y) == 400
    assert sample.n_seen == 5000
    for label, size in sizes.items():
        assert abs(drawn[label] - 400 * size / 5000) < 1
        # The rows of a class together stand for all of its rows in the table.
        assert sample.weight[sample.y == label].sum() == pytest.approx(size)


def test_a_sample_holds_rows_of_the_table_with_their_labels_once_each():
    X, y = arrays()
    sample = stratified_sample(X, y, 400)
    labels = {row.tobytes(): label for row, label in zip(X.compute(), y.compute())}
    rows = [row.tobytes() for row in sample.X]
    assert [labels[row] for row in rows] == sample.y.tolist()
    assert len(set(rows)) == 400


@pytest.mark.parametrize("chunk", [100, 999, 5000])
def test_neither_partitions_nor_workers_change_a_sample(chunk, client):
    X, y = arrays()
    expected = stratified_sample(X, y, 100)
    with on(client):
        found = stratified_sample(X.rechunk((chunk, -1)), y.rechunk(chunk), 100)
    assert np.array_equal(found.X, expected.X)
    assert np.array_equal(found.y, expected.y)
    assert np.array_equal(found.weight, expected.weight)


def test_another_seed_draws_another_sample():
    X, y = arrays()
    one, other = (stratified_sample(X, y, 100, random_state=seed) for seed in (0, 1))
    assert not np.array_equal(one.X, other.X)


def test_every_row_is_drawn_equally_often():
    y = np.arange(60) % 3
    X = da.arange(60).reshape(60, 1).rechunk((7, 1))
    drawn = [stratified_sample(X, y, 15, random_state=seed).X.ravel() for seed in range(200)]
    counts = np.bincount(np.concatenate(drawn), minlength=60)
    # Binomial (200, 1/4): six standard deviations.
    assert np.abs(counts - 50).max() < 6 * np.sqrt(200 * 3 / 16)


def test_weights_of_rows_come_along():
    X, y = arrays()
    weight = da.arange(5000, chunks=700, dtype=float)
    sample = stratified_sample(X, y, 10**6, sample_weight=weight)
    assert sample.weight == pytest.approx(np.arange(5000))


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [([50, 50], 10, [5, 5]), ([1000, 3, 1], 10, [10, 2, 1]), ([3, 3], 100, [3, 3])],
)
def test_every_class_has_at_least_two_rows(sizes, n, expected):
    assert allocation(np.array(sizes), n).tolist() == expected


def test_a_fit_is_that_of_the_sample(client):
    X, y = arrays()
    with on(client, n_drawn=500):
        found = ImmigrateClassifier().fit(X, y)
        sample = stratified_sample(X, y, 500)
    expected = ImmigrateClassifier().fit(sample.X, sample.y, sample.weight)
    np.testing.assert_allclose(found.weight_matrix_, expected.weight_matrix_, atol=1e-10)


def test_a_fit_says_what_it_drew(client, capsys):
    X, y = arrays()
    with on(client, n_drawn=500):
        ImmigrateClassifier(verbose=True).fit(X, y)
    assert "drew 500 of 5,000 rows from 8 partitions" in capsys.readouterr().out


@pytest.mark.parametrize(
    "model",
    [ImmigrateClassifier(), IM4EClassifier(), BoostedImmigrateClassifier(n_estimators=2)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_of_arrays_are_lazy_and_the_same(model, n_classes):
    X, _ = arrays(n=900, chunk=400)
    rows = X.compute()
    y = (rows[:, 0] > 0) + (n_classes == 3) * (rows[:, 1] > 0)
    model.fit(rows[:200], y[:200])
    for name in ("predict", "predict_proba", "decision_function", "expected_distances"):
        if not hasattr(model, name):
            continue
        lazy, expected = getattr(model, name)(X), getattr(model, name)(rows)
        assert is_collection(lazy)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        if name == "predict":
            assert np.array_equal(lazy.compute(), expected)
        else:
            np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-11, atol=1e-13)


def test_frames_with_categories(frame, client):
    table = dd.from_pandas(frame, npartitions=5)
    X, y = table.drop(columns="label"), table["label"]
    with on(client, n_drawn=600), client.as_current():
        model = ImmigrateClassifierCV().fit(X, y)
        found = model.predict(X).compute()
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "kind"]
    assert np.array_equal(found, model.predict(frame.drop(columns="label")))
    assert (found == frame["label"]).mean() > 0.9


def test_an_empty_partition_is_no_trouble(frame):
    table = dd.from_pandas(frame, npartitions=4)
    table = table[table["a"].abs() < 2]
    model = ImmigrateClassifier().fit(frame[["a", "b"]][:300], frame["label"][:300])
    nothing = table[table["a"] > 5]
    assert model.predict(nothing[["a", "b"]]).compute().shape == (0,)
    both = dd.concat([nothing, table])
    assert len(stratified_sample(both[["a"]], both["label"], 50).y) == 50


def test_a_label_in_memory():
    X, y = arrays()
    expected = stratified_sample(X, y, 100)
    assert np.array_equal(stratified_sample(X, y.compute(), 100).X, expected.X)


def test_what_does_not_fit_together_is_refused(frame):
    X, y = arrays()
    table = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(ValueError, match="X has 5000 rows and y has 4999; they must agree"):
        stratified_sample(X, y[1:])
    with pytest.raises(ValueError, match="y is in memory, and how many rows"):
        stratified_sample(table[["a"]], frame["label"])
    with pytest.raises(ValueError, match="X has 4 partitions and y has 2; take both from one"):
        stratified_sample(table[["a"]], dd.from_pandas(frame["label"], npartitions=2))
    with pytest.raises(ValueError, match="label is missing in 1 rows of partition 3; drop them"):
        stratified_sample(table[["a"]], table["label"].where(table["a"] < table["a"].max()))


# Of the worker. An idle one that has loaded the compiled code takes 400 to 530 MB of it, by the
# version of Python; at four fifths Dask lets it rest, and its tasks wait.
MEMORY = 800 * 10**6
# More than the worker may hold.
N_FILES, ROWS, COLUMNS = 60, 60_000, 30


@pytest.fixture
def folder(tmp_path):
    """A folder of Parquet files: four written, the others copies of them."""
    for i in range(4):
        X = np.random.default_rng(i).integers(-100, 100, (ROWS, COLUMNS)) / 50
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
        table["label"] = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0, "yes", "no")
        table.to_parquet(tmp_path / f"{i:03}.parquet")
    for i in range(4, N_FILES):
        shutil.copy(tmp_path / f"{i % 4:03}.parquet", tmp_path / f"{i:03}.parquet")
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.fixture
def small_worker():
    """A fresh worker: memory that others have used is not given back at once."""
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit=MEMORY,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_folder_larger_than_the_memory_of_its_worker(folder, small_worker):
    client = small_worker
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    assert sum(limits) < N_FILES * ROWS * COLUMNS * 8
    table = dd.read_parquet(folder)
    X, y = table.drop(columns="label"), table["label"]
    before = set(client.scheduler_info()["workers"])
    with on(client, n_drawn=1000, part_seconds=1e-3):
        model = ImmigrateClassifier().fit(X, y)
    strongest = model.feature_importances_.argsort()[::-1]
    assert set(strongest[:2]) == {0, 1}
    last = table.partitions[-1:]
    with client.as_current():
        found = model.predict(last.drop(columns="label")).compute()
    assert (found == last["label"].compute()).mean() > 0.8
    # Nobody was ended for taking too much memory.
    assert set(client.scheduler_info()["workers"]) == before
