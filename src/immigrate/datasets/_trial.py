"""A made-up trial whose truth is known, as a hospital would hand it over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils import check_random_state

SHARE_MISSING = 0.04


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
