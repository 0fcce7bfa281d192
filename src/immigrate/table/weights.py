"""Weights of samples and what they mean: how much a sample matters, or how often it was seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_sample_weight

from immigrate.arrays import Array, Codes, Mask
from immigrate.outcomes.classes import Labels, check_class_sizes
from immigrate.progress import warn_user
from immigrate.scikit_learn import checked_sample_weight

# More samples than any table has; the folds of the test count them in 64 bits.
MOST_SAMPLES = 1e12
LEAST_SAMPLES = 1e-6
LEAST_SHARE = 1e-9
# More than one sample to speak of: two of equal weight are 2.
LEAST_SIZE = 1.5


@dataclass(frozen=True, eq=False)
class SampleWeight:
    """A weight per sample.

    Attributes
    ----------
    values : ndarray of shape (n,)
    meaning : {"importance", "count"}
        Importances have the sum 1 over the whole table, counts that of the samples seen.
    """

    values: Array
    meaning: Literal["importance", "count"]

    def rows(self, chosen: Codes | Mask) -> SampleWeight:
        """Those of some of the samples."""
        return replace(self, values=self.values[chosen])

    def as_counts(self) -> Array:
        """Counts as they are, importances scaled to sum to the effective sample size."""
        weight = self.values
        if self.meaning == "count" or not weight.any():
            return weight
        # By a power of two, which is exact: squares of tiny weights must not vanish.
        weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
        # Their sum is then sum(w)^2 / sum(w^2), whatever unit the weights had.
        return weight * weight.sum() / np.sum(weight**2)


def anchor_weights(
    labels: Labels, values: NDArray[Any], sample_weight: Any, class_weight: Any
) -> SampleWeight:
    """D of Eq. 10: the user's weights, times those of the classes, scaled to sum 1."""
    weight = checked_sample_weight(sample_weight, values)
    if class_weight is not None:
        of_classes = class_weights(labels, class_weight)
        # The product of two huge weights would overflow.
        weight = (weight / (weight.max() or 1.0)) * (of_classes / (of_classes.max() or 1.0))
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    # Twice, so that huge weights do not overflow their sum.
    weight = weight / weight.max()
    return SampleWeight(weight / weight.sum(), "importance")


def class_weights(labels: Labels, class_weight: Any) -> Array:
    """What `class_weight` says of each sample."""
    if labels.numbers is not None:
        raise ValueError(
            "class_weight weighs classes, and the outcome is a number; use sample_weight, or "
            "outcome='class' if the numbers are names of classes."
        )
    weight: Array = compute_sample_weight(class_weight, labels.classes[labels.codes])
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError(
            f"class_weight must hold finite numbers, 0 or more, got {class_weight!r}."
        )
    return weight


def sample_counts(labels: Labels, values: NDArray[Any], sample_weight: Any) -> SampleWeight:
    """How often each sample was seen; refuses what leaves nothing to compare."""
    weight = np.ones(len(values))
    if sample_weight is not None:
        weight = _counts(checked_sample_weight(sample_weight, values))
    if labels.numbers is not None:
        _check_numbers(labels.numbers, weight)
        return SampleWeight(weight, "count")
    seen, size = np.unique(labels.codes[weight > 0], return_counts=True)
    check_class_sizes(labels.classes[seen], size, least=1)
    if size.max() == 1:
        raise ValueError(
            f"Every class of the target has one sample: {len(seen)} classes in as many samples, "
            "so that nothing can be compared. Check that the right column is used as the target."
        )
    if not is_comparable(labels.codes, weight):
        raise ValueError(
            "sample_weight gives nearly all weight, or that of every class, to one sample; "
            "nothing can be compared."
        )
    warn_if_no_counts(weight[weight > 0])
    return SampleWeight(weight, "count")


def _counts(weight: Array) -> Array:
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    if not LEAST_SAMPLES < weight.max() < MOST_SAMPLES / len(weight):
        raise ValueError(
            f"The largest number in sample_weight is {weight.max():.3g}. The test reads weights "
            f"as counts, and counts below {LEAST_SAMPLES:.0e}, or of more than {MOST_SAMPLES:.0e} "
            "samples in all, are not sensible; multiply weights of importance by sum(w) / "
            "sum(w**2)."
        )
    # A sample that counts so much less than another was not seen, for all that sums of counts say.
    return np.where(weight >= LEAST_SHARE * weight.max(), weight, 0.0)


def _check_numbers(numbers: Array, weight: Array) -> None:
    if len(np.unique(numbers[weight > 0])) < 2 or effective_size(weight) < LEAST_SIZE:
        raise ValueError(
            "y is one number for all samples that have a weight to speak of; nothing can be "
            "compared."
        )
    warn_if_no_counts(weight[weight > 0])


def refuse_repeated(groups: ArrayLike, n_samples: int) -> None:
    """Refuse groups with several samples: those of one patient are more alike than is assumed."""
    members = np.asarray(groups)
    if members.shape != (n_samples,):
        raise ValueError(
            f"groups has the shape {members.shape} for {n_samples} samples; give one entry for "
            "each."
        )
    is_missing = np.asarray(pd.isna(members))
    if is_missing.any():
        raise ValueError(
            f"groups is missing (NaN) in {is_missing.sum()} of {n_samples} samples, first in row "
            f"{np.flatnonzero(is_missing)[0]}. Name the group of each sample, or drop these rows."
        )
    codes, names = pd.factorize(members)
    counts = np.bincount(codes)
    if counts.max(initial=1) == 1:
        return
    first = int(np.argmax(counts > 1))
    raise ValueError(
        f"groups has {len(counts)} members for {counts.sum()} samples; {names.tolist()[first]!r} "
        f"has {counts[first]} of them. Samples are taken to be independent; repeated ones make "
        "p-values too small. Give one sample for each, or their mean."
    )


def is_comparable(codes: Codes, weight: Array) -> bool:
    """Whether more than one sample counts noticeably, in all and within at least one class."""
    classes = np.unique(codes[weight > 0])
    largest = max(effective_size(weight[codes == c]) for c in classes)
    return min(largest, effective_size(weight)) >= LEAST_SIZE


def effective_size(weight: Array) -> float:
    """Number of samples of equal weight that would be worth as much: sum(w)^2 / sum(w^2)."""
    share = weight / weight.max()  # squares of tiny weights would vanish
    return float(share.sum() ** 2 / np.sum(share**2))


def warn_if_no_counts(weight: Array) -> None:
    """Weights that sum to 1 would say that there is one sample."""
    if weight.sum() < 0.5 * effective_size(weight):
        warn_user(
            f"sample_weight sums to {weight.sum():.3g} over {len(weight)} samples. The test reads "
            "weights as counts; multiply weights of importance by sum(w) / sum(w**2).",
            UserWarning,
        )
