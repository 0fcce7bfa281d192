import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.neighbors import KNeighborsClassifier

from paper.methods.lmnn import LMNN, LargeMarginLoss


@pytest.fixture
def stripes():
    """Two thin classes side by side in x1, spread widely in x2."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([y + rng.uniform(-0.35, 0.35, 120), rng.normal(0, 5, 120)])
    return X, y


def brute_loss(X, y, targets, L, push):
    Y = X @ L.T
    total = 0.0
    for i in range(len(X)):
        for j in targets[i]:
            pull = ((Y[i] - Y[j]) ** 2).sum()
            total += (1 - push) * pull
            for m in np.flatnonzero(y != y[i]):
                total += push * max(0.0, 1 + pull - ((Y[i] - Y[m]) ** 2).sum())
    return total


def test_loss_is_its_definition_and_blocks_do_not_matter(stripes):
    X, y = stripes
    L = np.array([[1.0, 0.2], [-0.3, 0.1]])
    for block_rows in (7, 64, 1000):
        loss = LargeMarginLoss(X, y, 3, 0.4, block_rows)
        expected = brute_loss(X, y, loss.targets, L, 0.4)
        assert loss(L.ravel())[0] == pytest.approx(expected, rel=1e-10)


def test_gradient_against_finite_differences(stripes):
    X, y = stripes
    loss = LargeMarginLoss(X, y, 3, 0.5, 50)
    flat = np.array([1.0, 0.2, -0.3, 0.1])
    numeric = approx_fprime(flat, lambda v: loss(v)[0], 1e-7)
    np.testing.assert_allclose(loss(flat)[1], numeric, rtol=1e-4)


def test_the_loss_falls(stripes):
    path = LMNN().fit(*stripes).loss_path_
    assert np.all(np.diff(path) <= 1e-9 * path[0])
    assert path[-1] < 0.5 * path[0]


def test_the_stretched_direction_is_ignored(stripes):
    X, y = stripes
    model = LMNN().fit(X, y)
    M = model.components_.T @ model.components_
    assert M[0, 0] > 20 * M[1, 1]
    rng = np.random.default_rng(1)
    new_y = np.arange(200) % 2
    new = np.column_stack([new_y + rng.uniform(-0.35, 0.35, 200), rng.normal(0, 5, 200)])
    before = KNeighborsClassifier(3).fit(X, y).score(new, new_y)
    after = KNeighborsClassifier(3).fit(model.transform(X), y)
    assert before < 0.95
    assert after.score(model.transform(new), new_y) == 1.0


def test_targets_are_neighbours_of_the_same_class(stripes):
    X, y = stripes
    targets = LargeMarginLoss(X, y, 3, 0.5, 50).targets
    assert (y[targets] == y[:, None]).all()
    assert (targets != np.arange(len(X))[:, None]).all()


def test_too_small_a_class_is_named():
    with pytest.raises(ValueError, match="at least 4"):
        LMNN(n_neighbors=3).fit(np.eye(5), [0, 0, 0, 1, 1])
