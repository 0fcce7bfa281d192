"""``immigrate test``: the evidence for features and pairs, on the screen and as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from immigrate._version import __version__
from immigrate.cli._errors import CommandError, listed, plain_words, unknown_column
from immigrate.cli._outputs import check_outputs, write_json, write_text
from immigrate.cli._screen import show, show_table, working
from immigrate.cli._tables import Asked
from immigrate.files import spreadsheet_csv

# Rows of each table on the screen; files hold all.
MOST_SHOWN = 10
PAIRS_FORM = "--pairs takes a feature, or pairs such as age:dose,age:sex"


@dataclass(frozen=True)
class Options:
    """What is asked of the test."""

    adjust_for: tuple[str, ...] = ()
    pairs: str = ""
    outcome: str = "auto"
    split: float | None = None
    jobs: int | None = None


def test(asked: Asked, options: Options, csv: Path | None, json: Path | None) -> None:
    """Test, print what was found, write what was asked for."""
    check_outputs(csv, json, inputs=(asked.path,))
    question = asked.read().without_dates()
    names = list(question.X.columns)
    if len(names) < 2:
        raise CommandError(
            f"{listed(names) or 'nothing'} is the only feature, and a pair takes two; immigrate "
            "report does without."
        )
    for name in options.adjust_for:
        if name not in names:
            raise unknown_column("--adjust-for", name, names)
    with working("test of features and pairs"):
        from immigrate import InteractionTest

        tested = InteractionTest(
            adjust_for=list(options.adjust_for) or None,
            pairs=chosen_pairs(options.pairs, names),
            outcome=options.outcome,
            split=options.split,
            n_jobs=options.jobs,
            verbose=1,
        ).fit(question.X, question.y)
    show(plain_words(tested.summary()))
    show_evidence(tested)
    if csv is not None:
        write_text(csv, spreadsheet_csv(evidence(tested)))
        show(f"evidence: {csv}")
    if json is not None:
        write_json(json, as_json(tested, question.name, asked.target))
        show(f"evidence: {json}")


def chosen_pairs(text: str, names: Sequence[str]) -> Any:
    """What `--pairs` names: one feature, or pairs of them; names may hold colons themselves.

    Examples
    --------
    >>> from immigrate.cli._commands.test import chosen_pairs
    >>> chosen_pairs("age:dose,age:sex", ["age", "dose", "sex"])
    [('age', 'dose'), ('age', 'sex')]
    >>> chosen_pairs("age", ["age", "dose"])
    'age'
    """
    if not text:
        return None
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


def show_evidence(tested: Any) -> None:
    """The first rows of both tables."""
    features, pairs = tested.features_, tested.table_
    show(f"\nFeatures, by evidence{_first(len(features))}")
    show_table(
        ["feature", "p", "adjusted p", "p given others", "size (95 %)"],
        [
            [
                str(row["feature"]),
                *map(_p, row[["p_value", "p_adjusted", "p_given_others"]]),
                _size(row),
            ]
            for _, row in features.head(MOST_SHOWN).iterrows()
        ],
    )
    if not len(pairs):
        return
    show(f"\nPairs, by evidence{_first(tested.n_tests_)}")
    show_table(
        ["feature", "with", "p", "adjusted p", "size", "shown"],
        [
            [
                str(row["feature_1"]),
                str(row["feature_2"]),
                *map(_p, row[["p_value", "p_adjusted"]]),
                _number(row["size"]),
                "yes" if row["is_found"] else "no",
            ]
            for _, row in pairs.head(MOST_SHOWN).iterrows()
        ],
        n_names=2,
    )


def _first(count: int) -> str:
    return f": the first {MOST_SHOWN} of {count}" if count > MOST_SHOWN else ""


def _p(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.2g}"


def _number(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:.2f}"


def _size(row: pd.Series[Any]) -> str:
    if pd.isna(row["size"]):
        return "–"
    return f"{row['size']:.2f} ({row['size_low']:.2f} to {row['size_high']:.2f})"


def evidence(tested: Any) -> pd.DataFrame:
    """Features and pairs as one table."""
    features = tested.features_.rename(columns={"feature": "feature_1"})
    parts = [features.assign(kind="feature"), tested.table_.assign(kind="pair")]
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    first = ["kind", "feature_1", *(["feature_2"] if "feature_2" in table else [])]
    return table[[*first, *(name for name in table if name not in first)]]


def as_json(tested: Any, name: str, target: str) -> dict[str, Any]:
    """All that the test found, as plain values."""
    return {
        "format": "immigrate evidence 1",
        "library": __version__,
        "table": name,
        "target": target,
        "classes": [str(one) for one in getattr(tested, "classes_", [])],
        "words": plain_words(tested.summary()),
        "methods": tested.summary("methods"),
        "n_tests": tested.n_tests_,
        "detectable_size": tested.detectable_size_,
        "features": tested.features_.to_dict("records"),
        "pairs": tested.table_.to_dict("records"),
    }
