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
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline

from immigrate.arrays import Array, Codes
from immigrate.cli.ending import CommandError
from immigrate.estimators.immigrate_cv import default_model
from immigrate.interactions.adjustments import PValues, holm
from immigrate.outcomes import read_classes
from immigrate.report.folds import Fold, HeldOut, baselines, predicted_folds, prepared
from immigrate.report.input import ReportInput
from immigrate.table import Reader, left_out

ALPHA = 0.05
SCORES = {"accuracy": "accuracy", "balanced": "balanced", "log_loss": "log-loss", "auc": "AUC"}
# What methods are judged by, with the sign that makes larger better.
JUDGED_BY = {"accuracy": 1.0, "log_loss": -1.0}


def peers(reader: Reader, seed: int) -> dict[str, Any]:
    """What the library is held against, not fitted, for values as `reader` reads them."""
    # These trees split by missing values themselves.
    boosting = HistGradientBoostingClassifier(random_state=seed)
    with_gaps = make_pipeline(prepared(reader, "passthrough"), boosting)
    found = baselines(reader, seed) | {"histogram boosting": with_gaps}
    # It gives probabilities of 0 and 1 only, whose log-loss says nothing.
    del found["the largest class"]
    return found


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
        X = X.drop(columns=[note.name for note in left_out(X)])
        if not X.shape[1]:
            raise CommandError("no column is left that can be a feature.")
        circular = {k: v for k, v in (circular_features or {}).items() if k in X}
        given = ReportInput.of(X, y, n_jobs=jobs)
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
        splits = list(splitter.split(codes, codes))
        n_features = X.shape[1]
        models = {
            "ImmigrateClassifierCV": default_model(n_features, circular),
            "BoostedImmigrateClassifier": default_model(n_features, circular, boosted=True),
        }
        found = predicted_folds(models, partial(peers, seed=seed), given, splits)
        rows = []
        for k, fold in enumerate(found):
            rows += [_scored(fold, k, name, codes) for name in fold.probability]
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


def _scored(fold: Fold, k: int, name: str, codes: Codes) -> dict[str, Any]:
    truth, probability = codes[fold.test], fold.probability[name]
    measures = HeldOut(truth, fold.predicted(name), probability).measures()
    return {
        "method": name,
        "fold": k,
        "accuracy": measures["accuracy"]["value"],
        "balanced": measures["balanced_accuracy"]["value"],
        "log_loss": log_loss(truth, probability, labels=np.arange(probability.shape[1])),
        "auc": measures["auc"]["value"],
    }
