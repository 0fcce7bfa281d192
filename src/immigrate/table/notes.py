"""What in a table is no feature, or is one twice: found, named and explained.

Text that is no name is recognised conservatively. A column counts as dates only if all of its
values have one of the usual forms and are possible, and as numbers only if nearly all are, one of
them with decimals: whole numbers as text may well be names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.kinds.column import ColumnWarning
from immigrate.progress import warn_user

if TYPE_CHECKING:
    from immigrate.table.table import Reader

# A level that fewer than two rows share on average tells nothing of other rows. With ten levels
# or fewer that is a small table, not an identifier.
LEAST_SHARE_OF_ROWS, LEAST_LEVELS = 0.5, 11
# Rows by which columns are told apart before they are compared in full.
FINGERPRINT_ROWS = 32
MOST_LISTED = 5
TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?"
ZONE = r"( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"
    r"oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
DAYS = (
    # 2021-01-03 and 2021/01/03
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<first>\d{1,2})(?P=sep)(?P<second>\d{1,2})",
    # 03.01.2021, 1/3/2021 and 03-01-2021, the month first or second
    r"(?P<first>\d{1,2})(?P<sep>[-/.])(?P<second>\d{1,2})(?P=sep)(?P<year>\d{4})",
    # 03.01.21; a version such as 3.2.1 has shorter parts
    r"(?P<first>\d{2})(?P<sep>[-/.])(?P<second>\d{2})(?P=sep)\d{2}",
    # 3 Jan 2021, 03-Jan-2021, 3. January 2021, Jan 3, 2021
    rf"(?P<day>\d{{1,2}})(\.? |-){MONTH}( |-)(?P<year>\d{{4}})",
    rf"{MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
)
DATE_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (*(rf"{day}([T ,]+{TIME}{ZONE})?" for day in DAYS), TIME)
)
NUMBER_FORM = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
DECIMALS = re.compile(r"[.,]\d")
LEAST_SHARE_OF_NUMBERS = 0.9


class Reason(Enum):
    """Why a column is named in a note."""

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
        "numbers written as text. Left out of the model, with weight 0; to use them, turn every "
        "cell into a number, or into a missing value where it holds none."
    ),
    Reason.IDENTIFIER: (
        "fewer than two rows per level, as an identifier has. Left out of the model, with weight "
        "0; drop it, or declare it categorical if its levels come back in new rows."
    ),
    Reason.KEPT_IDENTIFIER: (
        "fewer than two rows per level, as an identifier has. Kept because it is declared "
        "categorical; drop it unless its levels come back in new rows."
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
    >>> from immigrate.table import Note, Reason
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


def table_notes(
    reader: Reader,
    values: Array,
    ranges: tuple[Array, Array, Mask],
    *,
    is_text: Mask,
    is_listed: Mask,
    repeated: Sequence[tuple[int, int]],
) -> tuple[Note, ...]:
    """All there is to say about the columns of a table.

    Parameters
    ----------
    reader : Reader
    values : ndarray of shape (n, p)
        What it makes of the table.
    ranges : low, high and has_gap, each of shape (p,)
    is_text : ndarray of bool
        Objects and text whose type declares no categories.
    is_listed : ndarray of bool
        Listed in `categorical_features`: the user's word, which is kept.
    repeated : sequence of (int, int)
        Columns that have the name of an earlier one.
    """
    low, high, has_gap = ranges
    names = reader.names
    is_empty, is_constant = low > high, (low == high) & ~has_gap
    notes = [
        Note(
            j,
            names[j],
            Reason.SAME_NAME,
            f"position {j}, named {names[earlier]!r} as position {earlier}",
        )
        for j, earlier in repeated
    ]
    for j in np.flatnonzero(is_empty).tolist():
        notes.append(Note(j, names[j], Reason.ALL_MISSING))
    for j in np.flatnonzero(is_constant).tolist():
        levels = reader.levels[j]
        value = repr(levels[int(low[j])]) if levels else f"{low[j]:g}"
        notes.append(Note(j, names[j], Reason.CONSTANT, f"always {value}"))
    for j in np.flatnonzero(reader.is_nominal & ~is_empty & ~is_constant).tolist():
        note = _nominal_note(reader, j, values[:, j], bool(is_text[j]), bool(is_listed[j]))
        if note:
            notes.append(note)
    # Constants and columns without a value are all alike: that they are copies is no news.
    is_left_out = is_empty | is_constant
    is_left_out[[note.column for note in notes if note.is_left_out]] = True
    for j, earlier in _copies(values, reader.is_nominal, np.flatnonzero(~is_left_out)):
        notes.append(Note(j, names[j], Reason.COPY, f"the same as {names[earlier]!r}"))
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
    high = np.fmax.reduce(values, axis=0, initial=-np.inf)
    # Ranges of float32 may lie beyond it.
    return low.astype(np.float64, copy=False), high.astype(np.float64, copy=False), has_gap


def _nominal_note(
    reader: Reader, j: int, codes: Array, is_text: bool, is_listed: bool
) -> Note | None:
    levels, name = reader.levels[j], reader.names[j]
    if is_text and not is_listed:
        if are_dates(levels):
            return Note(j, name, Reason.TEXT_DATES, f"such as {levels[0]!r}")
        if example := number_like(levels):
            return Note(j, name, Reason.NUMBER_TEXT, example)
    n_known = int(np.count_nonzero(~np.isnan(codes)))
    if len(levels) < LEAST_LEVELS or len(levels) <= LEAST_SHARE_OF_ROWS * n_known:
        return None
    reason = Reason.KEPT_IDENTIFIER if is_listed else Reason.IDENTIFIER
    return Note(j, name, reason, f"{len(levels)} levels in {n_known} rows")


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


def are_dates(texts: Sequence[Any]) -> bool:
    """Whether all of these are dates or times of the day written out.

    Examples
    --------
    >>> from immigrate.table.notes import are_dates
    >>> are_dates(["03.01.2021", "28.02.2021"]), are_dates(["3.2.1", "3.2.2"])
    (True, False)
    """
    return len(texts) > 0 and all(isinstance(text, str) and _is_date(text) for text in texts)


def number_like(levels: Sequence[Any]) -> str:
    """An example of what shows that these are numbers written as text; empty if they are not.

    Examples
    --------
    >>> from immigrate.table.notes import number_like
    >>> number_like(["52,9", "66,1"]), number_like(["101", "102"])
    ("such as '52,9'", '')
    """
    others = [level for level in levels if not _is_number(level)]
    # A few words such as "n.d." may stand among numbers.
    is_mostly = len(others) <= (1 - LEAST_SHARE_OF_NUMBERS) * len(levels)
    numbers = (level for level in levels if _is_number(level))
    decimal = next((number for number in numbers if DECIMALS.search(str(number))), None)
    if not is_mostly or decimal is None:
        return ""
    return f"{others[0]!r} among numbers" if others else f"such as {decimal!r}"


def _is_number(level: Any) -> bool:
    if isinstance(level, str):
        return NUMBER_FORM.fullmatch(level.strip()) is not None
    return isinstance(level, Number)


def _is_date(text: str) -> bool:
    match = next(filter(None, (form.fullmatch(text.strip()) for form in DATE_FORMS)), None)
    if match is None:
        return False
    parts = match.groupdict()
    numbers = {key: int(part) for key, part in parts.items() if part and part.isdigit()}
    # A year that stands in front is followed by the month; else either may be the month.
    days = sorted(numbers[key] for key in ("first", "second", "day") if key in numbers)
    is_day = all(1 <= day <= 31 for day in days) and (len(days) < 2 or days[0] <= 12)
    is_time = numbers.get("hour", 0) <= 24 and numbers.get("minute", 0) < 60
    return is_day and is_time and 1800 <= numbers.get("year", 2000) <= 2200
