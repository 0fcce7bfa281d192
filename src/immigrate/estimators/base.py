"""What happens round every fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

from immigrate.progress import ProgressLine, reporting_progress


@contextmanager
def fitting(estimator: BaseEstimator) -> Iterator[None]:
    """Stands round the body of every `fit`: it ends whole or not at all, and says where it is.

    After an error, or Ctrl-C between two assignments, the estimator is the one that it was before.
    A fit that takes long reports its progress, unless `verbose` says more.

    Parameters
    ----------
    estimator : BaseEstimator

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.estimators.base import fitting
    >>> class Mean(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         with fitting(self):
    ...             self.sum_ = sum(X)
    ...             self.mean_ = self.sum_ / len(X)
    ...         return self
    >>> model = Mean().fit([1.0, 3.0])
    >>> model.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> model.sum_
    4.0
    """
    before = dict(vars(estimator))
    try:
        with reporting_progress(None if getattr(estimator, "verbose", False) else ProgressLine()):
            yield
    except BaseException:
        estimator.__dict__ = before
        raise
