"""A file of any usual format → a data frame, and what was guessed on the way."""

from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from immigrate.cli.app import Reading
from immigrate.cli.ending import CommandError, listed, nearest
from immigrate.cli.text import (
    COMMA,
    DELIMITERS,
    MISSING,
    POINT,
    Cells,
    chosen_delimiter,
    decoded,
    named_header,
    records_of,
)

GZIP, ZIP, OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PARQUET, FEATHER = b"PAR1", (b"ARROW1", b"FEA1")
MARK_NAMES = {POINT: "decimal points", COMMA: "decimal commas"}
# What a delimiter says about decimal marks, where no cell does. Semicolons say nothing.
USUAL_MARKS = {",": POINT, "\t": POINT, "|": POINT}


@dataclass(frozen=True)
class ReadFile:
    """A table and how it was read.

    Attributes
    ----------
    frame : DataFrame
        Named distinctly, by text.
    guessed : tuple of str
        Format, encoding, marks: what the user should check.
    notes : tuple of str
        What was renamed or left out.
    """

    name: str
    frame: pd.DataFrame
    guessed: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """What was read, in one line."""
        n_rows, n_columns = self.frame.shape
        shape = f"{n_rows} row{'s' * (n_rows != 1)}, {n_columns} column{'s' * (n_columns != 1)}"
        return f"read {self.name}: {shape}; {', '.join(self.guessed)}"


def known_cells(reading: Reading, default: str = "") -> Cells:
    """What is known about cells of text before one is seen."""
    if reading.decimal not in ("", POINT, COMMA):
        raise CommandError(f"--decimal takes . or , ; got '{reading.decimal}'.")
    missing = MISSING | {mark.strip() for mark in reading.missing or ()}
    return Cells(reading.decimal, default, missing, reading.as_text)


def read_file(path: Path, reading: Reading) -> ReadFile:
    """The table in a file."""
    with opening(path):
        content = path.read_bytes()
    if not content:
        raise CommandError(f"{path.name} is empty.")
    read = _read(content, path.name, reading)
    if not len(read.frame):
        raise CommandError(f"{path.name} has names of columns, but no row below them.")
    return read


@contextlib.contextmanager
def opening(path: Path) -> Iterator[None]:
    """An error of the disk in one line."""
    try:
        yield
    except FileNotFoundError:
        raise CommandError(_not_there(path)) from None
    except IsADirectoryError:
        raise CommandError(f"{path} is a folder; give a file.") from None
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}.") from None


def _not_there(path: Path) -> str:
    if str(path) == "-":
        return "there is no file -. To read standard input, give /dev/stdin."
    try:
        near = nearest(path.name, sorted(one.name for one in path.parent.iterdir()))
    except OSError:
        near = None
    hint = f" Did you mean '{path.with_name(near)}'?" if near else ""
    return f"there is no file {path}.{hint}"


def _read(content: bytes, name: str, reading: Reading) -> ReadFile:
    # By the first bytes: a name may lie, and a compressed file holds any of the others.
    if content.startswith(GZIP):
        try:
            inside = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(f"{name} cannot be unpacked ({error}); is it complete?") from None
        if not inside:
            raise CommandError(f"{name} is empty.")
        read = _read(inside, name, reading)
        return replace(read, guessed=("gzip", *read.guessed))
    if content.startswith(OLD_EXCEL):
        raise CommandError(f"{name} is an old Excel file; save it as .xlsx or as CSV.")
    for starts, reader in READERS:
        if content.startswith(starts):
            return reader(content, name, reading)
    return _read_text(content, name, reading)


def _read_text(content: bytes, name: str, reading: Reading) -> ReadFile:
    text = decoded(content, name, reading.encoding)
    delimiter = chosen_delimiter(text.content, reading.delimiter)
    records = records_of(text.content, delimiter, name)
    if not records:
        raise CommandError(f"{name} is empty.")
    cells = known_cells(reading, default=USUAL_MARKS.get(delimiter, ""))
    frame, notes = _framed(records[0], list(zip(*records[1:], strict=True)), cells)
    if text.is_guess:
        notes = (
            f"{name} is not UTF-8; it was read as {text.encoding}. If letters are wrong, give "
            "--encoding.",
            *notes,
        )
    marks = [name for mark, name in MARK_NAMES.items() if mark in cells.used]
    guessed = (text.encoding.upper(), DELIMITERS.get(delimiter, repr(delimiter)), *marks)
    return ReadFile(name, frame, guessed, notes)


def _framed(
    header: Sequence[str], columns: Sequence[Sequence[str]], cells: Cells
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Columns of text as a data frame, without what is no column."""
    columns = columns or [()] * len(header)
    notes: list[str] = []
    kept = [
        j
        for j, name in enumerate(header)
        # Delimiters at the ends of lines make columns that hold nothing at all.
        if name.strip() or any(cell.strip() for cell in columns[j])
    ]
    # Row numbers, 0, 1, ... or 1, 2, ... as R and pandas write them, are no feature.
    counts = [[str(row + start) for row in range(len(columns[0]))] for start in (0, 1)]
    if kept and not header[kept[0]].strip() and list(columns[kept[0]]) in counts:
        notes.append("the first column has no name and counts the rows; it is left out.")
        kept = kept[1:]
    names = named_header([header[j] for j in kept], notes)
    frame = cells.frame(names, [columns[j] for j in kept])
    return frame, (*notes, *cells.notes)


def _read_excel(content: bytes, name: str, reading: Reading) -> ReadFile:
    # Excel files are ZIP archives. What is damaged is left to the reader.
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "[Content_Types].xml" not in archive.namelist():
            raise CommandError(
                f"{name} is a ZIP archive and no Excel file; unpack it, or pack the table with "
                "gzip."
            )
    try:
        with pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
            sheets = [str(sheet) for sheet in book.sheet_names]
            sheet = _chosen_sheet(sheets, reading.sheet, name)
            raw = pd.read_excel(
                book, sheet_name=sheet, header=None, dtype=object, keep_default_na=False
            )
    # Our own words, and a package that is missing, are no fault of the file.
    except (CommandError, ImportError):
        raise
    except Exception as error:  # openpyxl passes on whatever its parsers raise
        raise CommandError(
            f"{name} is no Excel file that can be read ({_short(error)})."
        ) from None
    frame, notes = _from_cells(raw, name, reading)
    others = f" of {len(sheets)}" if len(sheets) > 1 else ""
    return ReadFile(name, frame, (f"Excel, sheet '{sheet}'{others}",), notes)


def _chosen_sheet(sheets: Sequence[str], given: str, name: str) -> str:
    if not given:
        return sheets[0]
    if given not in sheets:
        near = nearest(given, sheets)
        hint = f" Did you mean '{near}'?" if near else ""
        raise CommandError(f"{name} has no sheet '{given}'.{hint} Sheets: {listed(sheets)}.")
    return given


def _from_cells(
    raw: pd.DataFrame, name: str, reading: Reading
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A sheet, whose cells have types of their own; text in it is read as that of a text file."""
    is_blank = raw.isna() | raw.map(lambda cell: isinstance(cell, str) and not cell.strip())
    # Sheets often have empty rows above and empty columns beside the table.
    raw = raw.loc[~is_blank.all(axis=1), ~is_blank.all(axis=0)]
    if raw.empty:
        raise CommandError(f"{name} is empty.")
    notes: list[str] = []
    header = ["" if pd.isna(cell) else str(cell) for cell in raw.iloc[0]]
    names = named_header(header, notes)
    cells = known_cells(reading)
    columns = {
        one: _sheet_column(one, raw.iloc[1:, j].tolist(), cells) for j, one in enumerate(names)
    }
    frame = pd.DataFrame(columns, index=range(len(raw) - 1))
    return frame, (*notes, *cells.notes)


def _sheet_column(name: str, values: list[Any], cells: Cells) -> Any:
    known = [None if pd.isna(one) or one in cells.missing else one for one in values]
    if name in cells.as_text:
        return pd.Series([None if one is None else str(one) for one in known], dtype=object)
    if all(one is None or isinstance(one, str) for one in known):
        return cells.column(name, ["" if one is None else one for one in known])
    # Numbers and dates are typed in a sheet; a few words among them keep all of it as it is.
    return pd.Series(known, dtype=object).infer_objects()


def _read_columns(what: str, read: Callable[[io.BytesIO], pd.DataFrame]) -> Any:
    def reader(content: bytes, name: str, reading: Reading) -> ReadFile:
        try:
            frame = read(io.BytesIO(content))
        except ImportError:
            raise
        except Exception as error:  # whatever the parser of the format raises
            raise CommandError(
                f"{name} is no {what} file that can be read ({_short(error)})."
            ) from None
        notes: list[str] = []
        frame.columns = pd.Index(named_header([str(one) for one in frame.columns], notes))
        for one in reading.as_text & set(frame.columns):
            frame[one] = frame[one].map(str, na_action="ignore").astype(object)
        return ReadFile(name, frame.reset_index(drop=True), (what,), tuple(notes))

    return reader


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:120]


READERS: tuple[tuple[Any, Callable[[bytes, str, Reading], ReadFile]], ...] = (
    (ZIP, _read_excel),
    (PARQUET, _read_columns("Parquet", lambda file: pd.read_parquet(file))),
    (FEATHER, _read_columns("Feather", lambda file: pd.read_feather(file))),
)
