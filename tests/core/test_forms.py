"""Distances by loops over features, pairs and triples; derivatives by differences."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from oracles.margin import cubic_of_all

from immigrate.core.forms import LINEAR, QUADRATIC, Cubic

P = 4
FORMS = {
    "linear": LINEAR,
    "quadratic": QUADRATIC,
    "cubic": cubic_of_all(P),
    "two triples": Cubic(P, np.array([[0, 1, 3], [1, 2, 3]])),
    "no triples": Cubic(P, np.zeros((0, 3), dtype=np.intp)),
}
any_form = pytest.mark.parametrize("name", FORMS)


def drawn(name, seed=0):
    """Weights and differences of 3 rows from 5 columns."""
    rng = np.random.default_rng(seed)
    W, d = rng.standard_normal((P, P)), np.abs(rng.standard_normal((P, 3, 5)))
    W, form = W + W.T, FORMS[name]
    if name == "linear":
        return W[0], d
    if name == "quadratic":
        return W, d
    return form.weights(W, rng.standard_normal(len(form.triples))), d


def distance_by_loops(name, W, d):
    if name == "linear":
        return sum(W[a] * d[a] for a in range(P))
    form = FORMS[name]
    matrix = W if name == "quadratic" else form.matrix(W)
    q = sum(matrix[a, b] * d[a] * d[b] for a, b in product(range(P), repeat=2))
    if name != "quadratic":
        for triple, T in zip(form.triples, form.triple_weights(W)):
            q = q + sum(T * d[a] * d[b] * d[c] for a, b, c in permutations(triple))
    return q


@any_form
def test_distances_are_those_of_loops(name):
    W, d = drawn(name)
    found = FORMS[name].distance(W, d)
    np.testing.assert_allclose(found, distance_by_loops(name, W, d), rtol=1e-12, atol=1e-13)


@any_form
def test_the_scatter_is_the_derivative_of_the_summed_distances(name):
    """Distances are linear in the weights, so that a difference is exact but for rounding."""
    W, d = drawn(name)
    c = np.random.default_rng(1).standard_normal((3, 5))
    found = FORMS[name].scatter(W, d, c)
    assert found.shape == W.shape
    for place in np.ndindex(W.shape):
        moved = W.copy()
        moved[place] += 1.0
        change = distance_by_loops(name, moved, d) - distance_by_loops(name, W, d)
        assert found[place] == pytest.approx(np.sum(c * change), abs=1e-11)


@any_form
@pytest.mark.parametrize("exponent", [-3, 0, 5])
def test_other_units_are_other_weights(name, exponent):
    W, d = drawn(name)
    form = FORMS[name]
    scaled = form.distance(W, np.ldexp(d, exponent))
    # Weights of terms that are all of one degree are the same in all units.
    own = form.in_units(W, exponent) if isinstance(form, Cubic) else W
    expected = np.ldexp(form.distance(own, d), form.degree * exponent)
    np.testing.assert_allclose(scaled, expected, rtol=1e-12)


@any_form
def test_own_weights_are_those_of_a_matrix(name):
    """Of a vector w they are those of the matrix ww', the square of its distance."""
    W, _ = drawn(name)
    matrix = {"linear": np.outer(W, W), "quadratic": W}.get(name)
    matrix = FORMS[name].matrix(W) if matrix is None else matrix
    np.testing.assert_allclose(FORMS[name].own_weights(W), np.diag(matrix), rtol=1e-14)


def test_the_numbers_of_weights_and_degrees():
    """A triple takes as long as a pair, of which there are two in a matrix."""
    found = {name: (form.n_weights(P), form.degree) for name, form in FORMS.items()}
    assert found == {
        "linear": (4, 1),
        "quadratic": (16, 2),
        "cubic": (24, 3),
        "two triples": (20, 3),
        "no triples": (16, 3),
    }


@pytest.mark.parametrize(("p", "n_triples"), [(1, 0), (2, 0), (3, 1), (6, 20)])
def test_all_triples_are_all_sets_of_three(p, n_triples):
    triples = cubic_of_all(p).triples
    assert triples.shape == (n_triples, 3)
    assert len({frozenset(one) for one in triples.tolist()}) == n_triples
    assert np.all(np.diff(triples, axis=1) > 0)


@pytest.mark.parametrize("name", ["cubic", "two triples"])
def test_the_norm_of_a_vector_is_that_of_matrix_and_tensor(name):
    form = FORMS[name]
    W, _ = drawn(name)
    tensor = np.zeros((P, P, P))
    for triple, T in zip(form.triples, form.triple_weights(W)):
        for order in permutations(triple):
            tensor[order] = T
    together = np.sum(form.matrix(W) ** 2) + np.sum(tensor**2)
    assert np.sum(W**2) == pytest.approx(together, rel=1e-13)
    again = form.weights(form.matrix(W), form.triple_weights(W))
    np.testing.assert_allclose(again, W, rtol=1e-14)
