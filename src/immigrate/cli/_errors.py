"""What is wrong, in the words of somebody who typed a command and knows no Python."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

MOST_NAMES = 10


class CommandError(Exception):
    """Something that the user can mend, in one line."""


class UsageError(CommandError):
    """The command was not understood."""


def one_line(text: str) -> str:
    r"""`text` without line breaks and without what a terminal would obey.

    Examples
    --------
    >>> from immigrate.cli._errors import one_line
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


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that was meant, if one is near.

    Examples
    --------
    >>> from immigrate.cli._errors import nearest
    >>> nearest("Outcom", ["age", "outcome"])
    'outcome'
    """
    # Backwards: of names that differ in case only, the first one wins.
    folded = {one.casefold().strip(): one for one in reversed(names)}
    found = difflib.get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def listed(names: Sequence[str]) -> str:
    """Names as a list that stays readable.

    Examples
    --------
    >>> from immigrate.cli._errors import listed
    >>> listed(["age", "dose"])
    "'age', 'dose'"
    """
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + more


def unknown_column(
    option: str, name: str, names: Sequence[str], elsewhere: str = ""
) -> CommandError:
    """The error for a column that is not there; `elsewhere` says where the name stands instead."""
    meant = nearest(name, names)
    hint = f" Did you mean '{meant}'?" if meant else f" {elsewhere}" if elsewhere else ""
    return CommandError(
        f"{option} names '{name}', which is no column.{hint} Columns: {listed(names)}."
    )
