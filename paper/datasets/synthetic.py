"""The two interacting features of section 4.1, with noise that hides the interaction."""

from __future__ import annotations

import numpy as np

CLASS_MEANS = ((4.0, 2.0), (6.0, 0.0))
CLASS_COVARIANCE = ((1.0, 0.5), (0.5, 1.0))
NOISE_MEANS = ((8.0, -2.0), (2.0, 4.0))
NOISE_COVARIANCE = ((8.0, 4.0), (4.0, 8.0))


def noisy_gaussians(noise, n_per_class=100, random_state=None):
    """Two Gaussian classes, and `noise` times as many samples more on the wrong side.

    Noise is added to the 100 samples of a class and does not replace them: the paper says
    "add", and only so do its p values come out (product of the features alone in a logistic
    regression; medians over 40 seeds 1e-11, 6e-5 and 0.1 at 0, 10 and 50 % noise, against
    0.004 at 50 % when noise replaces samples; paper 3e-11, 7e-5, 0.7).

    Returns
    -------
    X : (n, 2)
    y : (n,), 0 or 1
    is_noise : (n,) bool
    """
    rng = np.random.default_rng(random_state)
    n_noise = round(noise * n_per_class)
    rows = [
        np.vstack(
            [
                rng.multivariate_normal(mean, CLASS_COVARIANCE, n_per_class),
                rng.multivariate_normal(noise_mean, NOISE_COVARIANCE, n_noise),
            ]
        )
        for mean, noise_mean in zip(CLASS_MEANS, NOISE_MEANS)
    ]
    y = np.repeat([0, 1], n_per_class + n_noise)
    is_noise = np.tile(np.arange(n_per_class + n_noise) >= n_per_class, 2)
    return np.vstack(rows), y, is_noise
