"""Power for effects of just the size that `detectable_size_` names.

python benchmarks/detection/detectable.py
"""

from __future__ import annotations

import numpy as np

from immigrate import InteractionTest

N, P, TABLES = 400, 6, 80
SHAPES = {
    "product": lambda X: X[:, 0] * X[:, 1],
    "xor": lambda X: np.sign(X[:, 0] * X[:, 1]),
}


def labels(rng, effect, is_number):
    """A number with noise of variance 1, or two classes."""
    if is_number:
        return effect + rng.normal(size=N)
    return (rng.random(N) < 1 / (1 + np.exp(-effect))).astype(int)


def table(seed, shape, size, is_number):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    return X, labels(rng, size * SHAPES[shape](X), is_number)


def named_size(is_number):
    """What the test names where there is no effect, over a few tables."""
    tables = (table(1000 + seed, "product", 0.0, is_number) for seed in range(10))
    return float(np.mean([InteractionTest().fit(*one).detectable_size_ for one in tables]))


def power(shape, size, is_number):
    tables = (table(seed, shape, size, is_number) for seed in range(TABLES))
    found = (InteractionTest().fit(*one).selected_ for one in tables)
    return np.mean([["x0", "x1"] in own.iloc[:, :2].to_numpy().tolist() for own in found])


if __name__ == "__main__":
    for is_number in (False, True):
        size = named_size(is_number)
        for shape in SHAPES:
            label = "number" if is_number else "classes"
            print(f"{label}, {shape}: size {size:.3f}, power {power(shape, size, is_number):.2f}")
