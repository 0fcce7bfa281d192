"""What a pass, a prediction and a scan of pairs cost, from the shape of the table alone.

    python benchmarks/speed/cost_model.py

Each stage has a formula in the numbers of rows, references and features whose coefficients are
fitted, none of them negative, to the processor time of one thread on some shapes. The other
shapes are then predicted and measured in the same run. Writes
``benchmarks/results/cost_model.csv`` with predicted and measured seconds and
``cost_model_coefficients.csv``; the coefficients belong to the machine, the formulas do not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from immigrate import InteractionTest
from immigrate.arrays import Array
from immigrate.core.cones import psd_part
from immigrate.files import whole_file
from immigrate.margin.problem import MarginProblem

RESULTS = Path(__file__).parents[1] / "results"
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """A piece of work, the formula of its cost, and the shapes on which both are compared.

    Attributes
    ----------
    terms : dict
        By the name of a term, what it counts for a shape. Seconds are a weighted sum of them.
    work : callable
        From a shape to the work on data of that shape.
    fitted, checked : list of shapes
    """

    name: str
    shape: str
    terms: dict[str, Callable[..., float]]
    work: Callable[..., Callable[[], object]]
    fitted: list[Shape]
    checked: list[Shape]

    def design(self, shapes: list[Shape]) -> Array:
        """The terms of every shape, (shapes, terms)."""
        return np.array([[term(*shape) for term in self.terms.values()] for shape in shapes])


def labelled(n: int, p: int, seed: int = 0) -> tuple[Array, np.ndarray]:
    """Two classes that differ in one feature and one pair."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] * X[:, 1] + X[:, 2 % p] > 0).astype(np.intp)


def training_pass(n: int, p: int) -> Callable[[], object]:
    """Cost, gradient and leave-one-out scores once, at the identity, with a middling sigma."""
    problem, W = MarginProblem(*labelled(n, p)), np.eye(p) / np.sqrt(p)
    return lambda: problem.evaluate(W, np.sqrt(p))


def sampled_pass(anchors: int, references: int, p: int) -> Callable[[], object]:
    """The same over some anchors, each against references that are no anchors."""
    X, y = labelled(anchors + references, p)
    is_anchor = np.arange(len(y)) < anchors
    problem = MarginProblem(X, y, is_anchor=is_anchor, count=np.where(is_anchor, 0.0, 1.0))
    W = np.eye(p) / np.sqrt(p)
    return lambda: problem.evaluate(W, np.sqrt(p))


def prediction(rows: int, references: int, p: int) -> Callable[[], object]:
    """Scores of new rows against references of two classes."""
    problem, W = MarginProblem(*labelled(references, p)), np.eye(p) / np.sqrt(p)
    X, _ = labelled(rows, p, seed=1)
    return lambda: problem.class_scores(X, W, np.sqrt(p))


def projection(p: int) -> Callable[[], object]:
    """The positive semi-definite part of a symmetric matrix: two of them per step."""
    A = np.random.default_rng(0).standard_normal((p, p))
    return lambda: psd_part(A + A.T)


def scan(n: int, p: int) -> Callable[[], object]:
    """An `InteractionTest` of all pairs, screened."""
    X, y = labelled(n, p)
    test = InteractionTest(screen=1000, stepwise=False)
    return lambda: test.fit(X, y)


STAGES = [
    Stage(
        "training pass",
        "n × p",
        {
            "1": lambda n, p: 1.0,
            "n²/2": lambda n, p: n**2 / 2,
            "n²p/2": lambda n, p: n**2 * p / 2,
            "n²p²/2": lambda n, p: n**2 * p**2 / 2,
        },
        training_pass,
        fitted=[(300, 5), (500, 20), (1000, 8), (1000, 60), (2000, 30), (4000, 10), (800, 150)],
        checked=[(400, 12), (1500, 15), (700, 100), (3000, 20), (1200, 45), (6000, 6)],
    ),
    Stage(
        "pass over a sample",
        "anchors × references × p",
        {
            "1": lambda a, r, p: 1.0,
            "ar": lambda a, r, p: a * r,
            "arp": lambda a, r, p: a * r * p,
            "arp²": lambda a, r, p: a * r * p**2,
        },
        sampled_pass,
        fitted=[(500, 2000, 8), (1000, 2000, 40), (500, 4000, 20), (300, 1000, 100)],
        checked=[(1000, 4000, 20), (500, 3000, 12), (400, 1500, 60)],
    ),
    Stage(
        "prediction",
        "rows × references × p",
        {
            "1": lambda m, r, p: 1.0,
            "mr": lambda m, r, p: m * r,
            "mrp": lambda m, r, p: m * r * p,
            "mrp²": lambda m, r, p: m * r * p**2,
        },
        prediction,
        fitted=[(1000, 1000, 8), (2000, 1000, 40), (3000, 2000, 20), (500, 1000, 100)],
        checked=[(5000, 1500, 12), (2000, 4000, 20), (1000, 2000, 60)],
    ),
    Stage(
        "projection of a step",
        "p × p",
        {"p²": lambda p: p**2, "p³": lambda p: p**3},
        projection,
        # From 256 features on another algorithm takes over.
        fitted=[(300,), (450,), (800,)],
        checked=[(400,), (600,), (1000,)],
    ),
    Stage(
        "test of all pairs",
        "n × p",
        {
            "1": lambda n, p: 1.0,
            "n": lambda n, p: n,
            "np": lambda n, p: n * p,
            "p²": lambda n, p: p**2,
            "np²": lambda n, p: n * p**2,
        },
        scan,
        fitted=[(400, 600), (1000, 600), (500, 1500), (2000, 800), (800, 2500), (2000, 1500)],
        checked=[(700, 1000), (1500, 1200), (1000, 2000)],
    ),
]


def seconds(work: Callable[[], object], *, budget: float, fewest: int) -> float:
    """Least processor time of a few runs."""
    work()
    times: list[float] = []
    deadline = time.perf_counter() + budget
    while len(times) < fewest or time.perf_counter() < deadline:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def coefficients(design: Array, measured: Array) -> Array:
    """Non-negative, with the least relative errors."""
    scale = design.max(axis=0)
    return nnls(design / scale / measured[:, None], np.ones(len(measured)))[0] / scale


def compared(stage: Stage, budget: float, fewest: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measured and predicted seconds of all shapes, and the coefficients."""
    shapes = stage.fitted + stage.checked
    measured = np.array(
        [seconds(stage.work(*shape), budget=budget, fewest=fewest) for shape in shapes]
    )
    n_fitted = len(stage.fitted)
    found = coefficients(stage.design(stage.fitted), measured[:n_fitted])
    table = pd.DataFrame(
        {
            "stage": stage.name,
            "shape": [" × ".join(f"{size:,}" for size in shape) for shape in shapes],
            "is_checked": np.arange(len(shapes)) >= n_fitted,
            "measured": measured,
            "predicted": stage.design(shapes) @ found,
        }
    )
    table["ratio"] = table["predicted"] / table["measured"]
    terms = pd.DataFrame({"stage": stage.name, "term": list(stage.terms), "seconds": found})
    return table, terms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", nargs="*", default=[stage.name for stage in STAGES])
    parser.add_argument("--budget", type=float, default=2.0, help="seconds per shape")
    parser.add_argument("--fewest", type=int, default=3, help="runs per shape at least")
    given = parser.parse_args()
    tables, terms = [], []
    with threadpool_limits(1):
        for stage in STAGES:
            if stage.name not in given.stages:
                continue
            table, found = compared(stage, given.budget, given.fewest)
            tables.append(table)
            terms.append(found)
            print(table.to_string(index=False, float_format="{:.4g}".format))
            worst = np.abs(np.log(table.loc[table["is_checked"], "ratio"])).max()
            print(f"{stage.name}: checked shapes within {np.expm1(worst):.0%}\n", flush=True)
    for name, frames in (("cost_model", tables), ("cost_model_coefficients", terms)):
        with whole_file(RESULTS / f"{name}.csv") as file:
            pd.concat(frames).to_csv(file, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
