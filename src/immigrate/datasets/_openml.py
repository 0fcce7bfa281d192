"""Tables of OpenML, in the form that the estimators take."""

from __future__ import annotations

from typing import Any
from urllib.error import URLError


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
