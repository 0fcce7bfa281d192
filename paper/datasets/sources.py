"""Finding a table: the data folder, then what needs no network. OpenML fills the folder."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from paper.datasets.monk import monk1
from paper.datasets.record import Dataset, Table
from paper.datasets.registry import DATASETS
from paper.datasets.synthetic import noisy_gaussians

# Data sets whose OpenML version is the paper's table up to the selection of two classes:
# (OpenML id, the two class labels there, columns to drop).
OPENML = {
    "GLA": (41, ("build wind float", "build wind non-float"), ()),
    "HMS": (43, ("1", "2"), ()),
    "ION": (59, ("b", "g"), ("a01", "a02")),
    "PID": (37, ("tested_negative", "tested_positive"), ()),
    "SMR": (40, ("Mine", "Rock"), ()),
}


def data_folder(path: str | os.PathLike | None = None) -> Path | None:
    """The user's folder of tables: `path`, or the environment variable IMMIGRATE_DATA."""
    path = path or os.environ.get("IMMIGRATE_DATA")
    return Path(path) if path else None


@lru_cache(maxsize=2)
def load(code: str, folder: str | None = None) -> Table:
    """The table of the data set `code`, from the first source that has it."""
    dataset = DATASETS[code]
    table = _from_folder(dataset, data_folder(folder)) or _from_package(dataset)
    if table is not None:
        return table
    advice = ", or let `python -m paper data --download` fetch it there" if code in OPENML else ""
    raise FileNotFoundError(
        f"No source has {code} ({dataset.name}). Put {code}.csv with a last column 'target' in "
        f"the folder named by --data or IMMIGRATE_DATA{advice}."
    )


def download(code: str, folder: str | None = None) -> Path | None:
    """Fetch the table from OpenML into the data folder; None where OpenML does not have it."""
    if code not in OPENML:
        return None
    target = data_folder(folder)
    if target is None:
        raise ValueError("Name a folder to download to, by --data or IMMIGRATE_DATA.")
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{code}.csv"
    _from_openml(DATASETS[code]).to_csv(path, index=False)
    load.cache_clear()
    return path


def _from_folder(dataset: Dataset, folder: Path | None) -> Table | None:
    if folder is None:
        return None
    for name in (f"{dataset.code}.csv", f"{dataset.code}.csv.gz"):
        if (folder / name).exists():
            frame = pd.read_csv(folder / name, dtype={"target": str})
            if "target" not in frame:
                raise ValueError(
                    f"{name} has no column 'target'; its columns are {', '.join(frame)}."
                )
            return _table(frame.drop(columns="target"), frame["target"], f"folder: {name}")
    return None


def _from_package(dataset: Dataset) -> Table | None:
    if dataset.code == "MON":
        X, y = monk1()
        return _table(pd.DataFrame(X).add_prefix("a"), pd.Series(y), "generated")
    if dataset.code == "SYN":
        X, y, _ = noisy_gaussians(0.1, random_state=0)
        return _table(pd.DataFrame(X).add_prefix("x"), pd.Series(y), "generated")
    if dataset.code == "WIN":
        from sklearn.datasets import load_wine

        wine = load_wine(as_frame=True)
        kept = wine.target < 2
        return _table(wine.data[kept], wine.target[kept], "scikit-learn: load_wine")
    return None


def _from_openml(dataset: Dataset) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    data_id, classes, dropped = OPENML[dataset.code]
    # fetch_openml compares the file with the MD5 sum that OpenML states for it.
    bunch = fetch_openml(data_id=data_id, as_frame=True, parser="auto")
    label = bunch.target.astype(str).str.strip("'")
    kept = label.isin(classes)
    X = bunch.data[kept].drop(columns=list(dropped))
    if X.shape != dataset.shape:
        raise ValueError(
            f"OpenML {data_id} gave {X.shape} for {dataset.code}, expected {dataset.shape}; "
            f"its labels are {', '.join(sorted(set(label)))}."
        )
    return X.assign(target=label[kept])


def _table(X: pd.DataFrame, y: pd.Series, source: str) -> Table:
    classes, codes = np.unique(y.astype(str).to_numpy(), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"{source}: expected two classes, found {list(classes)}.")
    names = [str(name) for name in X.columns]
    return Table(X.to_numpy(dtype=float), codes, names, tuple(classes), source)
