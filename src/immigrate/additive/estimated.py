"""Evidence for terms where variances are not known from the mean: those of a number.

U = C'r as for classes, but with residuals whose variances must be estimated, from few samples and
of any shape. With R what the null model and the main effects G of the term leave of a column,

    R = I - N (N'WN + D)^-1 N'W,   N = [Z, G],   D = 0 for G,

each form of a term has columns W = RC (white ones for the score, RC themselves for the kernel),
U = W'y, and residuals r of a fit that holds C as well, so that an effect does not count as noise.

    left_i   what is left of equal variances in r_i, nu = sum left, s^2 = sum r^2 / nu
    v_i      s^2 times what the levels of the term's features say of it, as far as they are sure
    omega_i  r_i^2 / left_i where the fit leaves enough of the sample, v_i elsewhere
    S        W diag(omega) W', t its trace

Q = U'U is then near t F(f, f0): f = t^2 / tr S^2, and f0 = (sum |W_i|^2 v_i)^2 over the variance
of that sum is how many samples t rests on, in the way of Satterthwaite [1]_; far out Q / t is the
ratio of a mixture of chi2 to an independent chi2. The score has a second p-value, of U'S^-1 U by
Hotelling's law with eta degrees of freedom from the same variances: it weighs directions by what
the samples know of them, while the first asks less of few samples.

With unequal or skewed noise, and from 24 samples up, p-values so hold what they say, where an
F-test finds pairs that are not there in up to six of ten tables (docs/measurements/numbers.md).

References
----------
.. [1] J. E. Pustejovsky and E. Tipton, "Small-sample methods for cluster-robust variance
   estimation and hypothesis testing in fixed effects models", JBES 36 (2018).
   :doi:`10.1080/07350015.2016.1247004`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from immigrate.additive.cleared import Cleared, OnRows
from immigrate.additive.moments import Moments
from immigrate.additive.p_values import (
    FormResult,
    cauchy_combination,
    log_f_tail,
    log_ratio_tail,
    whitening,
)
from immigrate.additive.rows import Rows
from immigrate.arrays import Array, Codes, Mask

# A sample of which the fit leaves less says little of its own variance.
SMALLEST_SHARE_LEFT = 0.3
# Residual degrees of freedom from which the cosines of ordered features have forms: two of each in
# the score, all in the kernel. Below that the normal scores and the halves speak for them.
FEWEST_FOR_SCORE, FEWEST_FOR_KERNEL = 20, 60
# With less than this nothing is left to estimate a variance from.
FEWEST_LEFT = 1.0
# Below this p the F distribution hands over to the mixture.
TAIL_STARTS_AT = 0.01
TINY = np.finfo(np.float64).tiny


class Spread(NamedTuple):
    """Groups of samples whose variances may differ, by one feature of each term."""

    place: Codes  # (b, n), group of each sample, counted on from term to term
    n_groups: int  # per term, at most

    def sums(self, values: Array, rows: Rows) -> Array:
        """Sums over the samples of each group: (b, n_groups)."""
        n_terms = len(self.place)
        place = self.place[:, rows].ravel()
        total = np.bincount(place, values.ravel(), n_terms * self.n_groups)
        return total.astype(np.float64).reshape(n_terms, -1)

    def of_samples(self, values: Array, rows: Rows) -> Array:
        """What the group of each sample has: (b, n_rows)."""
        return values.ravel()[self.place[:, rows]]


def spreads_of(groups: Sequence[Codes], terms: Codes) -> list[Spread]:
    """Those of the first feature of every term, of the second, ..."""
    spreads = []
    for features in terms.T:
        own = np.array([groups[a] for a in features])
        n_groups = int(own.max()) + 1
        spreads.append(Spread(own + n_groups * np.arange(len(terms))[:, None], n_groups))
    return spreads


@dataclass(frozen=True, eq=False)
class Form:
    """One form of the terms: which of their columns it takes, and how.

    Attributes
    ----------
    columns : ndarray
    is_used : ndarray of shape (b, len(columns))
    is_kernel, is_score : bool
    """

    columns: Codes
    is_used: Mask
    is_kernel: bool = False
    is_score: bool = False


def forms_of(cleared: Cleared, is_low: Mask | None, n_single: int) -> list[Form]:
    """Kernel, score and single functions; of triples, for which `is_low` is None, the score."""
    is_used, k = cleared.is_used, cleared.U.shape[1]
    if is_low is None:
        return [Form(np.arange(k), is_used, is_score=True)]
    last = k - n_single
    (df,) = cleared.summed(lambda rows, on: (on.left @ cleared.weight[rows],))
    has_single = is_used[:, last:].any(axis=1)
    low = np.flatnonzero(is_low.any(axis=0))
    for_score, for_kernel = (
        (~has_single | (df >= least))[:, None] for least in (FEWEST_FOR_SCORE, FEWEST_FOR_KERNEL)
    )
    return [
        Form(np.arange(last), is_used[:, :last] & for_kernel, is_kernel=True),
        Form(low, is_used[:, low] & is_low[:, low] & for_score, is_score=True),
        *(Form(np.array([j]), is_used[:, [j]]) for j in range(last, k)),
    ]


def estimated_evidence(cleared: Cleared, forms: list[Form], spreads: list[Spread]) -> FormResult:
    """Log p of each form of each term; weight 0 where nothing is left to estimate from."""
    found = [form_evidence(cleared, form, spreads) for form in forms]
    log_p, is_tested = (np.stack(part) for part in zip(*found))
    return FormResult(log_p, is_tested[:, :, None].astype(np.float64))


def estimated_moments(cleared: Cleared) -> Moments:
    """U and S of all columns, by the residuals of the null model: for the sizes of effects."""

    def sums(rows: Rows, on: OnRows) -> tuple[Array, ...]:
        weight = cleared.weight[rows]
        square = weight * on.r**2
        # Equal variances where a sample has none of its own.
        mean = (square.sum(axis=1) / np.maximum(on.left @ weight, TINY))[:, None]
        is_own = on.left >= SMALLEST_SHARE_LEFT
        omega = np.where(is_own, square / np.where(is_own, on.left, 1.0), weight * mean)
        return (np.matmul(on.once * omega[:, None], on.once.transpose(0, 2, 1)),)

    (S,), is_used = cleared.summed(sums), cleared.is_used
    block = is_used[:, :, None] & is_used[:, None, :]
    kurtosis = np.zeros(is_used.shape)  # `estimated_evidence` counts samples by itself
    return Moments(cleared.U * is_used[:, :, None], S * block, cleared.raw * block, kurtosis)


class OnForm(NamedTuple):
    """A form of terms on some rows."""

    once: Array  # (b, k, n_rows), RC
    W: Array  # its white directions
    square: Array  # (b, n_rows), squares of the residuals of a fit with C as well
    left: Array  # what is left of equal variances in them


@dataclass(frozen=True, eq=False)
class FormFit:
    """A fit of the columns of one form of each term, in white directions.

    Attributes
    ----------
    form : Form
    T : ndarray of shape (b, k, k)
        To white directions; rows of zeros where there are fewer than columns.
    is_there : ndarray of shape (b, k)
        Which directions there are.
    slopes : ndarray of shape (b, k, k)
        (T C'RC T')^-1.
    U, white : ndarray of shape (b, k, d)
    whole : OnForm or None
        All rows of a short table, made once.
    """

    form: Form
    T: Array
    is_there: Mask
    slopes: Array
    U: Array
    white: Array
    whole: OnForm | None = None

    def on(self, rows: OnRows) -> OnForm:
        """The form on the rows of a block."""
        if self.whole is not None:
            return self.whole
        once, twice = (
            one[:, self.form.columns] * self.form.is_used[:, :, None]
            for one in (rows.once, rows.twice)
        )
        W, again = np.matmul(self.T, once), np.matmul(self.T, twice)
        fitted = np.matmul(self.slopes, W)
        r = rows.r - np.einsum("bk,bkn->bn", self.white[:, :, 0], fitted)
        left = rows.left + np.einsum("bkn,bkn->bn", fitted, fitted - 2 * again)
        return OnForm(once, W, r**2, np.maximum(left, TINY))

    def regular(self, matrix: Array) -> Array:
        """A matrix of white directions, with 1 for those that are not there."""
        return matrix + np.eye(self.T.shape[1]) * ~self.is_there[:, :, None]


def fit_of(cleared: Cleared, form: Form) -> FormFit:
    """The fit of a form, with all rows of a short table."""
    at, block = form.columns, form.is_used[:, :, None] & form.is_used[:, None, :]
    inner, squared, raw = (
        one[:, at[:, None], at] * block for one in (cleared.inner, cleared.squared, cleared.raw)
    )
    U = cleared.U[:, at] * form.is_used[:, :, None]
    T = whitening(squared, raw, cleared.most_explained)
    fit = FormFit(form, T, np.any(T != 0, axis=2), T, U, np.matmul(T, U))
    inner = fit.regular(np.matmul(np.matmul(T, inner), T.transpose(0, 2, 1)))
    fit = replace(fit, slopes=np.linalg.inv(inner).astype(np.float64, copy=False))
    return fit if cleared.whole is None else replace(fit, whole=fit.on(cleared.whole))


def form_evidence(cleared: Cleared, form: Form, spreads: list[Spread]) -> tuple[Array, Mask]:
    """Log p (b, d) of one form, and which terms it could be tested for (b,)."""
    fit, weight = fit_of(cleared, form), cleared.weight
    df = fit.is_there.sum(axis=1)
    variances = estimated_variances(cleared, fit, spreads)

    def sums(rows: Rows, terms: OnRows) -> tuple[Array, ...]:
        once, W, square, left = fit.on(terms)
        v, w = variances.on(rows), weight[rows]
        columns = once if form.is_kernel else W
        omega = w * np.where(left >= SMALLEST_SHARE_LEFT, square / left, v)
        x = np.einsum("bkn,bkn->bn", columns, columns) * v
        S, expected = (
            np.matmul(own * one[:, None], own.transpose(0, 2, 1))
            for own, one in ((columns, omega), (W, w * v))
        )
        return S, expected, *variances.parts(rows, left, x)

    S, expected, *parts = cleared.summed(sums)
    total = np.einsum("bkk->b", S)
    is_tested = (df > 0) & (variances.nu > FEWEST_LEFT) & (total > 0)
    f0 = np.where(is_tested, np.minimum(variances.nu, variances.freedom(parts)), 1.0)
    size = np.where(is_tested, total, 1.0)[:, None]
    statistic = np.sum((fit.U if form.is_kernel else fit.white) ** 2, axis=1) / size
    log_p = log_trace_tail(statistic, S / size[:, :, None], f0)
    if form.is_score and len(form.columns) > 1:
        unit = np.eye(len(form.columns))
        S, expected = (
            np.where(is_tested[:, None, None], fit.regular(one), unit) for one in (S, expected)
        )
        eta = hotelling_freedom(cleared, fit, variances, np.asarray(np.linalg.inv(expected)))
        hotelling = np.sum(fit.white * np.linalg.solve(S, fit.white), axis=1)
        log_p = with_hotelling(log_p, hotelling, df, eta)
    return np.where(is_tested[:, None], log_p, 0.0), is_tested


def hotelling_freedom(
    cleared: Cleared, fit: FormFit, variances: Variances, inverse: Array
) -> Array:
    """Eta: degrees of freedom of S as a Wishart matrix, by the spread of its trace."""

    def shares(rows: Rows, terms: OnRows) -> tuple[Array, ...]:
        _, W, _, left = fit.on(terms)
        own = np.einsum("bkn,bkn->bn", W, np.matmul(inverse, W))
        return tuple(variances.parts(rows, left, own * variances.on(rows)))

    df = fit.is_there.sum(axis=1)
    spread = np.maximum(variances.variance(cleared.summed(shares)), TINY)
    return np.minimum(variances.nu, df * (df + 1) / 2 / spread)


def log_trace_tail(statistic: Array, S: Array, f0: Array) -> Array:
    """Log p of U'U / tr S, (b, d), where S has the trace 1."""
    f = np.maximum(1 / np.maximum(np.einsum("bkl,bkl->b", S, S), TINY), 1.0)
    log_p = log_f_tail(statistic, f[:, None], f0[:, None])
    term, draw = np.nonzero(log_p < np.log(TAIL_STARTS_AT))
    if S.shape[1] > 1 and len(term):
        needed, row = np.unique(term, return_inverse=True)
        eigenvalues = np.asarray(np.linalg.eigvalsh(S[needed]), dtype=np.float64)
        log_p[term, draw] = log_ratio_tail(statistic[term, draw], eigenvalues[row], f0[term])
    return log_p


def with_hotelling(log_p: Array, statistic: Array, df: Array, eta: Array) -> Array:
    """The Cauchy combination with the tail of U'S^-1 U, where it has degrees of freedom."""
    left = eta - df + 1
    is_there = (left > 1) & (df > 1)
    left, df = np.where(is_there, left, 2.0)[:, None], np.maximum(df, 1.0)[:, None]
    scaled = statistic * left / (left + df - 1) / df
    other = log_f_tail(scaled, df, left)
    return np.where(is_there[:, None], cauchy_combination(np.stack([log_p, other])), log_p)


@dataclass(frozen=True, eq=False)
class Variances:
    """Variances of samples by the levels of the features of their term.

    Attributes
    ----------
    nu : ndarray of shape (b,)
        Sum of what is left of the samples.
    spreads : list of Spread
    left : list of ndarray (b, n_groups)
        What is left of the samples of each group.
    ratio : list of ndarray (b, n_groups)
        By how much the variance of a group is larger than the mean, shrunk.
    shrinkage : list of ndarray (b,)
        1 where groups surely differ, 0 where nothing says so.
    weight : ndarray of shape (n,)
    scale : ndarray of shape (b,)
        Times the ratios of its groups a sample's variance: together they explain the residuals.
    """

    nu: Array
    spreads: list[Spread]
    left: list[Array]
    ratio: list[Array]
    shrinkage: list[Array]
    weight: Array
    scale: Array

    def on(self, rows: Rows) -> Array:
        """V of samples, (b, n_rows)."""
        v = self.scale[:, None] * np.ones(len(self.weight[rows]))
        for spread, ratio in zip(self.spreads, self.ratio):
            v = v * spread.of_samples(ratio, rows)
        return v

    def parts(self, rows: Rows, left: Array, x: Array) -> list[Array]:
        """Sums that say how uncertain the sum of x >= 0, shares of a variance, is."""
        weight = self.weight[rows]
        is_own = left >= SMALLEST_SHARE_LEFT
        small = np.where(is_own, 0.0, weight * x)
        own = np.where(is_own, x**2 / np.where(is_own, left, 1.0), 0.0) @ weight
        by_group = [spread.sums(small, rows) for spread in self.spreads]
        return [x @ weight, own, small.sum(axis=1), *by_group]

    def variance(self, parts: Sequence[Array]) -> Array:
        """Half the variance of the sum of x, were all its variances estimated as here."""
        _, own, small, *by_group = parts
        total = own + small**2 / np.maximum(self.nu, TINY)
        for sums, left, shrinkage in zip(by_group, self.left, self.shrinkage):
            total = total + shrinkage**2 * np.sum(sums**2 / np.maximum(left, 0.5), axis=1)
        return np.asarray(total)

    def freedom(self, parts: Sequence[Array]) -> Array:
        """Degrees of freedom of the sum of x."""
        return np.asarray(parts[0] ** 2 / np.maximum(self.variance(parts), TINY))


def estimated_variances(cleared: Cleared, fit: FormFit, spreads: list[Spread]) -> Variances:
    """Variances of one form, from the residuals of its fit and what is left of the samples."""

    def by_group(rows: Rows, terms: OnRows) -> tuple[Array, ...]:
        *_, square, left = fit.on(terms)
        square, left = cleared.weight[rows] * square, cleared.weight[rows] * left
        sums = [one.sums(values, rows) for one in spreads for values in (left, square)]
        return left.sum(axis=1), square.sum(axis=1), *sums

    nu, total, *sums = cleared.summed(by_group)
    mean = total / np.maximum(nu, TINY)
    lefts, ratios, shrinkages = [], [], []
    for left, square in zip(sums[::2], sums[1::2]):
        relative = square / np.maximum(left * mean[:, None], TINY)
        is_there = left > 1e-9
        # Twice as large as its degrees of freedom where groups differ, as large where they do not.
        excess = np.sum(np.where(is_there, left / 2 * (relative - 1) ** 2, 0.0), axis=1)
        least = is_there.sum(axis=1) - 1
        shrinkage = np.maximum(0.0, 1 - least / np.maximum(excess, TINY))
        near = (square / np.maximum(mean, TINY)[:, None] + 1) / (left + 1)
        lefts.append(left)
        ratios.append(near ** shrinkage[:, None])
        shrinkages.append(shrinkage)
    found = Variances(nu, spreads, lefts, ratios, shrinkages, cleared.weight, np.ones(len(nu)))

    def size(rows: Rows, terms: OnRows) -> tuple[Array, ...]:
        left = fit.on(terms)[-1]
        return ((left * found.on(rows)) @ cleared.weight[rows],)

    # Together they explain the residuals.
    (expected,) = cleared.summed(size)
    return replace(found, scale=total / np.maximum(expected, TINY))
