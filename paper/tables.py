"""Tables 1 to 3 of the paper beside ours, as Markdown, LaTeX and CSV.

Methods are rows and data sets columns, so that each method has its row, with an error text
where it could not be made to work.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from immigrate.files import whole_file, write_text_whole
from paper.comparison import (
    OURS_AGAINST_PAPER,
    TESTS,
    accuracy_trials,
    counts,
    long_table,
    n_folds,
    shared_datasets,
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
    write_text_whole(paths[0], markdown_page(frame))
    for table in TITLES:
        rows = long_table(frame, table)
        with whole_file(folder / f"table{table}.csv") as place:
            rows.round(3).to_csv(place, index=False)
        write_text_whole(folder / f"table{table}.tex", latex(frame, table))
        paths += [folder / f"table{table}.csv", folder / f"table{table}.tex"]
    return paths


def markdown_page(frame: pd.DataFrame) -> str:
    """All tables with a legend, the defaults against the paper's settings, and the failures."""
    legend = (
        "Mean accuracy in percent over the trials of repeated cross-validation. `*`: fewer "
        f"than 10 repeats so far; folds: {n_folds(frame)}. W,T,L: wins, ties and losses of the "
        "table's reference method against the row, by the paper's paired t-test and by the "
        "corrected resampled t-test (Nadeau and Bengio), which allows for overlapping training "
        "sets; the paper's counts are over all its data sets with 100 trials each, ours over "
        "those with results, with as many trials as stated: fewer trials, more ties. "
        "Means are over the data sets for which every method has a result here.\n"
    )
    parts = ["# The paper's tables beside ours\n", legend]
    for table, title in TITLES.items():
        parts += [f"## {title}\n", *_markdown_blocks(frame, table)]
    parts += [
        "## This library's defaults against the paper's settings\n",
        _markdown(_defaults(frame)),
    ]
    for title, found in (("Failed cells", _failures(frame)), ("Warnings", _warnings(frame))):
        if len(found):
            parts += [f"## {title}\n", _markdown(found)]
    return "\n".join(parts)


def latex(frame: pd.DataFrame, table: int) -> str:
    """A `tabular` with ours, the difference to the paper in small print, and the W,T,L.

    A star marks numbers from fewer than ten repeats.
    """
    rows = long_table(frame, table)
    ours = _starred(_grid(rows, table, "ours", "{:.1f}"), rows, frame)
    ours = _with_failures(ours, rows).replace("error: .*", "failed", regex=True)
    small = _grid(rows, table, "difference", r" {{\tiny ({:+.1f})}}")
    body = (ours + small).join(win_tie_loss_columns(frame, table))
    lines = [
        r"\begin{tabular}{l|" + "r" * len(ours.columns) + "|cccc}",
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
    shared, printed = shared_datasets(rows), rows[rows["paper"].notna()]
    ours = _starred(_with_mean(rows, table, "ours", "{:.1f}", shared), rows, frame)
    ours = _with_failures(ours, rows).join(
        win_tie_loss_columns(frame, table).add_prefix(f"W,T,L of {REFERENCE[table]}: ")
    )
    return [
        "**Ours**\n",
        _markdown(ours),
        "**The paper's**\n",
        _markdown(_with_mean(printed, table, "paper", "{:.1f}", shared)),
        "**Difference, ours minus the paper's**\n",
        _markdown(_with_mean(printed, table, "difference", "{:+.1f}", shared)),
    ]


def _starred(grid: pd.DataFrame, rows: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`grid` with a star at numbers that rest on fewer than ten repeats."""
    incomplete = rows.set_index(["method", "data"])["n_trials"] < 10 * n_folds(frame)
    for (method, data), is_short in incomplete.items():
        if is_short and grid.loc[method, data]:
            grid.loc[method, data] += "*"
    return grid


def _with_failures(grid: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """`grid` with an error text in the first cell of a row without any result."""
    failed = rows[rows["n_failed"] > 0]
    for (method, data), row in failed.set_index(["method", "data"]).iterrows():
        grid.loc[method, data] = grid.loc[method, data] or "failed"
        is_first = not any(str(v).startswith("error") for v in grid.loc[method])
        if pd.isna(row["ours"]) and is_first:
            grid.loc[method, data] = f"error: {row['error']}"
    return grid


def _with_mean(
    rows: pd.DataFrame, table: int, column: str, form: str, shared: list[str]
) -> pd.DataFrame:
    """Methods by data sets as text, with the mean over the shared data sets."""
    grid = _grid(rows, table, column, form)
    # Without a value on one of them the mean would be over other data sets than the others'.
    mean = (
        rows[rows["data"].isin(shared)]
        .groupby("method")[column]
        .agg(lambda values: values.mean(skipna=False))
    )
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


def _warnings(frame: pd.DataFrame) -> pd.DataFrame:
    """Each kind of warning, by its first words, and in how many repeats of a method it came."""
    noted = frame[frame["note"].fillna("") != ""]
    notes = noted.assign(warning=noted["note"].str.split("; ")).explode("warning")
    notes["warning"] = notes["warning"].str.split(r" \(|\. ", regex=True).str[0]
    if not len(notes):
        return notes
    repeat = ["data", "repeat", "n_folds"]
    lines = notes.groupby(["method", "warning"])[repeat].apply(_n_distinct).rename("repeats")
    lines = lines.reset_index("warning")
    lines["of"] = frame.groupby("method")[repeat].apply(_n_distinct).reindex(lines.index)
    return lines


def _n_distinct(rows: pd.DataFrame) -> int:
    return len(rows.drop_duplicates())


def _markdown(grid: pd.DataFrame) -> str:
    head = ["", *map(str, grid.columns)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, row in _rows(grid):
        cells = (str(value).replace("|", "/").replace("\n", " ") for value in row)
        lines.append("| " + " | ".join([f"**{name}**", *cells]) + " |")
    return "\n".join(lines) + "\n"


def _rows(grid: pd.DataFrame):
    return zip(grid.index, grid.itertuples(index=False, name=None))
