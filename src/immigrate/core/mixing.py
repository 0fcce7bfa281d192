"""Shares of models in a mixture, from how likely each finds every sample."""

from __future__ import annotations

import numpy as np

from immigrate.arrays import Array

# Steps of EM at most, and the largest change of a share at which they end. The likelihood is
# concave in the shares, and what later steps add to it is not seen in new samples.
MOST_STEPS, SMALL_CHANGE = 200, 1e-5


def mixture_shares(log_likelihood: Array) -> Array:
    """Shares that make the samples likeliest under the mixture of all models, by EM.

    Each step asks how far every model is responsible for each sample, r_mi = s_m l_mi /
    sum_k s_k l_ki, and takes the mean over samples as the new share. The likelihood never falls.

    Parameters
    ----------
    log_likelihood : ndarray of shape (n_models, n_samples)
        Log probability of each sample's own class under each model.

    Returns
    -------
    ndarray of shape (n_models,)
        Not below 0, with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.core.mixing import mixture_shares
    >>> mixture_shares(np.log([[0.9, 0.9, 0.1], [0.1, 0.1, 0.9]])).round(2)
    array([0.71, 0.29])
    """
    # A sample that all models find unlikely counts as much as any other.
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=0))
    shares = np.full(len(likelihood), 1 / len(likelihood))
    for _ in range(MOST_STEPS):
        before, parts = shares, shares[:, None] * likelihood
        shares = (parts / parts.sum(axis=0)).mean(axis=1)
        if np.abs(shares - before).max() < SMALL_CHANGE:
            break
    return shares
