"""Methods on the same folds, and a test that knows that folds share samples.

The scores of two folds are not independent: their training sets overlap. The corrected resampled
t-test divides by ``(1/k + n_test/n_train) s²`` where the plain one has ``s²/k``, over all k test
sets of all repeats [1]_.

References
----------
.. [1] C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine Learning 52
   (2003). :doi:`10.1023/A:1024068626366`
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from immigrate.arrays import Array
from immigrate.cli.ending import CommandError
from immigrate.estimators.immigrate_cv import default_model
from immigrate.interactions.adjustments import PValues, holm
from immigrate.outcomes import read_classes
from immigrate.table import left_out

ALPHA = 0.05
SCORES = {
    "accuracy": "accuracy",
    "balanced": "balanced",
    "log_loss": "log-loss",
    "auc": "AUC",
}
# What methods are judged by, with the sign that makes larger better.
JUDGED_BY = {"accuracy": 1.0, "log_loss": -1.0}


def methods(
    X: pd.DataFrame, seed: int, circular_features: dict[str, float] | None = None
) -> dict[str, Any]:
    """Classifiers by name, each with the preparation that it needs."""
    is_number = [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
    numbers = list(X.columns[is_number])
    names = [name for name in X.columns if name not in numbers]
    levels = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    scaled = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (levels, names),
    )
    # Trees of the last kind split by missing values themselves.
    with_gaps = make_column_transformer(("passthrough", numbers), (levels, names))
    return {
        "ImmigrateClassifierCV": default_model(X.shape[1], circular_features),
        "BoostedImmigrateClassifier": default_model(X.shape[1], circular_features, boosted=True),
        "logistic regression": make_pipeline(scaled, LogisticRegression(max_iter=2000)),
        "random forest": make_pipeline(
            clone(scaled), RandomForestClassifier(n_estimators=300, random_state=seed)
        ),
        "histogram boosting": make_pipeline(
            with_gaps, HistGradientBoostingClassifier(random_state=seed)
        ),
    }


def peers_table(X: pd.DataFrame) -> pd.DataFrame:
    """The table without what can be no feature, names as text: the same columns for all."""
    kept = X.drop(columns=[note.name for note in left_out(X)])
    if not kept.shape[1]:
        raise CommandError("no column is left that can be a feature.")
    columns = {}
    for name in kept:
        values = kept[name]
        if pd.api.types.is_bool_dtype(values.dtype):
            columns[name] = values.astype("int64")
        elif pd.api.types.is_numeric_dtype(values.dtype):
            columns[name] = values
        else:
            known = [None if pd.isna(one) else str(one) for one in values]
            columns[name] = pd.Series(known, dtype=object, index=values.index)
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of each method on each fold.

    Attributes
    ----------
    scores : DataFrame
        A row per method and fold.
    share : float
        Rows of a test set per row of a training set.
    """

    scores: pd.DataFrame
    share: float
    folds: int
    repeats: int

    @classmethod
    def of(
        cls,
        X: pd.DataFrame,
        y: Any,
        *,
        folds: int,
        repeats: int,
        seed: int,
        jobs: int | None,
        circular_features: dict[str, float] | None = None,
        show_progress: Callable[[str], None],
    ) -> Self:
        """Fit all methods on all folds."""
        labels = read_classes(y)
        classes, codes = labels.classes, labels.codes
        least = int(np.bincount(codes).min())
        # With more folds than that some fold would hold out none of the class.
        if folds > least:
            raise CommandError(
                f"--folds {folds} is more than the {least} rows of the smallest class, "
                f"'{classes[np.bincount(codes).argmin()]}'; give --folds {least} or fewer."
            )
        table = peers_table(X)
        circular = {k: v for k, v in (circular_features or {}).items() if k in table}
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
        splits = list(splitter.split(table, codes))
        work = [
            delayed(_scored)(name, model, table, codes, fold, split)
            for name, model in methods(table, seed, circular).items()
            for fold, split in enumerate(splits)
        ]
        rows = []
        for row in Parallel(n_jobs=jobs, return_as="generator")(work):
            rows.append(row)
            show_progress(f"comparison: {len(rows)} of {len(work)} fits, last {row['method']}")
        share = float(np.mean([len(test) / len(train) for train, test in splits]))
        return cls(pd.DataFrame(rows), share, folds, repeats)

    @property
    def heading(self) -> str:
        """What was done."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"Means over the same {self.folds} folds{times}, on rows that were not fitted."

    @property
    def header(self) -> list[str]:
        """Names of the columns of `rows`."""
        judged = [f"W–T–L {SCORES[score]}" for score in JUDGED_BY]
        return ["method", *SCORES.values(), *judged]

    def rows(self) -> list[list[str]]:
        """One row per method: mean scores, and how often it is shown to be better or worse."""
        means = self.scores.groupby("method", sort=False)[list(SCORES)].mean()
        verdicts = {score: self.verdicts(score) for score in JUDGED_BY}
        return [
            [
                str(name),
                f"{100 * mean['accuracy']:.1f} %",
                f"{100 * mean['balanced']:.1f} %",
                f"{mean['log_loss']:.3f}",
                f"{mean['auc']:.3f}",
                *("–".join(map(str, verdicts[score][str(name)])) for score in JUDGED_BY),
            ]
            for name, mean in means.iterrows()
        ]

    def verdicts(self, score: str) -> dict[str, tuple[int, int, int]]:
        """How many of the others each method is shown to beat, to tie with and to lose to."""
        wins = self.wins(score)
        names = list(self.scores["method"].unique())
        counts = {}
        for name in names:
            won = sum(winner == name for winner, _ in wins)
            lost = sum(loser == name for _, loser in wins)
            counts[name] = (won, len(names) - 1 - won - lost, lost)
        return counts

    def wins(self, score: str) -> list[tuple[str, str]]:
        """Pairs (better, worse) that the corrected test shows, adjusted for all pairs."""
        by_method = JUDGED_BY[score] * self.scores.pivot(
            index="fold", columns="method", values=score
        )
        pairs = list(combinations(self.scores["method"].unique(), 2))
        differences = [(by_method[a] - by_method[b]).to_numpy() for a, b in pairs]
        p = np.array([corrected_p(one, self.share) for one in differences])
        # A p of 0, where all differences are equal, has no logarithm.
        adjusted = np.exp(holm(PValues(np.log(np.maximum(p, 1e-300)))))
        return [
            pair if difference.mean() > 0 else pair[::-1]
            for pair, difference, one in zip(pairs, differences, adjusted, strict=True)
            if one <= ALPHA
        ]

    def words(self) -> Iterator[str]:
        """What that shows, and what it does not."""
        for score in JUDGED_BY:
            wins = self.wins(score)
            if not wins:
                yield f"By {SCORES[score]}, no method is shown to be better than another."
            for better, worse in wins:
                yield f"By {SCORES[score]}, {better} is shown to be better than {worse}."
        yield (
            "balanced: mean accuracy of the classes. W–T–L: how many of the other methods one is "
            "shown to beat, to tie with, to lose to."
        )
        yield (
            "Corrected paired t-tests (Nadeau and Bengio) at 5 %, adjusted by Holm for all pairs "
            "of methods. A tie is no proof that two are equal; settings are the defaults of each."
        )


def corrected_p(differences: Array, share: float) -> float:
    """P-value of the corrected resampled t-test that the mean difference is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.cli.comparison import corrected_p
    >>> round(corrected_p(np.array([0.1, 0.3, 0.2, 0.2]), share=1 / 3), 3)
    0.049
    """
    k, variance = len(differences), float(np.var(differences, ddof=1))
    mean = float(np.mean(differences))
    # The same difference in every fold: no noise to hold it against.
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    t = mean / np.sqrt((1 / k + share) * variance)
    return float(2 * stats.t.sf(abs(t), k - 1))


def _scored(
    name: str,
    model: Any,
    X: pd.DataFrame,
    codes: Any,
    fold: int,
    split: Sequence[Any],
) -> dict[str, Any]:
    train, test = split
    # One thread per fit: threads that wait for each other on a busy machine take many times as
    # long, and --jobs spreads the fits.
    with warnings.catch_warnings(), threadpool_limits(1):
        # Rare levels, and gaps in one fold only, need no warning here.
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X.iloc[train], codes[train])
        shares = fitted.predict_proba(X.iloc[test])
        predicted = fitted.predict(X.iloc[test])
    return {
        "method": name,
        "fold": fold,
        "accuracy": accuracy_score(codes[test], predicted),
        "balanced": balanced_accuracy_score(codes[test], predicted),
        "log_loss": log_loss(codes[test], shares, labels=fitted.classes_),
        "auc": _auc(codes[test], shares),
    }


def _auc(codes: Any, shares: Array) -> float:
    """Area under the ROC curve; with more than two classes, the mean of one against the rest."""
    if shares.shape[1] == 2:
        return float(roc_auc_score(codes, shares[:, 1]))
    return float(roc_auc_score(codes, shares, multi_class="ovr"))
