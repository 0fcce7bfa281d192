"""Results go to standard output, talk and progress to standard error.

No colour, no spinner and one fixed width where nobody watches: the same input gives the same
bytes.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

from immigrate.cli._errors import one_line, plain_words, printable
from immigrate.messages import Pulse, heard_warnings, told_while_waiting

# Columns of a table on paper or in a file; a terminal has its own.
WIDTH = 100
# Of a name in a table with one column of names, and with two.
LONGEST_NAMES = {1: 36, 2: 26}


def say(text: str) -> None:
    """One line of talk."""
    print(printable(text), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Something that the user should know and need not act upon."""
    say(f"note: {one_line(plain_words(text))}")


def show(text: str = "") -> None:
    """A result."""
    print(printable(text))


def show_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_names: int = 1) -> None:
    """A result in rows; the first `n_names` columns hold names, the others numbers or words."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH, highlight=False
    )
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in header:
        table.add_column(Text(name), overflow="fold", no_wrap=False)
    for row in rows:
        names = [shortened(cell, LONGEST_NAMES[n_names]) for cell in row[:n_names]]
        # As text: rich would take the brackets of "BMI [kg]" for a style.
        table.add_row(*(Text(printable(cell)) for cell in [*names, *row[n_names:]]))
    with console.capture() as drawn:
        console.print(table)
    # Cells are padded to the width of their column, the last one too.
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def shortened(name: str, most: int) -> str:
    """A name that leaves room for the other columns.

    Examples
    --------
    >>> from immigrate.cli._screen import shortened
    >>> shortened("laboratory value no. 17", 12)
    'laboratory …'
    """
    name = one_line(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """While something works: progress on a terminal, and afterwards what there is to note.

    The library tells its progress on standard output, which is for results here; each of its
    lines becomes the text beside the spinner. Yields how to set that text.
    """
    with (
        _noted(),
        _progress(what) as tell,
        contextlib.redirect_stdout(Lines(tell)),
        # Beside the spinner as well, which has standard error for itself.
        told_while_waiting(Pulse(lambda line: tell(line.removeprefix("immigrate: ")))),
    ):
        yield tell


class Lines(io.TextIOBase):
    """A text stream that hands on whole lines."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.hand_on, self.begun = tell, ""

    def write(self, text: str) -> int:
        """Hand on what is complete."""
        # The last piece is a line that is not complete yet, or empty.
        *whole, self.begun = (self.begun + text).split("\n")
        for line in filter(None, map(str.strip, whole)):
            self.hand_on(line)
        return len(text)


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
        yield lambda text: bar.update(task, description=one_line(plain_words(text)))


class Unheard(Warning):
    """A category that no warning has: all are to be heard."""


@contextlib.contextmanager
def _noted() -> Iterator[None]:
    """Say afterwards what the library warned of; other libraries warn those who call them."""
    with warnings.catch_warnings(), heard_warnings(unsaid=Unheard) as heard:
        # Those of other libraries; ours are heard by `heard_warnings`, whatever the filters are.
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            for text in dict.fromkeys(heard):
                note(text)
