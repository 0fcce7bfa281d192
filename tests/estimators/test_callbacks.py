"""scikit-learn's callbacks, which are experimental from 1.9 on: who is told, and how often."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import immigrate
from immigrate.datasets import make_xor
from immigrate.scikit_learn import HAS_CALLBACKS

X, Y = make_xor(120, 4, random_state=0)
COUNTED = {
    "step": immigrate.ImmigrateClassifier(sigma=1.0),
    "sigma": immigrate.ImmigrateClassifierCV(sigmas=[2.0, 1.0, 0.5]),
    "round": immigrate.BoostedImmigrateClassifier(n_estimators=3, sigmas=[1.0]),
}


class Diary:
    """A callback that writes down what it is told."""

    def __init__(self):
        self.lines = []

    def setup(self, estimator, context):
        self.lines.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.lines.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.lines.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        is_fitted = fitted_estimator is not None
        self.lines.append(("end of a model" if is_fitted else "end", context.task_name))


def expected_count(kind, model):
    if kind == "step":
        return model.n_iter_ + 1  # the start is told as well
    return len(model.costs_path_) if kind == "sigma" else model.n_iter_


needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="scikit-learn before 1.9")


@needs_callbacks
@pytest.mark.parametrize("kind", COUNTED)
def test_a_callback_hears_the_whole_and_each_task(kind):
    diary = Diary()
    model = clone(COUNTED[kind]).set_callbacks(diary).fit(X, Y)
    assert diary.lines[:2] == [("setup", "fit"), ("begin", "fit")]
    assert diary.lines[-2:] == [("end of a model", "fit"), ("teardown", "fit")]
    tasks = diary.lines[2:-2]
    assert tasks == [("begin", kind), ("end", kind)] * expected_count(kind, model)


@needs_callbacks
@pytest.mark.parametrize("kind", COUNTED)
def test_callbacks_change_no_answer(kind):
    told = clone(COUNTED[kind]).set_callbacks(Diary()).fit(X, Y)
    alone = clone(COUNTED[kind]).fit(X, Y)
    np.testing.assert_array_equal(told.weight_matrix_, alone.weight_matrix_)
    assert set(vars(alone)) | {"_skl_callbacks"} == set(vars(told))


@needs_callbacks
def test_a_refused_fit_is_torn_down():
    diary = Diary()
    with pytest.raises(ValueError, match="one class"):
        immigrate.ImmigrateClassifier().set_callbacks(diary).fit(X, np.zeros(len(X)))
    assert diary.lines[-1] == ("teardown", "fit")


@needs_callbacks
def test_the_progress_bar_of_scikit_learn_runs_over_a_search(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    search = GridSearchCV(COUNTED["step"], {"sigma": [0.5, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar()).fit(X, Y)
    assert "ImmigrateClassifier" in capsys.readouterr().out


@pytest.mark.skipif(HAS_CALLBACKS, reason="scikit-learn has callbacks from 1.9 on")
def test_without_callbacks_there_is_nothing_to_set():
    assert not hasattr(immigrate.ImmigrateClassifier(), "set_callbacks")
