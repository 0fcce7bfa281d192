"""A file that was read → features and target of a command, and the parameters of the test."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from immigrate.cli.app import Outcome, Reading, TableOptions, TestOptions
from immigrate.cli.ending import CommandError, listed, nearest, unknown_column
from immigrate.cli.files import ReadFile, read_file
from immigrate.cli.terminal import note, say, working

MOST_EXACT = 2**53


def read_source(source: TableOptions, reading: Reading) -> ReadFile:
    """The features and then the target; says how they were read and what is left out."""
    categorical, drop, target = source.categorical or (), source.drop or (), source.target
    # Read as text at once: as numbers, 1 and 1.0 would be the same.
    as_text = {*categorical, *([target] if source.outcome is Outcome.a_class else [])}
    read = read_aloud(source.table, replace(reading, as_text=frozenset(as_text)))
    check_names(source, read.frame)
    features = [name for name in read.frame if name not in (target, *drop)]
    if not features:
        raise CommandError(f"{read.name} has no column beside the target '{target}'.")
    # A column that is called categorical is one, even if its cells look like numbers.
    kinds = {name: "category" for name in categorical if name in features}
    frame = with_target(read.frame, target)[[*features, target]]
    return replace(read, frame=frame.astype(kinds))


def check_names(source: TableOptions, frame: pd.DataFrame) -> None:
    """Refuse names of no column, and columns that are to be two things at once."""
    names, circular = list(frame.columns), source.circular_features or {}
    drop, categorical = source.drop or (), source.categorical or ()
    for option, given in (
        ("--target", [source.target]),
        ("--drop", drop),
        ("--categorical", categorical),
        ("--circular", circular),
    ):
        for name in given:
            if name not in names:
                raise unknown_column(option, name, names, where_it_stands(name, frame))
    if source.target in drop:
        raise CommandError(f"'{source.target}' is the target and in --drop.")
    for name in circular:
        for option, given in (
            ("the target", [source.target]),
            ("in --drop", drop),
            ("in --categorical", categorical),
        ):
            if name in given:
                raise CommandError(f"'{name}' is {option} and in --circular.")
        dtype = frame[name].dtype
        if pd.api.types.is_bool_dtype(dtype) or not pd.api.types.is_numeric_dtype(dtype):
            example = frame[name].dropna().astype(str).iloc[:1].tolist()
            raise CommandError(
                f"--circular names '{name}', which holds no numbers"
                + (f" but cells such as '{example[0]}'" if example else "")
                + ". Number its values in the file, such as the days of the week from 0 to 6."
            )


def without_dates(X: pd.DataFrame) -> pd.DataFrame:
    """Without the columns of dates and times, which no model takes; says which."""
    from immigrate.table import Reason, left_out

    dates = [one for one in left_out(X) if one.reason is Reason.DATES]
    for one in dates:
        note(one.text)
    return X.drop(columns=[one.name for one in dates])


def read_aloud(path: Path, reading: Reading) -> ReadFile:
    """A file, and one line that says how it was read."""
    with working(f"reading {path.name}"):
        read = read_file(path, reading)
    say(read.said)
    for text in read.notes:
        note(text)
    return read


def with_target(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """The rows whose target is known; says how many are not."""
    is_known = frame[target].notna()
    n_unknown = int((~is_known).sum())
    if n_unknown == len(frame):
        raise CommandError(f"column '{target}', the target, has no value in any row.")
    if not n_unknown:
        return frame
    rows = f"{n_unknown} of {len(frame)} rows {'have' if n_unknown > 1 else 'has'}"
    note(f"{rows} no value of '{target}' and {'are' if n_unknown > 1 else 'is'} left out.")
    known = frame[is_known].reset_index(drop=True)
    # Whole numbers beside gaps were read as fractions, flags as objects.
    known[target] = whole(known[target].infer_objects())
    return known


def whole(values: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers as such.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.cli.tables import whole
    >>> whole(pd.Series([0.0, 1.0])).tolist(), whole(pd.Series([0.5, 1.0])).tolist()
    ([0, 1], [0.5, 1.0])
    """
    # Beyond that, floats do not say which whole number was meant.
    is_whole = values.dtype.kind == "f" and bool(
        ((values == values.round()) & (values.abs() <= MOST_EXACT)).all()
    )
    return values.astype("int64") if is_whole else values


def columns_at_hand(
    wanted: Sequence[str], unused: Collection[str], frame: pd.DataFrame, file: str
) -> pd.DataFrame:
    """The columns that a model was fitted on; those that it left out need not be there."""
    needed = [name for name in wanted if name not in unused]
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        others = [name for name in frame.columns if name not in wanted]
        near = [(name, nearest(name, others)) for name in lacking]
        hints = [f"'{found}' for '{name}'" for name, found in near if found]
        hint = f" Did you mean {', '.join(hints[:5])}?" if hints else ""
        raise CommandError(
            f"{file} lacks {len(lacking)} of the {len(needed)} columns of the model: "
            f"{listed(lacking)}.{hint}"
        )
    # Blanks for a column that is not there: whatever it holds, the model reads nothing from it.
    return frame.reindex(columns=list(wanted))


# So many rows of a title, units and the like may stand above the names of the columns.
MOST_ROWS_ABOVE = 10


def where_it_stands(name: str, frame: pd.DataFrame) -> str:
    """What to do about a table that holds `name` in a cell; empty if it does not.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.cli.tables import where_it_stands
    >>> where_it_stands("ill", pd.DataFrame({"age": [50, 60], "outcome": ["ill", "well"]}))
    "'ill' is a value of column 'outcome'."
    """
    if frame.shape[1] == 1:
        return (
            "All was read as one column: delete a title above the names of the columns, or say "
            "what stands between cells: --delimiter."
        )
    # The corner above names of rows is blank too, and no sign of a title.
    has_blank_names = any(one == f"column {j + 1}" for j, one in enumerate(frame.columns) if j)
    for j, column in enumerate(frame.columns):
        rows = np.flatnonzero(frame[column].astype(object) == name)
        if not len(rows):
            continue
        if has_blank_names and rows[0] < MOST_ROWS_ABOVE:
            return (
                f"'{name}' stands in a lower row, but the first row is to hold the names of the "
                "columns: delete the rows above them in the file."
            )
        if j == 0 and len(rows) == 1 and frame[column].is_unique:
            return (
                f"'{name}' is the name of a row, but a row is to be a sample and a column a "
                "feature: transpose the table in the file."
            )
        return f"'{name}' is a value of column '{column}'."
    return ""


def is_number(y: Any, source: TableOptions) -> bool:
    """Whether the target is a number; says how to have whole numbers that are classes as such."""
    from immigrate.outcomes import is_number_outcome

    known = y.dropna()
    if source.outcome is not Outcome.auto:
        return source.outcome is Outcome.number
    if is_number_outcome(known):
        return True
    if pd.api.types.is_numeric_dtype(known) and known.nunique() > 2:
        note(
            f"'{source.target}' has {known.nunique()} different numbers, which are read as "
            "classes; --outcome number reads them as a number."
        )
    return False


def test_parameters(
    source: TableOptions, options: TestOptions, names: Sequence[str]
) -> dict[str, Any]:
    """The parameters of `InteractionTest` for a table with these features."""
    for name in options.adjust_for or ():
        if name not in names:
            raise unknown_column("--adjust-for", name, names)
    return {
        "adjust_for": options.adjust_for or None,
        "pairs": chosen_pairs(options.pairs, names),
        "outcome": source.outcome.value,
        "split": options.split,
        "circular_features": source.circular_features,
    }


def chosen_pairs(text: str, names: Sequence[str]) -> Any:
    """What `--pairs` names: one feature, or pairs of them; names may hold colons themselves.

    Examples
    --------
    >>> from immigrate.cli.tables import chosen_pairs
    >>> chosen_pairs("age:dose,age:sex", ["age", "dose", "sex"])
    [('age', 'dose'), ('age', 'sex')]
    >>> chosen_pairs("age", ["age", "dose"])
    'age'
    """
    if not text:
        return None
    # Before colons are looked for, because a name may hold one.
    if text in names:
        return text
    if ":" not in text:
        raise unknown_column("--pairs", text, names)
    pairs, begun = list[tuple[str, str]](), ""
    # Commas stand between pairs and may stand in names, and so may colons.
    for piece in text.split(","):
        begun = f"{begun},{piece}" if begun else piece
        places = (place for place, letter in enumerate(begun) if letter == ":")
        cuts = ((begun[:place].strip(), begun[place + 1 :].strip()) for place in places)
        pair = next((cut for cut in cuts if set(cut) <= set(names)), None)
        if pair:
            pairs.append(pair)
            begun = ""
    if begun:
        parts = [part.strip() for part in begun.split(":")]
        unknown = [part for part in parts if part not in names]
        if len(parts) == 2 and unknown:
            raise unknown_column("--pairs", unknown[0], names)
        raise CommandError(
            f"--pairs takes a feature, or pairs such as age:dose,age:sex; '{begun}' is none."
        )
    return pairs
