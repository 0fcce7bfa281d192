"""Text files: which encoding, which delimiter, which cells, and what the cells mean.

`csv` of the standard library splits them, so that a line with too many cells, or a quote that is
never closed, is named by its number instead of becoming a table of another shape.

Columns of text become numbers, flags or names; never a number that the file may not mean. A point
or a comma may be a decimal mark or stand between thousands. In ``1.5``, ``0,222`` and ``12,3456``
it can only be a decimal mark, in ``1,234,567`` only the other; ``1,234`` may be both. Cells that
leave no doubt decide for their column, then for the file; where all are in doubt, the delimiter
decides if it can, and else an error asks the user.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from immigrate.cli.ending import CommandError, listed

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Those that hardly ever stand in a name or a number first: they win where two would do.
DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
TYPED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
# Records by which the delimiter is chosen, and bytes by which text is told from other content.
SAMPLE_RECORDS, SAMPLE_BYTES = 200, 65536
LONGEST_CELL = 10**7
# Below the space, text has tabs, line ends, form feeds and, in old files, the end mark.
TEXT_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1a\x1b\x08\x07")


@dataclass(frozen=True)
class Text:
    """The text of a file and how it was encoded; whether that is a guess."""

    content: str
    encoding: str
    is_guess: bool = False


def decoded(content: bytes, name: str, encoding: str = "") -> Text:
    """The text in these bytes: as told, as marked, as UTF-8, or else as Western European."""
    if encoding:
        return Text(_decoded_as_told(content, name, encoding), encoding)
    marked = next((known for mark, known in MARKS.items() if content.startswith(mark)), None)
    if marked:
        return Text(_decoded_as_told(content, name, marked), marked.removesuffix("-sig"))
    _check_is_text(content, name)
    try:
        return Text(content.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return Text(content.decode("cp1252"), "cp1252", is_guess=True)
    except UnicodeDecodeError:
        # It has a letter for every byte, so that this cannot fail.
        return Text(content.decode("latin-1"), "latin-1", is_guess=True)


def _decoded_as_told(content: bytes, name: str, encoding: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    except LookupError:
        raise CommandError(
            f"'{encoding}' is no encoding; usual ones are utf-8, utf-16, cp1252 and latin-1."
        ) from None
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = content[:start].count(b"\n") + 1
        byte = f" (byte 0x{content[start]:02x})" if start < len(content) else ""
        raise CommandError(
            f"{name}: line {line} is not {encoding}{byte}. Leave --encoding out to have it "
            "guessed, or give another one, such as cp1252."
        ) from None


def _check_is_text(content: bytes, name: str) -> None:
    sample = content[:SAMPLE_BYTES]
    # In UTF-16 every other byte of Western text is 0.
    if len(sample) > 1 and (sample[1::2].count(0) > len(sample) / 4):
        raise CommandError(
            f"{name} seems to be UTF-16 without its mark; try --encoding utf-16-le."
        )
    if any(byte < 32 and byte not in TEXT_CONTROLS for byte in set(sample)):
        raise CommandError(
            f"{name} is no table: it holds binary data. Give a CSV, TSV, Excel (.xlsx), Parquet "
            "or Feather file, or one of these packed with gzip."
        )


def chosen_delimiter(text: str, given: str = "") -> str:
    r"""The delimiter that cuts most records into as many cells as the header.

    Examples
    --------
    >>> from immigrate.cli.text import chosen_delimiter
    >>> chosen_delimiter("size, cm;weight, kg\n1,5;2,5\n1,7;2,9\n")
    ';'
    """
    if given:
        delimiter = TYPED.get(given, given)
        if len(delimiter) != 1:
            raise CommandError(f"--delimiter takes one character, or 'tab'; got '{given}'.")
        return delimiter
    fits = {delimiter: _fit(text, delimiter) for delimiter in DELIMITERS}
    # A table of one column has none.
    return max(fits, key=lambda one: fits[one]) if any(fits.values()) else ","


def _fit(text: str, delimiter: str) -> float:
    """Share of the records that have as many cells as the header; 0 if that has one."""
    try:
        first = itertools.islice(_reader(text, delimiter), SAMPLE_RECORDS)
        records = [record for record in first if record]
    except csv.Error:
        return 0.0
    if not records or len(records[0]) < 2:
        return 0.0
    return sum(len(record) == len(records[0]) for record in records) / len(records)


def _reader(text: str, delimiter: str) -> csv._reader:  # type: ignore[name-defined]
    # Python's own limit of 131,072 letters is too small for some tables of text.
    csv.field_size_limit(LONGEST_CELL)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def records_of(text: str, delimiter: str, name: str) -> list[list[str]]:
    """All records, the header first, each with as many cells as it."""
    reader, records = _reader(text, delimiter), list[list[str]]()
    try:
        for record in reader:
            if any(cell.strip() for cell in record):
                expected = len(records[0]) if records else len(record)
                # Delimiters at the end of a line make cells that hold nothing.
                if any(cell.strip() for cell in record[expected:]) or len(record) < expected:
                    raise _uneven(record, expected, reader.line_num, name)
                records.append(record[:expected])
    except csv.Error as error:
        raise CommandError(
            f"{name}: line {reader.line_num} cannot be read ({error}). Is there a quote that is "
            "not closed?"
        ) from None
    return records


def _uneven(record: list[str], expected: int, line: int, name: str) -> CommandError:
    remedy = "Mend the line" if expected > 1 else "Delete a title above the names of the columns"
    return CommandError(
        f"{name}: line {line} has {len(record)} cells, but the first line has {expected}. "
        f"{remedy}, or say what stands between cells: --delimiter"
    )


# What pandas takes for missing, a question mark, and what a spreadsheet shows for an error.
MISSING = frozenset(
    [
        *("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None"),
        *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?"),
        *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
    ]
)
FLAGS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
POINT, COMMA = ".", ","
OTHER = {POINT: COMMA, COMMA: POINT}
PLAIN = re.compile(r"[+-]?\d+([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
# Spaces of three kinds and an apostrophe also stand between thousands.
GAPS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}'\N{RIGHT SINGLE QUOTATION MARK}"
GROUPED = re.compile(rf"[+-]?[1-9]\d{{0,2}}([{GAPS}])\d{{3}}(\1\d{{3}})*([.,]\d+)?")
# Whole numbers of so many digits are floats without rounding.
FEWEST_DIGITS = 15
LEADING_ZERO = re.compile(r"[+-]?0\d+")


def _decimal_form(mark: str) -> re.Pattern[str]:
    one, other = re.escape(mark), re.escape(OTHER[mark])
    whole = rf"(\d+|[1-9]\d{{0,2}}({other}\d{{3}})+)"
    return re.compile(rf"[+-]?({whole}({one}\d*)?|{one}\d+)([eE][+-]?\d+)?")


# All that is a number if this mark is the decimal one.
DECIMAL = {mark: _decimal_form(mark) for mark in OTHER}


@dataclass
class Cells:
    """What is known about the marks in a file.

    Attributes
    ----------
    decimal : str
        "." or ","; empty where nothing has decided yet.
    default : str
        What the delimiter says, for files in which no cell is without doubt.
    missing : frozenset of str
        Cells that hold no value.
    as_text : frozenset of str
        Columns that are names, whatever they look like.
    used : set of str
        Decimal marks that numbers have.
    notes : list of str
        What the user should know about the reading.
    """

    decimal: str = ""
    default: str = ""
    missing: frozenset[str] = MISSING
    as_text: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def frame(self, header: Sequence[str], columns: Sequence[Sequence[str]]) -> pd.DataFrame:
        """Columns of cells as a data frame."""
        stripped = [[cell.strip() for cell in column] for column in columns]
        texts = [[None if cell in self.missing else cell for cell in one] for one in stripped]
        if not self.decimal:
            self.decimal = self._decided(texts)
        typed = {
            name: self._column(name, column) for name, column in zip(header, texts, strict=True)
        }
        return pd.DataFrame(typed, index=range(len(columns[0]) if columns else 0))

    def column(self, name: str, cells: Sequence[str]) -> pd.Series[Any]:
        """One column, of a file whose marks are known or do not matter."""
        return self.frame([name], [cells])[name]

    def _decided(self, columns: Iterable[Sequence[str | None]]) -> str:
        """The decimal mark that cells without doubt show, if they show one; else what is usual."""
        possible = (possible_marks(column) for column in columns)
        # A column without doubt has one possible mark, one without any mark has both.
        shown = {marks[0] for marks in possible if len(marks) == 1}
        if len(shown) == 1:
            return shown.pop()
        # Columns that contradict each other decide nothing for those in doubt.
        return "" if shown else self.default

    def _column(self, name: str, cells: list[str | None]) -> Any:
        known = [cell for cell in cells if cell is not None]
        if not known:
            return np.full(len(cells), np.nan)
        if name in self.as_text:
            return pd.Series(cells, dtype=object)
        if all(cell in FLAGS for cell in known):
            flags = [None if cell is None else FLAGS[cell] for cell in cells]
            return pd.Series(flags, dtype=bool if len(known) == len(cells) else object)
        # 007 is a name: as a number it would lose what tells it from 7.
        if any(LEADING_ZERO.fullmatch(cell) for cell in known):
            return pd.Series(cells, dtype=object)
        numbers = self._numbers(name, known)
        if numbers is None:
            return pd.Series(cells, dtype=object)
        if len(known) == len(cells):
            return numbers
        gapped = np.full(len(cells), np.nan)
        gapped[[cell is not None for cell in cells]] = numbers
        return gapped

    def _numbers(self, name: str, known: list[str]) -> Any:
        """The numbers that all of these cells are, or None."""
        possible = possible_marks(known)
        if not possible:
            return None
        mark = possible[0] if len(possible) == 1 else self._mark(name, known)
        alike = _alike_as_floats([_point(cell, mark) for cell in known])
        if alike:
            self.notes.append(
                f"column '{name}' has whole numbers that differ only after the 15 digits that "
                f"numbers have here, such as {alike}; they are read as names."
            )
            return None
        grouped = next(
            (one for one in known if OTHER[mark] in one or GROUPED.fullmatch(one)), None
        )
        if grouped is not None:
            (value,) = _converted([_point(grouped, mark)])
            self.notes.append(f"column '{name}' has thousands separators: {grouped} is {value:g}.")
        if any(mark in cell for cell in known):
            self.used.add(mark)
        return _converted([_point(cell, mark) for cell in known])

    def _mark(self, name: str, known: list[str]) -> str:
        """The decimal mark of a column whose cells are numbers with either of them."""
        doubtful = next((cell for cell in known if POINT in cell or COMMA in cell), None)
        if doubtful is None or self.decimal:
            return self.decimal or POINT
        # The mark that it has, and the other one.
        marks = (POINT, COMMA) if POINT in doubtful else (COMMA, POINT)
        with_decimals, with_thousands = (_converted([_point(doubtful, m)])[0] for m in marks)
        raise CommandError(
            f"column '{name}' holds {doubtful}, which may be {with_decimals:g} or "
            f"{with_thousands:g}. Say which mark is the decimal one: --decimal , or --decimal ."
        )


def possible_marks(cells: Iterable[str | None]) -> list[str]:
    """Decimal marks with which all cells are numbers: both where marks are in doubt or absent."""
    # A set: equal cells are looked at once.
    marked = {_closed(cell) for cell in cells if cell is not None and not PLAIN.fullmatch(cell)}
    return [mark for mark in OTHER if all(map(DECIMAL[mark].fullmatch, marked))]


def _closed(cell: str) -> str:
    """A number without the gaps between its thousands; any other text as it is."""
    return re.sub(f"[{GAPS}]", "", cell) if GROUPED.fullmatch(cell) else cell


def _point(cell: str, mark: str) -> str:
    """A number as Python writes it."""
    return _closed(cell).replace(OTHER[mark], "").replace(mark, POINT)


def _converted(cells: Sequence[str]) -> Any:
    """Whole numbers where all are, and fit; else floats."""
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([float(cell) for cell in cells])


def _alike_as_floats(cells: Sequence[str]) -> str:
    """One of two different whole numbers that would be one float; empty if there are none."""
    first: dict[float, str] = {}
    for cell in cells:
        is_long = len(cell) > FEWEST_DIGITS and cell.lstrip("+-").isdigit()
        if is_long and int(first.setdefault(float(cell), cell)) != int(cell):
            return cell
    return ""


def named_header(header: Sequence[str], notes: list[str]) -> list[str]:
    """Distinct names for all columns; says which ones were made up."""
    names = [name.strip() for name in header]
    blank = [j for j, name in enumerate(names) if not name]
    for j in blank:
        names[j] = f"column {j + 1}"
    if blank:
        notes.append(f"columns without a name are called {listed([names[j] for j in blank])}.")
    taken, seen = set(names), set[str]()
    for j, name in enumerate(names):
        if name in seen:
            k = next(k for k in itertools.count(1) if f"{name}.{k}" not in taken)
            names[j] = f"{name}.{k}"
            taken.add(names[j])
            notes.append(f"column {j + 1} is a second '{name}'; it is called '{names[j]}'.")
        seen.add(name)
    return names
