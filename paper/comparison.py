"""From cells to numbers: mean accuracies, differences to the paper, wins, ties and losses."""

from __future__ import annotations

import pandas as pd

from paper.datasets import SYNTHETIC
from paper.published import REFERENCE, accuracies, table_datasets, table_methods
from paper.published import win_tie_loss as published_win_tie_loss
from paper.statistics import verdict

# Rows that the paper does not have, under the table in which they belong.
ADDED = {1: ("MAJ",), 2: ("IGT+", "IGL", "MAJ"), 3: ("BIM+", "EBM", "MAJ")}
# Rows that are run on some of the data sets, or not yet: they do not decide what the means are
# over, and without any result they are left out.
PARTIAL = ("EBM", "IGL")
# This library's defaults against the paper's settings.
OURS_AGAINST_PAPER = (("IGT+", "IGT"), ("BIM+", "BIM"))
VERDICTS = ("win", "tie", "loss")
# The paper's test, and the one that allows for overlapping training sets.
TESTS = {"paired t": False, "corrected t": True}


def accuracy_trials(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in percent: one row per trial (data, repeat, fold), one column per method."""
    ok = frame[frame["status"] == "ok"]
    ok = ok[ok["n_folds"] == n_folds(frame)]
    accuracy = 100 * ok["n_correct"].astype(float) / ok["n_tested"].astype(float)
    index = ["data", "repeat", "fold"]
    return ok.assign(accuracy=accuracy).pivot(index=index, columns="method", values="accuracy")


def n_folds(frame: pd.DataFrame) -> int:
    """The number of folds of most cells; the paper's 10 if there are none."""
    return int(frame["n_folds"].mode().iloc[0]) if len(frame) else 10


def table_rows(table: int) -> list[str]:
    """Methods of a table: the paper's, then ours."""
    return [*table_methods(table), *ADDED[table]]


def table_columns(frame: pd.DataFrame, table: int) -> list[str]:
    """Data sets of a table: the paper's, then those with results that it does not print."""
    added = [code for code in SYNTHETIC if table != 1 and code in set(frame["data"])]
    return [*table_datasets(table), *added]


def long_table(frame: pd.DataFrame, table: int) -> pd.DataFrame:
    """One row for each method and data set of a table: ours, the paper's, their difference."""
    trials = accuracy_trials(frame)
    grouped = trials.groupby("data")
    summary = pd.concat(
        {
            "ours": grouped.mean().stack(),
            "sd": grouped.std().stack(),
            "n_trials": grouped.count().stack(),
        },
        axis=1,
    )
    failed = frame[frame["status"] != "ok"].groupby(["data", "method"])
    summary = summary.join(failed.size().rename("n_failed"), how="outer")
    summary = summary.join(failed["error"].first())
    printed = accuracies().query("table == @table").set_index(["data", "method"])["accuracy"]
    cells = pd.MultiIndex.from_product(
        [table_columns(frame, table), table_rows(table)], names=["data", "method"]
    )
    rows = summary.reindex(cells).join(printed.rename("paper"))
    is_run = rows[["ours", "n_failed"]].notna().any(axis=1).groupby("method").transform("any")
    rows = rows[is_run | ~rows.index.isin(PARTIAL, level="method")]
    rows["difference"] = rows["ours"] - rows["paper"]
    columns = ["ours", "paper", "difference", "sd", "n_trials", "n_failed", "error"]
    return rows[columns].reset_index()


def verdicts(frame: pd.DataFrame, a: str, b: str, data=None, *, corrected=False) -> pd.Series:
    """Whether method `a` is a "win", "tie" or "loss" against `b`, for each data set."""
    trials = accuracy_trials(frame)
    if a not in trials or b not in trials or a == b:
        return pd.Series(dtype=object)
    folds = n_folds(frame) if corrected else None
    groups = trials[[a, b]].dropna().groupby("data")
    pairs = {c: g for c, g in groups if len(g) > 1 and (data is None or c in data)}
    return pd.Series(
        {code: verdict(g[a], g[b], n_folds=folds) for code, g in pairs.items()}, dtype=object
    )


def counts(found: pd.Series) -> str:
    """Verdicts as wins, ties and losses, such as "17,2,1"; nothing for none."""
    return ",".join(str((found == kind).sum()) for kind in VERDICTS) if len(found) else ""


def n_shared_trials(frame: pd.DataFrame, a: str, b: str, data=None) -> pd.Series:
    """On how many trials of each data set both methods have a result."""
    trials = accuracy_trials(frame)
    if a not in trials or b not in trials:
        return pd.Series(dtype=int)
    shared = trials[[a, b]].dropna().groupby("data").size()
    return shared if data is None else shared[shared.index.isin(list(data))]


def shared_datasets(rows: pd.DataFrame) -> list[str]:
    """Data sets of the paper's for which every method with any result has one.

    A method that is in `PARTIAL` is not asked; it has no mean unless it has all of these.
    """
    rows = rows[rows["data"].isin(accuracies()["data"]) & ~rows["method"].isin(PARTIAL)]
    ours = rows.pivot(index="method", columns="data", values="ours").dropna(how="all")
    return list(ours.dropna(axis=1).columns)


def _range(numbers: pd.Series) -> str:
    """The numbers in short: "100", or "10-100" where they differ."""
    ends = sorted({int(numbers.min()), int(numbers.max())}) if len(numbers) else []
    return "-".join(map(str, ends))


def win_tie_loss_columns(frame: pd.DataFrame, table: int) -> pd.DataFrame:
    """W,T,L of the table's reference method against each row: the paper's and ours, two tests.

    `trials` is the number behind ours on a data set; the paper's have 100.
    """
    reference, data = REFERENCE[table], set(table_datasets(table))
    printed = published_win_tie_loss().query("table == @table").set_index("method")
    rows = {}
    for method in table_rows(table):
        known = method in printed.index
        rows[method] = {
            "paper": ",".join(map(str, printed.loc[method, "wins":"losses"])) if known else "",
        }
        for test, corrected in TESTS.items():
            found = verdicts(frame, reference, method, data, corrected=corrected)
            rows[method][test] = counts(found)
        shared = n_shared_trials(frame, reference, method, data)
        rows[method]["trials"] = _range(shared) if method != reference else ""
    return pd.DataFrame.from_dict(rows, orient="index")
