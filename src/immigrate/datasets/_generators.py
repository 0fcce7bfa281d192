"""Generators for tables whose true features and pairs are known."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils import check_random_state

SHARE_MISSING = 0.04
MONK_LEVELS = {
    "head_shape": 3,
    "body_shape": 3,
    "is_smiling": 2,
    "holding": 3,
    "jacket_color": 4,
    "has_tie": 2,
}


def make_monk1() -> tuple[pd.DataFrame, np.ndarray]:
    """MONK-1: all 432 robots; class 1 if head and body have one shape, or the jacket is red.

    Three features matter: `head_shape` and `body_shape` only together, `jacket_color` alone.

    Returns
    -------
    X : pandas.DataFrame of shape (432, 6)
        Levels coded 1, 2, ...
    y : ndarray of shape (432,)
        The class, 0 or 1.

    References
    ----------
    .. [1] S. Thrun et al., "The MONK's problems: a performance comparison of different learning
       algorithms", Carnegie Mellon University CS-CMU-91-197, 1991.

    Examples
    --------
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()
    >>> X.shape, y.sum()
    ((432, 6), np.int64(216))
    """
    levels = [range(1, n + 1) for n in MONK_LEVELS.values()]
    X = pd.DataFrame(itertools.product(*levels), columns=list(MONK_LEVELS), dtype=float)
    y = (X["head_shape"] == X["body_shape"]) | (X["jacket_color"] == 1)
    return X, y.to_numpy(dtype=int)


def make_xor(
    n_samples: int = 400,
    n_features: int = 10,
    *,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Two features that matter only together, among features that do not matter.

    The class is whether the signs of the first two features agree; all features are
    independent standard normal.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    n_features : int, default=10
        At least 2.
    noise : float, default=0.0
        Share of labels that are flipped.
    random_state : int, RandomState instance or None, default=None
        An int gives the same table each time.

    Returns
    -------
    X : pandas.DataFrame of shape (n_samples, n_features)
        Columns `a` and `b` interact, the others are `noise_0`, `noise_1`, ...
    y : ndarray of shape (n_samples,)
        The class, 0 or 1.

    Examples
    --------
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(n_samples=100, n_features=4, random_state=0)
    >>> list(X.columns)
    ['a', 'b', 'noise_0', 'noise_1']
    """
    if n_features < 2:
        raise ValueError(f"n_features={n_features}, but the exclusive or needs at least 2.")
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.uniform(size=n_samples) < noise)
    names = ["a", "b", *(f"noise_{i}" for i in range(n_features - 2))]
    return pd.DataFrame(X, columns=names), y.astype(int)


def make_trial(n_samples: int = 400, *, random_state: Any = None) -> pd.DataFrame:
    """A trial of a drug that helps carriers of a gene variant and harms everybody else.

    On average the drug does nothing, and neither does the variant: a table of single features
    shows no effect of either. Two other columns, `severity` and `age`, each raise the chance of a
    relapse on their own and do not act together. All other columns are noise.

    The log-odds of a relapse are ``1.1 * severity + 0.9 * age``, both in standard deviations, and
    1.3 less for a carrier who gets the drug and for anybody else who does not, 1.3 more for the
    others.

    Parameters
    ----------
    n_samples : int, default=400
        Number of patients.
    random_state : int, RandomState instance or None, default=None
        An int gives the same table each time.

    Returns
    -------
    pandas.DataFrame of shape (n_samples, 11)
        Numbers and text, 4 % of the numbers missing; `patient` is an identifier, `outcome`
        ("relapse" or "recovered") the target.

    Examples
    --------
    >>> from immigrate.datasets import make_trial
    >>> table = make_trial(200, random_state=0)
    >>> list(table.columns[:5]), table["outcome"].unique().tolist()
    (['patient', 'treatment', 'variant', 'severity', 'age'], ['relapse', 'recovered'])
    """
    rng = check_random_state(random_state)
    normal = rng.standard_normal((n_samples, 5))
    table = pd.DataFrame(
        {
            "patient": [f"P-{i:04d}" for i in range(1, n_samples + 1)],
            "treatment": rng.choice(["drug", "placebo"], n_samples),
            "variant": rng.choice(["carrier", "other"], n_samples),
            "severity": (50 + 12 * normal[:, 0]).round(1),
            "age": (58 + 11 * normal[:, 1]).round(),
            "CRP": np.exp(1 + 0.8 * normal[:, 2]).round(2),
            "BMI": (26 + 4 * normal[:, 3]).round(1),
            "systolic": (132 + 15 * normal[:, 4]).round(),
            "centre": rng.choice(["Ghent", "Malmö", "Porto"], n_samples),
            "smoker": rng.choice([True, False], n_samples, p=[0.3, 0.7]),
        }
    )
    is_helped = (table["treatment"] == "drug") == (table["variant"] == "carrier")
    log_odds = 1.1 * normal[:, 0] + 0.9 * normal[:, 1] + np.where(is_helped, -1.3, 1.3)
    is_ill = rng.uniform(size=n_samples) < expit(log_odds)
    for name in ("severity", "age", "CRP", "BMI", "systolic"):
        table.loc[rng.uniform(size=n_samples) < SHARE_MISSING, name] = np.nan
    return table.assign(outcome=np.where(is_ill, "relapse", "recovered"))
