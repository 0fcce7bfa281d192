"""Tables 1 to 3 of the paper beside ours, as Markdown, LaTeX and CSV.

Methods are rows and data sets columns, so that each method has its row, with an error text
where it could not be made to work.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from paper.comparison import (
    OURS_AGAINST_PAPER,
    TESTS,
    accuracy_trials,
    counts,
    long_table,
    n_folds,
    table_rows,
    verdicts,
    win_tie_loss_columns,
)
from paper.published import REFERENCE

TITLES = {
    1: "Table 1: gene expression data",
    2: "Table 2: UCI data, single models",
    3: "Table 3: UCI data, ensembles",
}


def write(frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Write every table to `folder` and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "tables.md"]
    paths[0].write_text(markdown_page(frame))
    for table in TITLES:
        rows = long_table(frame, table)
        rows.round(3).to_csv(folder / f"table{table}.csv", index=False)
        (folder / f"table{table}.tex").write_text(latex(frame, table))
        paths += [folder / f"table{table}.csv", folder / f"table{table}.tex"]
    return paths


def markdown_page(frame: pd.DataFrame) -> str:
    """All tables with a legend, the defaults against the paper's settings, and the failures."""
    legend = (
        "Mean accuracy in percent over the trials of repeated cross-validation. `*`: fewer "
        f"than 10 repeats so far; folds: {n_folds(frame)}. W,T,L: wins, ties and losses of the "
        "table's reference method against the row, by the paper's paired t-test and by the "
        "corrected resampled t-test (Nadeau and Bengio), which allows for overlapping training "
        "sets; the paper's counts are over all its data sets, ours over those with results. "
        "Means are over the data sets for which every method has a result here.\n"
    )
    parts = ["# The paper's tables beside ours\n", legend]
    for table, title in TITLES.items():
        parts += [f"## {title}\n", *_markdown_blocks(frame, table)]
    parts += [
        "## This library's defaults against the paper's settings\n",
        _markdown(_defaults(frame)),
    ]
    failures = _failures(frame)
    if len(failures):
        parts += ["## Failed cells\n", _markdown(failures)]
    return "\n".join(parts)


def latex(frame: pd.DataFrame, table: int) -> str:
    """A `tabular` with ours, the difference to the paper in small print, and the W,T,L."""
    rows = long_table(frame, table)
    ours = _grid(rows, table, "ours", "{:.1f}")
    small = _grid(rows, table, "difference", r" {{\tiny ({:+.1f})}}")
    body = (ours + small).join(win_tie_loss_columns(frame, table))
    lines = [
        r"\begin{tabular}{l|" + "r" * len(ours.columns) + "|ccc}",
        r"\hline",
        " & ".join(["", *body.columns]) + r" \\",
        r"\hline",
        *(" & ".join([str(name), *map(str, row)]) + r" \\" for name, row in _rows(body)),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _markdown_blocks(frame: pd.DataFrame, table: int) -> list[str]:
    rows = long_table(frame, table)
    ours = _with_mean(rows, table, "ours", "{:.1f}")
    incomplete = rows.set_index(["method", "data"])["n_trials"] < 10 * n_folds(frame)
    for (method, data), is_short in incomplete.items():
        if is_short and ours.loc[method, data]:
            ours.loc[method, data] += "*"
    ours = _with_failures(ours, rows).join(
        win_tie_loss_columns(frame, table).add_prefix(f"W,T,L of {REFERENCE[table]}: ")
    )
    return [
        "**Ours**\n",
        _markdown(ours),
        "**The paper's**\n",
        _markdown(_with_mean(rows[rows["paper"].notna()], table, "paper", "{:.1f}")),
        "**Difference, ours minus the paper's**\n",
        _markdown(_with_mean(rows[rows["paper"].notna()], table, "difference", "{:+.1f}")),
    ]


def _with_failures(grid: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """`grid` with an error text in the first cell of a row without any result."""
    failed = rows[rows["n_failed"] > 0]
    for (method, data), row in failed.set_index(["method", "data"]).iterrows():
        grid.loc[method, data] = grid.loc[method, data] or "failed"
        is_first = not any(str(v).startswith("error") for v in grid.loc[method])
        if pd.isna(row["ours"]) and is_first:
            grid.loc[method, data] = f"error: {row['error']}"
    return grid


def _with_mean(rows: pd.DataFrame, table: int, column: str, form: str) -> pd.DataFrame:
    """Methods by data sets as text, with the mean over data sets that every method has."""
    grid = _grid(rows, table, column, form)
    ours = rows.pivot(index="method", columns="data", values="ours").dropna(how="all")
    shared = rows[rows["data"].isin(ours.dropna(axis=1).columns)]
    mean = shared.groupby("method")[column].mean()
    grid["mean"] = [_text(mean.get(method), form) for method in grid.index]
    return grid


def _grid(rows: pd.DataFrame, table: int, column: str, form: str) -> pd.DataFrame:
    methods = [m for m in table_rows(table) if m in set(rows["method"])]
    numbers = rows.pivot(index="method", columns="data", values=column)
    # `pivot` sorts; `rows` has the order of the table.
    numbers = numbers.reindex(index=methods, columns=rows["data"].unique())
    return numbers.map(lambda value: _text(value, form)).astype(object)


def _text(value, form: str) -> str:
    return "" if value is None or pd.isna(value) else form.format(value)


def _defaults(frame: pd.DataFrame) -> pd.DataFrame:
    trials = accuracy_trials(frame)
    lines = {}
    for ours, theirs in OURS_AGAINST_PAPER:
        present = ours in trials and theirs in trials
        means = trials[[ours, theirs]].dropna().groupby("data").mean() if present else None
        line = {
            "data sets": len(means) if present else 0,
            "mean of ours": f"{means[ours].mean():.2f}" if present else "",
            "mean of the paper's": f"{means[theirs].mean():.2f}" if present else "",
        }
        for test, corrected in TESTS.items():
            found = verdicts(frame, ours, theirs, corrected=corrected)
            line[f"W,T,L {test}"] = counts(found)
            for kind, name in (("win", "wins on"), ("loss", "loses on")):
                line[f"{name}, {test}"] = " ".join(found.index[found == kind])
        lines[f"{ours} against {theirs}"] = line
    return pd.DataFrame.from_dict(lines, orient="index").fillna("")


def _failures(frame: pd.DataFrame) -> pd.DataFrame:
    failed = frame[frame["status"] != "ok"]
    grouped = failed.groupby(["method", "status", "error"], sort=True)
    lines = grouped.agg(cells=("fold", "size"), data=("data", lambda d: " ".join(sorted(set(d)))))
    return lines.reset_index().set_index("method")


def _markdown(grid: pd.DataFrame) -> str:
    head = ["", *map(str, grid.columns)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, row in _rows(grid):
        cells = (str(value).replace("|", "/").replace("\n", " ") for value in row)
        lines.append("| " + " | ".join([f"**{name}**", *cells]) + " |")
    return "\n".join(lines) + "\n"


def _rows(grid: pd.DataFrame):
    return zip(grid.index, grid.itertuples(index=False, name=None))
