"""Tables with a known truth, drawn or embedded, without a download; and those of OpenML."""

from __future__ import annotations

import itertools
from importlib.resources import as_file, files
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.utils import Bunch, check_random_state

__all__ = [
    "fetch_table",
    "load_expression",
    "load_harvest",
    "load_loans",
    "make_monk1",
    "make_trial",
    "make_xor",
]

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
    n_samples: int = 400, n_features: int = 10, *, noise: float = 0.0, random_state: Any = None
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


def load_loans(*, return_X_y: bool = False, as_frame: bool = True) -> Any:
    """900 loans, of which some were repaid, some late and some not repaid: three classes.

    The table is made up. Late payment is likelier for those who were late before, and where income
    and instalment do not fit: a low income with a high instalment, or the reverse. Loans that are
    not repaid are rarer where savings are above 5000, and depend on purpose and employment
    together: likelier for cars and furniture of the self-employed and for homes and education of
    the others. Three people in four are not self-employed, so that purpose has an effect of its
    own as well. No other column matters.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=True
        Data frames and series; otherwise arrays of objects.

    Returns
    -------
    sklearn.utils.Bunch
        `data` of shape (900, 11), with numbers, text, gaps and an identifier; `target` of shape
        (900,), "repaid", "late" or "default"; `frame`, both; `feature_names`, `target_names`,
        `DESCR`, `filename`; and `truth`, the features and the pairs that matter.

    See Also
    --------
    make_trial : A made-up trial of any size, two classes.

    Examples
    --------
    >>> from immigrate.datasets import load_loans
    >>> loans = load_loans()
    >>> loans.data.shape, loans.truth["pairs"]
    ((900, 11), [('income', 'instalment'), ('purpose', 'employment')])
    """
    truth = {
        "features": ["late before", "savings", "purpose"],
        "pairs": [("income", "instalment"), ("purpose", "employment")],
        "identifiers": ["application"],
    }
    text = load_loans.__doc__
    return _loaded("loans", "outcome", truth, text, return_X_y=return_X_y, as_frame=as_frame)


def load_harvest(*, return_X_y: bool = False, as_frame: bool = True) -> Any:
    """The yield of 480 fields of wheat on ten farms in six years: a number as the outcome.

    The table is made up. Farms and years differ, which is not the question: they are covariates.
    Nitrogen raises the yield, most of all where it rains, and lowers it where it does not:
    nitrogen and rain act together. The variety Aurora does better on sand and worse on other
    soils. The yield is best at a middle pH. No other column matters.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=True
        Data frames and series; otherwise arrays of objects and of numbers.

    Returns
    -------
    sklearn.utils.Bunch
        `data` of shape (480, 11), with numbers, text, gaps and an identifier; `target` of shape
        (480,), tonnes per hectare; `frame`, both; `feature_names`, `target_names`, `DESCR`,
        `filename`; and `truth`, the features, pairs and covariates that matter.

    Examples
    --------
    >>> from immigrate.datasets import load_harvest
    >>> X, y = load_harvest(return_X_y=True)
    >>> X.shape, float(y.mean().round(2))
    ((480, 11), 7.65)
    """
    truth = {
        "features": ["nitrogen", "pH"],
        "pairs": [("nitrogen", "rain"), ("soil", "variety")],
        "covariates": ["farm", "year"],
        "identifiers": ["field"],
    }
    text = load_harvest.__doc__
    return _loaded("harvest", "yield", truth, text, return_X_y=return_X_y, as_frame=as_frame)


def load_expression(*, return_X_y: bool = False, as_frame: bool = True) -> Any:
    """The activity of 150 genes in 240 biopsies of patients who responded or did not.

    The table is made up, and so are the names of the genes. The log-odds of a response rise by 1.6
    for each standard deviation of G1054 and fall as much for G3809. They are 2 higher where G1651
    and G5400 are both above or both below their middle, and 2 lower elsewhere; neither of the two
    matters on its own. Genes belong to ten modules that rise and fall together, so that others
    look as if they mattered. The plate on which a biopsy was measured says nothing.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=True
        Data frames and series; otherwise arrays of objects.

    Returns
    -------
    sklearn.utils.Bunch
        `data` of shape (240, 151), the plate and the genes, with gaps in ten of them; `target` of
        shape (240,), "response" or "no response"; `frame`, both; `feature_names`, `target_names`,
        `DESCR`, `filename`; and `truth`, the features and the pair that matter.

    Examples
    --------
    >>> from immigrate.datasets import load_expression
    >>> genes = load_expression()
    >>> genes.data.shape, genes.truth["pairs"]
    ((240, 151), [('G1651', 'G5400')])
    """
    truth = {
        "features": ["G1054", "G3809"],
        "pairs": [("G1651", "G5400")],
        "covariates": ["plate"],
    }
    text = load_expression.__doc__
    return _loaded("expression", "outcome", truth, text, return_X_y=return_X_y, as_frame=as_frame)


def _loaded(
    name: str, target: str, truth: Any, text: str | None, *, return_X_y: bool, as_frame: bool
) -> Any:
    """A table of the folder `tables`; `truth` is what was put into it."""
    place = files("immigrate.datasets") / "tables" / f"{name}.csv"
    with as_file(place) as file:
        frame = pd.read_csv(file, encoding="utf-8")
    X, y = frame.drop(columns=target), frame[target]
    data, labels = (X, y) if as_frame else (X.to_numpy(dtype=object), y.to_numpy())
    if return_X_y:
        return data, labels
    is_number = pd.api.types.is_numeric_dtype(y)
    return Bunch(
        data=data,
        target=labels,
        frame=frame if as_frame else None,
        feature_names=list(X.columns),
        target_names=[target] if is_number else sorted(y.unique()),
        DESCR=text,
        filename=str(place),
        truth=truth,
    )


def fetch_table(
    name: str | None = None,
    *,
    version: int | str = "active",
    data_id: int | None = None,
    target: str = "default-target",
    data_home: str | None = None,
    return_X_y: bool = False,
) -> Any:
    """A table of OpenML as a data frame, with its categories, its text and its gaps.

    This is scikit-learn's `fetch_openml` with the settings that keep a table as it is, the same
    fields as the embedded tables, and one clear message where there is no network. The first call
    needs a network; later ones read the copy in `data_home`.

    Parameters
    ----------
    name : str, optional
        Name of the table. Either this or `data_id`.
    version : int or "active", default="active"
        Version of the table of that name; a number makes sure that it is always the same.
    data_id : int, optional
        The number that OpenML gave to one version of one table.
    target : str, default="default-target"
        Name of the column to predict; by default the one that OpenML says.
    data_home : str, optional
        Folder of the copies; scikit-learn's own unless given.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    sklearn.utils.Bunch
        `data`, `target`, `frame`, `feature_names`, `target_names`, `DESCR`, `details`, `url`;
        `truth` is None, since it is not known.

    See Also
    --------
    load_loans : An embedded table, which needs no network.

    Examples
    --------
    >>> from immigrate.datasets import fetch_table
    >>> ships = fetch_table("titanic", version=1)  # doctest: +SKIP
    >>> ships.data.shape  # doctest: +SKIP
    (1309, 13)
    """
    # Here and not above: it takes a second to import, and the other tables do not need it.
    from sklearn.datasets import fetch_openml

    try:
        found = fetch_openml(
            name,
            version=version,
            data_id=data_id,
            target_column=target,
            data_home=data_home,
            as_frame=True,
            # The faster parser fails on levels that are written as numbers (scikit-learn 1.9 with
            # pandas 3.1), and takes the copy in data_home with it.
            parser="liac-arff",
        )
    except URLError as error:
        wanted = name if data_id is None else data_id
        raise ConnectionError(
            f"OpenML did not answer for {wanted!r} ({error}), and no copy was found in data_home. "
            "Try again with a network, or use an embedded table such as load_loans()."
        ) from error
    if return_X_y:
        return found.data, found.target
    y = found.target
    levels = y.cat.categories if hasattr(y, "cat") else y.dropna().unique()
    found.update(truth=None, target_names=list(levels) if y.dtype.kind not in "fi" else [y.name])
    return found
