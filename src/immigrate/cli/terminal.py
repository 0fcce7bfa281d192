"""Results go to standard output and to files, talk and progress to standard error.

No colour, no spinner and one fixed width where nobody watches: the same input gives the same
bytes. Files appear whole or not at all, never over what was read.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from immigrate.cli.ending import CommandError
from immigrate.files import is_special, write_text_whole
from immigrate.progress import collected_warnings, progress_goes_to

# Columns of a table on paper or in a file; a terminal has its own.
WIDTH = 100
# Of a name in a table with one column of names, and with two.
LONGEST_NAMES = {1: 36, 2: 26}
GAP = 2
"""Between the columns of a table."""


def one_line(text: str) -> str:
    r"""`text` without line breaks and without what a terminal would obey.

    Examples
    --------
    >>> from immigrate.cli.terminal import one_line
    >>> one_line("two  \n lines")
    'two lines'
    """
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Control characters, which a column's name may hold, as a mark; line breaks stay."""
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
        "\N{REPLACEMENT CHARACTER}",
        text,
    )


def say(text: str) -> None:
    """One line of talk."""
    print(in_lines(printable(text), sys.stderr), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Something that the user should know and need not act upon."""
    say(f"note: {one_line(text)}")


def show(text: str = "") -> None:
    """A result."""
    print(in_lines(printable(text), sys.stdout))


def in_lines(text: str, stream: TextIO) -> str:
    """A text in lines that end between words, on a terminal; as it is, where nobody watches."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = " " * (len(line) - len(words))
        broken = textwrap.wrap(
            words,
            max(width, len(indent) + 20),
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            # The place of a file stays whole, to be copied.
            break_long_words=False,
            break_on_hyphens=False,
        )
        # An empty line stays one.
        lines += broken or [""]
    return "\n".join(lines)


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int = 1) -> None:
    """A result in rows; the first `n_names` columns hold names, the others numbers or words.

    On a terminal that is too narrow for it, a few lines for each row.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH, highlight=False
    )
    cells = [
        [printable(shortened(cell, LONGEST_NAMES[n_names])) for cell in row[:n_names]]
        + [printable(cell) for cell in row[n_names:]]
        for row in rows
    ]
    # Heads may take several lines, names and numbers one.
    heads = [max(map(cell_len, name.split())) for name in header]
    widths = [max(head, *map(cell_len, column)) for head, *column in zip(heads, *cells)]
    is_wide = _room(widths) > console.width
    if is_wide and sys.stdout.isatty():
        for row in cells:
            show(" × ".join(row[:n_names]))
            # No line ends between a number and its name.
            values = [f"{name} {value}" for name, value in zip(header[n_names:], row[n_names:])]
            show("  " + "; ".join(value.replace(" ", "\u00a0") for value in values))
        return
    is_whole = _room([max(w, cell_len(name)) for w, name in zip(widths, header)]) <= console.width
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name, width in zip(header, widths):
        table.add_column(Text(name), overflow="fold", width=None if is_whole or is_wide else width)
    for row in cells:
        # As text: rich would take the brackets of "BMI [kg]" for a style.
        table.add_row(*map(Text, row))
    with console.capture() as drawn:
        console.print(table)
    # Cells are padded to the width of their column, the last one too.
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def _room(widths: Sequence[int]) -> int:
    """What columns take beside each other."""
    return sum(widths) + GAP * (len(widths) - 1)


def shortened(name: str, most: int) -> str:
    """A name that leaves room for the other columns.

    Examples
    --------
    >>> from immigrate.cli.terminal import shortened
    >>> shortened("laboratory value no. 17", 12)
    'laboratory …'
    """
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """While something works: progress on a terminal, and afterwards what there is to note.

    Each line of the library's progress becomes the text beside the spinner. Yields how to set
    that text.
    """
    with _noted(), _progress(what) as show_progress, progress_goes_to(show_progress):
        yield show_progress


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda text: bar.update(task, description=one_line(text))


class NoWarning(Warning):
    """A category that no warning has: none is hidden."""


@contextlib.contextmanager
def _noted() -> Iterator[None]:
    """Say afterwards what the library warned of; other libraries warn those who call them."""
    with warnings.catch_warnings(), collected_warnings(hidden=NoWarning) as messages:
        # Those of other libraries; ours are collected whatever the filters are.
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            for text in dict.fromkeys(messages):
                note(text)


def check_outputs(*outputs: Path | None, inputs: tuple[Path, ...]) -> None:
    """Refuse at once what could not be written in the end."""
    # Checked before the work begins: nobody should wait for a result that cannot be written.
    given = [output for output in outputs if output is not None]
    for number, output in enumerate(given):
        real = os.path.realpath(output)
        # Compared by where they lead, because two names or links may be one file.
        if real in map(os.path.realpath, inputs):
            raise CommandError(f"{output} is what is read; write to another file.")
        if real in map(os.path.realpath, given[:number]):
            raise CommandError(f"{output} is to be written twice; give two names.")
        if output.is_dir():
            raise CommandError(f"cannot write {output}: it is a folder; give the name of a file.")
        if is_special(output):
            raise CommandError(
                f"cannot write {output}: it is a device or a pipe; give the name of a file."
            )
        # Folders that are not there are made; the first one that is there has to take them.
        folder = Path(real).parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise CommandError(f"cannot write {output}: {folder} is a file and no folder.")
        if not os.access(folder, os.W_OK):
            raise CommandError(f"cannot write {output}: the folder {folder} is read-only.")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """An error of the disk in one line."""
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"cannot write {path}: {error.strerror or error}. Nothing was changed."
        ) from error


def write_text(path: Path, text: str) -> None:
    """A text."""
    with writing(path):
        write_text_whole(path, text)
