"""Made-up tables for evidence of features, numbers as labels, covariates and sizes of effects.

A scenario is a function (rng, n, p) -> Study. Which features have no effect on their own, and
which have none given the others, is known; so are the pairs and the sizes of their joint effects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scenarios import correlated_normals, drawn_labels

PAIR = ("x0", "x1")


@dataclass(frozen=True)
class Study:
    """A table with what is true of it.

    Attributes
    ----------
    causes : features with an effect of their own
    related : features that are related to the label on their own without being causes
    pair : the pair with a joint effect, or None
    size : its size, where it is known
    options : parameters of the test
    """

    X: pd.DataFrame
    y: np.ndarray
    causes: frozenset[str] = frozenset()
    related: frozenset[str] = frozenset()
    pair: tuple[str, str] | None = None
    size: float = np.nan
    options: dict[str, Any] = field(default_factory=dict)


Scenario = Callable[[np.random.Generator, int, int], Study]
FEATURES: dict[str, Scenario] = {}
PAIRS: dict[str, Scenario] = {}
SIZES: dict[str, Scenario] = {}
POWER: dict[str, Scenario] = {}


def _listed(registry: dict[str, Scenario]) -> Callable[[Scenario], Scenario]:
    def add(scenario: Scenario) -> Scenario:
        registry[scenario.__name__] = scenario
        return scenario

    return add


def table(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def names(*places: int) -> frozenset[str]:
    return frozenset(f"x{j}" for j in places)


# Evidence of features: no interaction anywhere.


@_listed(FEATURES)
def noise(rng, n, p):
    return Study(table(rng.standard_normal((n, p))), rng.integers(0, 2, n))


@_listed(FEATURES)
def main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    return Study(table(X), drawn_labels(rng, X[:, 0] - X[:, 1] + 0.7 * X[:, 2]), names(0, 1, 2))


@_listed(FEATURES)
def correlated(rng, n, p):
    """A chain of correlates of two causes; the other half is independent of them."""
    half = p // 2
    X = np.hstack([correlated_normals(rng, n, half, 0.7), rng.standard_normal((n, p - half))])
    y = drawn_labels(rng, 1.2 * X[:, 0] + np.abs(X[:, 2]) - 0.8)
    return Study(table(X), y, names(0, 2), names(*range(half)))


@_listed(FEATURES)
def duplicated(rng, n, p):
    """An exact copy and a noisy copy of a cause: given each other, no copy matters."""
    X = rng.standard_normal((n, p))
    X[:, 1], X[:, 2] = X[:, 0], X[:, 0] + 0.3 * X[:, 2]
    return Study(table(X), drawn_labels(rng, 1.5 * X[:, 0] + X[:, 3]), names(3), names(0, 1, 2))


@_listed(FEATURES)
def nominal(rng, n, p):
    """Columns of 3 to 40 levels; those of the first matter."""
    X = table(rng.standard_normal((n, p)))
    effect = rng.normal(size=4)
    for j, n_levels in enumerate((4, 3, 8, 40)):
        X[f"x{j}"] = rng.integers(0, n_levels, n)
    y = drawn_labels(rng, 1.2 * effect[X["x0"]] + X["x4"].to_numpy())
    for j in range(4):
        X[f"x{j}"] = X[f"x{j}"].map(lambda code: f"level {code}")
    return Study(X, y, names(0, 4))


@_listed(FEATURES)
def missing(rng, n, p):
    """A fifth of the cells are missing, more often where the value is large."""
    X = rng.standard_normal((n, p))
    y = drawn_labels(rng, X[:, 0] - X[:, 1])
    X[rng.random((n, p)) < 0.2 * (1 + np.tanh(X))] = np.nan
    return Study(table(X), y, names(0, 1))


@_listed(FEATURES)
def unbalanced(rng, n, p):
    X = rng.standard_normal((n, p))
    return Study(table(X), drawn_labels(rng, 1.2 * X[:, 0] - 2.5), names(0))


@_listed(FEATURES)
def heavy_tails(rng, n, p):
    X = rng.standard_t(1.5, (n, p))
    return Study(table(X), drawn_labels(rng, np.tanh(X[:, 0]) - np.tanh(X[:, 1])), names(0, 1))


@_listed(FEATURES)
def three_classes(rng, n, p):
    X = rng.standard_normal((n, p))
    logits = np.column_stack([X[:, 0], X[:, 1], np.zeros(n)])
    return Study(table(X), np.argmax(logits + rng.gumbel(size=(n, 3)), axis=1), names(0, 1))


@_listed(FEATURES)
def wide(rng, n, p):
    """Far more features than samples; three of them matter. One pair is tested: features count."""
    X = rng.standard_normal((n // 4, 50 * p))
    y = drawn_labels(rng, 1.5 * (X[:, 0] + X[:, 1] - X[:, 2]))
    return Study(table(X), y, names(0, 1, 2), options={"pairs": [("x0", "x1")]})


@_listed(FEATURES)
def number_unequal_noise(rng, n, p):
    """A number whose noise grows with a feature that has no effect on its mean."""
    X = rng.standard_normal((n, p))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=n) * np.exp(0.7 * X[:, 2])
    return Study(table(X), y, names(0, 1))


@_listed(FEATURES)
def number_heavy_noise(rng, n, p):
    X = rng.standard_normal((n, p))
    return Study(table(X), X[:, 0] - X[:, 1] + rng.standard_t(2.5, n), names(0, 1))


# Evidence of pairs: no interaction anywhere, but what looks like one.


@_listed(PAIRS)
def number_main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    y = 2 * X[:, 0] + X[:, 1] ** 2 + np.sin(2 * X[:, 2]) + rng.normal(size=n)
    return Study(table(X), y, names(0, 1, 2))


@_listed(PAIRS)
def number_correlated_curves(rng, n, p):
    X = correlated_normals(rng, n, p, 0.6)
    y = X[:, 0] ** 2 + np.abs(X[:, 2]) + X[:, 3] + rng.normal(size=n)
    return Study(table(X), y, names(0, 2, 3))


@_listed(PAIRS)
def number_noise_of_a_pair(rng, n, p):
    """The product of two features sets the variance, and nothing else."""
    X = rng.standard_normal((n, p))
    y = X[:, 0] + rng.normal(size=n) * (0.3 + np.abs(X[:, 0] * X[:, 1]))
    return Study(table(X), y, names(0))


@_listed(PAIRS)
def number_heavy_tails(rng, n, p):
    X = rng.standard_t(3, (n, p))
    return Study(table(X), X[:, 0] + rng.standard_t(2.5, n), names(0))


@_listed(PAIRS)
def number_skewed(rng, n, p):
    X = rng.standard_normal((n, p))
    return Study(table(X), 0.7 * X[:, 0] + rng.lognormal(0, 1, n), names(0))


@_listed(PAIRS)
def number_mixed(rng, n, p):
    """Levels, genotypes and gaps."""
    X = table(rng.standard_normal((n, p)))
    X["x1"] = rng.binomial(2, 0.3, n)
    X["x2"] = rng.choice(list("abcdef"), n)
    y = X["x0"] + X["x1"] + (X["x2"] == "a") + rng.normal(size=n)
    X.loc[rng.random(n) < 0.15, "x0"] = np.nan
    return Study(X, y.to_numpy(), names(0, 1, 2))


def _confounded(rng, n, p):
    """A third cause follows the product of two features that do nothing themselves."""
    X = rng.standard_normal((n, p))
    X[:, 2] = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    return X, 1.2 * X[:, 2]


@_listed(PAIRS)
def confounded_unadjusted(rng, n, p):
    """The confounder is not in the table: whatever is found here is to be removed by it."""
    X, logit = _confounded(rng, n, p)
    return Study(table(X).drop(columns="x2"), drawn_labels(rng, logit))


@_listed(PAIRS)
def confounded_adjusted(rng, n, p):
    X, logit = _confounded(rng, n, p)
    return Study(table(X), drawn_labels(rng, logit), names(2), options={"adjust_for": ["x2"]})


@_listed(PAIRS)
def confounded_number_adjusted(rng, n, p):
    X, mean = _confounded(rng, n, p)
    y = mean + rng.normal(size=n)
    return Study(table(X), y, names(2), options={"adjust_for": ["x2"]})


@_listed(PAIRS)
def batches_adjusted(rng, n, p):
    """Batches shift both the measurements and the share of cases."""
    batch = rng.integers(0, 6, n)
    shift = rng.normal(size=(6, p))
    X = table(rng.standard_normal((n, p)) + shift[batch])
    y = drawn_labels(rng, np.linspace(-1.5, 1.5, 6)[batch] + X["x0"].to_numpy())
    X["batch"] = [f"plate {b}" for b in batch]
    return Study(X, y, names(0) | {"batch"}, options={"adjust_for": ["batch"]})


@_listed(PAIRS)
def groups_of_pairs(rng, n, p):
    """Genes against exposures, both with main effects, genes correlated among themselves."""
    half = p // 2
    X = np.hstack([correlated_normals(rng, n, half, 0.6), rng.standard_normal((n, p - half))])
    y = drawn_labels(rng, X[:, 0] ** 2 - 1 + X[:, 1] + X[:, half])
    columns = [f"x{j}" for j in range(p)]
    groups = (columns[:half], columns[half:])
    return Study(table(X), y, names(0, 1, half), options={"pairs": groups})


@_listed(PAIRS)
def listed_pairs(rng, n, p):
    X = correlated_normals(rng, n, p, 0.6)
    y = drawn_labels(rng, X[:, 0] ** 2 - 1 + X[:, 1])
    listed = [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]
    return Study(table(X), y, names(0, 1), options={"pairs": listed})


@_listed(PAIRS)
def one_against_all(rng, n, p):
    X = correlated_normals(rng, n, p, 0.6)
    y = drawn_labels(rng, X[:, 0] ** 2 - 1 + X[:, 1])
    return Study(table(X), y, names(0, 1), options={"pairs": "x0"})


# Sizes that are known: the joint part has no main effect, whatever is added to it.


def _planted(rng, X, joint, own, size):
    return Study(table(X), drawn_labels(rng, joint + own), pair=PAIR, size=size)


@_listed(SIZES)
def product(rng, n, p):
    X = rng.standard_normal((n, p))
    return _planted(rng, X, 0.8 * X[:, 0] * X[:, 1], 0.0, 0.8)


@_listed(SIZES)
def xor(rng, n, p):
    X = rng.standard_normal((n, p))
    return _planted(rng, X, 0.9 * np.sign(X[:, 0] * X[:, 1]), 0.0, 0.9)


@_listed(SIZES)
def xor_main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    return _planted(rng, X, 0.9 * np.sign(X[:, 0] * X[:, 1]), X[:, 2:5] @ [1, -1, 0.8], 0.9)


@_listed(SIZES)
def both_high(rng, n, p):
    """Both above the median adds 3; a quarter of its spread is joint, the rest main effects."""
    X = rng.standard_normal((n, p))
    is_high = (X[:, 0] > 0) & (X[:, 1] > 0)
    return _planted(rng, X, 3.0 * is_high - 0.75, 0.5 * X[:, 2], 0.75)


@_listed(SIZES)
def strong(rng, n, p):
    X = rng.standard_normal((n, p))
    return _planted(rng, X, 1.8 * np.sign(X[:, 0] * X[:, 1]), X[:, 2], 1.8)


@_listed(SIZES)
def genotypes(rng, n, p):
    X = rng.binomial(2, 0.5, (n, p)).astype(float)
    joint = np.where((X[:, 0] == 1) ^ (X[:, 1] == 1), 1.2, -1.2)
    return _planted(rng, X, joint, 0.5 * X[:, 2], 1.2)


@_listed(SIZES)
def level_and_number(rng, n, p):
    X = rng.standard_normal((n, p))
    is_first = rng.integers(0, 2, n)
    own = X[:, 2].copy()
    study = _planted(rng, X, 0.9 * (2 * is_first - 1) * X[:, 1], own, 0.9)
    study.X["x0"] = np.where(is_first == 1, "f", "m")
    return study


@_listed(SIZES)
def number_product(rng, n, p):
    X = rng.standard_normal((n, p))
    y = 0.4 * X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) * np.exp(0.4 * X[:, 3])
    return Study(table(X), y, pair=PAIR, size=0.4)


# Power: one joint effect, seen as a number, as two classes of it, and with a covariate.


def _joint_number(rng, n, p):
    X = rng.standard_normal((n, p))
    return X, 0.35 * X[:, 0] * X[:, 1] + 1.5 * X[:, 2] + rng.normal(size=n)


@_listed(POWER)
def as_number(rng, n, p):
    X, y = _joint_number(rng, n, p)
    return Study(table(X), y, pair=PAIR)


@_listed(POWER)
def as_two_classes(rng, n, p):
    X, y = _joint_number(rng, n, p)
    return Study(table(X), (y > 0).astype(int), pair=PAIR)


@_listed(POWER)
def as_number_with_covariate(rng, n, p):
    X, y = _joint_number(rng, n, p)
    return Study(table(X), y, pair=PAIR, options={"adjust_for": ["x2"]})


@_listed(POWER)
def as_two_classes_with_covariate(rng, n, p):
    X, y = _joint_number(rng, n, p)
    return Study(table(X), (y > 0).astype(int), pair=PAIR, options={"adjust_for": ["x2"]})


@_listed(POWER)
def number_xor(rng, n, p):
    X = rng.standard_normal((n, p))
    y = 0.25 * np.sign(X[:, 0] * X[:, 1]) + np.abs(X[:, 2]) + rng.normal(size=n)
    return Study(table(X), y, pair=PAIR)


@_listed(POWER)
def number_both_high(rng, n, p):
    X = rng.standard_normal((n, p))
    y = 1.0 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + X[:, 2] + rng.normal(size=n)
    return Study(table(X), y, pair=PAIR)
