"""How a linear predictor and an outcome belong together: classes by logits, numbers as they are.

Two classes have one logit, K > 2 classes have K logits under a softmax (the ridge penalty
makes them unique, and no class is special). In both cases the labels are a matrix Y
(n, n_logits) with residual Y - mu and covariance V_cd = mu_c [c = d] - mu_c mu_d. A number is a
Y of one column with V = 1; how much it really varies is left to its residuals.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import special

from immigrate.arrays import Array


class Link(Protocol):
    """What the additive model needs to know of an outcome."""

    def means(self, logits: Array) -> Array:
        """Mu from the linear predictor (n, n_logits)."""
        ...

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """What a fit makes small: -2 times the log-likelihood, or a sum of squares."""
        ...

    def covariance(self, mu: Array, c: int, d: int) -> Array:
        """V_cd of each sample, (n,)."""
        ...


class LogitLink:
    """Classes: logistic for one logit, softmax for more."""

    def means(self, logits: Array) -> Array:
        """Mu from logits (n, n_logits)."""
        return special.expit(logits) if logits.shape[1] == 1 else special.softmax(logits, axis=1)

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """-2 times the log-likelihood of the labels."""
        if logits.shape[1] == 1:
            # log(1 + e^z) - y z, which does not overflow where z is large.
            loss = np.logaddexp(0, logits[:, 0]) - Y[:, 0] * logits[:, 0]
        else:
            loss = special.logsumexp(logits, axis=1) - np.sum(Y * logits, axis=1)
        return float(2 * weight @ loss)

    def covariance(self, mu: Array, c: int, d: int) -> Array:
        """V_cd = mu_c [c = d] - mu_c mu_d, for each sample."""
        return mu[:, c] * ((c == d) - mu[:, d])


class IdentityLink:
    """Numbers: the linear predictor is the mean."""

    def means(self, logits: Array) -> Array:
        """The linear predictor itself."""
        return logits

    def deviance(self, Y: Array, logits: Array, weight: Array) -> float:
        """Sum of squares."""
        return float(weight @ np.sum((Y - logits) ** 2, axis=1))

    def covariance(self, mu: Array, c: int, d: int) -> Array:
        """1 for every sample."""
        return np.ones(len(mu))


LOGIT, IDENTITY = LogitLink(), IdentityLink()
