"""The command line: ``immigrate report table.csv --target outcome`` and its sisters.

    __init__    main: arguments → exit code
    ending      exit codes, what is wrong in the words of the shell, Ctrl-C
    app         what can be typed, and what a typed line comes to
    report, test, fit, predict, compare
                a command each: its options and its work; `comparison`: methods on the same folds
    tables      the data frame → features and target; the options of the test
    files       a file of any format → a data frame, and what was guessed
    text        encoding, delimiter and cells of text → numbers, flags, names
    terminal    results on standard output and in files, talk and progress on standard error

Nothing here is imported by the library, and nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

NEEDS = (
    "immigrate: the command line needs the package {}, which is not installed; run: "
    "pip install 'immigrate[cli]'"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 (it failed) or 2 (it was not understood).

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; by default that of this process.

    Returns
    -------
    int

    Examples
    --------
    >>> from immigrate.cli import main
    >>> main(["--version"])
    immigrate 0.1.0
    0
    """
    from immigrate.cli.ending import Interrupts

    interrupts = Interrupts()
    with interrupts.awaited(to_the_end=arguments is None):
        try:
            from immigrate.cli.app import ended
        except KeyboardInterrupt:
            return 1
        except ModuleNotFoundError as error:
            if error.name not in ("typer", "rich"):
                raise
            print(NEEDS.format(error.name), file=sys.stderr)
            return 1
        return ended(list(sys.argv[1:] if arguments is None else arguments), interrupts)
