"""The two interacting features of section 4.1, with noise that hides the interaction."""

from __future__ import annotations

import numpy as np

CLASS_MEANS = ((4.0, 2.0), (6.0, 0.0))
CLASS_COVARIANCE = ((1.0, 0.5), (0.5, 1.0))
NOISE_MEANS = ((8.0, -2.0), (2.0, 4.0))
NOISE_COVARIANCE = ((8.0, 4.0), (4.0, 8.0))


def noisy_gaussians(noise, n_per_class=100, random_state=None):
    """Two Gaussian classes of which a share `noise` of each is drawn on the wrong side.

    The size of a class stays `n_per_class`: the paper's "dataset containing 10% samples from
    the noise distributions".

    Returns
    -------
    X : (2 n_per_class, 2)
    y : (2 n_per_class,), 0 or 1
    is_noise : (2 n_per_class,) bool
    """
    rng = np.random.default_rng(random_state)
    n_noise = round(noise * n_per_class)
    rows = [
        np.vstack(
            [
                rng.multivariate_normal(mean, CLASS_COVARIANCE, n_per_class - n_noise),
                rng.multivariate_normal(noise_mean, NOISE_COVARIANCE, n_noise),
            ]
        )
        for mean, noise_mean in zip(CLASS_MEANS, NOISE_MEANS)
    ]
    y = np.repeat([0, 1], n_per_class)
    is_noise = np.tile(np.arange(n_per_class) >= n_per_class - n_noise, 2)
    return np.vstack(rows), y, is_noise
