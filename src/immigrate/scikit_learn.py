"""The one module that uses names of scikit-learn that are private.

=========================  ================================  =====================================
here                       there                             when it goes
=========================  ================================  =====================================
`checked_sample_weight`    `_check_sample_weight`            `check_array` on a column of weights
`checked_feature_names`    `_check_feature_names_in`         compare with `feature_names_in_`
`is_table_wanted`          `_get_output_config`              `get_config`, and the estimator's own
`rows_of`                  `_safe_indexing`                  `X.iloc[rows]`, else `X[rows]`
`StoredEstimator`          `_doc_link_module` and others     the link in notebooks is not shown
=========================  ================================  =====================================

`tests/test_private_names.py` says so too, the day one of them is gone.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight

from immigrate._version import __version__
from immigrate.arrays import Array
from immigrate.progress import warn_user

# Where `make docs` is published; nothing else in the library knows.
SITE = "https://immigrate.readthedocs.io/en/stable"
# Of an attribute of files, not of estimators.
VERSION = "_immigrate_version"


class OtherVersionWarning(UserWarning):
    """A model was stored by another version of the library than the one that loads it.

    Examples
    --------
    >>> import warnings
    >>> from immigrate.estimators import OtherVersionWarning
    >>> warnings.simplefilter("error", OtherVersionWarning)  # refuse such models
    """


class StoredEstimator(BaseEstimator):
    """An estimator whose files say which version wrote them, and whose picture links to its page.

    Examples
    --------
    >>> from immigrate import Relief
    >>> Relief()._get_doc_link().rpartition("/")[2]
    'immigrate.Relief.html'
    """

    _doc_link_module = "immigrate"
    _doc_link_template = f"{SITE}/reference/immigrate.{{estimator_name}}.html"

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of parts: ``columns__scale``.

        A part that is a name, or None, and stands for an object becomes that object:
        ``set_params(solver__tol=1e-4)`` makes a ``Descent(tol=1e-4)`` of ``solver="monotone"``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        inside = {name: value for name, value in params.items() if "__" in name}
        for name in inside:
            part = name.partition("__")[0]
            if not hasattr(self, part) or hasattr(getattr(self, part), "set_params"):
                continue
            value = getattr(self, part)
            found = self._part(part, value)
            if not hasattr(found, "set_params"):
                raise ValueError(
                    f"{name} is a parameter of {part}, which is {value!r} here and has none. Give "
                    f"the object first: {type(self).__name__}({part}=...)."
                )
            setattr(self, part, found)
        return super().set_params(**inside)

    def _part(self, name: str, value: Any) -> Any:
        """The object that a parameter stands for by a name or by None; else the value itself."""
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        stored_by = state.pop(VERSION, None)
        if stored_by != __version__:
            who = f"immigrate {stored_by}" if stored_by else "a version without a number"
            warn_user(
                f"This {type(self).__name__} was stored by {who} and is loaded by immigrate "
                f"{__version__}. Fit it again if its answers or errors surprise you.",
                OtherVersionWarning,
            )
        super().__setstate__(state)


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


rows_of = _safe_indexing
"""Some rows of an array or of a data frame of any library: ``rows_of(X, rows)``."""
