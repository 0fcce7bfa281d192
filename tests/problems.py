"""Random labelled tables for the tests, as data and as hypothesis strategies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from oracles.margin import cubic_of_all

from immigrate.core.forms import LINEAR, QUADRATIC, Cubic
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.numpy_pass import PlainPass

FORMS = ["vector", "matrix", "triples", "two triples"]


def form_of(name, p):
    """A form of p features."""
    if name == "two triples":
        return Cubic(p, np.array([[0, 1, p - 1], [0, 1, 2]])[: max(min(p, 4) - 2, 0)])
    return {"vector": LINEAR, "matrix": QUADRATIC, "triples": cubic_of_all(p)}[name]


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    y: np.ndarray
    W: np.ndarray
    sigma: float
    anchor_weight: np.ndarray
    form_name: str = "matrix"

    @property
    def form(self):
        return form_of(self.form_name, self.X.shape[1])


def compiled(problem, dtype=np.float64, n_threads=1):
    """The compiled pass over a problem."""
    pieces = Pieces.of(problem.X.astype(dtype), problem.y, form=problem.form)
    return pass_over(pieces, problem.anchor_weight, n_threads=n_threads)


def plain(problem, dtype=np.float64):
    """The plain pass over the same problem, its values rounded to `dtype`."""
    X = problem.X.astype(dtype).astype(np.float64)
    return PlainPass(Pieces.of(X, problem.y, form=problem.form), problem.anchor_weight)


def random_problem(seed, *, n=24, p=4, n_classes=2, sigma=1.0, form="matrix", weighted=True):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, p)) + 0.7 * y[:, None] * (np.arange(p) == 0)
    weight = rng.uniform(0.1, 1, n) if weighted else np.ones(n)
    return Problem(X, y, random_weights(rng, p, form), sigma, weight / weight.sum(), form)


def random_weights(rng, p, form="matrix"):
    if form == "vector":
        w = rng.uniform(size=p)
        return w / w.sum()
    W = rng.uniform(size=(p, p))
    W = W + W.T
    if "triples" in form:
        cubic = form_of(form, p)
        W = cubic.weights(W, rng.uniform(size=len(cubic.triples)))
    return W / np.linalg.norm(W)


@st.composite
def problems(draw, *, form="matrix", max_n=30, max_p=6, sigmas=(1e-2, 1e2)):
    n_classes = draw(st.integers(2, 4))
    return random_problem(
        draw(st.integers(0, 2**32 - 1)),
        n=draw(st.integers(2 * n_classes, max_n)),
        p=draw(st.integers(1, max_p)),
        n_classes=n_classes,
        sigma=float(np.exp(draw(st.floats(*np.log(sigmas))))),
        form=form,
        weighted=draw(st.booleans()),
    )
