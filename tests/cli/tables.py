"""Small files for the tests of the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd


def xor_table(n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Two numbers that act together, a group, and the outcome."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=["dose", "age"])
    frame["group"] = rng.choice(["red", "blue"], n)
    frame["outcome"] = np.where(frame["dose"] * frame["age"] > 0, "ill", "well")
    return frame


def csv_text(frame: pd.DataFrame, **options) -> str:
    """A table as a user's file has it."""
    return frame.to_csv(index=False, lineterminator="\n", **options)
