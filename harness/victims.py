"""Processes that work until a fault hits them, and say what is left of their work.

``python -m harness.victims KIND SEED COUNT FOLDER`` prints a line when it is ready and one line
of JSON for each fault; `harness.faults` starts it, and kills it where that is the fault.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import pickle
import random
import resource
import signal
import sqlite3
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import immigrate as im
from harness.estimators import instances, labels_for
from immigrate.files import whole_file
from paper.cells import Cell, Outcome
from paper.store import Store, write_tracked

ESTIMATORS = instances(ImmigrateSelector={"pairs": True})
# A parameter of the C library's `mallopt`.
MMAP_THRESHOLD = -3
REPORT, MODEL = "report.html", "model.pickle"
# Work that was done before the fault could strike.
MISSED = "finished"
# Runs a piece of work, which takes so many seconds as a rule, and says how it ended.
Fault = Callable[[Callable[[], object], float], str]


@dataclass(frozen=True)
class Hit:
    """What a fault hit, how the work ended, and what was lost: nothing, if all is well."""

    what: str
    outcome: str
    loss: str = ""


def table(seed: int, n: int = 240, p: int = 8) -> tuple[pd.DataFrame, np.ndarray]:
    """Samples in which two features act together; labels tell tables apart."""
    X = np.random.default_rng(seed).normal(size=(n, p))
    is_even = X[:, 0] * X[:, 1] > 0
    names = [f"x{j}" for j in range(p)]
    return pd.DataFrame(X, columns=names), np.where(is_even, f"even {seed}", f"odd {seed}")


def answers(model) -> str:
    """Digest of all that a fitted model says, to the last bit."""
    X, _ = table(9, n=20, p=model.n_features_in_)
    said = [getattr(model, "feature_importances_", None), getattr(model, "classes_", None)]
    for method in ("predict_proba", "predict", "transform"):
        if hasattr(model, method):
            said.append(np.asarray(getattr(model, method)(X)))
    for name in ("table_", "frequencies_"):
        if hasattr(model, name):
            said.append(np.asarray(getattr(model, name), dtype=str))
    parts = [part if part is None else np.asarray(part).tolist() for part in said]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder that a reader would open, by its name."""
    files = (path for path in folder.rglob("*") if path.is_file() and "sqlite" not in path.name)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@contextlib.contextmanager
def limit(kind: int, value: int) -> Iterator[None]:
    """A limit of the operating system on this process, for a while."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def dump_model(model, path: Path) -> None:
    """Store a model as the documentation advises."""
    with whole_file(path) as place:
        place.write_bytes(pickle.dumps(model))


def report_of(seed: int) -> im.Report:
    """A report that is quick to make."""
    X, y = table(seed, n=60, p=4)
    return im.Report.of(X, y, im.ImmigrateClassifier(), cv=2, title=f"Report {seed}")


class FullDisk:
    """Files may grow to a random size only, as if the disk were full there."""

    def __init__(self, folder: Path):
        self.folder, report, model = folder, report_of(1), im.ReliefF().fit(*table(1))
        self.n_cells = 0
        self.add_cells()
        with contextlib.closing(Store(folder / "results.sqlite")) as store:
            frame = store.frame()
        self.writers: dict[str, Callable[[], object]] = {
            "report": lambda: report.save(folder / REPORT),
            "model": lambda: dump_model(model, folder / MODEL),
            "tracked results": lambda: write_tracked(frame, folder / "tracked"),
            "database": self.add_cells,
        }
        self.size = {name: self._size(write) for name, write in self.writers.items()}

    def _size(self, write: Callable[[], object]) -> int:
        before = contents(self.folder)
        write()
        new = [len(text) for name, text in contents(self.folder).items() if name not in before]
        return max(new, default=(self.folder / "results.sqlite").stat().st_size)

    def add_cells(self) -> None:
        """Thirty results at once, so that the file grows."""
        with contextlib.closing(Store(self.folder / "results.sqlite")) as store:
            with store.exclusively():
                for k in range(self.n_cells, self.n_cells + 30):
                    store.add(Cell("SYN", "1NN", k, 0, 3), Outcome("ok", 1, 2), "s" * 200, "0")
            self.n_cells += 30

    def hit(self, rng: random.Random) -> Hit:
        """One write that may not end."""
        what = rng.choice(list(self.writers))
        before, n_before = contents(self.folder), self.n_cells
        outcome = MISSED
        try:
            with limit(resource.RLIMIT_FSIZE, rng.randrange(self.size[what])):
                self.writers[what]()
        except (OSError, sqlite3.Error) as error:
            outcome = type(error).__name__
        loss = self._lost_results(n_before if outcome != MISSED else self.n_cells)
        if outcome != MISSED and contents(self.folder) != before:
            loss = "files are others than before"
        return Hit(what, outcome, loss)

    def _lost_results(self, expected: int) -> str:
        with contextlib.closing(Store(self.folder / "results.sqlite")) as store:
            found = len(store.frame())
        return "" if found == expected else f"{found} results instead of {expected}"


class Refit:
    """A second fit that is hit; the model must be the first or the second, nothing between."""

    def __init__(self, n: int, p: int):
        self.first, self.second = table(1, n, p), table(2, n, p)
        # Fitted when they are first drawn, by their place among the estimators.
        self.models: dict[int, tuple[Any, str, str, float]] = {}

    def _fit(self, model, data) -> Any:
        X, y = data
        return model.fit(X, labels_for(model, y))

    def _fitted(self, model) -> tuple[Any, str, str, float]:
        """A model, what it says after the first and the second fit, and how long one takes."""
        after = answers(self._fit(model, self.second))
        start = time.perf_counter()
        self._fit(model, self.first)
        return model, answers(model), after, time.perf_counter() - start

    def hit_by(self, fault: Fault, rng: random.Random) -> Hit:
        """What is left of a model after `fault` in its second fit."""
        place = rng.randrange(len(ESTIMATORS))
        if place not in self.models:
            self.models[place] = self._fitted(ESTIMATORS[place])
        model, before, after, usual = self.models[place]
        outcome = fault(lambda: self._fit(model, self.second), usual)
        left = answers(model)
        if left != before:
            self._fit(model, self.first)
        what = f"fit of {type(model).__name__}"
        return Hit(what, outcome, "" if left in (before, after) else "half a model")


class Memory(Refit):
    """No more memory than now and a little more."""

    def __init__(self, folder: Path):
        super().__init__(n=600, p=16)
        # Arrays are to come from the operating system, not from what earlier fits gave back.
        self.c = ctypes.CDLL(None)
        self.c.mallopt(MMAP_THRESHOLD, 1 << 16)

    def hit(self, rng: random.Random) -> Hit:
        """One fit in a process that may take up a few megabytes more at most."""
        spare = rng.randrange(1_000_000)
        return self.hit_by(lambda work, _: self._ended(work, spare), rng)

    def _ended(self, work: Callable[[], object], spare: int) -> str:
        self.c.malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        try:
            with limit(resource.RLIMIT_AS, pages * resource.getpagesize() + spare):
                work()
        except Exception as error:
            return type(error).__name__
        return MISSED


class Interrupt(Refit):
    """Ctrl-C at a random moment of a fit or of a report."""

    def __init__(self, folder: Path):
        super().__init__(n=240, p=8)
        self.folder, self.pages = folder, [report_of(1).html()]
        start = time.perf_counter()
        self.pages.append(report_of(2).html())
        self.seconds = time.perf_counter() - start
        (folder / REPORT).write_text(self.pages[0])

    def hit(self, rng: random.Random) -> Hit:
        """One piece of work that is interrupted, unless it was faster.

        An interrupt that arrives as another error is a loss: nobody who catches Ctrl-C sees it.
        """
        hit = self._interrupted(rng)
        if hit.loss or hit.outcome.startswith(("KeyboardInterrupt", MISSED)):
            return hit
        return replace(hit, loss="Ctrl-C was no KeyboardInterrupt")

    def _interrupted(self, rng: random.Random) -> Hit:
        if rng.random() < 0.75:
            return self.hit_by(lambda work, usual: interrupted(work, usual * rng.random()), rng)
        delay = self.seconds * rng.random()
        outcome = interrupted(lambda: report_of(2).save(self.folder / REPORT), delay)
        is_whole = (self.folder / REPORT).read_text() in self.pages
        return Hit("report", outcome, "" if is_whole else "half a page")


def interrupted(work: Callable[[], object], delay: float) -> str:
    """How `work` ends if Ctrl-C is pressed after so many seconds."""
    sent: list[float] = []

    def press() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, press)
    try:
        timer.start()
        work()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        late = time.perf_counter() - sent[0]
        return "KeyboardInterrupt" if late < 1 else "KeyboardInterrupt after more than a second"
    except Exception as error:
        return type(error).__name__
    return MISSED


def endless_work(folder: Path) -> None:
    """Fit, report and save for ever: for those who kill."""
    while True:
        for seed in (1, 2):
            model = im.ReliefF().fit(*table(seed))
            page = report_of(seed)
            # Mostly saving, where there is something to lose.
            for _ in range(40):
                dump_model(model, folder / MODEL)
                page.save(folder / REPORT)


BATCHES = {"full disk": FullDisk, "memory": Memory, "interrupt": Interrupt}


def main(kind: str, seed: str, count: str, folder: str) -> None:
    """Be hit so many times."""
    warnings.simplefilter("ignore")
    if kind == "kill":
        print("ready", flush=True)
        endless_work(Path(folder))
    victim, rng = BATCHES[kind](Path(folder)), random.Random(int(seed))
    print("ready", flush=True)
    n_struck = 0
    # Not for ever, if none strikes.
    for _ in range(20 * int(count)):
        if n_struck < int(count):
            hit = victim.hit(rng)
            n_struck += hit.outcome != MISSED
            print(json.dumps(asdict(hit)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
