"""The three answers in words: which features, which pairs, how well."""

from __future__ import annotations

from math import isnan
from typing import Any

Answer = dict[str, Any]
MOST_NAMED, MOST_DETAILED = 4, 3


def answers(summary: dict[str, Any]) -> list[Answer]:
    """Question, headline, what it rests on, and a remark, for each of the three."""
    return [
        _of_features(summary["test"]),
        _of_pairs(summary["test"]),
        _of_predictions(summary["performance"], len(summary["data"]["classes"])),
    ]


def p_text(p: float | None) -> str:
    """A p-value as people write it; a dash where there is none.

    Examples
    --------
    >>> from immigrate.report._answers import p_text
    >>> p_text(0.0123), p_text(1e-9), p_text(float("nan"))
    ('0.012', '< 0.0001', '–')
    """
    if p is None or isnan(p):
        return "–"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def percent(share: float) -> str:
    """A share in percent, with a decimal where 0 or 100 would not be true."""
    text = f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if text in ("0 %", "100 %") and share not in (0, 1) else text


def size_text(row: dict[str, Any]) -> str:
    """The size of an effect with its interval; a dash where it has none.

    Examples
    --------
    >>> from immigrate.report._answers import size_text
    >>> size_text({"size": 1.234, "size_low": 0.5, "size_high": 2.0})
    '1.23 (0.50 to 2.00)'
    """
    if isnan(row["size"]):
        return "–"
    return "{size:.2f} ({size_low:.2f} to {size_high:.2f})".format_map(row)


def sentence(words: str) -> str:
    """Words with a full stop and a large first letter, or nothing where there are none."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _answer(question: str, names: list[str], remark: str, **more: Any) -> Answer:
    """`names` are written one beside the other, as the headline."""
    return {"question": question, "headline": names, "details": [], "remark": remark} | more


def _evidence(names: list[str], row: dict[str, Any]) -> dict[str, Any]:
    return {
        "names": names,
        "evidence": f"adjusted p {p_text(row['p_adjusted'])}, size {size_text(row)}",
        "words": sentence(row["direction"]),
    }


def _of_features(test: dict[str, Any]) -> Answer:
    question = "Which features matter?"
    if test["why_untested"]:
        return _answer(question, ["Not tested"], test["why_untested"], is_none=True)
    shown, n = test["shown"], test["n_features"]
    if not shown:
        remark = f"No feature of {n} has an effect of its own that chance would not show."
        if test["found"]:
            remark += " Those of the pairs matter together."
        return _answer(question, ["None is shown to"], remark, is_none=True)
    return _answer(
        question,
        _headline([[row["feature"]] for row in shown]),
        f"{len(shown)} of {n}, each on its own, at a family-wise error of {test['alpha']:g}.",
        details=[_evidence([row["feature"]], row) for row in shown[:MOST_DETAILED]],
    )


def _of_pairs(test: dict[str, Any]) -> Answer:
    question = "Which pairs act together?"
    if test["why_untested"] or test["why_no_pairs"]:
        why = test["why_untested"] or test["why_no_pairs"]
        return _answer(question, ["Not tested"], why, is_none=True)
    found, n = test["found"], test["n_pairs"]
    if not found:
        remark = f"Smallest adjusted p of {n:,} pairs: {p_text(test['least_p'])}. " + (
            "The features' own effects tell the classes apart so well that nothing is left for a "
            "pair to explain."
            if test["is_separated"]
            else f"A joint effect of size {test['detectable_size']:.2g} would have been found "
            "with a probability of 80 %."
        )
        return _answer(question, ["None is shown to"], remark, is_none=True)
    pairs = [[row["feature_1"], row["feature_2"]] for row in found]
    return _answer(
        question,
        _headline(pairs),
        f"{len(found)} of {n:,} pairs, beyond the features' own effects, at a family-wise error "
        f"of {test['alpha']:g}.",
        details=[_evidence(pair, row) for pair, row in zip(pairs[:MOST_DETAILED], found)],
    )


def _headline(named: list[list[str]]) -> list[Any]:
    rest = len(named) - MOST_NAMED
    return [*named[:MOST_NAMED], *([f"and {rest} more"] if rest > 0 else [])]


def _of_predictions(found: dict[str, Any] | None, n_classes: int) -> Answer:
    question = "How well does it predict?"
    if found is None:
        why = "The smallest class has too few samples to hold some out."
        return _answer(question, ["Not measured"], why, is_none=True)
    guess = 1 / n_classes
    balanced, auc = found["balanced_accuracy"], found["auc"]
    is_shown = balanced["low"] > guess and auc["low"] > 0.5
    name, told = ("accuracy", found["accuracy"])
    against = f"the largest class alone is {percent(found['largest_class'])}"
    if found["is_imbalanced"]:
        name, told, against = "balanced accuracy", balanced, f"guessing gives {percent(guess)}"
    remark = f"Samples held out in {found['n_folds']} folds."
    if found["is_imbalanced"]:
        remark += (
            f" Plain accuracy, {found['accuracy']['value']:.1%}, says little: the largest class "
            f"alone is {found['largest_class']:.1%} of the samples."
        )
    return _answer(
        question,
        [f"{percent(told['value'])} {name}" if is_shown else "Not better than guessing"],
        remark,
        is_none=not is_shown,
        details=[
            {
                "names": [],
                "evidence": f"{name} {percent(told['value'])} ({percent(told['low'])} to "
                f"{percent(told['high'])}); {against}",
                "words": "",
            },
            {
                "names": [],
                "evidence": f"AUC {auc['value']:.2f} ({auc['low']:.2f} to {auc['high']:.2f}); "
                "guessing gives 0.50",
                "words": "",
            },
        ],
    )


def in_lines(title: str, found: list[Answer]) -> str:
    """The answers as a few lines of plain text."""
    lines = [title]
    for answer in found:
        names = ", ".join(
            name if isinstance(name, str) else " × ".join(name) for name in answer["headline"]
        )
        lines.append(f"{answer['question']} {names}")
        for detail in answer["details"]:
            name = " × ".join(detail["names"])
            lines.append("  " + ": ".join(part for part in (name, detail["evidence"]) if part))
            if detail["words"]:
                lines.append(f"    {detail['words']}")
        lines.append(f"  {answer['remark']}")
    return "\n".join(lines)
