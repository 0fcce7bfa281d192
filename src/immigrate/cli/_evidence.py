"""What the command line asks of the test: covariates, pairs, effects from which rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from immigrate.cli._errors import CommandError, unknown_column

PAIRS_FORM = "--pairs takes a feature, or pairs such as age:dose,age:sex"


@dataclass(frozen=True)
class Options:
    """What is asked of the test."""

    adjust_for: tuple[str, ...] = ()
    pairs: str = ""
    outcome: str = "auto"
    split: float | None = None
    jobs: int | None = None

    def parameters(self, names: Sequence[str]) -> dict[str, Any]:
        """The same as parameters of `InteractionTest`, for a table with these features."""
        for name in self.adjust_for:
            if name not in names:
                raise unknown_column("--adjust-for", name, names)
        return {
            "adjust_for": list(self.adjust_for) or None,
            "pairs": chosen_pairs(self.pairs, names),
            "outcome": self.outcome,
            "split": self.split,
        }


def chosen_pairs(text: str, names: Sequence[str]) -> Any:
    """What `--pairs` names: one feature, or pairs of them; names may hold colons themselves.

    Examples
    --------
    >>> from immigrate.cli._evidence import chosen_pairs
    >>> chosen_pairs("age:dose,age:sex", ["age", "dose", "sex"])
    [('age', 'dose'), ('age', 'sex')]
    >>> chosen_pairs("age", ["age", "dose"])
    'age'
    """
    if not text:
        return None
    # Before colons are looked for, because a name may hold one.
    if text in names:
        return text
    if ":" not in text:
        raise unknown_column("--pairs", text, names)
    return _pairs(text, names)


def _pairs(text: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of names that are separated by commas, which names may hold too."""
    pieces, pairs, begun = text.split(","), list[tuple[str, str]](), ""
    for piece in pieces:
        begun = f"{begun},{piece}" if begun else piece
        pair = _pair(begun, names)
        if pair:
            pairs.append(pair)
            begun = ""
    if begun:
        raise _not_a_pair(begun, names)
    return pairs


def _pair(text: str, names: Sequence[str]) -> tuple[str, str] | None:
    """The two names that a colon separates, one of the colons in them."""
    places = (place for place, letter in enumerate(text) if letter == ":")
    cuts = ((text[:place].strip(), text[place + 1 :].strip()) for place in places)
    return next((cut for cut in cuts if set(cut) <= set(names)), None)


def _not_a_pair(text: str, names: Sequence[str]) -> CommandError:
    parts = [part.strip() for part in text.split(":")]
    unknown = [part for part in parts if part not in names]
    if len(parts) == 2 and unknown:
        return unknown_column("--pairs", unknown[0], names)
    return CommandError(f"{PAIRS_FORM}; '{text}' is none.")
