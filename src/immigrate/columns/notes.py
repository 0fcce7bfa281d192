"""What in a table is no feature, or is one twice: found, named and explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.columns.kinds import Kind
from immigrate.columns.levels import Levels
from immigrate.columns.text_forms import are_dates, number_like
from immigrate.columns.warning import ColumnWarning
from immigrate.progress import warn_user

# A level that fewer than two rows share on average tells nothing of other rows. With ten levels
# or fewer that is a small table, not an identifier.
LEAST_SHARE_OF_ROWS, LEAST_LEVELS = 0.5, 11
# Rows by which columns are told apart before they are compared in full.
FINGERPRINT_ROWS = 32
MOST_LISTED = 5


class Reason(Enum):
    """Why a column deserves a word."""

    DATES = "dates"
    TEXT_DATES = "dates as text"
    NUMBER_TEXT = "numbers as text"
    IDENTIFIER = "identifier"
    KEPT_IDENTIFIER = "kept identifier"
    ALL_MISSING = "all missing"
    CONSTANT = "constant"
    COPY = "copy"
    SAME_NAME = "same name"


# Not the values of the enumeration: these are in stored models, and words may change.
WORDS = {
    Reason.DATES: (
        "dates or times, which are neither numbers nor names. Left out; to use them, turn them "
        "into numbers, such as days since a start, or into categories, such as the month."
    ),
    Reason.TEXT_DATES: (
        "dates written as text. Left out of the model, with weight 0; to use them, turn them into "
        "numbers, such as days since a start, or into categories, such as the month."
    ),
    Reason.NUMBER_TEXT: (
        "numbers written as text. Left out of the model, with weight 0; to use them, read them "
        "with pandas.read_csv(decimal=',') if that is their decimal mark, or turn them into "
        "numbers with pandas.to_numeric(errors='coerce')."
    ),
    Reason.IDENTIFIER: (
        "fewer than two rows per level, as an identifier has. Left out of the model, with weight "
        "0; drop it, or list it with the other categorical columns in categorical_features."
    ),
    Reason.KEPT_IDENTIFIER: (
        "fewer than two rows per level, as an identifier has. Kept because categorical_features "
        "lists it; drop it unless its levels come back in new rows."
    ),
    Reason.ALL_MISSING: "no known value. Left out of the model, with weight 0; drop it.",
    Reason.CONSTANT: "constant, and so no help in telling samples apart; drop it.",
    Reason.COPY: (
        "the values of an earlier column, with which it shares the weight; drop one of them."
    ),
    Reason.SAME_NAME: (
        "renamed, as pandas.read_csv does, because two columns have one name; give each column a "
        "name of its own."
    ),
}
NOT_IN_MODEL = {Reason.TEXT_DATES, Reason.NUMBER_TEXT, Reason.IDENTIFIER, Reason.ALL_MISSING}


@dataclass(frozen=True)
class Note:
    """One column and one reason to speak of it.

    Attributes
    ----------
    column : int
        Position in the table.
    name : str
    reason : Reason
    detail : str
        What was seen, such as "420 levels in 420 rows".

    Examples
    --------
    >>> from immigrate.columns import Note, Reason
    >>> note = Note(3, "study", Reason.CONSTANT, "always 'CARE-2'")
    >>> print(note.text)
    Column 'study' (always 'CARE-2'): constant, and so no help in telling samples apart; drop it.
    """

    column: int
    name: str
    reason: Reason
    detail: str = ""

    @property
    def is_left_out(self) -> bool:
        """Whether models leave the column out."""
        return self.reason in NOT_IN_MODEL

    @property
    def text(self) -> str:
        """The note as a sentence."""
        return next(messages([self]))

    @property
    def named(self) -> str:
        """The name of the column with what was seen."""
        return f"{self.name!r} ({self.detail})" if self.detail else repr(self.name)


def messages(notes: Sequence[Note]) -> Iterator[str]:
    """One sentence per reason, with the columns that it concerns."""
    by_reason: dict[Reason, list[Note]] = defaultdict(list)
    for note in notes:
        by_reason[note.reason].append(note)
    for reason, group in by_reason.items():
        listed = ", ".join(note.named for note in group[:MOST_LISTED])
        more = f" and {len(group) - MOST_LISTED} more" if len(group) > MOST_LISTED else ""
        yield f"Column{'s' if len(group) > 1 else ''} {listed}{more}: {WORDS[reason]}"


def in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Notes in the order of the columns."""
    return tuple(sorted(notes, key=lambda note: note.column))


def warn_of(notes: Sequence[Note]) -> None:
    """One warning per reason."""
    for message in messages(notes):
        warn_user(message, ColumnWarning)


@dataclass(frozen=True, eq=False)
class Described:
    """What the notes about columns are drawn from; one entry per column.

    Attributes
    ----------
    names : sequence of str
    kinds : sequence of Kind
    levels : sequence of tuple
    is_text : ndarray of bool
        Objects and text whose type declares no categories.
    is_listed : ndarray of bool
        Listed in `categorical_features`: the user's word, which is kept.
    repeated : sequence of (int, int)
        Columns that have the name of an earlier one.
    """

    names: Sequence[str]
    kinds: Sequence[Kind]
    levels: Sequence[Levels]
    is_text: Mask
    is_listed: Mask
    repeated: Sequence[tuple[int, int]]


def table_notes(described: Described, values: Array) -> tuple[Note, ...]:
    """All there is to say about the columns of a table that was read, `values`."""
    low, high, has_gap = column_ranges(values)
    is_empty, is_constant = low > high, (low == high) & ~has_gap
    notes = [_same_name(described, *pair) for pair in described.repeated]
    for j in np.flatnonzero(is_empty).tolist():
        notes.append(Note(j, described.names[j], Reason.ALL_MISSING))
    for j in np.flatnonzero(is_constant).tolist():
        detail = f"always {_value(described, j, low[j])}"
        notes.append(Note(j, described.names[j], Reason.CONSTANT, detail))
    notes += [
        note
        for j, kind in enumerate(described.kinds)
        if kind is Kind.NOMINAL and not is_empty[j] and not is_constant[j]
        for note in _nominal_notes(described, j, values[:, j])
    ]
    # Constants and columns without a value are all alike; nobody needs to hear that they are
    # copies.
    is_left_out = is_empty | is_constant
    is_left_out[[note.column for note in notes if note.is_left_out]] = True
    is_nominal = np.array([kind is Kind.NOMINAL for kind in described.kinds], dtype=bool)
    for j, earlier in _copies(values, is_nominal, np.flatnonzero(~is_left_out)):
        detail = f"the same as {described.names[earlier]!r}"
        notes.append(Note(j, described.names[j], Reason.COPY, detail))
    return in_order(notes)


def column_ranges(values: Array) -> tuple[Array, Array, Mask]:
    """Lowest and highest known value of each column, and whether it has gaps.

    A column without a known value has the lowest +inf and the highest -inf.
    """
    low = np.minimum.reduce(values, axis=0, initial=np.inf)
    has_gap = np.isnan(low)
    # The minimum of a column with a gap is NaN; only then are gaps passed over.
    if has_gap.any():
        low = np.fmin.reduce(values, axis=0, initial=np.inf)
    return low, np.fmax.reduce(values, axis=0, initial=-np.inf), has_gap


def _same_name(described: Described, column: int, earlier: int) -> Note:
    name = described.names[earlier]
    detail = f"position {column}, named {name!r} as position {earlier}"
    return Note(column, described.names[column], Reason.SAME_NAME, detail)


def _value(described: Described, j: int, value: float) -> str:
    levels = described.levels[j]
    return repr(levels[int(value)]) if levels else f"{value:g}"


def _nominal_notes(described: Described, j: int, codes: Array) -> list[Note]:
    levels, name = described.levels[j], described.names[j]
    is_listed = bool(described.is_listed[j])
    if described.is_text[j] and not is_listed:
        if are_dates(levels):
            return [Note(j, name, Reason.TEXT_DATES, f"such as {levels[0]!r}")]
        if example := number_like(levels):
            return [Note(j, name, Reason.NUMBER_TEXT, example)]
    n_known = int(np.count_nonzero(~np.isnan(codes)))
    if len(levels) < LEAST_LEVELS or len(levels) <= LEAST_SHARE_OF_ROWS * n_known:
        return []
    reason = Reason.KEPT_IDENTIFIER if is_listed else Reason.IDENTIFIER
    return [Note(j, name, reason, f"{len(levels)} levels in {n_known} rows")]


def _copies(values: Array, is_nominal: Mask, candidates: Codes) -> list[tuple[int, int]]:
    """Columns with the values of an earlier one, and the earlier one."""
    firsts: dict[tuple[bool, bytes], list[int]] = defaultdict(list)
    found = []
    # The sum with 0 makes one of the two zeros, which are equal but for their bytes.
    fingerprints = np.ascontiguousarray(values[:FINGERPRINT_ROWS].T) + 0.0
    for j in candidates.tolist():
        # Codes of levels and numbers may agree by chance.
        alike = firsts[bool(is_nominal[j]), fingerprints[j].tobytes()]
        same = (k for k in alike if np.array_equal(values[:, j], values[:, k], equal_nan=True))
        earlier = next(same, None)
        if earlier is None:
            alike.append(j)
        else:
            found.append((j, earlier))
    return found
