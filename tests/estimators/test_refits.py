"""A refit that is refused, fails or is interrupted leaves the old model whole: every estimator."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from stored_models import MODELS

import immigrate
from harness.estimators import instances, labels_for
from harness.problems import ESTIMATORS as FUZZED
from harness.victims import ESTIMATORS as VICTIMS
from immigrate.persistence import public_estimators

PACKAGE = str(Path(immigrate.__file__).parent)
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "get_support")
# Where errors are planted: so many moments spread over a fit, and so many at its end, where a
# model is written.
N_SPREAD, N_LAST = 12, 12
every = pytest.mark.parametrize("model", instances(), ids=lambda m: type(m).__name__)
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.gettrace() is not None, reason="needs the tracer for itself"),
]


class PlantedError(BaseException):
    """Stands for an error or Ctrl-C; no ``except Exception`` can take it for its own."""


class Tracer:
    """Counts calls of functions of the package in this thread, and fails at one of them."""

    def __init__(self, fail_at=None):
        self.n_calls, self.fail_at, self.failed_in = 0, fail_at, ""

    def __call__(self, frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.n_calls += 1
            if self.n_calls == self.fail_at:
                self.failed_in = frame.f_code.co_qualname
                raise PlantedError

    def __enter__(self):
        sys.settrace(self)
        return self

    def __exit__(self, *error):
        sys.settrace(None)


@pytest.fixture(scope="module")
def tables():
    """The table of the model, and another one in everything: columns, classes, kinds."""
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2][::4], y[y < 2][::4]
    other = pd.DataFrame(np.cos(X[:, :5]), columns=list("abcde"))
    return X, y, other, np.array(["u", "v", "w"])[np.arange(len(y)) % 3]


def answers(model, X):
    """What a fitted model says, in bytes."""
    said = {}
    for name in ANSWERS:
        if hasattr(model, name):
            method = getattr(model, name)
            said[name] = np.asarray(method() if name == "get_support" else method(X)).tobytes()
    for name in ("feature_importances_", "weight_matrix_", "classes_"):
        if hasattr(model, name):
            said[name] = np.asarray(getattr(model, name)).tobytes()
    for name in ("table_", "features_", "selected_"):
        if hasattr(model, name):
            said[name] = getattr(model, name).to_json()
    return said


@every
def test_an_error_at_any_moment_of_a_refit_leaves_the_old_model_whole(model, tables):
    X, y, other, labels = tables
    labels = labels_for(model, labels)
    model = clone(model).fit(X, y)
    before = answers(model, X)
    assert before
    state = dict(vars(model))
    fresh = clone(model)
    with Tracer() as whole:
        fresh.fit(other, labels)
    spread = np.linspace(1, whole.n_calls, N_SPREAD).astype(int)
    last = np.arange(whole.n_calls - N_LAST, whole.n_calls + 1)
    n_struck = 0
    for moment in sorted({*spread.tolist(), *last.tolist()}):
        has_ended = False
        with Tracer(fail_at=moment) as tracer, contextlib.suppress(PlantedError):
            model.fit(other, labels)
            has_ended = True
        if has_ended:
            # A later fit makes fewer calls where something was kept from the first, and Python
            # ignores what is raised while it closes a generator.
            model = clone(model).fit(X, y)
            before, state = answers(model, X), dict(vars(model))
            continue
        n_struck += 1
        now = vars(model)
        changed = [name for name in {*state, *now} if state.get(name) is not now.get(name)]
        assert not changed, (tracer.failed_in, changed)
        assert answers(model, X) == before, tracer.failed_in
    assert n_struck >= N_SPREAD


@every
def test_a_refused_refit_leaves_the_old_model_whole(model, tables):
    X, y, other, _ = tables
    model = clone(model).fit(X, y)
    before, state = answers(model, X), dict(vars(model))
    for bad in (np.zeros(len(y)), np.full(len(y), np.nan), y[:-1]):
        with pytest.raises(ValueError):
            model.fit(other, bad)
    with pytest.raises(ValueError):
        model.fit(other.to_numpy()[:0], y[:0])
    assert {name: id(value) for name, value in vars(model).items()} == {
        name: id(value) for name, value in state.items()
    }
    assert answers(model, X) == before


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(set(FUZZED), id="make fuzz"),
        pytest.param({type(one).__name__ for one in VICTIMS}, id="make faults"),
        pytest.param(set(MODELS), id="models on disk"),
    ],
)
def test_no_estimator_is_forgotten(names):
    assert set(public_estimators()) <= names
