"""What a model is compared with when it predicts: all samples, or prototypes of them.

Prediction compares a new sample with every reference. A few thousand counted centres do as well
as all samples of a large table, at a fraction of the time, and a model that holds them no longer
holds the samples it was fitted on.

A fit on a sample, or with prototypes in place of samples, has learned its weights under other
references than it will predict with. The denser those are the smaller the best neighbourhood, so
sigma is chosen again:

    some samples of each class are put aside
    the others become the references       all of them, or their prototypes
    sigma times each FACTOR                the one that does best on the samples put aside
    all samples become the references
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_sample_size
from immigrate.durations import MOST_JUDGING_SECONDS
from immigrate.kernels import pass_seconds
from immigrate.kinds.circular import circular_mean
from immigrate.margin.choice import CRITERIA, best_temperature
from immigrate.margin.encoding import References
from immigrate.margin.model import MarginModel

if TYPE_CHECKING:
    from immigrate.margin.problem import Task

__all__ = ["ClassCentres"]

# Where "auto" ends: more centres than this were hardly better on a million rows
# (docs/measurements/scaling.md). Smaller tables have a centre for every fifth sample.
MOST_CENTRES, SAMPLES_PER_CENTRE = 4000, 5
# Steps over all samples after the mini-batches: the first two gain most.
FULL_STEPS = 2
BATCH = 4096
# Rows that are assigned in one compiled call: Ctrl-C is heard in between.
ROWS_AT_ONCE = 16384

FACTORS = tuple(2.0**k for k in (1, 0.5, 0, -0.5, -1, -1.5, -2, -3, -4))
# Samples that judge sigma: a fifth, as in cross-validation, up to a number that suffices, or fewer
# where the references are many and take long.
JUDGING_SHARE, MOST_JUDGES, FEWEST_JUDGES = 0.2, 4000, 200


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
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import ClassCentres
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
    # Here, because a fit without prototypes need not wait for all that clusters.
    from sklearn.cluster import MiniBatchKMeans

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
        # Centres that are nearest to no sample are dropped.
        groups = np.unique(nearest, return_inverse=True)[1]
    return groups


def nearest_centre(Z: Array, centres: Array) -> Codes:
    """Index of the centre that is nearest to each row."""
    # Here, because a fit without prototypes need not wait for all measures of scikit-learn.
    from sklearn.metrics import pairwise_distances_argmin

    blocks = (Z[i : i + ROWS_AT_ONCE] for i in range(0, len(Z), ROWS_AT_ONCE))
    return np.concatenate([pairwise_distances_argmin(block, centres) for block in blocks])


def means(Z: Array, groups: Codes) -> Array:
    """Mean of the rows of each group that has any."""
    groups = np.unique(groups, return_inverse=True)[1]
    size = np.bincount(groups)
    sums = np.column_stack([np.bincount(groups, weights=z) for z in Z.T])
    return sums / size[:, None]


def resolved_references(references: Any, is_sampled: bool) -> ClassCentres | None:
    """What `references` stands for; None is all samples.

    Examples
    --------
    >>> from immigrate.margin.prototypes import resolved_references
    >>> resolved_references(500, is_sampled=False)
    ClassCentres(n_centres=500)
    >>> resolved_references("auto", is_sampled=True)
    ClassCentres()
    """
    if isinstance(references, ClassCentres):
        return references
    if isinstance(references, str) and references in ("all", "auto"):
        return ClassCentres() if references == "auto" and is_sampled else None
    is_number = isinstance(references, int | float | np.integer)
    if not is_number or isinstance(references, bool):
        raise ValueError(
            f"references must be 'auto', 'all', a number of centres, a share of the samples, or "
            f"ClassCentres such as ClassCentres(1000); got {references!r}."
        )
    return ClassCentres(references)


def as_it_predicts(
    model: MarginModel,
    task: Task,
    *,
    rules: Sequence[str] | None = None,
    temperatures: Sequence[float] | None = None,
    scoring: str = "accuracy",
) -> MarginModel:
    """A model that was fitted on `task`, with the references that its options ask for."""
    options, is_sampled = task.options, task.samples is not None
    prototypes = resolved_references(options.references, is_sampled)
    if prototypes is None and not is_sampled:
        return model
    return with_references(
        model,
        task.all_references,
        prototypes,
        rules=(model.rule,) if rules is None else rules,
        temperatures=temperatures,
        scoring=scoring,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )


def with_references(
    model: MarginModel,
    all_references: References,
    prototypes: ClassCentres | None,
    *,
    rules: Sequence[str],
    temperatures: Sequence[float] | None = None,
    scoring: str = "accuracy",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> MarginModel:
    """The model over other references, with the setting that predicts best with them.

    Parameters
    ----------
    model : MarginModel
        As it was fitted, on all samples or on a sample.
    all_references : References
        All samples.
    prototypes : ClassCentres or None
        How to summarise them; None keeps all.
    rules : sequence of str
        Rules to choose from.
    temperatures : sequence of float or None
        Temperatures to choose from; None keeps that of the model.
    scoring : str
        The criterion of the choice.
    """
    random = check_random_state(random_state)
    is_judge = judges(all_references, prototypes, model.weights.size, random)
    others = summarised(all_references.rows(~is_judge), prototypes, model.weights, random)
    best = best_setting(
        model.on(others),
        all_references.rows(is_judge),
        rules=rules,
        temperatures=temperatures,
        scoring=scoring,
        n_jobs=n_jobs,
    )
    return best.on(summarised(all_references, prototypes, model.weights, random))


def judges(
    all_references: References, prototypes: ClassCentres | None, n_weights: int, random: Any
) -> Mask:
    """Samples of each class that choose sigma; one of each class at least stays a reference."""
    n = len(all_references.codes)
    most = MOST_JUDGES
    if prototypes is None:
        per_judge = len(FACTORS) * pass_seconds(n, n_weights)
        most = int(np.clip(MOST_JUDGING_SECONDS / per_judge, FEWEST_JUDGES, MOST_JUDGES))
    share = min(JUDGING_SHARE, most / n)
    is_judge = np.zeros(n, dtype=bool)
    for code in range(int(all_references.codes.max()) + 1):
        own = np.flatnonzero(all_references.codes == code)
        n_judges = min(int(np.ceil(share * len(own))), len(own) - 1)
        is_judge[random.permutation(own)[:n_judges]] = True
    return is_judge


def best_setting(
    model: MarginModel,
    judging: References,
    *,
    rules: Sequence[str],
    temperatures: Sequence[float] | None,
    scoring: str,
    n_jobs: int | None,
) -> MarginModel:
    """The rule, temperature and factor of sigma that do best on samples that are no references."""
    # In the shape of the user's table, which is what models read; columns that they do not use are
    # blank.
    X = np.full((len(judging.codes), len(judging.is_used)), np.nan)
    X[:, judging.is_used] = judging.values
    candidates, criteria = [], []
    for rule in rules:
        for factor in FACTORS:
            one = model.with_sigma_times(factor).with_rule(rule, model.temperature)
            score, sigma = one.scores_and_width(X, n_jobs)
            if temperatures is not None:
                # The width includes the temperature of the model: take it out.
                unit = sigma / model.temperature
                heat = best_temperature([(score, judging.codes)], unit, temperatures)
                one, sigma = one.with_rule(rule, heat), unit * heat
            candidates.append(one)
            criteria.append(CRITERIA[scoring](score, sigma, judging.codes).mean())
    return candidates[int(np.argmax(criteria))]


def summarised(
    samples: References, prototypes: ClassCentres | None, weights: Array, random: Any
) -> References:
    """The samples themselves, or their prototypes."""
    if prototypes is None:
        return samples
    groups = prototypes.groups(points_in_metric(samples, weights), samples.codes, random)
    first = np.unique(groups, return_index=True)[1]
    return replace(
        samples,
        values=summary(
            samples.values, groups, samples.encoding.n_levels > 0, samples.encoding.periods
        ),
        codes=samples.codes[first],
        count=np.bincount(groups).astype(float),
        anchor_weight=None,
        is_anchor=None,
        is_summary=True,
    )


def points_in_metric(samples: References, weights: Array) -> Array:
    """Samples as points whose Euclidean distances are about those under the diagonal of W.

    Levels become one column each, and what is missing the mean of its column. The unit is the
    largest number of the table, so that no square overflows.
    """
    is_nominal = samples.encoding.kinds.is_nominal
    numbers = np.where(is_nominal, 0.0, samples.table.astype(np.float64))
    # A power of two, which rounds nothing.
    exponent = -int(np.frexp(np.fmax.reduce(np.abs(numbers), axis=None, initial=0.0))[1])
    table = np.where(is_nominal, samples.table, np.ldexp(numbers, exponent))
    kinds = samples.encoding.kinds.scaled(exponent)
    mismatch, period = np.asarray(kinds.mismatch), kinds.period
    scale = np.sqrt(np.maximum(samples.form.own_weights(weights), 0.0))
    columns = []
    for j, x in enumerate(table.T):
        if is_nominal[j]:
            levels = x[:, None] == np.unique(x[~np.isnan(x)])
            # Two levels differ in two columns: 1 / sqrt(2) in each makes the distance of one
            # mismatch.
            columns.append(levels * (scale[j] * mismatch[j] / np.sqrt(2)))
            continue
        if period is not None and np.isfinite(period[j]):
            # A circle whose arcs are the differences, and its chords nearly so.
            radius, angle = period[j] / (2 * np.pi), 2 * np.pi * x / period[j]
            both = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        else:
            both = x[:, None]
        for own in both.T:
            is_missing = np.isnan(own)
            middle = own[~is_missing].mean() if not is_missing.all() else 0.0
            columns.append(scale[j] * np.where(is_missing, middle, own)[:, None])
    return np.hstack(columns)


def summary(values: Array, groups: Codes, is_nominal: Mask, periods: Array | None = None) -> Array:
    """One row per group: means of what is known, the most frequent level; NaN of nothing."""
    rows = np.empty((int(groups.max()) + 1, values.shape[1]), dtype=values.dtype)
    for j, x in enumerate(values.T):
        is_known = ~np.isnan(x)
        own = groups[is_known]
        if is_nominal[j]:
            rows[:, j] = most_frequent(x[is_known], own, len(rows))
            continue
        if periods is not None and np.isfinite(periods[j]):
            rows[:, j] = [circular_mean(x[groups == k], periods[j]) for k in range(len(rows))]
            continue
        size = np.bincount(own, minlength=len(rows))
        # Divided before they are added up: the sum of huge numbers would overflow.
        parts = x[is_known].astype(np.float64) / size[own]
        means = np.bincount(own, weights=parts, minlength=len(rows))
        rows[:, j] = np.where(size > 0, means, np.nan)
    return rows


def most_frequent(levels: Array, groups: Codes, n_groups: int) -> Array:
    """The most frequent level of each group, the first of those that tie; NaN without any."""
    result = np.full(n_groups, np.nan)
    if not len(levels):
        return result
    values, codes = np.unique(levels, return_inverse=True)
    count = np.zeros((n_groups, len(values)), dtype=np.intp)
    np.add.at(count, (groups, codes), 1)
    is_any = count.any(axis=1)
    result[is_any] = values[count.argmax(axis=1)[is_any]]
    return result
