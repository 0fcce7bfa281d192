"""The three answers in words: which features, which pairs, how well."""

from __future__ import annotations

from typing import Any

from immigrate.interactions.words import (
    SCALE_NAMES,
    counted,
    of_power,
    p_text,
    percent,
    size_text,
)
from immigrate.report.evidence import SEPARATED
from immigrate.report.input import Context

# They stand above the sections.
SECTIONS: dict[str, str] = {}
Answer = dict[str, Any]
MOST_NAMED, MOST_DETAILED = 4, 3


def summary(context: Context) -> dict[str, Any]:
    """The three answers: question, headline, evidence and a remark each."""
    found = context.found
    n_classes = None if found["data"]["number"] else len(found["data"]["classes"])
    return {
        "answers": [
            _of_features(found["test"]),
            _of_pairs(found["test"]),
            _of_predictions(found["performance"], n_classes),
        ]
    }


def auc_text(auc: float) -> str:
    """An AUC; with a third decimal where 1.00 would not be true.

    Examples
    --------
    >>> from immigrate.report.answers import auc_text
    >>> auc_text(0.817), auc_text(0.996), auc_text(1.0), auc_text(0.9998)
    ('0.82', '0.996', '1.00', '> 0.999')
    """
    if auc < 0.995 or auc == 1:
        return f"{auc:.2f}"
    return "> 0.999" if auc >= 0.9995 else f"{auc:.3f}"


def sentence(words: str) -> str:
    """Words with a full stop, or nothing where there are none.

    A label begins as the user wrote it: "a" and "A" may be two classes.

    Examples
    --------
    >>> from immigrate.report.answers import sentence
    >>> sentence("relapse is more likely where age is high"), sentence("class 1 is more likely")
    ('relapse is more likely where age is high.', 'Class 1 is more likely.')
    """
    if words.startswith("class "):
        words = f"Class {words.removeprefix('class ')}"
    return f"{words}." if words else ""


def _answer(question: str, names: list[str], remark: str, **more: Any) -> Answer:
    """`names` are written one beside the other, as the headline."""
    plain = {"question": question, "headline": names, "details": [], "remark": remark}
    return plain | {"is_none": False} | more


def _evidence(names: list[str], row: dict[str, Any], alpha: float = 1.0) -> dict[str, Any]:
    """Of a feature the size only where it has an effect that the others do not explain."""
    size = f"size {size_text(row)}"
    if len(names) == 1 and row["p_given_others"] > alpha:
        size = f"given the others p {p_text(row['p_given_others'])}"
    gone = f"; gone on {SCALE_NAMES[row['gone_on']]}" if row.get("gone_on") else ""
    return {
        "names": names,
        "evidence": f"adjusted p {p_text(row['p_adjusted'])}, {size}",
        "words": sentence(f"{row['direction']}{gone}"),
    }


def _of_features(test: dict[str, Any]) -> Answer:
    question = "Which features matter?"
    if test["why_untested"]:
        return _answer(question, ["Not tested"], test["why_untested"], is_none=True)
    shown, n = test["shown"], test["n_features"]
    if not shown:
        remark = f"None of {n:,} has an effect of its own beyond what chance would show."
        if test["found"]:
            remark += " The features of the pairs matter together."
        return _answer(question, ["None detected"], remark, is_none=True)
    return _answer(
        question,
        _headline([[row["feature"]] for row in shown]),
        f"{len(shown):,} of {n:,}, each on its own, {test['error']}.",
        details=[_evidence([row["feature"]], row, test["alpha"]) for row in shown[:MOST_DETAILED]],
    )


def _of_pairs(test: dict[str, Any]) -> Answer:
    question = "Which pairs act together?"
    if test["why_untested"] or test["why_no_pairs"]:
        why = test["why_untested"] or test["why_no_pairs"]
        return _answer(question, ["Not tested"], why, is_none=True)
    found, n = test["found"], test["n_pairs"]
    notes = "".join(f" {note}." for note in test["notes"])
    if not found:
        remark = f"Smallest adjusted p of {counted(n, 'pair')}: {p_text(test['least_p'])}. " + (
            SEPARATED if test["is_separated"] else of_power(test["detectable_size"])
        )
        return _answer(question, ["None detected"], remark + notes, is_none=True)
    pairs = [[row["feature_1"], row["feature_2"]] for row in found]
    return _answer(
        question,
        _headline(pairs),
        f"{len(found)} of {counted(n, 'pair')}, beyond the features' own effects, "
        f"{test['error']}.{notes}",
        details=[_evidence(pair, row) for pair, row in zip(pairs[:MOST_DETAILED], found)],
    )


def _headline(named: list[list[str]]) -> list[Any]:
    rest = len(named) - MOST_NAMED
    return [*named[:MOST_NAMED], *([f"and {rest} more"] if rest > 0 else [])]


def _of_predictions(found: dict[str, Any] | None, n_classes: int | None) -> Answer:
    question = "How well does it predict?"
    if found is None:
        why = "The smallest class has too few samples to hold some out."
        if n_classes is None:
            why = "There are too few samples to hold some out."
        return _answer(question, ["Not measured"], why, is_none=True)
    if n_classes is None:
        return answer_of_numbers(question, found)
    guess = percent(1 / n_classes)
    plain, balanced, auc = (found[name] for name in ("accuracy", "balanced_accuracy", "auc"))
    value, low, high = (auc_text(auc[name]) for name in ("value", "low", "high"))
    details = [
        f"AUC {value} ({low} to {high}); guessing gives 0.50",
        f"balanced accuracy {_in_percent(balanced)}; guessing gives {guess}",
    ]
    if found["is_imbalanced"]:
        headline, remark = f"AUC {value}", _of_imbalance(found, 1 / n_classes)
    else:
        headline, remark = f"{percent(plain['value'])} right", ""
        largest = percent(found["largest_class"])
        details[1] = f"accuracy {_in_percent(plain)}; guessing the largest class gives {largest}"
    # An order of the samples no better than chance is what guessing gives.
    is_shown = auc["low"] > 0.5
    return _answer(
        question,
        [headline if is_shown else "Not shown to be better than guessing"],
        f"Samples held out in {found['n_folds']} folds, with 95 % intervals.{remark}",
        is_none=not is_shown,
        details=[{"names": [], "evidence": text, "words": ""} for text in details],
    )


def answer_of_numbers(question: str, found: dict[str, Any]) -> Answer:
    """How well a number is predicted: R2, and errors beside those of guessing the mean."""
    r2, mae, smaller = found["r2"], found["mae"], found["smaller"]
    is_shown, change = r2["low"] > 0, "smaller" if smaller >= 0 else "larger"
    errors = f"{percent(abs(smaller))} {change} than those of guessing the mean"
    if percent(abs(smaller)) == "0 %":
        errors = "about those of guessing the mean"
    value, low, high = (f"{r2[name]:.2f}".replace("-", "−") for name in ("value", "low", "high"))
    typical = " to ".join(f"{mae[name]:.3g}" for name in ("low", "high"))
    details = [
        f"R² {value} ({low} to {high}): the model's errors are {errors}",
        f"mean absolute error {mae['value']:.3g} ({typical})",
    ]
    rivals = [
        f"{one['name']} {one['r2']['value']:.2f}".replace("-", "−")
        for one in found["methods"][1:-1]
    ]
    return _answer(
        question,
        [f"R² {value}" if is_shown else "Not shown to be better than guessing"],
        f"Samples held out in {found['n_folds']} folds, with 95 % intervals. R² of other methods "
        f"on the same folds: {', '.join(rivals)}.",
        is_none=not is_shown,
        details=[{"names": [], "evidence": text, "words": ""} for text in details],
    )


def _in_percent(found: dict[str, float]) -> str:
    value, low, high = (percent(found[name]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _of_imbalance(found: dict[str, Any], guess: float) -> str:
    """What accuracy hides where one class is much larger."""
    remark = (
        f" Plain accuracy is {100 * found['accuracy']['value']:.1f} %; the largest class alone "
        f"would be right in {100 * found['largest_class']:.1f} %."
    )
    if found["balanced_accuracy"]["low"] <= guess < found["auc"]["low"]:
        remark += (
            " The order of the samples is better than chance, the predicted classes are hardly "
            "better than always naming the largest one."
        )
    return remark


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
