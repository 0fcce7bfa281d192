"""Write the tables of docs/measurements/columns.md from the tracked results.

    python -m benchmarks.columns.columns_page

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``; the rest of the page is
left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.columns.messy_tables import RESULTS as MESSY_RESULTS
from benchmarks.columns.messy_tables import summary
from benchmarks.columns.native_columns import (
    ALL_SCALED,
    CATEGORICAL,
    MISMATCHES,
    NOMINALS,
    ONE_HOT_MISMATCH,
    PREPARED,
)
from benchmarks.columns.native_columns import RESULTS as ACCURACY_RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "measurements" / "columns.md"
GAMETES_RESULTS = ACCURACY_RESULTS.with_name("gametes_missing.csv")
NATIVE = "nominal='auto'"
WAYS = {PREPARED: "one-hot", ALL_SCALED: "one-hot, all scaled"}
WAYS |= {f"nominal={nominal!r}": f'`"{nominal}"`' for nominal in NOMINALS}


def markdown(columns: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """A table with these columns."""
    rows = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def accuracy_results() -> pd.DataFrame:
    """Means over the repeats that every way has, by table, share of missing values and way."""
    rows = pd.read_csv(ACCURACY_RESULTS)
    n_rows = rows.groupby("repeat").size()
    whole = n_rows.index[n_rows == n_rows.max()]
    return rows[rows["repeat"].isin(whole)]


def shown(measures: pd.Series) -> str:
    """Accuracy in per cent, log-loss and AUC."""
    accuracy, loss, area = measures[["accuracy", "log_loss", "auc"]]
    return f"{100 * accuracy:.1f} / {without_zero(loss)} / {without_zero(area)}"


def without_zero(value: float) -> str:
    """Like .050 and 1.000."""
    return f"{value:.3f}".removeprefix("0")


def compared(rows: pd.DataFrame, ways: dict[str, str]) -> str:
    """One line per table, one column per way, and the means over the tables."""
    means: Any = rows.groupby(["missing", "table", "way"], sort=False).mean(numeric_only=True)
    lines = [
        [_case(missing, table), *(shown(means.loc[missing, table, way]) for way in ways)]
        for missing, table in dict.fromkeys((key[0], key[1]) for key in means.index)
    ]
    over_tables = means.groupby("way").mean()
    lines.append(["**mean**", *(f"**{shown(over_tables.loc[way])}**" for way in ways)])
    return markdown(["table", *ways.values()], lines)


def _case(missing: float, table: str) -> str:
    return f"{table}, {missing:.0%} missing" if missing else table


def level_table() -> str:
    """Ways to compare levels; a table without levels has the same answer for all of them."""
    rows = accuracy_results()
    rows = rows[(rows["missing"] == 0) & rows["way"].isin(WAYS)]
    without = [table for table, names in CATEGORICAL.items() if not names]
    same = [
        rows[rows["table"].isin(without) & (rows["way"] == source)].assign(way=way)
        for way in WAYS
        for source in [PREPARED if way == ALL_SCALED else NATIVE]
        if way not in (PREPARED, NATIVE)
    ]
    return compared(pd.concat([rows, *same]), WAYS)


def missing_table() -> str:
    """Tables of numbers with values removed."""
    rows = accuracy_results()
    ways = {PREPARED: "means filled in", NATIVE: "as it is"}
    return compared(rows[rows["missing"] > 0], ways)


def mismatch_table() -> str:
    """Scales of a mismatch beside numbers in standard deviations."""
    rows = accuracy_results()
    ways = {f"mismatch {size:.3g}": f"{size:.3g}" for size in MISMATCHES}
    one_hot = f"mismatch {ONE_HOT_MISMATCH:.3g}"
    ways |= {
        f"nominal={nominal!r}, {one_hot}": f'{ONE_HOT_MISMATCH:.3g}, `"{nominal}"`'
        for nominal in ("levels", "auto")
    }
    return compared(rows[rows["way"].isin(ways)], ways)


def messy_table() -> str:
    """What the interaction test finds in the made-up exports."""
    return markdown(["", "tables"], list(summary(pd.read_csv(MESSY_RESULTS)).items()))


def gametes_table() -> str:
    """The pair of GAMETES after values were removed."""
    rows = pd.read_csv(GAMETES_RESULTS)
    lines = [
        [
            f"{share:.0%}",
            f"{group['is_first'].sum()} of {len(group)}",
            f"{group['p_adjusted'].max():.0e}",
            int(group["n_false"].sum()),
        ]
        for share, group in rows.groupby("share")
    ]
    return markdown(["missing", "pair first", "largest adjusted p", "other pairs found"], lines)


TABLES: dict[str, Callable[[], str]] = {
    "levels": level_table,
    "missing": missing_table,
    "mismatch": mismatch_table,
    "messy": messy_table,
    "gametes": gametes_table,
}


def filled(page: str) -> str:
    """The page with every table made anew."""

    def remade(match: re.Match[str]) -> str:
        return f"{match[1]}\n{TABLES[match[2]]()}\n{match[3]}"

    return re.sub(r"(<!-- table: (.+?) -->)\n.*?(<!-- end -->)", remade, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
