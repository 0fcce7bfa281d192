"""Write the tables of docs/measurements/numbers.md from the tracked results.

    python benchmarks/detection/number_tables.py

The results come from ``number_outcomes.py`` and ``real_numbers.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

from tables import as_rate, filled, markdown

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "measurements" / "numbers.md"


def rates(what, designs):
    """A row per design and noise, a cell per number of samples: the test / the F-test.

    Of power also that of the version before, in brackets, where it was run.
    """
    before = pd.read_csv(RESULTS / "number_outcomes_before.csv")
    before = before[before["what"] == what].set_index(["design", "noise", "n"])["test"]
    rows = pd.read_csv(RESULTS / "number_outcomes.csv")
    rows = rows[(rows["what"] == what) & rows["design"].isin(designs)]
    sizes = sorted(rows["n"].unique())
    lines = []
    for (design, noise), own in rows.groupby(["design", "noise"], sort=False):
        cells = own.set_index("n")
        shown = [
            f"{as_rate(cells.loc[n, 'test'])} / {as_rate(cells.loc[n, 'F-test'])}"
            + (f" ({as_rate(before[design, noise, n])})" if (design, noise, n) in before else "")
            if n in cells.index
            else ""
            for n in sizes
        ]
        n_tables = sorted(own["tables"].unique())
        counted = "–".join(map(str, dict.fromkeys([n_tables[0], n_tables[-1]])))
        lines.append([design, noise, counted, *shown])
    return markdown(["features", "noise", "tables", *(f"n = {n}" for n in sizes)], lines)


def real_table():
    """Known pairs, before and now, beside least squares."""
    rows = pd.read_csv(RESULTS / "real_numbers.csv", keep_default_na=False)
    before, now = (rows[rows["label"] == label].set_index("table") for label in ("before", "now"))
    lines = [
        [
            name,
            one["rows"],
            f"{one['pair']}{'' if one['is_known'] in (True, 'True') else ' (nothing is known)'}",
            f"{before.loc[name, 'p']} (place {before.loc[name, 'place']})",
            f"{one['p']} (place {one['place']} of {one['pairs']})",
            f"{one['p_F']} ({one['place_F']})",
            f"{before.loc[name, 'n_found']} → {one['n_found']}",
            f"{before.loc[name, 'features']} → {one['features']} of {one['of']}",
        ]
        for name, one in now.iterrows()
    ]
    columns = [
        "table", "rows", "pair", "p before", "p now", "p of least squares", "pairs found",
        "features found",
    ]  # fmt: skip
    return markdown(columns, lines)


SMALL, LARGE = ("nominal", "binary", "numbers"), ("15 numbers", "30 numbers")
TABLES = {
    "errors": lambda: rates("error", SMALL),
    "errors of wide tables": lambda: rates("error", LARGE),
    "power": lambda: rates("power", SMALL + LARGE),
    "real": real_table,
}


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), TABLES))
