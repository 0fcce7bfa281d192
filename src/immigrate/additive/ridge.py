"""A penalised regression, logistic, multinomial or of a number, and the choice of its strength.

The fit goes by Newton steps, one for a number. Its strength has the smallest deviance in
cross-validation, with folds that depend on the data alone: the samples of each class are laid on a
line, each as long as its weight, in an order given by a hash of their values; unit intervals go to
the folds in turn. So the folds do not depend on the order of samples or features, and a sample of
weight two is split exactly as two samples would be. Weights that are not whole numbers are no
counts; then each sample stays in one fold, lest its labels be predicted from itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from immigrate.additive.design import Design
from immigrate.additive.families import CLASSES, Family, Outcome
from immigrate.additive.rows import Columns, LazyColumns, block_sum, transposed_product
from immigrate.arrays import Array, Codes

Keys = NDArray[np.uint64]
# Columns, outcomes and weights of some samples.
Side = tuple[Columns, Outcome, Array]
# Z'Wy and Z'WZ, where they are all that a fit needs.
Equations = tuple[Array, Array]

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

N_FOLDS = 5
STRENGTHS = (400.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
CROSS_VALIDATION_TOLERANCE = 1e-4
# Samples that take part in cross-validation, at most.
MOST_IN_FOLDS = 20_000


def ridge_coefficients(
    Z: Columns,
    Y: Array,
    weight: Array,
    penalty: Array,
    start: Array,
    *,
    family: Family = CLASSES,
    tolerance: float = 1e-8,
) -> Array:
    """Minimiser (m, n_logits) of deviance / 2 + sum_j penalty_j beta_j^2 / 2, from `start`.

    Newton steps, halved until the cost falls. `tolerance` is on the relative fall of the cost.
    """
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    if family.is_estimated:
        # The sum of squares is quadratic: one step is the way.
        return start + _newton_step(Z, Y, weight, penalty, start, Z @ start, family)

    def cost_and_logits(beta: Array) -> tuple[float, Array]:
        logits = Z @ beta
        size = float(penalty @ np.sum(beta**2, axis=1))
        return family.deviance(Y, logits, weight) / 2 + size / 2, logits

    beta = start
    current, logits = cost_and_logits(start)
    for _ in range(MAX_NEWTON_STEPS):
        step = _newton_step(Z, Y, weight, penalty, beta, family.means(logits), family)
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
    Z: Columns, Y: Array, weight: Array, penalty: Array, beta: Array, mu: Array, family: Family
) -> Array:
    """(Z'VZ + D)^-1 g by a Cholesky factorisation, or for many classes by conjugate gradients."""
    if beta.shape[1] > MOST_DENSE_LOGITS and beta.size > MOST_DENSE_COEFFICIENTS:
        gradient = transposed_product(Z, weight[:, None] * (Y - mu))  # (m, n_logits)
        gradient -= penalty[:, None] * beta
        return conjugate_step(Z, mu, weight, penalty, gradient, family)
    # One pass over the rows for both: making them is half of the work.
    gradient, information = block_sum(
        Z, lambda rows, own: family.equations(own, Y[rows], mu[rows], weight[rows])
    )
    return solved_step(gradient - penalty[:, None] * beta, information, penalty)


def solved_step(gradient: Array, information: Array, penalty: Array) -> Array:
    """(I + D)^-1 g, (m, n_logits); overwrites the information."""
    information.flat[:: len(information) + 1] += np.tile(penalty, gradient.shape[1])
    # LAPACK itself: SciPy's wrappers take longer than the factorisation at these sizes.
    _, step, info = lapack.dposv(information, gradient.T.ravel(), lower=True, overwrite_a=True)
    if info != 0:
        raise np.linalg.LinAlgError(f"The penalised information is not positive: info = {info}.")
    return step.reshape(gradient.T.shape).T


def conjugate_step(
    Z: Columns,
    mu: Array,
    weight: Array,
    penalty: Array,
    gradient: Array,
    family: Family = CLASSES,
) -> Array:
    """(Z'VZ + D)^-1 g of many classes by conjugate gradients: n m K operations per step.

    No matrix of (m K)^2 is made.

    Preconditioned by the blocks of the single logits. These leave few small eigenvalues: the
    blocks between two logits are products of two probabilities, small where classes are many,
    and the direction along which all logits shift alike is one in which the gradient is zero.
    """

    def own_blocks(rows: slice, own: Array) -> tuple[Array]:
        spread, logits = family.spread, range(mu.shape[1])
        return (np.array([own.T @ spread(mu[rows], weight[rows], c, c, own) for c in logits]),)

    (blocks,) = block_sum(Z, own_blocks)
    blocks[:, np.arange(len(penalty)), np.arange(len(penalty))] += penalty
    inverses = np.linalg.inv(blocks)  # (n_logits, m, m)

    def preconditioned(residual: Array) -> Array:
        return np.matmul(inverses, residual.T[:, :, None])[:, :, 0].T

    def curved(direction: Array) -> Array:
        def part(rows: slice, own: Array) -> tuple[Array]:
            moved = family.moved(mu[rows], (own @ direction)[:, :, None])[:, :, 0]
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


class Choice(NamedTuple):
    """The best point of one cross-validated path of penalties."""

    deviance: float  # of all samples
    strength: float


def folds_of(design: Design) -> Array:
    """How much of each sample's weight is in each fold."""
    return fold_weights(*_in_folds(design))


def _in_folds(design: Design) -> tuple[Codes, Codes, Array, list[bool], Array]:
    """What the order of samples depends on."""
    codes: Codes = np.array([levels.code for levels in design.levels], dtype=np.int32)
    codes = codes.reshape(-1, len(design.weight)).T
    # On a circle no level is the first one.
    ignores_order = [one.is_nominal or one.is_circular for one in design.levels]
    return codes, design.outcome.strata, design.weight, ignores_order, design.outcome.Y[:, 0]


def sample_order(design: Design) -> Codes:
    """Samples class by class, shuffled by what is in them."""
    return row_order(*_in_folds(design))


def sample_for_folds(design: Design) -> Design:
    """The samples that cross-validation uses: all, or of very many a share of each class.

    What is chosen by it, the strength of a penalty, hardly depends on further samples; all tests
    and fits are of all samples. Which ones are chosen depends on the data alone.
    """
    n = len(design.weight)
    if n <= MOST_IN_FOLDS:
        return design
    order = sample_order(design)
    chosen = order[np.linspace(0, n - 1, MOST_IN_FOLDS).astype(np.intp)]
    return design.samples(np.sort(chosen))


def intercept_choice(design: Design, in_fold: Array) -> Choice:
    """The model of the class shares, or of the mean, alone."""
    return chosen_strength(design, np.ones((len(design.weight), 1)), np.zeros(1), in_fold)


def chosen_strength(
    design: Design,
    Z: Columns,
    penalty: Array,
    in_fold: Array,
    *,
    columns: Sequence[Codes] | None = None,
    fixed: Array | float = 0.0,
) -> Choice:
    """Strength of a relative penalty with the smallest held-out deviance.

    `columns` are those that each fold may use, all if None; `fixed` is a part of the penalty that
    is not chosen.
    """
    columns = [np.arange(Z.shape[1])] * N_FOLDS if columns is None else columns
    fixed = np.broadcast_to(fixed, len(penalty))
    folds = _folds(design, Z, columns, in_fold)
    starts = [np.zeros((len(own), design.outcome.Y.shape[1])) for own in columns]
    best, n_rises = Choice(np.inf, STRENGTHS[0]), 0
    for strength in STRENGTHS:
        total = 0.0
        for f, own in enumerate(columns):
            start, own_penalty = starts[f], strength * penalty[own] + fixed[own]
            deviance, starts[f] = _held_out(folds[f], own_penalty, start)
            total += deviance
        n_rises = 0 if total < best.deviance else n_rises + 1
        if total < best.deviance:
            best = Choice(total, strength)
        # Weaker penalties only over-fit further.
        if n_rises == 2:
            break
    return best


def held_out_deviance(design: Design, Z: Columns, penalty: Array, in_fold: Array) -> float:
    """Cross-validated deviance of columns Z with a given penalty."""
    folds = _folds(design, Z, [np.arange(Z.shape[1])] * N_FOLDS, in_fold)
    start = np.zeros((Z.shape[1], design.outcome.Y.shape[1]))
    return sum((_held_out(fold, penalty, start)[0] for fold in folds), 0.0)


def _folds(
    design: Design, Z: Columns, columns: Sequence[Codes], in_fold: Array
) -> list[tuple[Side, Side, Equations | None]]:
    """The samples that learn, those that are held out, and equations of every fold."""
    folds = list(zip(columns, in_fold.T))
    train = [_side(design, Z, own, design.weight - held_out) for own, held_out in folds]
    held_out = [_side(design, Z, own, weight) for own, weight in folds]
    return list(zip(train, held_out, map(_linear_equations, train)))


def _side(design: Design, Z: Columns, columns: Codes, weight: Array) -> Side:
    """Columns, outcomes and weights of the samples that have a weight."""
    if isinstance(Z, LazyColumns):
        return Z.chosen(columns), design.outcome, weight
    is_used = weight > 0
    return Z[:, columns][is_used], design.outcome.rows(is_used), weight[is_used]


def _linear_equations(side: Side) -> Equations | None:
    """Those of a sum of squares, for all strengths of a penalty; None for other families."""
    Z, outcome, weight = side
    Y, family = outcome.Y, outcome.family
    if not family.is_estimated:
        return None
    nothing = np.zeros_like(Y)
    gradient, information = block_sum(
        Z, lambda rows, own: family.equations(own, Y[rows], nothing[rows], weight[rows])
    )
    return gradient, information


def _held_out(
    fold: tuple[Side, Side, Equations | None], penalty: Array, start: Array
) -> tuple[float, Array]:
    """Deviance of the samples that are held out, and coefficients of the others."""
    (Z, outcome, weight), (own_Z, own, own_weight), equations = fold
    if equations is not None:
        gradient, information = equations
        beta = solved_step(gradient, information.copy("F"), np.maximum(penalty, INTERCEPT_PENALTY))
        return own.family.deviance(own.Y, own_Z @ beta, own_weight), beta
    beta = ridge_coefficients(
        Z,
        outcome.Y,
        weight,
        penalty,
        start,
        family=outcome.family,
        tolerance=CROSS_VALIDATION_TOLERANCE,
    )
    return own.family.deviance(own.Y, own_Z @ beta, own_weight), beta


def coefficients_of_all(
    design: Design, Z: Columns, sample: Design, near: Columns, penalty: Array
) -> Array:
    """Coefficients of a penalised fit; `near` are the columns of the samples of folds."""
    start, family = np.zeros((len(penalty), design.outcome.Y.shape[1])), design.outcome.family
    if sample is not design:
        # A pass over all samples is long; a start close to the end saves some.
        own, own_family = (near, sample.outcome.Y, sample.weight), sample.outcome.family
        start = ridge_coefficients(*own, penalty, start, family=own_family)
    return ridge_coefficients(Z, design.outcome.Y, design.weight, penalty, start, family=family)


def _mixed(x: Keys) -> Keys:
    """The splitmix64 hash of unsigned integers."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_keys(codes: Codes, y: Codes, weight: Array, is_nominal: Sequence[bool]) -> Keys:
    """A hash of each row of level codes (n, p).

    It ignores the order of features and classes and the names of nominal levels: levels and
    columns are told apart by how much weight of each class they have.
    """
    keys = np.zeros(len(codes), dtype=np.uint64)
    for code, ignores_order in zip(codes.T, is_nominal):
        per_level = _level_keys(code, y, weight)
        if not ignores_order:
            order: Keys = np.arange(len(per_level), dtype=np.uint64)
            per_level = _mixed(per_level + order)
        # Keys of features are added up, so that their order does not matter. The second part makes
        # the key depend on all levels of the column, and not on those of this row alone.
        keys += _mixed(per_level[code + 1] ^ _mixed(per_level).sum(dtype=np.uint64))
    return keys


def _level_keys(code: Codes, y: Codes, weight: Array) -> Keys:
    """A hash of the weight of each class on each level, missing first, in any order of classes."""
    level, n_classes = code + 1, int(y.max()) + 1
    table = np.bincount(level * n_classes + y, weight, (level.max() + 1) * n_classes)
    # Rounded, so that the order in which weights were added up does not show.
    counts = np.round(table.reshape(-1, n_classes) * 2**20).astype(np.uint64)
    return _mixed(_mixed(counts).sum(axis=1, dtype=np.uint64))


def row_order(
    codes: Codes,
    y: Codes,
    weight: Array,
    is_nominal: Sequence[bool],
    values: Array | None = None,
) -> Codes:
    """Samples class by class, shuffled by what is in them; `values` tell equal rows apart."""
    keys = row_keys(codes, y, weight, is_nominal)
    # Equal rows, or different rows that happen to have one key: then their codes decide.
    if len(np.unique(keys)) < len(keys):
        ties = codes.T if values is None else (values, *codes.T)
        return np.lexsort((*ties, keys, y))
    return np.lexsort((keys, y))


def fold_weights(
    codes: Codes,
    y: Codes,
    weight: Array,
    is_nominal: Sequence[bool] | None = None,
    values: Array | None = None,
) -> Array:
    """How much of each sample's weight is in each fold: (n, 5), rows sum to `weight`."""
    if is_nominal is None:
        is_nominal = [False] * codes.shape[1]
    order = row_order(codes, y, weight, is_nominal, values)
    # Weights that sum to less than the number of samples would all fall on one interval.
    lengths = weight[order] / min(1.0, weight.mean())
    # Each class starts with the first fold, so that the names of the classes do not matter.
    end = np.concatenate([np.cumsum(part) for part in _per_class(lengths, y[order])])
    if np.all(weight == np.round(weight)):
        share = _measure_per_fold(end) - _measure_per_fold(end - lengths)
    else:
        middle = np.floor(end - lengths / 2).astype(int)
        share = lengths[:, None] * np.eye(N_FOLDS)[middle % N_FOLDS]
    in_fold = np.empty((len(y), N_FOLDS))
    in_fold[order] = share * (weight[order] / lengths)[:, None]
    return in_fold


def _per_class(values: Array, sorted_y: Codes) -> list[Array]:
    return np.split(values, np.flatnonzero(np.diff(sorted_y)) + 1)


def _measure_per_fold(position: Array) -> Array:
    """Length of the line left of each position that belongs to each fold."""
    # Fold f owns the unit intervals that begin at f, f + 5, f + 10, ...
    rounds = np.floor(position / N_FOLDS)
    rest = position - N_FOLDS * rounds
    return rounds[:, None] + np.clip(rest[:, None] - np.arange(N_FOLDS), 0.0, 1.0)
