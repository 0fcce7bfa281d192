"""Tables that come with the package, made up and with a known truth; and those of OpenML."""

from __future__ import annotations

from copy import deepcopy
from importlib.resources import as_file, files
from typing import Any, NamedTuple
from urllib.error import URLError

import pandas as pd
from sklearn.utils import Bunch


class _Table(NamedTuple):
    """A table of the folder `tables`, and what was put into it."""

    name: str
    target: str
    truth: dict[str, Any]


_LOANS = _Table(
    "loans",
    "outcome",
    {
        "features": ["late before", "savings", "purpose"],
        "pairs": [("income", "instalment"), ("purpose", "employment")],
        "identifiers": ["application"],
    },
)
_HARVEST = _Table(
    "harvest",
    "yield",
    {
        "features": ["nitrogen", "pH"],
        "pairs": [("nitrogen", "rain"), ("soil", "variety")],
        "covariates": ["farm", "year"],
        "identifiers": ["field"],
    },
)
_EXPRESSION = _Table(
    "expression",
    "outcome",
    {"features": ["G1054", "G3809"], "pairs": [("G1651", "G5400")], "covariates": ["plate"]},
)


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
    return _loaded(_LOANS, load_loans.__doc__, return_X_y=return_X_y, as_frame=as_frame)


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
    return _loaded(_HARVEST, load_harvest.__doc__, return_X_y=return_X_y, as_frame=as_frame)


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
    return _loaded(_EXPRESSION, load_expression.__doc__, return_X_y=return_X_y, as_frame=as_frame)


def _loaded(table: _Table, text: str | None, *, return_X_y: bool, as_frame: bool) -> Any:
    place = files("immigrate.datasets") / "tables" / f"{table.name}.csv"
    with as_file(place) as file:
        frame = pd.read_csv(file, encoding="utf-8")
    X, y = frame.drop(columns=table.target), frame[table.target]
    data, target = (X, y) if as_frame else (X.to_numpy(dtype=object), y.to_numpy())
    if return_X_y:
        return data, target
    is_number = pd.api.types.is_numeric_dtype(y)
    return Bunch(
        data=data,
        target=target,
        frame=frame if as_frame else None,
        feature_names=list(X.columns),
        target_names=[table.target] if is_number else sorted(y.unique()),
        DESCR=text,
        filename=str(place),
        truth=deepcopy(table.truth),
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
