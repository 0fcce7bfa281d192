"""Text files: which encoding, which delimiter, which cells.

`csv` of the standard library splits them, so that a line with too many cells, or a quote that is
never closed, is named by its number instead of becoming a table of another shape.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from immigrate.cli._errors import CommandError

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


def chosen_delimiter(text: str, told: str = "") -> str:
    r"""The delimiter that cuts most records into as many cells as the header.

    Examples
    --------
    >>> from immigrate.cli._text_files import chosen_delimiter
    >>> chosen_delimiter("size, cm;weight, kg\n1,5;2,5\n1,7;2,9\n")
    ';'
    """
    if told:
        delimiter = TYPED.get(told, told)
        if len(delimiter) != 1:
            raise CommandError(f"--delimiter takes one character, or 'tab'; got '{told}'.")
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
                records.append(_even(record, records, reader.line_num, name))
    except csv.Error as error:
        raise CommandError(
            f"{name}: line {reader.line_num} cannot be read ({error}). Is there a quote that is "
            "not closed?"
        ) from None
    return records


def _even(record: list[str], before: Sequence[list[str]], line: int, name: str) -> list[str]:
    if not before or len(record) == len(before[0]):
        return record
    expected = len(before[0])
    # Delimiters at the end of a line make cells that hold nothing.
    if len(record) > expected and not any(cell.strip() for cell in record[expected:]):
        return record[:expected]
    remedy = "Mend the line" if expected > 1 else "Delete a title above the names of the columns"
    raise CommandError(
        f"{name}: line {line} has {len(record)} cells, but the first line has {expected}. "
        f"{remedy}, or say what stands between cells: --delimiter"
    )
