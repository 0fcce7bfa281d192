import numpy as np
from sklearn.metrics import pairwise_distances

from paper.methods.rbf_network import RbfNetworkClassifier


def rings(n, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + 2 * y + rng.normal(0, 0.2, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def test_rings_are_told_apart():
    model = RbfNetworkClassifier(20, random_state=0).fit(*rings(300, 0))
    assert model.score(*rings(300, 1)) > 0.97


def test_output_weights_are_least_squares():
    X, y = rings(200, 0)
    model = RbfNetworkClassifier(8, random_state=0).fit(X, y)
    width = pairwise_distances(model.centers_).max() / np.sqrt(16)
    units = np.exp(-(pairwise_distances(X, model.centers_) ** 2) / (2 * width**2))
    residual = model.decision_function(X) - (2 * y - 1)
    np.testing.assert_allclose(units.T @ residual, 0, atol=1e-8)
    assert abs(residual.sum()) < 1e-8


def test_more_units_than_rows_are_cut():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = RbfNetworkClassifier(10, random_state=0).fit(X, [0, 1, 0, 1])
    assert len(model.centers_) == 2
    assert model.score(X, [0, 1, 0, 1]) == 1.0
