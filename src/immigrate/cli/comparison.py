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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline

from immigrate.arrays import Array
from immigrate.cli.ending import CommandError
from immigrate.estimators.immigrate_cv import default_model
from immigrate.interactions.adjustments import PValues, holm
from immigrate.outcomes import Labels, read_classes, read_numbers
from immigrate.report.folds import Fold, HeldOut, baselines, predicted_folds, prepared
from immigrate.report.input import ReportInput
from immigrate.report.numbers import GUESS, number_baselines, number_measures
from immigrate.table import Reader, left_out

ALPHA = 0.05
SCORES = {"accuracy": "accuracy", "balanced": "balanced", "log_loss": "log-loss", "auc": "AUC"}
SCORES_OF_NUMBERS = {"r2": "R²", "mae": "mean absolute error"}
# What methods are judged by, with the sign that makes larger better.
JUDGED_BY = {"accuracy": 1.0, "log_loss": -1.0, "r2": 1.0, "mae": -1.0}
TEXTS: dict[str, Callable[[float], str]] = {
    "accuracy": lambda x: f"{100 * x:.1f} %",
    "balanced": lambda x: f"{100 * x:.1f} %",
    "log_loss": "{:.3f}".format,
    "auc": "{:.3f}".format,
    "r2": "{:.3f}".format,
    "mae": "{:.4g}".format,
}


def peers(reader: Reader, seed: int) -> dict[str, Any]:
    """What the library is held against, not fitted, for values as `reader` reads them."""
    # These trees split by missing values themselves.
    boosting = HistGradientBoostingClassifier(random_state=seed)
    with_gaps = make_pipeline(prepared(reader, "passthrough"), boosting)
    found = baselines(reader, seed) | {"histogram boosting": with_gaps}
    # It gives probabilities of 0 and 1 only, whose log-loss says nothing.
    del found["the largest class"]
    return found


def peers_of_numbers(reader: Reader, seed: int) -> dict[str, Any]:
    """The same for a number."""
    boosting = HistGradientBoostingRegressor(random_state=seed)
    with_gaps = make_pipeline(prepared(reader, "passthrough"), boosting)
    return number_baselines(reader, seed) | {"histogram boosting": with_gaps}


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
        is_number: bool = False,
        show_progress: Callable[[str], None],
    ) -> Self:
        """Fit all methods on all folds."""
        labels = labels_for_folds(y, folds, is_number)
        codes = labels.codes
        X = X.drop(columns=[note.name for note in left_out(X)])
        if not X.shape[1]:
            raise CommandError("no column is left that can be a feature.")
        circular = {k: v for k, v in (circular_features or {}).items() if k in X}
        given = ReportInput.of(X, y, outcome="number" if is_number else "class", n_jobs=jobs)
        kind: Any = RepeatedKFold if is_number else RepeatedStratifiedKFold
        splitter = kind(n_splits=folds, n_repeats=repeats, random_state=seed)
        splits = list(splitter.split(codes, codes))
        n_features = X.shape[1]
        models = {
            "ImmigrateClassifierCV": default_model(n_features, circular),
            "BoostedImmigrateClassifier": default_model(n_features, circular, boosted=True),
        }
        if is_number:
            models = {"ImmigrateRegressor": default_model(n_features, circular, is_number=True)}
        rivals = peers_of_numbers if is_number else peers
        found = predicted_folds(models, partial(rivals, seed=seed), given, splits)
        rows = []
        for k, fold in enumerate(found):
            rows += [_scored(fold, k, name, labels) for name in fold.probability]
            if is_number:
                rows = [row for row in rows if row["method"] != GUESS]
            show_progress(f"comparison: fold {k + 1} of {len(splits)}")
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
        judged = [f"W–T–L {name}" for name in self.judged_by.values()]
        return ["method", *self.names.values(), *judged]

    @property
    def names(self) -> dict[str, str]:
        """The scores of classes, or those of numbers."""
        return SCORES if "accuracy" in self.scores else SCORES_OF_NUMBERS

    @property
    def judged_by(self) -> dict[str, str]:
        """Those that methods are judged by."""
        return {score: name for score, name in self.names.items() if score in JUDGED_BY}

    def rows(self) -> list[list[str]]:
        """One row per method: mean scores, and how often it is shown to be better or worse."""
        means = self.scores.groupby("method", sort=False)[list(self.names)].mean()
        verdicts = {score: self.verdicts(score) for score in self.judged_by}
        return [
            [
                str(name),
                *(TEXTS[score](mean[score]) for score in self.names),
                *("–".join(map(str, verdicts[score][str(name)])) for score in self.judged_by),
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
        for score, name in self.judged_by.items():
            wins = self.wins(score)
            if not wins:
                yield f"By {name}, no method is shown to be better than another."
            for better, worse in wins:
                yield f"By {name}, {better} is shown to be better than {worse}."
        first = "balanced: mean accuracy of the classes."
        if "r2" in self.scores:
            first = "R²: the share of the squared error of guessing the mean that is saved."
        yield (
            f"{first} W–T–L: how many of the other methods one is shown to beat, to tie with, to "
            "lose to."
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


def labels_for_folds(y: Any, folds: int, is_number: bool) -> Labels:
    """The labels, unless there are more folds than half of the rows, or the smallest class has."""
    labels = read_numbers(y) if is_number else read_classes(y)
    if labels.numbers is not None:
        if folds > len(labels.numbers) // 2:
            raise CommandError(f"--folds {folds} leaves folds of one row; give fewer.")
        return labels
    sizes = np.bincount(labels.codes)
    least = int(sizes.min())
    # With more folds than that some fold would hold out none of the class.
    if folds > least:
        raise CommandError(
            f"--folds {folds} is more than the {least} rows of the smallest class, "
            f"'{labels.classes[sizes.argmin()]}'; give --folds {least} or fewer."
        )
    return labels


def _scored(fold: Fold, k: int, name: str, labels: Labels) -> dict[str, Any]:
    probability = fold.probability[name]
    if labels.numbers is not None:
        y, guess = labels.numbers[fold.test], fold.probability[GUESS][:, 0]
        found = number_measures(y, probability[:, 0], guess)
        return {"method": name, "fold": k, **{one: found[one]["value"] for one in found}}
    truth = labels.codes[fold.test]
    measures = HeldOut(truth, fold.predicted(name), probability).measures()
    return {
        "method": name,
        "fold": k,
        "accuracy": measures["accuracy"]["value"],
        "balanced": measures["balanced_accuracy"]["value"],
        "log_loss": log_loss(truth, probability, labels=np.arange(probability.shape[1])),
        "auc": measures["auc"]["value"],
    }
