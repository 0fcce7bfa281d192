"""What the report says, as plain values that JSON can hold: all but the looks."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd

from immigrate._version import __version__
from immigrate.arrays import Array, Codes
from immigrate.report._answers import answers
from immigrate.report._evidence import Evidence
from immigrate.report._given import Given
from immigrate.report._samples import drawn_samples
from immigrate.table import in_order, messages, read_table

FORMAT = 1
"""Of the summary. A name that goes or changes its meaning makes it one more."""

# Enough for every picture and table, and a third of the characters.
DIGITS = 4
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def summarised(
    given: Given,
    estimator: Any,
    model: Any,
    evidence: Evidence,
    *,
    title: str,
    performance: dict[str, Any] | None,
    warned: Sequence[str] = (),
    choices: Sequence[str] = (),
    settings: str = "InteractionTest()",
) -> dict[str, Any]:
    """What a test found in a table, how well a model predicts, and what it uses.

    Parameters
    ----------
    given : Given
        The training samples.
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    evidence : Evidence
        What the test says of the table that `model` was given.
    title : str
    performance : dict or None
        What cross-validation says.
    warned : sequence of str
        Warnings of the fit.
    choices : sequence of str
        What was decided for the user, in words.
    settings : str
        The test, as it can be typed.
    """
    has_steps_before = estimator is not model and len(estimator) > 1
    values = read_table(model, estimator[:-1].transform(given.X) if has_steps_before else given.X)
    weights = model.interactions()
    pairs = evidence.pairs(weights)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "title": title,
        "target": given.target,
        "date": stated_date().isoformat(),
        "version": __version__,
        "data": data_summary(given, model, values, pairs["names"]),
        "performance": performance,
        "test": evidence.summary() | {"settings": settings},
        "features": evidence.features(weights, importances(model)),
        "pairs": pairs,
        "samples": drawn_samples(evidence.read, np.ravel([pairs["a"], pairs["b"]], "F").tolist()),
        "surfaces": evidence.surfaces(),
        "model": model_summary(estimator, model, warned, choices),
        "software": software(),
    }
    # From what the page shows: the cards and the tables must not differ in a last digit.
    summary = plain(summary)
    return summary | {"answers": answers(summary)}


def stated_date() -> date:
    """Today, or the day of SOURCE_DATE_EPOCH, so that a page can be made again byte by byte."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC).date() if epoch.isdigit() else date.today()


def plain(value: Any, digits: int = DIGITS) -> Any:
    """A value as JSON can hold it; numbers to a few digits, None for what is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report._summary import plain
    >>> plain({"p": np.array([0.123456, np.nan]), "n": np.int64(3), "of": ("a", True)})
    {'p': [0.1235, None], 'n': 3, 'of': ['a', True]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(one, digits) for key, one in value.items()}
    if isinstance(value, pd.Series | np.ndarray):
        return plain(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [plain(one, digits) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}") if np.isfinite(value) else None
    return None if value is None else str(value)


def data_summary(given: Given, model: Any, values: Array, names: Sequence[str]) -> dict[str, Any]:
    """Size, classes, and what in the table deserves a second look."""
    counts = np.bincount(given.codes)
    notes = in_order((*given.dates, *model.column_reader_.notes))
    is_out = {note.column: note for note in model.column_reader_.notes if note.is_left_out}
    left_out = [*given.dates, *is_out.values()]
    return {
        "n_samples": len(given.codes),
        "n_features": len(model.column_reader_.names) + len(given.dates),
        "n_left_out": int((~model.column_reader_.is_used).sum()) + len(given.dates),
        "left_out": [note.name for note in left_out],
        "names": list(names),
        "classes": [
            {"label": str(label), "n": int(n), "share": n / len(given.codes)}
            for label, n in zip(given.classes, counts)
        ],
        "notes": [*messages(notes), *row_notes(values, counts, given)],
    }


def row_notes(values: Array, counts: Codes, given: Given) -> Iterator[str]:
    """Sentences about rows that repeat, gaps, and classes of unequal size."""
    n_repeated = int(pd.DataFrame(values).duplicated().sum())
    if n_repeated:
        rows = "1 row repeats" if n_repeated == 1 else f"{n_repeated} rows repeat"
        yield (
            f"{rows} an earlier one. A repeated sample is its own nearest neighbour, in "
            "cross-validation too: accuracy may look better than it is."
        )
    share = float(np.isnan(values).mean())
    if share:
        yield f"{100 * share:.1f} % of the values are missing; no row is dropped for that."
    if counts.max() > 4 * counts.min():
        yield (
            "The classes are of very different size: compare the accuracy with the share of the "
            "largest class, and look at the balanced accuracy and the AUC."
        )
    if given.groups is not None:
        yield (
            f"The samples are of {len(pd.unique(given.groups))} groups; no group is on both sides "
            "of a fold."
        )


def importances(model: Any) -> dict[str, float]:
    """Share of every feature in the weights, most important first; 0 where it has none."""
    names = np.asarray(model.get_feature_names_out(), dtype=object)
    share = model.feature_importances_[model.get_support()]
    # Features that are equal but for rounding stay in the order of the table.
    order = np.argsort(-share.round(9), kind="stable")
    return {str(names[i]): float(share[i]) for i in order}


def model_summary(
    estimator: Any, model: Any, warned: Sequence[str], choices: Sequence[str]
) -> dict[str, Any]:
    """Settings, what the fit chose, and what it warned of."""
    chosen = {
        name.rstrip("_"): getattr(model, name)
        for name in ("sigma_", "rule_", "penalty_", "converged_")
        if hasattr(model, name)
    }
    n_screened = int(model.column_reader_.is_used.sum()) - len(model.weight_matrix_)
    has_moved = getattr(model, "converged_", True) or len(model.objective_path_) > 1
    return {
        "name": type(model).__name__,
        # The first line; a second would say again what the page says.
        "settings": repr(estimator).split("\n# ")[0],
        "chosen": {name: _words(value) for name, value in chosen.items()},
        "has_moved": bool(has_moved),
        "warnings": list(warned),
        "choices": list(choices),
        "n_screened": n_screened,
        "path": sigma_path(model),
    }


def sigma_path(model: Any) -> list[dict[str, Any]]:
    """The candidates among which sigma was chosen; none for a model with one sigma."""
    if not hasattr(model, "scores_path_"):
        return []
    table = model.scores_path_[["sigma", "rule", "selection_score", "is_chosen"]]
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def software() -> list[dict[str, str]]:
    """What the numbers were computed with."""
    found = [{"name": "immigrate", "version": __version__}]
    found.append({"name": "Python", "version": platform.python_version()})
    return found + [{"name": name, "version": metadata.version(name)} for name in PACKAGES]


def _words(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
