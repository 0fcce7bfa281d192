"""The command line: ``immigrate report table.csv --target outcome`` and its sisters.

    __init__       main: arguments → exit code
    _interrupts    Ctrl-C
    _app           what can be typed: commands and options
    _ending        how a command ends: exit codes, one line about what went wrong
    _errors        what is wrong with the user's files and words, said in those words
    _screen        results on standard output, talk and progress on standard error
    _files         a file of any format → a data frame, and what was guessed
    _text_files    encoding, delimiter and cells of text; `_cells`: text → numbers, flags, names
    _tables        the data frame → features and target of this command
    _evidence      what is asked of the test: covariates, pairs, a share of the rows
    _elsewhere     where a name stands that is no column
    _comparison    methods on the same folds
    _outputs       files that are written
    _commands/     one file per command

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
    from immigrate.cli._interrupts import Interrupts

    interrupts = Interrupts()
    with interrupts.awaited(to_the_end=arguments is None):
        try:
            from immigrate.cli._ending import ended
        except KeyboardInterrupt:
            return 1
        except ModuleNotFoundError as error:
            if error.name not in ("typer", "rich"):
                raise
            print(NEEDS.format(error.name), file=sys.stderr)
            return 1
        return ended(list(sys.argv[1:] if arguments is None else arguments), interrupts)
