"""Where sizes promise too much: intervals in odd cases, power at the size that the test names.

    python benchmarks/detection/limits.py

Writes results/limits.csv and prints the tables of docs/measurements/detection.md.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from immigrate import InteractionTest

RESULTS = Path(__file__).parent / "results" / "limits.csv"
TABLES = 200
LEVELS = np.array(list("abcdefghij"))
CELLS = np.random.default_rng(5).normal(size=(6, 6))


def classes(rng, effect):
    return np.where(rng.random(len(effect)) < special.expit(effect), "case", "control")


def numbers(rng, n, p):
    return pd.DataFrame(rng.normal(size=(n, p)), columns=list("abcdef")[:p])


def cleared(cells):
    return cells - cells.mean(axis=0) - cells.mean(axis=1)[:, None] + cells.mean()


def main_effect(rng, n, slope):
    X = numbers(rng, n, 3)
    return X, classes(rng, slope * X["a"] + 0.5 * X["b"])


def close_copy(rng):
    X = numbers(rng, 300, 2)
    X["b"] = 0.95 * X["a"] + np.sqrt(1 - 0.95**2) * X["b"]
    return X, classes(rng, X["a"])


def rare_levels(rng):
    X = numbers(rng, 400, 1)
    group = rng.choice(3, 400, p=[0.93, 0.04, 0.03])
    X["g"] = LEVELS[group]
    return X, classes(rng, np.array([0, 1.5, -1.5])[group] + 0.5 * X["a"])


def rare_slope(rng):
    X = numbers(rng, 400, 1)
    is_rare = rng.random(400) < 0.08
    X["g"] = np.where(is_rare, "rare", "common")
    return X, classes(rng, 2.5 * is_rare * X["a"])


def many_cells(rng):
    g, h = rng.integers(0, 6, (2, 400))
    return pd.DataFrame({"g": LEVELS[g], "h": LEVELS[h]}), classes(rng, CELLS[g, h])


def nearly_separable(rng):
    X = numbers(rng, 60, 3)
    return X, classes(rng, 4 * np.sign(X["a"] * X["b"]))


def number_outcome(rng, n):
    X = numbers(rng, n, 3)
    return X, (X["a"] + 0.8 * X["b"] * X["c"] + rng.normal(size=n)).to_numpy()


# Name, table, feature or pair, its true size.
RARE_SIZE = 1.5 * np.sqrt(0.07 - 0.01**2)
COVERED = [
    ("a number, n = 60", lambda rng: main_effect(rng, 60, 1.2), "a", 1.2),
    ("a number, n = 100", lambda rng: main_effect(rng, 100, 1.2), "a", 1.2),
    ("a number, n = 400", lambda rng: main_effect(rng, 400, 1.2), "a", 1.2),
    ("a very strong number, n = 200", lambda rng: main_effect(rng, 200, 4.0), "a", 4.0),
    ("a number with a close copy (r = .95)", close_copy, "a", 1.0),
    ("levels of 4 % and 3 % of 400", rare_levels, "g", RARE_SIZE),
    ("slope in a level of 8 % of 400", rare_slope, ("g", "a"), 2.5 * np.sqrt(0.08 * 0.92)),
    ("6 × 6 cells, n = 400", many_cells, ("g", "h"), float(np.std(cleared(CELLS)))),
    ("xor, nearly separable, n = 60", nearly_separable, ("a", "b"), 4.0),
    ("product, outcome a number, n = 60", lambda rng: number_outcome(rng, 60), ("b", "c"), 0.8),
    ("product, outcome a number, n = 100", lambda rng: number_outcome(rng, 100), ("b", "c"), 0.8),
]


def measured(test, what):
    """Size, the ends of its interval, and whether the effect is shown."""
    if isinstance(what, tuple):
        effect, found = test.effect(*what), test.selected_[["feature_1", "feature_2"]]
        is_shown = any(set(pair) == set(what) for pair in found.to_numpy().tolist())
        return effect.size, effect.size_low, effect.size_high, is_shown
    row = test.features_.set_index("feature").loc[what]
    return row["size"], row["size_low"], row["size_high"], row["p_adjusted"] <= 0.05


def coverage(name, make, what, true):
    tables = (make(np.random.default_rng([seed, 7])) for seed in range(TABLES))
    size, low, high, is_shown = np.array(
        [measured(InteractionTest().fit(*one), what) for one in tables]
    ).T
    is_covered, is_shown = (low <= true) & (true <= high), is_shown > 0
    return {
        "effect": name,
        "true size": f"{true:.2f}",
        "mean": f"{size.mean():.2f}",
        "covered": f"{is_covered.mean():.3f}",
        "true size above": f"{(true > high).mean():.3f}",
        "shown": f"{is_shown.mean():.2f}",
        "covered where shown": f"{is_covered[is_shown].mean():.3f}" if is_shown.sum() > 20 else "",
    }


def product(rng, X):
    return X["a"] * X["b"], ("a", "b")


def gaps(rng, X):
    effect = X["a"] * X["b"]
    X[rng.random(X.shape) < 0.4] = np.nan
    return effect, ("a", "b")


def waves(rng, X):
    a, b = (np.cos(3 * np.pi * special.ndtr(X[name])) for name in "ab")
    return a * b, ("a", "b")


def cells(k):
    def effect(rng, X):
        g, h = rng.integers(0, k, (2, len(X)))
        X["g"], X["h"] = LEVELS[g], LEVELS[h]
        return cleared(rng.normal(size=(k, k)))[g, h], ("g", "h")

    return effect


def slopes(k):
    def effect(rng, X):
        g, slope = rng.integers(0, k, len(X)), rng.normal(size=k)
        X["g"] = LEVELS[g]
        return (slope - slope.mean())[g] * X["a"], ("g", "a")

    return effect


def rare_flag(rng, X):
    is_rare = rng.random(len(X)) < 0.03
    X["g"] = np.where(is_rare, "rare", "common")
    return (is_rare - 0.03) * X["a"], ("g", "a")


POWER = [
    ("product of two numbers", product),
    ("the same, 40 % of the values missing", gaps),
    ("waves, one and a half along each", waves),
    ("3 × 3 cells", cells(3)),
    ("6 × 6 cells", cells(6)),
    ("10 × 10 cells", cells(10)),
    ("slopes in six levels", slopes(6)),
    ("slope in a level of 3 %", rare_flag),
]


def is_found(make, seed):
    """Whether a pair is found whose effect has the size that the test names for the table."""
    rng = np.random.default_rng([seed, 11])
    X = numbers(rng, 400, 4)
    effect, pair = make(rng, X)
    named = InteractionTest(stepwise=False).fit(X, classes(rng, 0 * effect)).detectable_size_
    test = InteractionTest(stepwise=False).fit(X, classes(rng, named * effect / np.std(effect)))
    found = test.selected_[["feature_1", "feature_2"]].to_numpy().tolist()
    return any(set(one) == set(pair) for one in found)


def power(name, make):
    found = [is_found(make, seed) for seed in range(TABLES)]
    return {"effect of the size that is named": name, "power": f"{np.mean(found):.2f}"}


def markdown(rows):
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    covered = [coverage(*case) for case in COVERED]
    powers = [power(*case) for case in POWER]
    pd.concat([pd.DataFrame(covered), pd.DataFrame(powers)]).to_csv(RESULTS, index=False)
    print(markdown(covered), markdown(powers), sep="\n\n")
