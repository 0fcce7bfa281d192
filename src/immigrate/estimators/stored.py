"""What files of estimators hold: plain values, and the version of the library that wrote them.

What is stored is the same for pickle, joblib and skops. Data frames are stored as their columns,
because a frame that one version of pandas has stored need not be readable by another one.
"""

from __future__ import annotations

from typing import Any, Self

import pandas as pd
from sklearn.base import BaseEstimator

from immigrate._version import __version__
from immigrate.progress import warn_user
from immigrate.scikit_learn import LinkedEstimator

VERSION, FRAMES = "_immigrate_version", "_frames"


class OtherVersionWarning(UserWarning):
    """A model was stored by another version of the library than the one that loads it.

    Examples
    --------
    >>> import warnings
    >>> from immigrate.estimators import OtherVersionWarning
    >>> warnings.simplefilter("error", OtherVersionWarning)  # refuse such models
    """


class StoredEstimator(LinkedEstimator, BaseEstimator):
    """An estimator whose files say which version wrote them and depend on no pandas."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of parts: ``columns__scale``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        for name in params:
            part, inside, _ = name.partition("__")
            if inside and part not in params and getattr(self, part, self) is None:
                raise ValueError(
                    f"{name} is a parameter of {part}, which is None here and stands for the "
                    f"defaults. Give the object first: {type(self).__name__}({part}=...)."
                )
        return super().set_params(**params)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        frames = {
            name: columns_of(value)
            for name, value in state.items()
            if isinstance(value, pd.DataFrame)
        }
        plain = {name: value for name, value in state.items() if name not in frames}
        return {**plain, FRAMES: frames, VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        warn_of_version(type(self).__name__, state.pop(VERSION, None))
        frames = {name: frame_of(columns) for name, columns in state.pop(FRAMES, {}).items()}
        super().__setstate__({**state, **frames})


def columns_of(frame: pd.DataFrame) -> dict[str, Any]:
    """A frame as its index and its columns: arrays of numbers, and lists of everything else."""
    return {
        "index": frame.index.tolist(),
        "columns": {
            name: values.to_numpy() if _is_number(values) else values.tolist()
            for name, values in frame.items()
        },
    }


def frame_of(stored: dict[str, Any]) -> pd.DataFrame:
    """The frame that `columns_of` took apart."""
    frame = pd.DataFrame(stored["columns"])
    index = stored["index"]
    # A range, as most tables have it, need not become a list of numbers.
    return frame if index == list(range(len(index))) else frame.set_axis(index)


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values)


def warn_of_version(name: str, stored_by: str | None) -> None:
    """Say so where a model was stored by another version than this one."""
    if stored_by == __version__:
        return
    version = f"immigrate {stored_by}" if stored_by else "a version that did not say which it was"
    warn_user(
        f"This {name} was stored by {version} and is loaded by immigrate {__version__}. It "
        "predicts as it did unless the changelog says otherwise; fit it again to be sure.",
        OtherVersionWarning,
    )
