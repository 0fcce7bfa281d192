"""Predictions of held-out samples, by a model and by simple methods, and their measures.

Every method learns from the same folds. Intervals are over the samples that were held out; they
do not know how much a method itself would differ with other samples to learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from immigrate.arrays import Array, Codes
from immigrate.estimators.immigrate_cv import is_wide
from immigrate.progress import collected_warnings
from immigrate.report.input import ReportInput, as_last_step_gets, last_step
from immigrate.scikit_learn import rows_of
from immigrate.table import ColumnWarning, Reader, read_table

Split = tuple[Codes, Codes]
Measure = dict[str, float]
# Of wide tables, whose models are screened in every fold anew, there are fewer folds.
FOLDS, FOLDS_OF_WIDE = 10, 5
SEED = 0
LEVEL = 0.95
N_DRAWS = 4_000


def splits_of(given: ReportInput) -> list[Split] | None:
    """Training and test samples of each fold; None where a class is too small to hold some out.

    A number of folds is lowered until every class has two samples to learn from, and to the number
    of groups. No group is on both sides of a fold.
    """
    codes, groups, cv = given.outcome.codes, given.groups, given.cv
    if cv is None:
        cv = FOLDS_OF_WIDE if is_wide(np.shape(given.X)[1]) else FOLDS
    if not isinstance(cv, int | np.integer):
        y = given.outcome.classes[codes]
        found = check_cv(cv, y, classifier=True).split(given.X, y, groups)
        return _checked(given, [(np.asarray(train), np.asarray(test)) for train, test in found])
    n_folds = possible_folds(int(np.bincount(codes).min()), int(cv))
    if n_folds is None:
        return None
    if groups is not None:
        n_folds = min(n_folds, len(pd.unique(groups)))
        if n_folds < 2:
            raise ValueError(
                "groups says that all samples are of one group, so that no group can be held out. "
                "Leave groups out, or check that the right column is used."
            )
        by_group = StratifiedGroupKFold(n_folds, shuffle=True, random_state=SEED)
        return _checked(given, list(by_group.split(codes, codes, groups)))
    # A fixed seed: the same table gives the same page. Shuffled, because tables may be sorted.
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    return list(folds.split(codes, codes))


def _checked(given: ReportInput, splits: list[Split]) -> list[Split]:
    """The splits themselves, if there are any, and each leaves classes to be told apart."""
    if not splits:
        raise ValueError("cv has no fold; give a number of folds, or splits.")
    for k, (train, _) in enumerate(splits, 1):
        if len(np.unique(given.outcome.codes[train])) < 2:
            raise ValueError(
                f"Fold {k} of {len(splits)} leaves one class, or none, to learn from. Use fewer "
                "folds, other splits, or groups that are not the classes."
            )
    return splits


def possible_folds(n_smallest: int, wanted: int) -> int | None:
    """Most folds, up to `wanted`, that leave two samples of the smallest class to learn from."""
    for n_folds in range(min(wanted, n_smallest), 1, -1):
        # A fold holds out at most n_smallest / n_folds samples of the class, rounded up.
        if n_smallest - -(-n_smallest // n_folds) >= 2:
            return n_folds
    return None


@dataclass(frozen=True, eq=False)
class Fold:
    """What methods that learned from the other samples predict of those of one fold.

    Attributes
    ----------
    test : ndarray of shape (m,)
        The samples that were held out.
    probability : dict of ndarray of shape (m, n_classes)
        By the name of the method; the models come first. The class of the largest is predicted.
        Where the outcome is a number, the one that is predicted, (m, 1).
    model : fitted estimator or None
        The first model of the first fold; the others are not kept.
    """

    test: Codes
    probability: dict[str, Array]
    model: Any

    def predicted(self, name: str) -> Codes:
        """Codes of the classes that a method predicts."""
        return self.probability[name].argmax(axis=1)


def predicted_folds(
    models: Mapping[str, Any],
    others: Callable[[Reader], Mapping[str, Any]],
    given: ReportInput,
    splits: Sequence[Split],
) -> Iterator[Fold]:
    """Every fold, predicted by fits to the others.

    Parameters
    ----------
    models : dict
        Models of this library, or pipelines that end in one, by name.
    others : callable
        What they are held against, not fitted, for values as a reader reads them.
    given : ReportInput
    splits : sequence of pairs of ndarray
    """
    classes = given.outcome.classes
    y = classes[given.outcome.codes] if given.outcome.numbers is None else given.outcome.numbers
    jobs = (
        delayed(_predicted)(models, others, given.X, y, classes, split, keeps_model=k == 0)
        for k, split in enumerate(splits)
    )
    # The processes of `multiprocessing`, if the user asks joblib for them, give all at the end.
    is_lazy = get_active_backend()[0].supports_return_generator
    yield from Parallel(n_jobs=given.n_jobs, return_as="generator" if is_lazy else "list")(jobs)


def _predicted(
    models: Mapping[str, Any],
    others: Callable[[Reader], Mapping[str, Any]],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    split: Split,
    *,
    keeps_model: bool,
) -> Fold:
    train, test = split
    known, new = rows_of(X, train), rows_of(X, test)
    # The page speaks of the columns of the whole table.
    with collected_warnings(hidden=ColumnWarning):
        fits = {name: clone(model).fit(known, y[train]) for name, model in models.items()}
        probability = {name: _probability(fit, new, classes) for name, fit in fits.items()}
        # The others learn from what the first model reads, after the same first steps.
        first = next(iter(fits.values()))
        last = last_step(first)
        known, new = (read_table(last, as_last_step_gets(first, rows)) for rows in (known, new))
        for name, other in others(last.column_reader_).items():
            probability[name] = _probability(other.fit(known, y[train]), new, classes)
    return Fold(test, probability, first if keeps_model else None)


def _probability(fitted: Any, X: Any, classes: NDArray[Any]) -> Array:
    """Of all classes; a fold need not hold every one, and those it lacks have 0.

    Of a number what is predicted, in one column.
    """
    if not len(classes):
        return np.asarray(fitted.predict(X), dtype=np.float64)[:, None]
    known = fitted.predict_proba(X)
    probability = np.zeros((len(known), len(classes)))
    # Classes are sorted, so that the place of a label is found by bisection.
    probability[:, np.searchsorted(classes, fitted.classes_)] = known
    return probability


def baselines(reader: Reader, seed: int = SEED) -> dict[str, Pipeline]:
    """Simple methods by name, not fitted, for values as `reader` reads them.

    Numbers in standard deviations from their mean, which stands where one is missing; a column of
    0 and 1 for every level of a nominal column, all 0 where it is missing or new.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.report.folds import baselines
    >>> from immigrate.table import Reader
    >>> X = pd.DataFrame({"dose": [1.0, 3.0, None, 2.0], "sex": ["f", "m", "m", None]})
    >>> reader, values = Reader.fit(X)
    >>> method = baselines(reader)["logistic regression"].fit(values, [0, 0, 1, 1])
    >>> method[0].transform(values).round(1)
    array([[-1.2,  1. ,  0. ],
           [ 1.2,  0. ,  1. ],
           [ 0. ,  0. ,  1. ],
           [ 0. ,  0. ,  0. ]])
    """
    scaled = make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=0.0))
    encoder = prepared(reader, scaled)
    forest = RandomForestClassifier(random_state=seed)
    return {
        "logistic regression": make_pipeline(encoder, LogisticRegression(max_iter=5_000)),
        "random forest": make_pipeline(encoder, forest),
        "the largest class": make_pipeline(encoder, DummyClassifier(strategy="most_frequent")),
    }


def prepared(reader: Reader, numbers: Any) -> ColumnTransformer:
    """A column of 0 and 1 for every level; numbers after a step of their own."""
    nominal = np.flatnonzero(reader.is_used & reader.is_nominal)
    levels = [np.arange(reader.n_levels[j], dtype=np.float64) for j in nominal]
    return make_column_transformer(
        (numbers, np.flatnonzero(reader.is_used & ~reader.is_nominal)),
        (OneHotEncoder(categories=levels, handle_unknown="ignore", sparse_output=False), nominal),
    )


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a method predicted of samples that it had not seen.

    Attributes
    ----------
    codes : ndarray of shape (m,)
        True classes of the samples that were held out at least once.
    predicted : ndarray of shape (m,)
        Predicted classes; of samples held out more than once the most frequent one.
    probability : ndarray of shape (m, n_classes)
        Mean over the times a sample was held out.
    """

    codes: Codes
    predicted: Codes
    probability: Array

    @classmethod
    def of(cls, folds: Sequence[Fold], name: str, codes: Codes) -> Self:
        """The predictions of one method in all folds."""
        shape = (len(codes), folds[0].probability[name].shape[1])
        votes, probability = np.zeros(shape), np.zeros(shape)
        for fold in folds:
            votes[fold.test, fold.predicted(name)] += 1
            probability[fold.test] += fold.probability[name]
        is_seen = votes.any(axis=1)
        # A splitter of the user may hold a sample out more than once, or never.
        times = votes[is_seen].sum(axis=1, keepdims=True)
        return cls(codes[is_seen], votes[is_seen].argmax(axis=1), probability[is_seen] / times)

    def measures(self) -> dict[str, Measure]:
        """Accuracy, balanced accuracy and AUC, each with the ends of its interval."""
        return {
            "accuracy": accuracy(self.codes, self.predicted),
            "balanced_accuracy": balanced_accuracy(self.codes, self.predicted),
            "auc": mean_auc(self.codes, self.probability),
        }


def accuracy(codes: Codes, predicted: Codes) -> Measure:
    """Share of right predictions, with Jeffreys' interval.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report.folds import accuracy
    >>> {name: round(x, 2) for name, x in accuracy(np.arange(9), np.arange(9)).items()}
    {'value': 1.0, 'low': 0.76, 'high': 1.0}
    """
    right, n = int(np.sum(codes == predicted)), len(codes)
    low, high = stats.beta.interval(LEVEL, right + 0.5, n - right + 0.5)
    # At its ends the interval reaches to the end.
    return _measure(right / n, 0.0 if right == 0 else low, 1.0 if right == n else high)


def balanced_accuracy(codes: Codes, predicted: Codes) -> Measure:
    """Mean over the classes of the share that is recognised; the interval by Jeffreys' draws."""
    table = confusion_matrix(codes, predicted)
    right, n = np.diag(table), table.sum(axis=1)
    right, n = right[n > 0], n[n > 0]
    rng = np.random.default_rng(SEED)
    draws = rng.beta(right + 0.5, n - right + 0.5, size=(N_DRAWS, len(n))).mean(axis=1)
    value = float(np.mean(right / n))
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Where all are right the draws lie below the value; the interval is to hold it.
    return _measure(value, min(low, value), max(high, value))


def mean_auc(codes: Codes, probability: Array) -> Measure:
    """Area under the ROC curve; with more classes the mean of each against the rest.

    The interval is that of DeLong et al. (1988) on the logit scale, from what each sample
    contributes to the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report.folds import mean_auc
    >>> found = mean_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]))
    >>> found["value"]
    0.5
    """
    n_classes = probability.shape[1]
    # A class of which no sample was held out has no curve.
    shown = [1] if n_classes == 2 else [c for c in range(n_classes) if np.any(codes == c)]
    areas = [_auc_and_shares(codes == c, probability[:, c]) for c in shown]
    value = float(np.mean([area for area, _ in areas]))
    shares = np.mean([share for _, share in areas], axis=0)
    # On the logit scale 0 and 1 are infinitely far away.
    if not 0 < value < 1:
        # As many in a row as the smallest class has samples: the bound for a share of 0 or 1.
        n = int(np.bincount(codes)[np.unique(codes)].min())
        bound = ((1 - LEVEL) / 2) ** (1 / n)
        return _measure(value, bound, 1.0) if value else _measure(value, 0.0, 1 - bound)
    reach = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(np.sum(shares**2)) / (value * (1 - value))
    low, high = special.expit(special.logit(value) + np.array([-reach, reach]))
    return _measure(value, low, high)


def _auc_and_shares(is_in: Any, score: Array) -> tuple[float, Array]:
    """An area, and what each sample's place adds to its deviation from the true one."""
    n_in, n_out = int(is_in.sum()), int((~is_in).sum())
    rank, share = stats.rankdata(score), np.zeros(len(score))
    area = float(roc_auc_score(is_in, score))
    # Of each sample the share of the other side that it is rightly above, or below.
    share[is_in] = ((rank[is_in] - stats.rankdata(score[is_in])) / n_out - area) / n_in
    share[~is_in] = (1 - (rank[~is_in] - stats.rankdata(score[~is_in])) / n_in - area) / n_out
    return area, share


def _measure(value: float, low: float, high: float) -> Measure:
    return {"value": float(value), "low": float(low), "high": float(high)}
