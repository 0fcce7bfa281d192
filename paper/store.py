"""Where results live: a SQLite file while running, a CSV file under version control.

A row of the CSV file is one repeat of one method on one data set; its folds are joined by
spaces, and one text stands for its errors and one for its warnings. Otherwise it holds what
the SQLite file does, so that a run on another machine can continue from it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import pandas as pd

from immigrate.files import whole_file
from paper.cells import Cell, Outcome

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    data TEXT, method TEXT, repeat INTEGER, fold INTEGER, n_folds INTEGER,
    status TEXT, n_correct INTEGER, n_tested INTEGER, seconds REAL, error TEXT, note TEXT,
    settings TEXT, version TEXT,
    PRIMARY KEY (data, method, repeat, fold, n_folds)
);
CREATE TABLE IF NOT EXISTS claims (
    data TEXT, method TEXT, repeat INTEGER, fold INTEGER, n_folds INTEGER,
    run TEXT, host TEXT, pid INTEGER, beat REAL, ended REAL,
    PRIMARY KEY (data, method, repeat, fold, n_folds)
)
"""
DATABASE, TRACKED, SETTINGS = "results.sqlite", "repeats.csv", "settings.csv"
_SETTINGS_KEY = ["method", "settings_id"]
_KEY = ["data", "method", "repeat", "fold", "n_folds"]
_REPEAT = ["data", "method", "n_folds", "repeat"]
_IS_CELL = " AND ".join(f"{column} = ?" for column in _KEY)


class Store:
    """Results in a SQLite file; each `add` is on disk when it returns."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Cells finish in the main thread of a run; others may run on the same folder.
        self._connection = sqlite3.connect(path, timeout=60)
        with self.exclusively():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Nobody else writes meanwhile; all that is written here is there together or not."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            yield

    def add(self, cell: Cell, result: Outcome, settings: str, version: str) -> None:
        """Append the outcome of a cell, in place of an earlier one."""
        row = (*astuple(cell), *astuple(result), settings, version)
        with self.exclusively():
            self._connection.execute(
                f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * len(row))})", row
            )
            self._connection.execute(
                f"UPDATE claims SET ended = ? WHERE {_IS_CELL}", (time.time(), *astuple(cell))
            )

    def finished(self, settings: dict[str, str], *, retry: bool = False) -> set[Cell]:
        """Cells that need not run: same settings, and not failed if failures are retried."""
        rows = self._connection.execute(f"SELECT {', '.join(_KEY)}, status, settings FROM cells")
        return {
            Cell(*row[:5])
            for row in rows
            if row[6] == settings.get(row[1]) and (row[5] == "ok" or not retry)
        }

    def status(self, cell: Cell, settings: str) -> str | None:
        """The status of a cell under these settings; None if it has no such result."""
        row = self._connection.execute(
            f"SELECT status FROM cells WHERE {_IS_CELL} AND settings = ?",
            (*astuple(cell), settings),
        ).fetchone()
        return row[0] if row else None

    def claim(self, cell: Cell) -> dict | None:
        """Who asked for a cell last, see `paper.claims`."""
        cursor = self._connection.execute(
            f"SELECT run, host, pid, beat, ended FROM claims WHERE {_IS_CELL}", astuple(cell)
        )
        row = cursor.fetchone()
        return row and dict(zip([column[0] for column in cursor.description], row))

    def put_claim(self, row: tuple) -> None:
        """Write a claim in place of an earlier one."""
        self._connection.execute(
            f"INSERT OR REPLACE INTO claims VALUES ({', '.join('?' * len(row))})", row
        )

    def renew_claims(self, run: str, now: float) -> None:
        """Show that a run is alive."""
        with self.exclusively():
            self._connection.execute("UPDATE claims SET beat = ? WHERE run = ?", (now, run))

    def drop_claims(self, run: str) -> None:
        """Give back the cells of a run that have no result."""
        with self.exclusively():
            self._connection.execute("DELETE FROM claims WHERE run = ? AND ended IS NULL", (run,))

    def frame(self) -> pd.DataFrame:
        """All results, one row per cell."""
        order = "ORDER BY data, method, n_folds, repeat, fold"
        return pd.read_sql_query(f"SELECT * FROM cells {order}", self._connection)

    def fill(self, frame: pd.DataFrame, settings: dict[str, str]) -> None:
        """Take over rows of `frame` whose cells are not here yet, or here with old settings."""
        columns = [row[1] for row in self._connection.execute("PRAGMA table_info(cells)")]
        rows = frame[columns].astype(object).where(frame[columns].notna(), None)
        is_current = frame["settings"] == frame["method"].map(settings)
        insert = f"INTO cells VALUES ({', '.join('?' * len(columns))})"
        stale = "DELETE FROM cells WHERE method = ? AND settings != ? AND " + " AND ".join(
            f"{column} = ?" for column in _KEY if column != "method"
        )
        with self.exclusively():
            self._connection.executemany(
                stale,
                (
                    (row.method, row.settings, row.data, row.repeat, row.fold, row.n_folds)
                    for row in rows[is_current].itertuples(index=False)
                ),
            )
            self._connection.executemany(
                f"INSERT OR IGNORE {insert}", rows.itertuples(index=False, name=None)
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def joined_store(folder: Path, settings: dict[str, str], *others: Path) -> Store:
    """The SQLite file of `folder`, with what the tracked files there and elsewhere know."""
    store = Store(folder / DATABASE)
    try:
        # Not while another run is between the two files.
        with store.exclusively():
            for tracked in (folder, *others):
                if (tracked / TRACKED).exists():
                    store.fill(read_tracked(tracked), settings)
    except BaseException:
        store.close()
        raise
    return store


def tracked_results(folder: Path) -> pd.DataFrame:
    """Results of the tracked CSV files, none if there are no such files."""
    return read_tracked(folder) if (folder / TRACKED).exists() else _no_results()


def with_settings(frame: pd.DataFrame, settings: dict[str, str]) -> pd.DataFrame:
    """Rows of these settings, and all rows of methods that have none of them."""
    is_current = frame["settings"] == frame["method"].map(settings)
    has_current = frame["method"].isin(set(frame.loc[is_current, "method"]))
    return frame[is_current | ~has_current]


def write_tracked(frame: pd.DataFrame, folder: Path) -> None:
    """Write `repeats.csv` (one row per repeat) and `settings.csv` (what each method was)."""
    frame = frame.assign(settings_id=frame["settings"].map(_digest))
    ok = frame["status"] == "ok"
    frame["correct"] = frame["n_correct"].astype("Int64").astype(str).where(ok, frame["status"])
    frame["tested"] = frame["n_tested"].astype("Int64").astype(str).where(ok, "0")
    frame["seconds"] = frame["seconds"].map("{:.3g}".format)
    joined = {c: (c, lambda x: " ".join(map(str, x))) for c in ("fold", "correct", "tested")}
    one = {c: (c, "max") for c in ("error", "note", "version")}
    repeats = frame.groupby([*_REPEAT, "settings_id"], sort=True).agg(
        **joined, seconds=("seconds", " ".join), **one
    )
    repeats = repeats.reset_index()
    used = frame[["method", "settings_id", "settings"]].drop_duplicates()
    counts = repeats.groupby(_SETTINGS_KEY).size().rename("n_repeats").reset_index()
    used = used.merge(counts, on=_SETTINGS_KEY).sort_values(_SETTINGS_KEY)
    # Each file appears whole; whoever is killed between the two leaves counts that do not agree,
    # which `read_tracked` says.
    for name, table in ((TRACKED, repeats), (SETTINGS, used)):
        with whole_file(folder / name) as place:
            table.to_csv(place, index=False)


def read_tracked(folder: Path) -> pd.DataFrame:
    """The cells that `write_tracked` wrote, one row per cell."""
    numbers = {"repeat": int, "n_folds": int}
    try:
        repeats = pd.read_csv(folder / TRACKED, dtype=str).fillna("").astype(numbers)
        settings = pd.read_csv(folder / SETTINGS, dtype=str).fillna("")
        _check_complete(repeats, settings)
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{TRACKED} and {SETTINGS} in {folder} are damaged: {error} Restore both from version "
            "control, or remove them and export again where the database is."
        ) from error
    lists = ["fold", "correct", "tested", "seconds"]
    for column in lists:
        repeats[column] = repeats[column].str.split(" ")
    frame = repeats.explode(lists).merge(settings, on=["method", "settings_id"])
    frame["n_correct"] = pd.to_numeric(frame["correct"], errors="coerce")
    frame["status"] = frame["correct"].where(frame["n_correct"].isna(), "ok")
    frame["n_tested"] = pd.to_numeric(frame["tested"]).where(frame["status"] == "ok")
    failed = frame["status"] != "ok"
    frame["error"] = frame["error"].where(failed, "")
    columns = [*_KEY, "status", "n_correct", "n_tested", "seconds", "error", "note"]
    frame = frame.astype({"fold": int, "seconds": float})
    return frame[[*columns, "settings", "version"]].reset_index(drop=True)


def _check_complete(repeats: pd.DataFrame, settings: pd.DataFrame) -> None:
    """Refuse files of which lines are missing: rows would vanish with the next export."""
    found = repeats.groupby(_SETTINGS_KEY).size()
    expected = settings.set_index(_SETTINGS_KEY)["n_repeats"].astype(int)
    differs = found.index.symmetric_difference(expected.index).union(
        [key for key in found.index.intersection(expected.index) if found[key] != expected[key]]
    )
    if len(differs):
        method, _ = differs[0]
        raise ValueError(
            f"{len(repeats)} repeats are there and {expected.sum()} are expected; those of "
            f"{method} do not agree."
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _no_results() -> pd.DataFrame:
    names = [*_KEY, "status", "n_correct", "n_tested", "seconds", "error", "note"]
    return pd.DataFrame(columns=[*names, "settings", "version"])
