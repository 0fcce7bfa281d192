"""Penalised regression by Newton steps: logistic, multinomial, or of a number (one step)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array
from immigrate.inference.links import LOGIT, Link
from immigrate.inference.rows import Columns, LazyColumns, block_sum, product, transposed_product

MAX_NEWTON_STEPS = 50
MAX_HALVINGS = 12
# Keeps the Newton matrix well conditioned along the one direction that softmax logits leave
# free; beside the information of a few samples it is nothing.
INTERCEPT_PENALTY = 1e-3
# With more logits and more coefficients than this the Newton step comes from conjugate gradients:
# the matrix of all blocks grows with their square, and its factorisation with their cube.
MOST_DENSE_LOGITS, MOST_DENSE_COEFFICIENTS = 3, 256
# Residual of the Newton equations at which conjugate gradients stop, relative to the gradient.
CONJUGATE_TOLERANCE, MAX_CONJUGATE_STEPS = 1e-6, 200


def information_matrix(Z: Columns, mu: Array, weight: Array, link: Link = LOGIT) -> Array:
    """Z'VZ over all logits: (n_logits * m, n_logits * m), one block per pair of logits."""

    def part(rows: slice, own: Array) -> tuple[Array]:
        return (_block_information(own, mu[rows], weight[rows], link),)

    return block_sum(Z, part)[0]


def _block_information(Z: Array, mu: Array, weight: Array, link: Link) -> Array:
    """The same for rows that are all there."""
    m, n_logits = Z.shape[1], mu.shape[1]
    information = np.empty((n_logits * m, n_logits * m))
    for c in range(n_logits):
        for d in range(c + 1):
            block = Z.T @ ((weight * link.covariance(mu, c, d))[:, None] * Z)
            information[c * m : (c + 1) * m, d * m : (d + 1) * m] = block
            information[d * m : (d + 1) * m, c * m : (c + 1) * m] = block.T
    return information


def ridge_coefficients(
    Z: Columns,
    Y: Array,
    weight: Array,
    penalty: Array,
    start: Array,
    *,
    link: Link = LOGIT,
    tolerance: float = 1e-8,
) -> Array:
    """Minimiser (m, n_logits) of deviance / 2 + sum_j penalty_j beta_j^2 / 2, from `start`.

    Newton steps, halved until the cost falls. `tolerance` is on the relative fall of the cost.
    """
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)

    def cost_and_logits(beta: Array) -> tuple[float, Array]:
        logits = product(Z, beta)
        size = float(penalty @ np.sum(beta**2, axis=1))
        return link.deviance(Y, logits, weight) / 2 + size / 2, logits

    beta = start
    current, logits = cost_and_logits(start)
    for _ in range(MAX_NEWTON_STEPS):
        step = _newton_step(Z, Y, weight, penalty, beta, link.means(logits), link)
        for _ in range(MAX_HALVINGS):
            candidate, logits = cost_and_logits(beta + step)
            if candidate <= current:
                break
            step = step / 2
        else:
            return beta
        beta, fall, current = beta + step, current - candidate, candidate
        # The second term ends the steps where the cost itself is next to nothing.
        if fall <= tolerance * (abs(current) + tolerance):
            return beta
    return beta


def _newton_step(
    Z: Columns, Y: Array, weight: Array, penalty: Array, beta: Array, mu: Array, link: Link
) -> Array:
    residual = weight[:, None] * (Y - mu)
    is_dense = beta.shape[1] <= MOST_DENSE_LOGITS or beta.size <= MOST_DENSE_COEFFICIENTS
    if is_dense and isinstance(Z, LazyColumns):
        # One pass over the rows for both: making them is half of the work.
        def part(rows: slice, own: Array) -> tuple[Array, Array]:
            information = _block_information(own, mu[rows], weight[rows], link)
            return own.T @ residual[rows], information

        gradient, information = block_sum(Z, part)
        return _solved_step(information, penalty, gradient - penalty[:, None] * beta)
    gradient = transposed_product(Z, residual) - penalty[:, None] * beta  # (m, n_logits)
    if is_dense:
        return dense_step(Z, mu, weight, penalty, gradient, link)
    return conjugate_step(Z, mu, weight, penalty, gradient)


def dense_step(
    Z: Columns, mu: Array, weight: Array, penalty: Array, gradient: Array, link: Link = LOGIT
) -> Array:
    """(Z'VZ + D)^-1 g by a Cholesky factorisation."""
    return _solved_step(information_matrix(Z, mu, weight, link), penalty, gradient)


def _solved_step(newton_matrix: Array, penalty: Array, gradient: Array) -> Array:
    newton_matrix.flat[:: len(newton_matrix) + 1] += np.tile(penalty, gradient.shape[1])
    # LAPACK itself: SciPy's wrappers take longer than the factorisation at these sizes.
    _, step, info = lapack.dposv(newton_matrix, gradient.T.ravel(), lower=True, overwrite_a=True)
    if info != 0:
        raise np.linalg.LinAlgError(f"The penalised information is not positive: info = {info}.")
    return step.reshape(gradient.T.shape).T


def conjugate_step(Z: Columns, mu: Array, weight: Array, penalty: Array, gradient: Array) -> Array:
    """(Z'VZ + D)^-1 g of many classes by conjugate gradients: n m K operations per step.

    No matrix of (m K)^2 is made.

    Preconditioned by the blocks of the single logits. These leave few small eigenvalues: the
    blocks between two logits are products of two probabilities, small where classes are many,
    and the direction along which all logits shift alike is one in which the gradient is zero.
    """

    def own_blocks(rows: slice, own: Array) -> tuple[Array]:
        sizes = [weight[rows] * LOGIT.covariance(mu[rows], c, c) for c in range(mu.shape[1])]
        return (np.array([own.T @ (size[:, None] * own) for size in sizes]),)

    (blocks,) = block_sum(Z, own_blocks)
    blocks[:, np.arange(len(penalty)), np.arange(len(penalty))] += penalty
    inverses = np.linalg.inv(blocks)  # (n_logits, m, m)

    def preconditioned(residual: Array) -> Array:
        return np.matmul(inverses, residual.T[:, :, None])[:, :, 0].T

    def curved(direction: Array) -> Array:
        def part(rows: slice, own: Array) -> tuple[Array]:
            moved, m = own @ direction, mu[rows]
            moved = m * (moved - np.sum(m * moved, axis=1, keepdims=True))
            return (own.T @ (weight[rows][:, None] * moved),)

        return block_sum(Z, part)[0] + penalty[:, None] * direction

    step, residual = np.zeros_like(gradient), gradient
    direction = scaled = preconditioned(residual)
    size = first = np.sum(residual * scaled)
    for _ in range(MAX_CONJUGATE_STEPS):
        if size <= CONJUGATE_TOLERANCE**2 * first:
            break
        image = curved(direction)
        length = size / np.sum(direction * image)
        step, residual = step + length * direction, residual - length * image
        scaled = preconditioned(residual)
        size, before = np.sum(residual * scaled), size
        direction = scaled + (size / before) * direction
    return step
