"""The one module that uses names of scikit-learn that are private or experimental.

=========================  ================================  =====================================
here                       there                             when it goes
=========================  ================================  =====================================
`checked_sample_weight`    `_check_sample_weight`            `check_array` on a column of weights
`checked_feature_names`    `_check_feature_names_in`         compare with `feature_names_in_`
`is_table_wanted`          `_get_output_config`              `get_config`, and the estimator's own
`rows_of`                  `_safe_indexing`                  `X.iloc[rows]`, else `X[rows]`
`LinkedEstimator`          `_doc_link_module` and others     the link in notebooks is not shown
`tells_callbacks`          `_init_callback_context`          nothing: fits tell no callback
=========================  ================================  =====================================

`tests/test_private_names.py` says so too, the day one of them is gone. Callbacks are experimental
in scikit-learn 1.9 and not there before: `HAS_CALLBACKS` says whether they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight

from immigrate.messages import counted_tasks
from immigrate.typing import Array, Codes

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks

    HAS_CALLBACKS = True
except ImportError:  # scikit-learn 1.8 and older

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""

    HAS_CALLBACKS = False

Fit = Callable[..., Any]

# Where `make docs` is published; nothing else in the library knows.
SITE = "https://immigrate.readthedocs.io/en/stable"


class LinkedEstimator:
    """An estimator whose picture in a notebook links to its page of the site.

    Examples
    --------
    >>> from immigrate import Relief
    >>> Relief()._get_doc_link().rpartition("/")[2]
    'immigrate.Relief.html'
    """

    _doc_link_module = "immigrate"
    _doc_link_template = f"{SITE}/reference/immigrate.{{estimator_name}}.html"


def tells_callbacks(kind: str) -> Callable[[Fit], Fit]:
    """Make a `fit` tell scikit-learn's callbacks when it begins, ends, and ends a task of a kind.

    What a callback answers is not heeded: a fit ends where it has converged. The methods of a
    callback that want a fitted model get it at the end of the fit.

    Parameters
    ----------
    kind : str
        What the estimator counts: "step", "sigma" or "round".

    Examples
    --------
    >>> from immigrate.scikit_learn import tells_callbacks
    >>> @tells_callbacks("step")
    ... def fit(self, X, y):
    ...     return self
    """

    def decorated(fit: Fit) -> Fit:
        if not HAS_CALLBACKS:
            return fit

        @with_callbacks  # type: ignore[untyped-decorator]
        @wraps(fit)
        def telling(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
            whole = self._init_callback_context(max_subtasks=None)
            whole.call_on_fit_task_begin(estimator=self, X=X, y=y)

            def tell() -> None:
                part = whole.subcontext(task_name=kind)
                part.call_on_fit_task_begin(estimator=self, X=X, y=y)
                part.call_on_fit_task_end(estimator=self, X=X, y=y)

            with counted_tasks(kind, tell):
                fitted = fit(self, X, y, *args, **kwargs)
            whole.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
            return fitted

        return telling

    return decorated


def checked_sample_weight(sample_weight: Any, X: Any) -> Array:
    """A weight per row of `X`, finite and not negative; all 1 where None are given.

    Examples
    --------
    >>> from immigrate.scikit_learn import checked_sample_weight
    >>> checked_sample_weight([1, 2], [[0.0], [1.0]])
    array([1., 2.])
    """
    if isinstance(sample_weight, np.ma.MaskedArray):
        # What is masked is missing, and refused as such; scikit-learn would take what lies below.
        sample_weight = np.ma.filled(sample_weight.astype(np.float64), np.nan)
    weight: Array = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def checked_feature_names(estimator: Any, input_features: Any = None) -> np.ndarray:
    """Names of the features that a fitted estimator saw, those given if they agree.

    Examples
    --------
    >>> from immigrate import Relief
    >>> from immigrate.scikit_learn import checked_feature_names
    >>> model = Relief().fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1])
    >>> checked_feature_names(model)
    array(['x0'], dtype=object)
    """
    names: np.ndarray = _check_feature_names_in(estimator, input_features)
    return names


def is_table_wanted(transformer: Any) -> bool:
    """Whether `set_output`, on the transformer or for all, asks for data frames.

    Examples
    --------
    >>> from immigrate import Relief
    >>> from immigrate.scikit_learn import is_table_wanted
    >>> is_table_wanted(Relief()), is_table_wanted(Relief().set_output(transform="pandas"))
    (False, True)
    """
    return bool(_get_output_config("transform", transformer)["dense"] != "default")


def rows_of(X: Any, rows: Codes) -> Any:
    """Some rows of an array or of a data frame of any library.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.scikit_learn import rows_of
    >>> rows_of(np.array([[1], [2], [3]]), np.array([2, 0]))
    array([[3],
           [1]])
    """
    return _safe_indexing(X, rows)
