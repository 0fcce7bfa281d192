"""Family-wise error where tables are odd: no pair acts together, but for one in the last scenario.

    python benchmarks/detection/odd_nulls.py [scenario ...]

Adds lines to results/odd_nulls.csv. A table is made from its number and the name of its scenario,
so that a later run makes the same ones.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from immigrate import InteractionTest

RESULTS = Path(__file__).parent / "results" / "odd_nulls.csv"
COLUMNS = ("scenario", "n", "tables", "error", "single", "error_given", "single_given")
SCENARIOS = {}


def scenario(n, *, given_others=(), truth=(), **parameters):
    """Samples, features that say nothing given the others, a true pair, parameters of the test."""

    def kept(make):
        SCENARIOS[make.__name__] = (make, n, list(given_others), set(truth), parameters)
        return make

    return kept


def labels(rng, logit):
    return np.where(rng.random(len(logit)) < special.expit(logit), "B", "A")


def numbers(rng, n, p, common=0.0):
    return rng.normal(size=(n, p)) + common * rng.normal(size=(n, 1))


def frame(X):
    return pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]])


def close(rng, x, r):
    return r * x + np.sqrt(1 - r**2) * rng.normal(size=len(x))


def with_rate(logit, rate):
    """The logit, moved so that the mean probability is the rate."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        is_low = special.expit(logit + middle).mean() < rate
        low, high = (middle, high) if is_low else (low, middle)
    return logit + low


@scenario(300)
def dominant_level(rng, n):
    a = rng.choice(list("pqrst"), n, p=[0.88, 0.04, 0.03, 0.03, 0.02])
    b = rng.choice(list("uvw"), n, p=[0.9, 0.06, 0.04])
    x = rng.normal(size=n) + (a != "p")
    z, w = rng.exponential(size=n), rng.normal(size=n)
    logit = 1.5 * (a != "p") + 1.2 * (b != "u") + x - 0.8 * z
    X = pd.DataFrame({"a": a, "b": b, "x": x, "z": z, "w": w})
    return X, labels(rng, logit - logit.mean())


@scenario(400)
def clinics_30(rng, n):
    """Thirty levels with strong effects that two numbers and a flag go along with."""
    g = rng.choice(30, n, p=rng.dirichlet(np.full(30, 2.0)))
    mean, own = 1.5 * rng.normal(size=30), 2 * rng.normal(size=30)
    x, z = mean[g] + rng.normal(size=n), -mean[g] + rng.normal(size=n)
    flag, logit = rng.random(n) < special.expit(mean[g]), own[g] + x
    X = pd.DataFrame({"g": [f"c{i}" for i in g], "x": x, "z": z, "f": flag})
    return X, labels(rng, logit - logit.mean())


@scenario(2000)
def clinics_150(rng, n):
    """More levels than the 100 that have an effect of their own in the null model."""
    g, mean = rng.integers(0, 150, n), 1.5 * rng.normal(size=150)
    own = mean + rng.normal(size=150)
    x, z = mean[g] + rng.normal(size=n), rng.normal(size=n)
    flag = rng.random(n) < special.expit(mean[g])
    X = pd.DataFrame({"g": [f"c{i}" for i in g], "x": x, "z": z, "f": flag})
    return X, labels(rng, 1.5 * own[g])


@scenario(300)
def zero_counts(rng, n):
    rate = 1.2 * rng.normal(size=(n, 1))
    X = rng.poisson(np.exp(rate + 0.8 * rng.normal(size=(n, 5)) - 1.2))
    logit = 1.2 * np.log1p(X[:, 0]) + 1.2 * np.log1p(X[:, 1]) - np.sqrt(X[:, 2])
    return frame(X), labels(rng, logit - logit.mean())


@scenario(300)
def collinear_curve(rng, n):
    """Correlations of .99 and .95 with a feature that acts by its absolute value."""
    a = rng.normal(size=n)
    X = np.column_stack([a, close(rng, a, 0.99), close(rng, a, 0.95), rng.normal(size=n)])
    return frame(X), labels(rng, 2.5 * (np.abs(a) - 0.8) + 1.5 * np.sign(X[:, 3]))


@scenario(400)
def gaps_by_value(rng, n):
    """One label in ten is wrong, and large values are missing."""
    X = numbers(rng, n, 5) * 0.6 + 0.8 * rng.normal(size=(n, 1))
    y = labels(rng, 2 * X[:, 0] + 1.5 * X[:, 1])
    y = np.where(rng.random(n) < 0.1, np.where(y == "A", "B", "A"), y)
    return frame(np.where(rng.random(X.shape) < special.expit(2 * X - 1.5), np.nan, X)), y


def small(rng, n):
    X = numbers(rng, n, 4)
    return frame(X), labels(rng, 1.2 * X[:, 0] + X[:, 1])


@scenario(30)
def small_30(rng, n):
    return small(rng, n)


@scenario(60)
def small_60(rng, n):
    return small(rng, n)


@scenario(100)
def one_in_twenty(rng, n):
    X, y = rng.lognormal(size=(n, 4)), np.full(n, "A")
    while np.sum(y == "B") < 2:
        y = labels(rng, with_rate(1.5 * np.log(X[:, 0]), 0.05))
    return frame(X), y


@scenario(100)
def nearly_separable(rng, n):
    X = numbers(rng, n, 4, common=0.5)
    return frame(X), labels(rng, 6 * X[:, 0])


@scenario(300, adjust_for=["z"])
def confounder_curve(rng, n):
    """A covariate acts by its absolute value, two features are close to it."""
    z = rng.normal(size=n)
    a, b = (z + 0.15 * rng.normal(size=n) for _ in "ab")
    X = pd.DataFrame({"z": z, "a": a, "b": b, "d": rng.normal(size=n)})
    return X, labels(rng, 3 * (np.abs(z) - 0.8))


@scenario(300, adjust_for=["z"])
def confounder_wave(rng, n):
    """A covariate acts as a wave, features are other functions of it with noise."""
    z, noise = rng.normal(size=n), 0.5 * rng.normal(size=(4, n))
    X = {"z": z, "a": z + noise[0], "b": z**2 + noise[1], "c": np.sin(2 * z) + noise[2]}
    return pd.DataFrame(X | {"d": 2 * noise[3]}), labels(rng, 2.5 * np.sin(3 * z))


@scenario(300, given_others="bd")
def step_beside_correlates(rng, n):
    a, c = rng.normal(size=(2, n))
    b, d = a + 0.3 * rng.normal(size=n), c + 0.2 * rng.normal(size=n)
    return frame(np.column_stack([a, b, c, d])), labels(rng, 4 * (a > 0.3) + 3 * c - 2)


@scenario(300, given_others="bd")
def curves_beside_correlates(rng, n):
    a, c = rng.normal(size=(2, n))
    X = np.column_stack([a, close(rng, a, 0.9), c, close(rng, c, 0.95)])
    return frame(X), labels(rng, 2 * np.sin(3 * a) + 2 * (np.abs(c) - 0.8))


@scenario(300, given_others="fh")
def levels_beside_correlates(rng, n):
    g, mean, own = rng.integers(0, 12, n), rng.normal(size=12), 1.5 * rng.normal(size=12)
    f = mean[g] + 0.5 * rng.normal(size=n)
    h = np.where(rng.random(n) < 0.8, g % 4, rng.integers(0, 4, n)).astype(str)
    return pd.DataFrame({"g": [f"c{i}" for i in g], "f": f, "h": h}), labels(rng, 2 * own[g])


@scenario(400)
def two_close_waves(rng, n):
    """Nothing but a wave of one feature and a close correlate of it."""
    a = rng.normal(size=n)
    return frame(np.column_stack([a, close(rng, a, 0.95)])), labels(rng, 2 * np.sin(3 * a))


def twice_a_day(rng, n):
    """Nothing but an effect of the hour with two peaks, beside where the sun stands."""
    hour = rng.uniform(0, 24, n)
    sun = np.mod(15 * (hour + rng.normal(size=n)), 360)
    logit = 3 * np.cos(4 * np.pi * (hour - 8.5) / 24)
    return pd.DataFrame({"hour": hour, "sun": sun}), labels(rng, logit)


@scenario(400)
def hours_on_a_line(rng, n):
    return twice_a_day(rng, n)


@scenario(400, circular_features={"hour": 24, "sun": 360})
def hours_on_a_circle(rng, n):
    return twice_a_day(rng, n)


@scenario(400, truth="ab")
def beside_a_true_pair(rng, n):
    """Both features of a strong pair have a correlate of .9."""
    X = numbers(rng, n, 6)
    X[:, 2], X[:, 3] = (close(rng, X[:, j], 0.9) for j in (0, 1))
    return frame(X), labels(rng, 3 * np.sign(X[:, 0] * X[:, 1]) + X[:, 4])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(SCENARIOS))
    parser.add_argument("--tables", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for name in options.names:
            writer.writerow(line(name, options.tables))
            file.flush()


def line(name, n_tables):
    """Tables, error and single p of pairs, and the same for features given the others."""
    found = np.array([one_table(name, number) for number in range(n_tables)])
    shares = [f"{x:.3f}" if np.isfinite(x) else "" for x in found.mean(axis=0)]
    return [name, SCENARIOS[name][1], n_tables, *shares]


def one_table(name, number):
    make, n, given_others, truth, parameters = SCENARIOS[name]
    rng = np.random.default_rng([number, sum(map(ord, name))])
    test = InteractionTest(**parameters).fit(*make(rng, n))
    given = test.features_.set_index("feature").loc[given_others]
    found = test.selected_[["feature_1", "feature_2"]].to_numpy().tolist()
    return [
        any(set(pair) != truth for pair in found),
        np.nan if truth else np.mean(test.table_["p_value"] <= 0.05),
        np.any(given["p_given_others_adjusted"] <= 0.05) if given_others else np.nan,
        np.mean(given["p_given_others"] <= 0.05) if given_others else np.nan,
    ]


if __name__ == "__main__":
    main()
