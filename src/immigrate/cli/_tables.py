"""A file that was read → what a command works on: features and target."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from immigrate.cli._elsewhere import where_it_stands
from immigrate.cli._errors import CommandError, listed, nearest, unknown_column
from immigrate.cli._files import ReadFile, Reading, read_file
from immigrate.cli._screen import note, say, working

MOST_EXACT = 2**53


@dataclass(frozen=True)
class Asked:
    """What the user typed about a table, the same for every command.

    Attributes
    ----------
    path : Path
    target : str
        Column that holds the outcome.
    reading : Reading
    drop, categorical : tuple of str
    are_classes : bool
        Whether the target is names even if it looks like numbers.
    """

    path: Path
    target: str
    reading: Reading
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    are_classes: bool = False

    def read(self) -> Question:
        """Read the file, and say how and what is left out."""
        # Read as text at once: as numbers, 1 and 1.0 would be the same.
        as_text = {*self.categorical, *([self.target] if self.are_classes else [])}
        read = told_file(self.path, replace(self.reading, as_text=frozenset(as_text)))
        return self._question(read)

    def _question(self, read: ReadFile) -> Question:
        frame, names = read.frame, list(read.frame.columns)
        self._check_names(frame)
        features = [name for name in names if name not in (self.target, *self.drop)]
        if not features:
            raise CommandError(f"{read.name} has no column beside the target '{self.target}'.")
        # A column that is called categorical is one, even if its cells look like numbers.
        kinds = {name: "category" for name in self.categorical if name in features}
        frame = with_target(frame, self.target)
        return Question(frame[features].astype(kinds), frame[self.target], read.name)

    def _check_names(self, frame: pd.DataFrame) -> None:
        names = list(frame.columns)
        for option, given in (
            ("--target", [self.target]),
            ("--drop", self.drop),
            ("--categorical", self.categorical),
        ):
            for name in given:
                if name not in names:
                    raise unknown_column(option, name, names, where_it_stands(name, frame))
        if self.target in self.drop:
            raise CommandError(f"'{self.target}' is the target and in --drop.")


@dataclass(frozen=True)
class Question:
    """Features, target and where they are from."""

    X: pd.DataFrame
    y: pd.Series[Any]
    name: str

    @property
    def table(self) -> pd.DataFrame:
        """Features and target side by side."""
        return pd.concat([self.X, self.y], axis=1)

    def without_dates(self) -> Question:
        """Without the columns of dates and times, which no model takes; says which."""
        from immigrate.table import Reason, left_out

        dates = [one for one in left_out(self.X) if one.reason is Reason.DATES]
        for one in dates:
            note(one.text)
        return replace(self, X=self.X.drop(columns=[one.name for one in dates]))


def told_file(path: Path, reading: Reading) -> ReadFile:
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
    >>> from immigrate.cli._tables import whole
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
