"""The samples that the page can draw: as many columns as the size of the page allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from immigrate.table import Table

# More points than this hide each other; more values make the page too large to send.
MOST_ROWS, MOST_VALUES = 1_000, 150_000
# Numbers with more different values are drawn on a scale.
MOST_LEVELS = 12
SEED = 0


def drawn_samples(read: Table | None, strongest: Iterable[int]) -> dict[str, Any]:
    """Values and classes of the samples; `strongest` are features in order of interest."""
    if read is None:
        return {"n": 0, "rows": [], "codes": [], "columns": {}, "n_without": 0}
    n, p = read.values.shape
    rows = np.arange(n)
    if n > MOST_ROWS:
        rows = np.sort(np.random.default_rng(SEED).choice(n, MOST_ROWS, replace=False))
    # Two features at least, so that there is a pair to draw.
    order = list(dict.fromkeys([*strongest, *range(p)]))[: max(2, MOST_VALUES // len(rows))]
    return {
        "n": n,
        "rows": rows,
        "codes": read.outcome.codes[rows],
        "columns": {str(j): drawn_column(read, j, rows) for j in sorted(order)},
        "n_without": p - len(order),
    }


def drawn_column(read: Table, j: int, rows: np.ndarray) -> dict[str, Any]:
    """One feature: numbers, or places among levels; None where it is missing."""
    x = read.values[:, j].astype(np.float64)
    names = read.reader.level_names[j]
    used = np.unique(x[~np.isnan(x)])
    if read.reader.is_nominal[j] or len(used) <= MOST_LEVELS:
        levels = [_level_text(names, u) for u in used]
        return {"levels": levels, "values": _places(x[rows], used)}
    return {"levels": None, "values": [None if np.isnan(v) else float(v) for v in x[rows]]}


def _level_text(names: Sequence[Any], value: float) -> str:
    """The name of a level; a number where it has none."""
    has_name = len(names) and 0 <= value < len(names)
    return str(names[int(value)]) if has_name else f"{value:g}"


def _places(x: np.ndarray, used: np.ndarray) -> list[int | None]:
    places = np.searchsorted(used, x)
    return [None if np.isnan(v) else int(k) for v, k in zip(x, places)]
