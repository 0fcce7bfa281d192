"""Drawn tables, labels, weights and estimators: the same for the same seed and number.

A drawn table is small and odd in several ways at once: kinds of columns, gaps, types, scales,
memory orders, containers. What an estimator may do with it is answer, or refuse it with a
``ValueError`` of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import immigrate as im
from harness.estimators import labels_for, seeded
from immigrate.persistence import public_estimators

Generator = np.random.Generator
LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class Problem:
    """One call to `fit` and what led to it.

    Attributes
    ----------
    name : str
        The estimator.
    estimator : estimator
    X, y, sample_weight
        What `fit` is given.
    described : str
        In one line, for the list of failures.
    """

    name: str
    estimator: Any
    X: Any
    y: Any
    sample_weight: Any
    described: str


def drawn_problem(seed: int, number: int) -> Problem:
    """Problem `number` of a run; the estimators take turns."""
    rng = np.random.default_rng([seed, number])
    names = list(ESTIMATORS)
    name = names[number % len(names)]
    n, p, n_classes = int(rng.integers(4, 41)), int(rng.integers(1, 8)), int(rng.integers(2, 5))
    n_classes = min(n_classes, n // 2)
    kinds = rng.choice(list(COLUMNS), p)
    if name == "LFE" or rng.uniform() < 0.4:
        kinds = np.where(np.isin(kinds, NOMINAL), "normal", kinds)
    frame = pd.DataFrame({f"x{j}": COLUMNS[kind](rng, n) for j, kind in enumerate(kinds)})
    gaps = float(rng.choice([0.0, 0.0, 0.1, 0.5]))
    if name == "LFE" and number % 3:
        gaps = 0.0  # it refuses them, and that is soon seen
    frame = frame.mask(rng.uniform(size=frame.shape) < gaps) if gaps else frame
    container = str(rng.choice(list(CONTAINERS)))
    weighting = str(rng.choice(list(WEIGHTS)))
    X = CONTAINERS[container](rng, frame)
    described = (
        f"{n} x {p}, {n_classes} classes, {','.join(kinds)}, gaps {gaps}, {container}, {weighting}"
    )
    estimator = ESTIMATORS[name](rng)
    y = labels_for(estimator, drawn_labels(rng, n, n_classes))
    return Problem(name, estimator, X, y, WEIGHTS[weighting](rng, n), described)


def drawn_labels(rng: Generator, n: int, n_classes: int) -> Any:
    """Class labels of some type, two samples of each class at least."""
    codes = np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n)])[:n]
    codes = rng.permutation(codes)
    names: list[Any] = [
        np.array(["no", "yes", "maybe", "never"]),
        np.array([-1, 1, 7, 100]),
        np.array([0.0, 1.0, 2.0, 3.0], dtype=np.float32),
        pd.Categorical(["a", "b", "c", "d"]),
    ]
    if n_classes == 2:
        names.append(np.array([False, True]))
    labels = names[rng.integers(len(names))][codes]
    return pd.Series(labels) if rng.uniform() < 0.3 else labels


def _levels(rng: Generator, n: int) -> Any:
    return rng.choice(["red", "green", "blue", "Ünïcode ☃", ""], n).astype(object)


NOMINAL = ("text", "category")
COLUMNS: dict[str, Callable[[Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "constant": lambda rng, n: np.full(n, rng.choice([0.0, 1.0, -1e18])),
    "heavy": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "offset": lambda rng, n: 1e8 + rng.normal(size=n),
    "scaled": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-290, 290),
    "ordered": lambda rng, n: np.arange(n, dtype=float),
    "flag": lambda rng, n: rng.uniform(size=n) < 0.3,
    "text": _levels,
    "category": lambda rng, n: pd.Categorical(_levels(rng, n)),
}


def _numbers(frame: pd.DataFrame, dtype: Any) -> Any:
    """The table as numbers of one type; text is coded, and what does not fit is cut off."""
    coded = frame.apply(lambda x: x if x.dtype.kind in "fb" else pd.factorize(x)[0])
    values = coded.to_numpy(dtype=np.float64)
    if np.dtype(dtype).kind == "f":
        largest = float(np.finfo(dtype).max) / 4
    else:
        values, largest = np.nan_to_num(values), float(np.iinfo(dtype).max // 2)
    return np.clip(values, -largest, largest).astype(dtype)


def _strided(values: Any) -> Any:
    """The same numbers, every second of a larger array."""
    wide = np.zeros((values.shape[0] * 2, values.shape[1] * 3), dtype=values.dtype)
    wide[::2, ::3] = values
    return wide[::2, ::3]


def _read_only(values: Any) -> Any:
    values.flags.writeable = False
    return values


def _polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same columns, None where a value is missing."""
    values = {str(name): column.tolist() for name, column in frame.items()}
    return pl.DataFrame(
        {
            name: pl.Series(name, [None if pd.isna(value) else value for value in column])
            for name, column in values.items()
        }
    )


CONTAINERS: dict[str, Callable[[Generator, pd.DataFrame], Any]] = {
    "array": lambda rng, frame: _numbers(frame, np.float64),
    "float32": lambda rng, frame: _numbers(frame, np.float32),
    "float16": lambda rng, frame: _numbers(frame, np.float16),
    "int": lambda rng, frame: _numbers(frame, rng.choice(["i1", "i4", "i8"])),
    "fortran": lambda rng, frame: np.asfortranarray(_numbers(frame, np.float64)),
    "strided": lambda rng, frame: _strided(_numbers(frame, rng.choice(["f4", "f8"]))),
    "swapped": lambda rng, frame: _numbers(frame, np.float64).astype(">f8"),
    "read-only": lambda rng, frame: _read_only(_numbers(frame, np.float64)),
    "list": lambda rng, frame: _numbers(frame, np.float64).tolist(),
    "objects": lambda rng, frame: frame.to_numpy(dtype=object),
    "pandas": lambda rng, frame: frame.set_index(rng.permutation(len(frame))),
    "polars": lambda rng, frame: _polars(frame),
}


def _with_zeros(rng: Generator, n: int) -> Any:
    weight = rng.uniform(size=n) * (rng.uniform(size=n) < 0.7)
    weight[0] = 1.0
    return weight


WEIGHTS: dict[str, Callable[[Generator, int], Any]] = {
    "unweighted": lambda rng, n: None,
    "still unweighted": lambda rng, n: None,
    "weights": lambda rng, n: rng.uniform(0.1, 2.0, n),
    "counts": lambda rng, n: rng.integers(1, 5, n),
    "zeros": _with_zeros,
    "huge": lambda rng, n: rng.uniform(size=n) * LARGEST,
    "tiny": lambda rng, n: rng.uniform(size=n) / LARGEST,
    "uneven": lambda rng, n: 10.0 ** rng.integers(-20, 6, n),
    "spread": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
}


def _sigma(rng: Generator) -> float:
    return float(10.0 ** rng.uniform(-6, 6)) if rng.uniform() < 0.7 else float(rng.choice(WIDTHS))


def _classifier(rng: Generator) -> im.ImmigrateClassifier:
    constraint = str(rng.choice(["psd", "psd", "nonnegative", "both"]))
    screens = [None, None, None, "im4e", "pairs", im.options.Screen(threshold=0.1)]
    return im.ImmigrateClassifier(
        _sigma(rng) if rng.uniform() < 0.5 else "auto",
        constraint=constraint,
        solver=_solver(rng),
        rule=str(rng.choice(["energy", "distance"])),
        references=_references(rng),
        penalty=[None, "prune", im.options.Prune(0.1), "l1", "l2"][rng.integers(5)],
        screen=screens[rng.integers(len(screens))],
        columns=_columns(rng),
        n_jobs=int(rng.integers(1, 3)),
        random_state=0,
    )


def _solver(rng: Generator) -> Any:
    sampled = im.options.Descent(n_anchors=0.5, n_references=0.7)
    return ["monotone", "paper", sampled][rng.integers(3)]


def _references(rng: Generator) -> Any:
    ways = ["auto", "auto", "all", 3, 0.4, im.options.ClassCentres(), im.options.ClassCentres(0.2)]
    return ways[rng.integers(len(ways))]


def _columns(rng: Generator) -> im.options.Columns:
    return im.options.Columns(
        scale=["std", "std", "range", None][rng.integers(4)],
        nominal=str(rng.choice(["auto", "mismatch", "levels"])),
    )


def _scale(rng: Generator) -> str | None:
    return ["range", "range", None][rng.integers(3)]


def _test(rng: Generator) -> im.InteractionTest:
    return im.InteractionTest(
        order=int(rng.choice([2, 2, 2, 3])),
        adjust=["holm", "fdr_bh", None][rng.integers(3)],
        stepwise=bool(rng.uniform() < 0.5),
    )


WIDTHS = (1e-300, 1e-100, 1e100, 1e300)
# Estimators whose parameters are drawn. Their order is part of what a seed and a number mean.
DRAWN: dict[str, Callable[[Generator], Any]] = {
    "ImmigrateClassifier": _classifier,
    "ImmigrateClassifierCV": lambda rng: im.ImmigrateClassifierCV(
        _classifier(rng).set_params(sigma="auto"),
        cv=[None, None, 2][rng.integers(3)],
        one_standard_error=bool(rng.uniform() < 0.3),
    ),
    "BoostedImmigrateClassifier": lambda rng: im.BoostedImmigrateClassifier(
        _classifier(rng).set_params(sigma="auto", penalty=None, rule="energy"), n_estimators=3
    ),
    "IM4EClassifier": lambda rng: im.IM4EClassifier(
        _sigma(rng),
        solver=_solver(rng),
        references=_references(rng),
        columns=_columns(rng),
        random_state=0,
    ),
    "CubicImmigrateClassifier": lambda rng: im.CubicImmigrateClassifier(
        _sigma(rng),
        triples="all" if rng.uniform() < 0.7 else [],
        penalty=im.options.L1(float(rng.choice([0, 0.3, 2.0]))),
        constraint=str(rng.choice(["psd", "nonnegative", "both"])),
        references=_references(rng),
        random_state=0,
    ),
    "InteractionTest": _test,
    "ImmigrateSelector": lambda rng: im.ImmigrateSelector(
        pairs=bool(rng.uniform() < 0.5), n_features_to_select=[None, 1, 0.5][rng.integers(3)]
    ),
    "Relief": lambda rng: im.Relief(
        metric=str(rng.choice(["euclidean", "manhattan"])), scale=_scale(rng), random_state=0
    ),
    "MultiSURF": lambda _: im.MultiSURF(),
    "ReliefF": lambda rng: im.ReliefF(n_neighbors=int(rng.integers(1, 20))),
    "Simba": lambda rng: im.Simba(n_starts=2, scale=_scale(rng), random_state=0),
    "IRelief": lambda rng: im.IRelief(
        sigma=_sigma(rng), solver=str(rng.choice(["monotone", "paper"])), scale=_scale(rng)
    ),
    "LFE": lambda rng: im.LFE(),
}


def _default(cls: type[Any]) -> Callable[[Generator], Any]:
    return lambda _: seeded(cls)


# Those that have no entry above have their defaults.
ESTIMATORS = DRAWN | {
    name: _default(cls) for name, cls in public_estimators().items() if name not in DRAWN
}
