"""What a way of choosing prototypes has to say."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes

NOBODY = -1  # the group of a sample that no prototype stands for


# scikit-learn's base is for get_params, set_params, clone and print.
class Prototypes(BaseEstimator, metaclass=ABCMeta):
    """From samples to groups, each of which one prototype stands for."""

    @abstractmethod
    def groups(self, Z: Array, codes: Codes, random: np.random.RandomState) -> Codes:
        """The group of every sample, 0, 1, ..., or NOBODY.

        Parameters
        ----------
        Z : ndarray of shape (n, q)
            Samples as points whose Euclidean distances are about those of the model.
        codes : ndarray of shape (n,)
            Classes 0, 1, ... A group holds samples of one class, and every class has a group.
        random : RandomState

        Returns
        -------
        ndarray of shape (n,)
        """


def numbered(groups: Codes) -> Codes:
    """The same groups, numbered 0, 1, ... without holes."""
    is_in = groups != NOBODY
    result = np.full(len(groups), NOBODY)
    result[is_in] = np.unique(groups[is_in], return_inverse=True)[1]
    return result
