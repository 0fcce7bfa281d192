"""The classics: prototypes that are samples themselves, chosen by the nearest neighbour rule."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_count
from immigrate.prototypes._base import NOBODY, Prototypes, numbered


class EditedNeighbours(Prototypes):
    """Samples that most of their nearest neighbours agree with: Wilson's editing.

    It takes out noise and overlap, and leaves most samples of a table that has little of either.
    The time grows with the square of the number of samples.

    Parameters
    ----------
    n_neighbours : int, default=3
        A sample stays if its class is the most frequent among so many others.

    See Also
    --------
    ClassCentres : Far fewer references at the same accuracy.

    References
    ----------
    .. [1] D. L. Wilson, "Asymptotic properties of nearest neighbor rules using edited data",
       IEEE Transactions on Systems, Man and Cybernetics 2(3), 1972.
       :doi:`10.1109/TSMC.1972.4309137`

    Examples
    --------
    >>> from immigrate import EditedNeighbours, ImmigrateClassifier
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 3, noise=0.1, random_state=0)
    >>> model = ImmigrateClassifier(references=EditedNeighbours(), random_state=0).fit(X, y)
    >>> len(model.model_.references.values) < 300
    True
    """

    def __init__(self, n_neighbours: int = 3) -> None:
        self.n_neighbours = n_neighbours

    def groups(self, Z: Array, codes: Codes, random: np.random.RandomState) -> Codes:
        """A group for every sample that stays.

        Parameters
        ----------
        Z : ndarray of shape (n, q)
        codes : ndarray of shape (n,)
        random : RandomState
            Not used.

        Returns
        -------
        ndarray of shape (n,)
        """
        k = min(check_count("n_neighbours", self.n_neighbours), len(Z) - 1)
        near = NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(return_distance=False)
        votes = np.stack([(codes[near] == c).sum(axis=1) for c in range(codes.max() + 1)])
        own = votes[codes, np.arange(len(Z))]
        return kept_groups(own >= votes.max(axis=0), codes)


class CondensedNeighbours(Prototypes):
    """Samples from which the nearest neighbour rule gets all others right: Hart's condensing.

    Samples are visited in a random order. A sample that those kept so far would classify wrongly
    is kept too, until a round adds none. All noisy samples are kept.

    See Also
    --------
    EditedNeighbours : Takes noise out instead.

    References
    ----------
    .. [1] P. E. Hart, "The condensed nearest neighbor rule", IEEE Transactions on Information
       Theory 14(3), 1968. :doi:`10.1109/TIT.1968.1054155`

    Examples
    --------
    >>> from immigrate import CondensedNeighbours, ImmigrateClassifier
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 3, random_state=0)
    >>> model = ImmigrateClassifier(references=CondensedNeighbours(), random_state=0).fit(X, y)
    >>> len(model.model_.references.values) < 150
    True
    """

    def groups(self, Z: Array, codes: Codes, random: np.random.RandomState) -> Codes:
        """A group for every sample that is needed.

        Parameters
        ----------
        Z : ndarray of shape (n, q)
        codes : ndarray of shape (n,)
        random : RandomState

        Returns
        -------
        ndarray of shape (n,)
        """
        order = random.permutation(len(Z))
        is_kept = np.zeros(len(Z), dtype=bool)
        distance, label = np.full(len(Z), np.inf), np.full(len(Z), NOBODY)

        def keep(i: int) -> None:
            """Add a sample, and compare everybody with it."""
            is_kept[i] = True
            from_it = ((Z - Z[i]) ** 2).sum(axis=1)
            is_nearer = from_it < distance
            distance[is_nearer], label[is_nearer] = from_it[is_nearer], codes[i]

        n_before = -1
        while is_kept.sum() > n_before:
            n_before = is_kept.sum()
            for i in order[~is_kept[order]]:
                if label[i] != codes[i] and not is_kept[i]:
                    keep(int(i))
        return kept_groups(is_kept, codes)


def kept_groups(is_kept: Mask, codes: Codes) -> Codes:
    """A group of its own for every sample that is kept; a class that lost all keeps them all."""
    lost = np.flatnonzero(np.bincount(codes, weights=is_kept) == 0)
    is_kept = is_kept | np.isin(codes, lost)
    return numbered(np.where(is_kept, np.arange(len(codes)), NOBODY))
