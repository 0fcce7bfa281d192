"""Draw the tables that `immigrate.datasets` carries: ``python scripts/embedded_tables.py``.

Each function draws one table from a fixed seed, and the truth that its loader documents is what
the function adds to the outcome. `RandomState` gives the same numbers in every version of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import RandomState

FOLDER = Path(__file__).parents[1] / "src" / "immigrate" / "datasets" / "tables"
FARMS = ("Aldrup", "Brakel", "Cordes", "Dahlem", "Ewing")
FARMS += ("Fahle", "Gerdes", "Holt", "Ihlow", "Jork")


def loans() -> pd.DataFrame:
    """What became of 900 loans: repaid, late or default."""
    rng, n = RandomState(20), 900
    z = rng.standard_normal((n, 5))
    employment = rng.choice(["permanent", "temporary", "self-employed"], n, p=[0.45, 0.3, 0.25])
    table = pd.DataFrame(
        {
            "application": [
                f"L-{number}" for number in rng.permutation(np.arange(20417, 20417 + n))
            ],
            "income": (2600 * np.exp(0.4 * z[:, 0])).round(-1),
            "instalment": (310 * np.exp(0.5 * z[:, 1])).round(),
            "purpose": rng.choice(["car", "home", "furniture", "education"], n),
            "employment": employment,
            "years in job": np.exp(1.2 + 0.8 * z[:, 2]).round(1),
            "age": (24 + 45 * rng.beta(1.6, 2.2, n)).round(),
            "region": rng.choice(["North", "East", "South", "West", "Islands"], n),
            "late before": rng.choice(["yes", "no"], n, p=[0.25, 0.75]),
            "savings": rng.choice(["none", "below 1000", "1000 to 5000", "above 5000"], n),
            "cards": rng.poisson(1.4, n),
        }
    )
    late = 1.3 * (table["late before"] == "yes") - 1.1 * z[:, 0] * z[:, 1] - 0.8
    is_risky = (employment == "self-employed") == table["purpose"].isin(["car", "furniture"])
    default = np.where(is_risky, 1.0, -1.0) - 1.4 * (table["savings"] == "above 5000") - 0.6
    outcome = drawn_class(rng, {"repaid": np.zeros(n), "late": late, "default": default})
    return with_gaps(rng, table, {"income": 0.06, "years in job": 0.1, "savings": 0.05}).assign(
        outcome=outcome
    )


def harvest() -> pd.DataFrame:
    """The yield of 480 fields of wheat on ten farms in six years."""
    rng, n = RandomState(21), 480
    z = rng.standard_normal((n, 5))
    soil = rng.choice(["clay", "loam", "sand"], n, p=[0.3, 0.45, 0.25])
    variety = rng.choice(["Aurora", "Bellamy", "Corvus", "Delphi"], n)
    farm, year = rng.randint(len(FARMS), size=n), rng.randint(2019, 2025, size=n)
    table = pd.DataFrame(
        {
            "field": [f"{FARMS[at][:2].upper()}-{i:03d}" for i, at in enumerate(farm, 1)],
            "farm": np.array(FARMS)[farm],
            "year": year,
            "soil": soil,
            "variety": variety,
            "nitrogen": (150 + 35 * z[:, 0]).round(),
            "rain": (310 + 70 * z[:, 1]).round(),
            "pH": (6.5 + 0.5 * z[:, 2]).round(1),
            "sowing day": (275 + 9 * z[:, 3]).round(),
            "slope": np.abs(4 * z[:, 4]).round(1),
            "previous crop": rng.choice(["rape", "beet", "maize", "wheat", "peas"], n),
        }
    )
    of_farms, of_years = rng.normal(0, 0.5, len(FARMS)), rng.normal(0, 0.4, 6)
    is_aurora_on_sand = (variety == "Aurora") == (soil == "sand")
    mean = 7.2 + of_farms[farm] + of_years[year - 2019] + 0.35 * z[:, 0] + 0.4 * z[:, 0] * z[:, 1]
    mean += 0.4 * (is_aurora_on_sand - 0.5) - 0.3 * (z[:, 2] ** 2 - 1)
    harvested = (mean + rng.normal(0, 0.5, n)).round(2)
    return with_gaps(rng, table, {"pH": 0.08, "rain": 0.03}).assign(**{"yield": harvested})


def expression() -> pd.DataFrame:
    """The activity of 150 genes in 240 biopsies of patients who responded or did not."""
    rng, n, p = RandomState(22), 240, 150
    modules = rng.standard_normal((n, 10))  # genes of one module rise and fall together
    values = 0.6 * modules[:, rng.randint(10, size=p)] + 0.8 * rng.standard_normal((n, p))
    up, down, first, second = values[:, [7, 63, 20, 86]].T
    log_odds = 1.6 * up - 1.6 * down + 2.0 * np.sign(first * second)
    outcome = drawn_class(rng, {"no response": np.zeros(n), "response": log_odds})
    names = [f"G{number:04d}" for number in np.sort(rng.choice(9999, p, replace=False))]
    table = pd.DataFrame((8 + 1.5 * values).round(2), columns=names)
    table.insert(0, "plate", rng.choice(["plate 1", "plate 2", "plate 3"], n))
    return with_gaps(rng, table, dict.fromkeys(names[::15], 0.05)).assign(outcome=outcome)


def drawn_class(rng: RandomState, log_weights: dict[str, np.ndarray]) -> np.ndarray:
    """A class for each row, drawn with probabilities that are proportional to exp(log weight)."""
    scores = np.column_stack(list(log_weights.values()))
    return np.array(list(log_weights))[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]


def with_gaps(rng: RandomState, table: pd.DataFrame, shares: dict[str, float]) -> pd.DataFrame:
    """The table without a share of the values of some columns."""
    for name, share in shares.items():
        table[name] = table[name].mask(rng.uniform(size=len(table)) < share)
    return table


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "loans": loans,
    "harvest": harvest,
    "expression": expression,
}


if __name__ == "__main__":
    for name, draw in TABLES.items():
        draw().to_csv(FOLDER / f"{name}.csv", index=False, lineterminator="\n")
