"""Fewer references than samples: centres of each class, with the number of samples around them.

Prediction compares a new sample with every reference. A few thousand counted centres do as well
as all samples of a large table, at a fraction of the time, and a model that holds them no longer
holds the samples it was fitted on.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from immigrate.arrays import Array, Codes
from immigrate.checks import check_sample_size

__all__ = ["ClassCentres"]

# Where "auto" ends: more centres than this were hardly better on a million rows
# (docs/measurements/scaling.md). Smaller tables have a centre for every fifth sample.
MOST_CENTRES, SAMPLES_PER_CENTRE = 4000, 5
# Steps over all samples after the mini-batches: the first two gain most.
FULL_STEPS = 2
BATCH = 4096
# Rows that are assigned in one compiled call: Ctrl-C is heard in between.
ROWS_AT_ONCE = 16384


# scikit-learn's base is for get_params, set_params, clone and print.
class ClassCentres(BaseEstimator):
    """Centres of each class by k-means, with the number of samples around each.

    A centre that stands for c samples counts c times in the soft minimum, so that dense regions
    stay dense and the classes keep their shares. Numbers are averaged over the samples of a
    centre whose value is known; of a category the most frequent level is taken.

    Parameters
    ----------
    n_centres : int, float or "auto", default="auto"
        Number of centres in all, or a share of the samples. Each class gets centres in proportion
        to its size, at least one. "auto" is a fifth of the samples, up to 4,000.

    See Also
    --------
    ImmigrateClassifier : Takes it as `references`.

    References
    ----------
    .. [1] S. Garcia, J. Derrac, J. R. Cano and F. Herrera, "Prototype selection for nearest
       neighbor classification: taxonomy and empirical study", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 34(3), 2012. :doi:`10.1109/TPAMI.2011.142`
    .. [2] D. Sculley, "Web-scale k-means clustering", WWW 2010.
       :doi:`10.1145/1772690.1772862`

    Examples
    --------
    >>> from immigrate import ClassCentres, ImmigrateClassifier
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(500, 4, random_state=0)
    >>> model = ImmigrateClassifier(references=ClassCentres(60), random_state=0).fit(X, y)
    >>> model.model_.references.values.shape
    (60, 4)
    >>> float(model.model_.references.count.sum())
    500.0
    """

    def __init__(self, n_centres: int | float | str = "auto") -> None:
        self.n_centres = n_centres

    def groups(self, Z: Array, codes: Codes, random: np.random.RandomState) -> Codes:
        """The centre of every sample: 0, 1, ..., each of samples of one class.

        Parameters
        ----------
        Z : ndarray of shape (n, q)
            Samples as points whose Euclidean distances are about those of the model.
        codes : ndarray of shape (n,)
            Classes 0, 1, ...
        random : RandomState

        Returns
        -------
        ndarray of shape (n,)
        """
        groups = np.empty(len(Z), dtype=np.intp)
        first = 0
        for code, n_centres in enumerate(self._per_class(np.bincount(codes))):
            own = codes == code
            found = clustered(Z[own], n_centres, random)
            groups[own] = first + found
            first += int(found.max()) + 1
        return groups

    def _per_class(self, sizes: Codes) -> list[int]:
        """How many centres each class has."""
        n, wanted = sizes.sum(), check_sample_size("n_centres", self.n_centres)
        if wanted is None or isinstance(wanted, str):
            wanted = min(MOST_CENTRES, n // SAMPLES_PER_CENTRE)
        elif isinstance(wanted, float):
            wanted = wanted * n
        shares = np.rint(wanted * sizes / n).astype(int)
        return np.clip(shares, 1, sizes).tolist()


def clustered(Z: Array, n_centres: int, random: np.random.RandomState) -> Codes:
    """The cluster of every row, 0, 1, ..., none of them empty."""
    if n_centres >= len(Z):
        return np.arange(len(Z))
    if n_centres == 1:
        return np.zeros(len(Z), dtype=np.intp)
    batches = MiniBatchKMeans(
        n_centres, batch_size=max(BATCH, 2 * n_centres), n_init=1, random_state=random
    )
    centres = batches.fit(Z).cluster_centers_
    for _ in range(FULL_STEPS):
        nearest = nearest_centre(Z, centres)
        centres = means(Z, nearest)
        # Centres that are nobody's nearest are gone from here on.
        groups = np.unique(nearest, return_inverse=True)[1]
    return groups


def nearest_centre(Z: Array, centres: Array) -> Codes:
    """Index of the centre that is nearest to each row."""
    blocks = (Z[i : i + ROWS_AT_ONCE] for i in range(0, len(Z), ROWS_AT_ONCE))
    return np.concatenate([pairwise_distances_argmin(block, centres) for block in blocks])


def means(Z: Array, groups: Codes) -> Array:
    """Mean of the rows of each group that has any."""
    groups = np.unique(groups, return_inverse=True)[1]
    size = np.bincount(groups)
    sums = np.column_stack([np.bincount(groups, weights=z) for z in Z.T])
    return sums / size[:, None]
