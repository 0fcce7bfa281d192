"""C, the product columns of a term, and G, the main effects of its own features.

For a pair (a, b) the columns are C_kl = phi_ak phi_bl / (kl), the product of the normal scores
of a and b, and that of the sides of their medians. A single feature is a term too, whose columns
are its functions themselves and which has no main effects but its own.
"""

from __future__ import annotations

import numpy as np

from immigrate.inference.encoding import ALL, N_SINGLE, N_SMOOTH, Encoded, Functions
from immigrate.inference.rows import Rows, added, fits_whole, mapped_rows, row_slices
from immigrate.typing import Array, Codes, Mask

SMOOTH_PENALTY, LEVEL_PENALTY = 1.0, 0.3


def phi_products(phi: Array, terms: Codes) -> Array:
    """All products of one phi of each feature of a term: (b, k^order, n) from (p, k, n)."""
    columns = phi[terms[:, 0]]
    for feature in terms[:, 1:].T:
        columns = columns[:, :, None] * phi[feature][:, None]
        columns = columns.reshape(len(terms), -1, columns.shape[-1])
    return columns


def term_columns(
    functions: Functions, terms: Codes, rows: Rows = ALL, k: int | None = None
) -> Array:
    """C of each pair: phi products, then those of the single functions: (b, k^2 + 2, n_rows).

    Of a feature its functions: (b, k + 2, n_rows). Of a triple the phi products with k <= 2:
    (b, 8, n_rows). `k` is the number of functions of each feature; None takes all.
    """
    # Each feature is made once, however many terms of the block it is in.
    features, position = np.unique(terms, return_inverse=True)
    position = position.reshape(terms.shape)
    if terms.shape[1] == 3:
        return phi_products(functions.phi_of(features, rows, N_SMOOTH), position)
    single = functions.single_of(features, rows)
    # Zeros where one of the features has no single functions, so that the form does not count.
    last = np.prod([single[place] for place in position.T], axis=0)
    return np.concatenate(
        [phi_products(functions.phi_of(features, rows, k), position), last], axis=1
    )


def low_columns(functions: Functions, terms: Codes, k: int | None = None) -> Mask:
    """Which phi products of each pair, or functions of each feature, enter the score form."""
    of_features = functions.is_low[:, :k]
    is_low = of_features[terms[:, 0]]
    for feature in terms[:, 1:].T:
        is_low = is_low[:, :, None] & of_features[feature][:, None, :]
        is_low = is_low.reshape(len(terms), -1)
    return is_low


def column_penalty(functions: Functions, terms: Codes, sizes: Array) -> Array:
    """A weak ridge on the columns of features or pairs: (b, k), given their mean squares.

    Columns of features with an order already weigh by smoothness, phi_k / k. Those of a few
    levels are taken back to one size each: no level is rougher than another.
    """
    has_order = np.any(functions.has_single[terms], axis=1)
    return np.where(has_order[:, None], SMOOTH_PENALTY, LEVEL_PENALTY * sizes)


def own_main_effects(data: Encoded, terms: Codes, rows: Rows = ALL) -> Array:
    """G of each term: additive columns of its features, on the samples where all are known.

    (b, m, n_rows), zero rows where there are fewer. A single feature has none beside itself.
    """
    weight = data.weight[rows]
    if terms.shape[1] == 1:
        return np.empty((len(terms), 0, len(weight)))
    features, position = np.unique(terms, return_inverse=True)
    own = [data.main_effect(int(a)).of(rows) for a in features]
    columns = np.zeros((len(features), max(map(len, own)), len(weight)))
    for row, values in zip(columns, own):
        row[: len(values)] = values
    G = columns[position.reshape(terms.shape)].reshape(len(terms), -1, len(weight))
    if not any(data.levels[a].has_missing for a in features):
        return G
    # Where one is missing, its correlates stand in for it: only there are their effects stronger.
    is_known = np.array([data.levels[a].code[rows] >= 0 for a in features])
    is_complete = np.all(is_known[position.reshape(terms.shape)], axis=1, keepdims=True)
    return np.concatenate([G * is_complete, is_complete], axis=1)


def term_squares(data: Encoded, terms: Codes) -> Array:
    """Weighted sums of the squares of the columns of terms: (b, k)."""

    def squares(rows: slice) -> tuple[Array]:
        return (term_columns(data.functions, terms, rows) ** 2 @ data.weight[rows],)

    n, n_columns = len(data.weight), len(terms) * (data.functions.is_low.shape[1] ** 2 + N_SINGLE)
    slices = row_slices(n, n_columns, is_whole=fits_whole(n, n_columns))
    return added(mapped_rows(squares, slices, data.run))[0]
