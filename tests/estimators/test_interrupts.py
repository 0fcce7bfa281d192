"""Ctrl-C is a KeyboardInterrupt, wherever it finds a fit, and soon."""

import gc
import signal
import time

import numpy as np
import pytest
from relief_family import selectors

from immigrate import (
    LFE,
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    InteractionTest,
)
from immigrate.options import Descent

# A signal that comes too late for one fit is tried again with the next.
N_SIGNALS = 6
ESTIMATORS = [
    *selectors(),
    LFE(),
    IM4EClassifier(),
    CubicImmigrateClassifier(),
    ImmigrateClassifierCV(),
    BoostedImmigrateClassifier(),
    ImmigrateClassifier(solver=Descent(n_anchors=200, n_references=200), references=60),
    InteractionTest(),
]


@pytest.fixture
def alarm():
    """Sets a timer whose signal is handled as Ctrl-C is."""

    def interrupt(*_):
        raise KeyboardInterrupt

    # Python ignores what is raised in a callback of its collector, and Hypothesis has one.
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    gc.callbacks[:] = callbacks


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer with a signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_an_interrupt_is_a_keyboard_interrupt_within_a_second(model, n_jobs, alarm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model.set_params(n_jobs=n_jobs).fit(X, y)  # compiled
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    n_caught = 0
    for _ in range(20 * N_SIGNALS):
        delay = rng.uniform(0.05, 0.9) * seconds
        # Of this process: what others do on the machine must not count.
        start = time.process_time()
        try:
            alarm(delay)
            model.fit(X, y)
            alarm(0)
        except KeyboardInterrupt:
            assert time.process_time() - start < n_jobs * (delay + 1)
            n_caught += 1
        if n_caught == N_SIGNALS:
            break
    assert n_caught > 0
