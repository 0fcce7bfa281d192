"""Penalised logistic and multinomial regression by Newton steps.

Two classes have one logit, K > 2 classes have K logits under a softmax (the ridge penalty
makes them unique, and no class is special). In both cases the labels are a matrix Y
(n, n_logits) with residual Y - mu and covariance V_cd = mu_c [c = d] - mu_c mu_d.
"""

from __future__ import annotations

import numpy as np
from scipy import special
from scipy.linalg import lapack

from immigrate.typing import Array

MAX_NEWTON_STEPS = 50
MAX_HALVINGS = 12
# Keeps the Newton matrix well conditioned along the one direction that softmax logits leave
# free; beside the information of a few samples it is nothing.
INTERCEPT_PENALTY = 1e-3


def indicator_labels(y: np.ndarray, n_classes: int) -> Array:
    """Labels as a matrix Y: the column of class 1 for two classes, else one column per class."""
    Y = np.eye(n_classes)[y]
    return Y[:, 1:] if n_classes == 2 else Y


def probabilities(logits: Array) -> Array:
    """Mu from logits (n, n_logits): logistic for one column, softmax for more."""
    return special.expit(logits) if logits.shape[1] == 1 else special.softmax(logits, axis=1)


def deviance(Y: Array, logits: Array, weight: Array) -> float:
    """-2 times the log-likelihood of the labels."""
    if logits.shape[1] == 1:
        loss = np.logaddexp(0, logits[:, 0]) - Y[:, 0] * logits[:, 0]
    else:
        loss = special.logsumexp(logits, axis=1) - np.sum(Y * logits, axis=1)
    return float(2 * weight @ loss)


def label_covariance(mu: Array, c: int, d: int) -> Array:
    """V_cd = mu_c [c = d] - mu_c mu_d, for each sample."""
    return mu[:, c] * ((c == d) - mu[:, d])


def information_matrix(Z: Array, mu: Array, weight: Array) -> Array:
    """Z'VZ over all logits: (n_logits * m, n_logits * m), one block per pair of logits."""
    m, n_logits = Z.shape[1], mu.shape[1]
    information = np.empty((n_logits * m, n_logits * m))
    for c in range(n_logits):
        for d in range(c + 1):
            block = Z.T @ ((weight * label_covariance(mu, c, d))[:, None] * Z)
            information[c * m : (c + 1) * m, d * m : (d + 1) * m] = block
            information[d * m : (d + 1) * m, c * m : (c + 1) * m] = block.T
    return information


def ridge_coefficients(
    Z: Array, Y: Array, weight: Array, penalty: Array, start: Array, tolerance: float = 1e-8
) -> Array:
    """Minimiser (m, n_logits) of deviance / 2 + sum_j penalty_j beta_j^2 / 2, from `start`.

    Newton steps, halved until the cost falls. `tolerance` is on the relative fall of the cost.
    """
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)

    def cost(beta: Array) -> float:
        return deviance(Y, Z @ beta, weight) / 2 + float(penalty @ np.sum(beta**2, axis=1)) / 2

    beta, current = start, cost(start)
    for _ in range(MAX_NEWTON_STEPS):
        step = _newton_step(Z, Y, weight, penalty, beta)
        for _ in range(MAX_HALVINGS):
            candidate = cost(beta + step)
            if candidate <= current:
                break
            step = step / 2
        else:
            return beta
        beta, fall, current = beta + step, current - candidate, candidate
        if fall <= tolerance * (abs(current) + tolerance):
            return beta
    return beta


def _newton_step(Z: Array, Y: Array, weight: Array, penalty: Array, beta: Array) -> Array:
    mu = probabilities(Z @ beta)
    gradient = Z.T @ (weight[:, None] * (Y - mu)) - penalty[:, None] * beta  # (m, n_logits)
    newton_matrix = information_matrix(Z, mu, weight)
    newton_matrix.flat[:: len(newton_matrix) + 1] += np.tile(penalty, beta.shape[1])
    # LAPACK itself: SciPy's wrappers take longer than the factorisation at these sizes.
    _, step, info = lapack.dposv(newton_matrix, gradient.T.ravel(), lower=True, overwrite_a=True)
    if info != 0:
        raise np.linalg.LinAlgError(f"The penalised information is not positive: info = {info}.")
    return step.reshape(beta.T.shape).T
