"""Fits every estimator on drawn problems and counts what should never happen.

    python -m harness.fuzz --problems 5000 --seed 0

A problem ends in an answer, or in a ``ValueError`` that this library or scikit-learn's checks of
input raised in words of their own. Everything else is a failure: another error, a NaN, a warning
that the library did not mean to give, a process that dies. ``--number`` runs one problem again.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn

import immigrate
from harness.problems import ESTIMATORS, Problem, drawn_problem
from immigrate.progress import collected_warnings

PACKAGE = str(Path(immigrate.__file__).parent)
CHECKS = (PACKAGE, str(Path(sklearn.__file__).parent))
# Warnings of others that are right: scikit-learn says so when nothing passes a threshold.
EXPLAINED = ("No features were selected",)
ANSWERED, REFUSED = "answered", "refused"
# Problems per process: a new one takes seconds to load the compiled passes.
CHUNK = 250


class NoWarning(Warning):
    """A category that no warning has: every message reaches the user too."""


@dataclass(frozen=True)
class Outcome:
    """How one problem ended: in an answer, a refusal, or a failure with its story."""

    number: int
    name: str
    kind: str
    seconds: float = 0.0
    story: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether this should never happen."""
        return self.kind not in (ANSWERED, REFUSED)


def outcome_of(seed: int, number: int) -> Outcome:
    """Draw a problem, fit, ask for everything that the estimator can say, and judge."""
    problem = drawn_problem(seed, number)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, collected_warnings(NoWarning) as messages:
        warnings.simplefilter("always")
        kind, story = _ending(problem)
    seconds = time.perf_counter() - start
    surprises = [
        f"{warning.category.__name__}: {warning.message} ({warning.filename}:{warning.lineno})"
        for warning in caught
        if str(warning.message) not in messages and not str(warning.message).startswith(EXPLAINED)
    ]
    if kind in (ANSWERED, REFUSED) and surprises:
        kind, story = "warning", surprises[0]
    return Outcome(number, problem.name, kind, seconds, f"{problem.described}\n    {story}")


def _ending(problem: Problem) -> tuple[str, str]:
    try:
        said = dict(answers(problem))
    except ValueError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        # NumPy and SciPy speak of shapes and infinities: that is no refusal but an accident.
        if last.filename.startswith(CHECKS):
            return REFUSED, str(error)
        return "ValueError of others", traceback.format_exc(limit=-3)
    except Exception as error:
        return type(error).__name__, traceback.format_exc(limit=-3)
    for name, values in said.items():
        if not np.isfinite(values).all():
            return "NaN", f"{name} = {values}"
    return ANSWERED, ""


def answers(problem: Problem) -> Iterator[tuple[str, Any]]:
    """Every array of numbers that the fitted estimator gives, by name."""
    model, X = problem.estimator, problem.X
    model.fit(X, problem.y, sample_weight=problem.sample_weight)
    for name in ("feature_importances_", "weight_matrix_", "objective_path_", "components_"):
        if hasattr(model, name):
            yield name, getattr(model, name)
    if hasattr(model, "frequencies_"):
        yield "frequency", model.frequencies_
    if hasattr(model, "summary"):
        # What could not be tested has no p-value, but then it is named.
        p = model.table_["p_value"].to_numpy()
        yield "p_value", p[~np.isnan(p)] if model.notes_ else p
        model.summary()
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(X)
        yield "probability", probability
        yield "sum 1", np.where(np.isclose(probability.sum(axis=1), 1), 1.0, np.nan)
        model.predict(X)
    if hasattr(model, "transform"):
        columns = model.transform(X)
        if isinstance(columns, np.ndarray) and columns.dtype.kind == "f":
            yield "columns", np.nan_to_num(columns, posinf=np.nan, neginf=np.nan)


def outcomes(seed: int, numbers: Iterable[int]) -> list[Outcome]:
    """Several problems in this process."""
    return [outcome_of(seed, number) for number in numbers]


def in_processes(seed: int, n_problems: int, n_workers: int) -> list[Outcome]:
    """All problems, in processes of their own, so that one that dies is counted and not fatal."""
    found: list[Outcome] = []
    for first in range(0, n_problems, CHUNK * n_workers):
        chunks = [
            range(at, min(at + CHUNK, n_problems))
            for at in range(first, min(first + CHUNK * n_workers, n_problems), CHUNK)
        ]
        with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
            jobs = [pool.submit(outcomes, seed, chunk) for chunk in chunks]
            for chunk, job in zip(chunks, jobs):
                try:
                    found += job.result()
                except BrokenProcessPool:
                    found.append(Outcome(chunk[0], "?", "crash", story=f"one of {chunk}"))
        n_failures = sum(outcome.is_failure for outcome in found)
        print(f"{chunks[-1][-1] + 1} of {n_problems} problems, {n_failures} failures", flush=True)
    return found


def summary(found: list[Outcome]) -> str:
    """A table of counts per estimator, the failures, and the slowest problem."""
    rows = []
    for name in [*ESTIMATORS, "?"]:
        own = [outcome for outcome in found if outcome.name == name]
        kinds = Counter(outcome.kind for outcome in own)
        failures = sum(outcome.is_failure for outcome in own)
        if own:
            rows.append((name, len(own), kinds[ANSWERED], kinds[REFUSED], failures))
    table = pd.DataFrame(rows, columns=["estimator", "problems", ANSWERED, REFUSED, "failures"])
    total = table.sum(numeric_only=True)
    slowest = max(found, key=lambda outcome: outcome.seconds)
    lines = [table.to_string(index=False), ""]
    lines += [
        f"{outcome.number}: {outcome.name}: {outcome.kind}: {outcome.story}"
        for outcome in found
        if outcome.is_failure
    ]
    lines += [
        f"{total['problems']} problems: {total[ANSWERED]} answered, {total[REFUSED]} refused, "
        f"{total['failures']} failures.",
        f"The slowest, number {slowest.number} ({slowest.name}), took {slowest.seconds:.1f} s.",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run the harness; the exit code is 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--number", type=int, help="run this problem alone, in this process")
    options = parser.parse_args()
    if options.number is not None:
        found = [outcome_of(options.seed, options.number)]
    else:
        found = in_processes(options.seed, options.problems, options.workers)
    print(summary(found))
    return int(any(outcome.is_failure for outcome in found))


if __name__ == "__main__":
    raise SystemExit(main())
