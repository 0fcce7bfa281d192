import numpy as np
import pytest

from paper.cli import main
from paper.datasets import DATASETS, load
from paper.datasets.monk import monk1
from paper.datasets.sources import data_folder
from paper.datasets.synthetic import noisy_gaussians

# Where the folder's table is known to be another one than the paper's: see the notes.
OTHER_SHAPE = {"PRO"}


@pytest.mark.parametrize("code", sorted(DATASETS))
def test_tables_of_the_data_folder_have_the_papers_shape(code):
    if data_folder() is None:
        pytest.skip("no data folder: set IMMIGRATE_DATA")
    try:
        table = load(code)
    except FileNotFoundError:
        pytest.skip(f"{code} is not in the data folder")
    if code not in OTHER_SHAPE:
        assert table.X.shape == DATASETS[code].shape
    assert table.classes == DATASETS[code].classes
    assert set(table.y) == {0, 1}


@pytest.mark.parametrize("code", ["MON", "WIN", "SYN"])
def test_offline_tables_need_no_folder(code, tmp_path):
    table = load(code, str(tmp_path))
    assert table.X.shape == DATASETS[code].shape
    assert "folder" not in table.source


def test_the_folder_comes_before_other_sources(tmp_path):
    (tmp_path / "WIN.csv").write_text("a,b,target\n1,2,x\n3,4,y\n5,6,x\n")
    table = load("WIN", str(tmp_path))
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(table.y, [0, 1, 0])
    assert table.feature_names == ["a", "b"]
    assert table.source == "folder: WIN.csv"


def test_a_missing_table_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Put GLA\.csv .* or allow --download"):
        load("GLA", str(tmp_path))


def test_monk1_is_the_published_rule():
    X, y = monk1()
    assert X.shape == (432, 6)
    assert y.sum() == 216
    row = np.array([2, 2, 1, 1, 3, 1])
    assert y[(row == X).all(axis=1)] == 1


def test_noise_is_added_on_the_wrong_side():
    X, y, is_noise = noisy_gaussians(0.5, n_per_class=400, random_state=0)
    assert len(X) == 1200
    np.testing.assert_allclose(X[(y == 0) & ~is_noise].mean(axis=0), (4, 2), atol=0.2)
    np.testing.assert_allclose(X[(y == 0) & is_noise].mean(axis=0), (8, -2), atol=0.6)


def test_data_command_lists_every_table(capsys, tmp_path):
    main(["data", "--data", str(tmp_path)])
    printed = capsys.readouterr().out
    assert all(f"\n{code}  " in f"\n{printed}" for code in DATASETS)
    assert "missing" in printed
    assert "generated" in printed
