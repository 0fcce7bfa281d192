import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from paper.cli import main
from paper.datasets import DATASETS, download, load
from paper.datasets.monk import monk1
from paper.datasets.synthetic import noisy_gaussians

# Where the folder's table is known to be another one than the paper's: see the notes.
OTHER_SHAPE = {"PRO"}


@pytest.mark.parametrize("code", sorted(DATASETS))
def test_tables_have_the_papers_shape(code):
    try:
        table = load(code)
    except FileNotFoundError:
        pytest.skip(f"{code} is not in the data folder; IMMIGRATE_DATA names it")
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
    with pytest.raises(FileNotFoundError, match=r"Put GLA\.csv .* data --download` fetch it"):
        load("GLA", str(tmp_path))


def test_a_file_without_target_is_named_with_its_columns(tmp_path, capsys):
    (tmp_path / "GLA.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"GLA\.csv has no column 'target'; its columns are a, b"):
        load("GLA", str(tmp_path))
    main(["data", "--data", str(tmp_path)])
    assert "no column 'target'" in capsys.readouterr().out


def glass(label):
    """What OpenML gives for GLA: seven types of glass, the names in quotes or not."""
    kinds = ["build wind float"] * 70 + ["build wind non-float"] * 76 + ["headlamps"] * 29
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(175, 9))).add_prefix("f")
    return Bunch(data=data, target=pd.Series([label.format(kind) for kind in kinds]))


@pytest.mark.parametrize("label", ["{}", "'{}'"])
def test_a_download_goes_to_the_data_folder(tmp_path, monkeypatch, label):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: glass(label))
    assert download("GLA", str(tmp_path)) == tmp_path / "GLA.csv"
    table = load("GLA", str(tmp_path))
    assert table.X.shape == DATASETS["GLA"].shape
    assert table.classes == ("build wind float", "build wind non-float")
    assert download("COL", str(tmp_path)) is None


def test_a_download_of_another_shape_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: glass("type {}"))
    with pytest.raises(ValueError, match=r"gave \(0, 9\) for GLA, expected \(146, 9\)"):
        download("GLA", str(tmp_path))
    assert not (tmp_path / "GLA.csv").exists()


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
