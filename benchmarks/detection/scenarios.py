"""Made-up problems where it is known which features act together.

A scenario is a function (rng, n, p) -> Problem. Null scenarios have no interaction: the
logit is a sum of functions of single features. In the others the first two features
interact (the first three in ``three_way``), and the rest is noise or main effects.

The strengths of the interactions at n = 400, p = 15 are such that the recipe that the test
grew from (``methods/prototype.py``) has the power that was first reported for it: .96 on xor,
.86 with main effects, .82 both high, .84 either high, .94 threshold, .90 genotypes, 1.0 on
absolute values, .78 product, .64 class correlation, .14 ratio. They were set on seeds of their
own, 120 to 150 replicates each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A table, labels, and the set of features that truly act together (None: no such set).

    `lookalike` is the set that would be first for a method which takes main effects for pairs.
    """

    X: np.ndarray
    y: np.ndarray
    truth: frozenset[int] | None = None
    weight: np.ndarray | None = None
    lookalike: frozenset[int] | None = None


Scenario = Callable[[np.random.Generator, int, int], Problem]
NULLS: dict[str, Scenario] = {}
ALTERNATIVES: dict[str, Scenario] = {}
PAIR = frozenset({0, 1})


def _listed(registry: dict[str, Scenario]) -> Callable[[Scenario], Scenario]:
    def add(scenario: Scenario) -> Scenario:
        registry[scenario.__name__] = scenario
        return scenario

    return add


null, alternative = _listed(NULLS), _listed(ALTERNATIVES)


def drawn_labels(rng, logit):
    return (rng.random(len(logit)) < 1 / (1 + np.exp(-logit))).astype(int)


def correlated_normals(rng, n, p, rho):
    """Each feature has correlation rho^|a - b| with its neighbours."""
    X = rng.standard_normal((n, p))
    for a in range(1, p):
        X[:, a] = rho * X[:, a - 1] + np.sqrt(1 - rho**2) * X[:, a]
    return X


def linked_genotypes(rng, n, p, rho=0.7):
    """Counts 0, 1, 2 of a minor allele, neighbours in linkage, frequencies .1 to .5."""
    frequency = rng.uniform(0.1, 0.5, p)
    strands = [correlated_normals(rng, n, p, rho) for _ in range(2)]
    cut = np.quantile(np.concatenate(strands), 1 - frequency)
    return sum((strand > cut).astype(float) for strand in strands)


@null
def noise(rng, n, p):
    return Problem(rng.standard_normal((n, p)), rng.integers(0, 2, n))


@null
def main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, X[:, :4] @ [1.2, -1.2, 0.8, 0.8]))


@null
def correlated_main_effects(rng, n, p):
    X = correlated_normals(rng, n, p, 0.7)
    return Problem(X, drawn_labels(rng, X[:, :4] @ [1.0, 1.0, -0.8, 0.8]))


@null
def nonlinear_main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    logit = 1.5 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + 1.5 * np.abs(X[:, 2]) - 1.2
    return Problem(X, drawn_labels(rng, logit))


@null
def correlated_nonlinear(rng, n, p):
    X = correlated_normals(rng, n, p, 0.6)
    logit = X[:, 0] ** 2 - 1 + 1.5 * np.tanh(2 * X[:, 1]) + X[:, 2]
    return Problem(X, drawn_labels(rng, logit))


@null
def correlated_curves(rng, n, p):
    """Squares of several features, each among close correlates: their traces look like pairs."""
    X = correlated_normals(rng, n, p, 0.8)
    curves = X[:, p // 7 :: p // 5][:, :4]
    logit = 0.8 * np.sum(curves**2, axis=1)
    return Problem(X, drawn_labels(rng, logit - logit.mean()))


@null
def close_curve(rng, n, p):
    """The square of one feature; the next one is nearly the same feature."""
    X = correlated_normals(rng, n, p, 0.9)
    return Problem(X, drawn_labels(rng, 1.5 * X[:, 0] ** 2 - 1.5))


@null
def close_wave(rng, n, p):
    """An effect that goes up and down, rougher than the null model expects."""
    X = correlated_normals(rng, n, p, 0.9)
    return Problem(X, drawn_labels(rng, 3 * np.cos(2 * X[:, 0])))


def _with_a_sum(rng, n, p):
    """The third feature is nearly the sum of the first two."""
    X = rng.standard_normal((n, p))
    X[:, 2] = (X[:, 0] + X[:, 1] + 0.3 * X[:, 2]) / np.sqrt(2.09)
    return X


@null
def square_of_a_sum(rng, n, p):
    """The square of a sum holds the product of its parts, but it is one feature's main effect."""
    X = _with_a_sum(rng, n, p)
    return Problem(X, drawn_labels(rng, X[:, 2] ** 2 - 1))


@null
def wave_of_a_sum(rng, n, p):
    X = _with_a_sum(rng, n, p)
    return Problem(X, drawn_labels(rng, 1.5 * np.sin(2 * X[:, 2])))


@null
def arbitrary_codes(rng, n, p):
    """Ten codes that are not declared nominal, and a measurement that depends on them."""
    X = rng.standard_normal((n, p))
    code = rng.integers(0, 10, n)
    X[:, 0], X[:, 1] = code, X[:, 1] + 2 * rng.standard_normal(10)[code]
    return Problem(X, drawn_labels(rng, 1.5 * rng.standard_normal(10)[code]))


@null
def unbalanced(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, -2.6 + X[:, :2] @ [1.0, 1.0]))


@null
def heavy_tails(rng, n, p):
    X = rng.standard_t(2, (n, p))
    return Problem(X, drawn_labels(rng, np.clip(X[:, :3], -4, 4) @ [0.8, -0.8, 0.8]))


@null
def linked_snps(rng, n, p):
    X = linked_genotypes(rng, n, p)
    return Problem(X, drawn_labels(rng, 0.8 * (X[:, 0] - X[:, 2] + X[:, 4] - X[:, 4].mean())))


@null
def sharp_steps(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, 3.0 * (X[:, 0] > 0.5) + 3.0 * (X[:, 1] > -0.5) - 3.0))


@null
def steps_at_medians(rng, n, p):
    """The main effects that ``both_high`` has, without its interaction."""
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, 1.45 * (X[:, 0] > 0) + 1.45 * (X[:, 1] > 0) - 2.15))


@null
def unequal_noise(rng, n, p):
    """Labels get noisier as a third feature grows, which is itself not informative."""
    X = rng.standard_normal((n, p))
    y = drawn_labels(rng, 1.5 * X[:, 0])
    is_flipped = rng.random(n) < 0.1
    X[:, 3] *= np.exp(0.5 * X[:, 4])
    return Problem(X, np.where(is_flipped, 1 - y, y))


@null
def label_noise(rng, n, p):
    """A tenth of the labels of a strong one-feature effect are wrong."""
    X = rng.standard_normal((n, p))
    y = (X[:, 0] > 0).astype(int)
    return Problem(X, np.where(rng.random(n) < 0.1, 1 - y, y))


@null
def duplicated_feature(rng, n, p):
    """An exact copy and a noisy copy of a feature with a main effect."""
    X = rng.standard_normal((n, p))
    X[:, 1], X[:, 2] = X[:, 0], X[:, 0] + 0.3 * X[:, 2]
    return Problem(X, drawn_labels(rng, 1.5 * X[:, 0] + X[:, 3]))


@null
def rare_unbalanced_snps(rng, n, p):
    """Few cases and rare alleles: cells with one or two samples."""
    X = rng.binomial(2, rng.uniform(0.03, 0.3, p), (n, p)).astype(float)
    return Problem(X, drawn_labels(rng, -2.6 + 0.8 * X[:, 0] + 0.8 * X[:, 1]))


@null
def mixed_types(rng, n, p):
    X = rng.standard_normal((n, p))
    X[:, ::3] = X[:, ::3] > 0.4
    X[:, 1::3] = np.clip(np.round(X[:, 1::3] * 1.5), -3, 3)
    return Problem(X, drawn_labels(rng, X[:, 0] - 0.5 + 0.5 * X[:, 1] + X[:, 2]))


@null
def three_classes(rng, n, p):
    X = rng.standard_normal((n, p))
    logits = X[:, :3] @ np.array([[1.5, -1.0, 0.0], [0.0, 1.2, -1.2], [0.8, 0.0, -0.8]])
    gumbel = rng.gumbel(size=(n, 3))
    return Problem(X, np.argmax(logits + gumbel, axis=1))


@null
def missing_values(rng, n, p):
    """Main effects; a fifth of the cells are missing, more often where the value is large."""
    X = rng.standard_normal((n, p))
    y = drawn_labels(rng, X[:, :4] @ [1.2, -1.2, 0.8, 0.8])
    X[rng.random((n, p)) < 0.1 + 0.2 * (X > 0.5)] = np.nan
    return Problem(X, y)


@null
def missing_among_correlates(rng, n, p):
    """The one feature with an effect is often missing; then its correlates stand in for it."""
    X = np.sqrt(0.8) * rng.standard_normal((n, 1)) + np.sqrt(0.2) * rng.standard_normal((n, p))
    y = drawn_labels(rng, 2 * X[:, 0])
    X[rng.random(n) < 0.3, 0] = np.nan
    return Problem(X, y)


@null
def counted_rows(rng, n, p):
    """Weights are counts: discrete rows, each (x, y) cell once with how often it was seen."""
    X = rng.integers(0, 3, (4 * n, 5)).astype(float)
    y = drawn_labels(rng, X[:, :3] @ [0.8, -0.8, 0.4] - 0.4)
    rows, count = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    return Problem(rows[:, :-1], rows[:, -1].astype(int), weight=count.astype(float))


@null
def importance_weights(rng, n, p):
    """Weights of unequal importance, rescaled so that their sum is the effective sample size."""
    problem = main_effects(rng, n, p)
    weight = rng.exponential(size=n) + 0.2
    return Problem(problem.X, problem.y, weight=weight * weight.sum() / (weight**2).sum())


def _noisy(rng, is_case, accuracy):
    return np.where(rng.random(len(is_case)) < accuracy, is_case, ~is_case).astype(int)


@alternative
def xor(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, _noisy(rng, X[:, 0] * X[:, 1] > 0, 0.67), PAIR)


@alternative
def xor_main_effects(rng, n, p):
    X = rng.standard_normal((n, p))
    logit = 0.8 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2:6] @ [1.0, -1.0, 1.0, -1.0]
    return Problem(X, drawn_labels(rng, logit), PAIR)


@alternative
def both_high(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, _noisy(rng, (X[:, 0] > 0) & (X[:, 1] > 0), 0.785), PAIR)


@alternative
def either_high(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, _noisy(rng, (X[:, 0] > 0) | (X[:, 1] > 0), 0.80), PAIR)


@alternative
def threshold(rng, n, p):
    """The effect of one feature switches on where the other is high."""
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, 1.55 * X[:, 0] * (X[:, 1] > 0)), PAIR)


@alternative
def snp_xor(rng, n, p):
    X = rng.binomial(2, 0.4, (n, p)).astype(float)
    return Problem(X, _noisy(rng, (X[:, 0] == 1) ^ (X[:, 1] == 1), 0.64), PAIR)


@alternative
def absolute_xor(rng, n, p):
    X = rng.standard_normal((n, p))
    is_case = (np.abs(X[:, 0]) > 0.67) ^ (np.abs(X[:, 1]) > 0.67)
    return Problem(X, _noisy(rng, is_case, 0.72), PAIR)


@alternative
def product(rng, n, p):
    X = rng.standard_normal((n, p))
    return Problem(X, drawn_labels(rng, 0.55 * X[:, 0] * X[:, 1]), PAIR)


@alternative
def class_correlation(rng, n, p):
    """Same margins in both classes; the correlation is +.22 in one and -.22 in the other."""
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    rho = np.where(y == 1, 0.22, -0.22)
    X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
    return Problem(X, y, PAIR)


@alternative
def ratio(rng, n, p):
    X = rng.lognormal(0, 1, (n, p))
    return Problem(X, drawn_labels(rng, 0.5 * (X[:, 0] / X[:, 1] - 1.2)), PAIR)


@alternative
def dependent_slope(rng, n, p):
    """Main effects of both features and a product of the same size."""
    X = rng.standard_normal((n, p))
    logit = 0.8 * X[:, 0] + 0.8 * X[:, 1] + 0.8 * X[:, 0] * X[:, 1]
    return Problem(X, drawn_labels(rng, logit), PAIR)


@alternative
def three_way(rng, n, p):
    X = rng.standard_normal((n, p))
    is_case = np.prod(np.sign(X[:, :3]), axis=1) > 0
    return Problem(X, _noisy(rng, is_case, 0.75), frozenset({0, 1, 2}))


@alternative
def three_class_xor(rng, n, p):
    """Class 2 is background; the other two are the halves of an XOR."""
    X = rng.standard_normal((n, p))
    label = _noisy(rng, X[:, 0] * X[:, 1] > 0, 0.72)
    return Problem(X, np.where(rng.random(n) < 0.3, 2, label), PAIR)


@alternative
def xor_missing_values(rng, n, p):
    X = rng.standard_normal((n, p))
    y = _noisy(rng, X[:, 0] * X[:, 1] > 0, 0.68)
    X[rng.random((n, p)) < 0.1] = np.nan
    return Problem(X, y, PAIR)


@alternative
def shadow(rng, n, p):
    """The third feature has correlation .7 with the second, which is the true partner."""
    X = rng.standard_normal((n, p))
    X[:, 2] = 0.7 * X[:, 1] + np.sqrt(1 - 0.49) * X[:, 2]
    return Problem(X, _noisy(rng, X[:, 0] * X[:, 1] > 0, 0.8), PAIR)
