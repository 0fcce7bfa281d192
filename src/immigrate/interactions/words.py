"""Evidence in words: the one home of its numbers as text and of its sentences.

What an effect adds to the log-odds is compared with a few patterns that have words: high or low,
far from the middle or near it, one level or another. The pattern that it follows most closely
gives the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from immigrate._version import __version__
from immigrate.additive.basis import (
    FEWEST_SAMPLES_PER_GROUP,
    MOST_LEVELS_AS_EIGENVECTORS,
    mid_ranks,
)
from immigrate.additive.levels import Levels
from immigrate.additive.null_model import AdditiveModel
from immigrate.arrays import Array, Codes, Mask
from immigrate.interactions.adjustments import Adjustment, adjustment_of
from immigrate.interactions.question import ORDER_NAMES
from immigrate.kinds import Kind, Number
from immigrate.outcomes import Labels

if TYPE_CHECKING:
    from immigrate.interactions.findings import Findings

MOST_UNTESTED = 5
"""Features or terms that could not be tested and are named."""
MOST_CELLS = 3
"""Levels, or pairs of levels, that a sentence names."""
MOST_NAMED = 20
"""Features, or terms, that a summary names."""
FLAGS = ("True", "False")
SCALE_NAMES = {"root": "the square-root scale", "log": "the log scale"}
PATTERNS = (("high", "low"), ("far from its middle", "near its middle"))
CITATION = (
    "R. Zhao, P. Hong and J. S. Liu, IMMIGRATE: A Margin-Based Feature Selection Method with "
    "Interaction Terms, Entropy 22 (2020), doi:10.3390/e22030291"
)


def p_text(p: float | None) -> str:
    """A p-value as people write it; a dash where there is none.

    Examples
    --------
    >>> from immigrate.interactions.words import p_text
    >>> p_text(0.0123), p_text(1e-9), p_text(float("nan"))
    ('0.012', '< 0.0001', '–')
    """
    if p is None or isnan(p):
        return "–"
    return "< 0.0001" if p < 1e-4 else "1" if p > 0.995 else f"{p:#.2g}"


def size_text(row: Mapping[str, Any] | pd.Series[Any]) -> str:
    """The size of an effect with its interval; a dash where it has none.

    Two decimals, as log-odds need them; of numbers in small or large units two digits.

    Examples
    --------
    >>> from immigrate.interactions.words import size_text
    >>> size_text({"size": 1.234, "size_low": 0.5, "size_high": 2.0})
    '1.23 (0.50 to 2.00)'
    >>> size_text({"size": 0.0123, "size_low": 0.004, "size_high": 0.02})
    '0.012 (0.004 to 0.02)'
    """
    if row["size"] is None or isnan(row["size"]):
        return "–"
    sizes = [float(row[name]) for name in ("size", "size_low", "size_high")]
    plain = "{:.2f}" if 0.1 <= sizes[2] < 1000 or not any(sizes) else "{:.2g}"
    size, low, high = map(plain.format, sizes)
    return f"{size} ({low} to {high})"


def percent(share: float) -> str:
    """A share in percent, with a decimal where 0 or 100 would not be true.

    Examples
    --------
    >>> from immigrate.interactions.words import percent
    >>> percent(0.123), percent(0.999), percent(1.0)
    ('12 %', '99.9 %', '100 %')
    """
    text = f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if text in ("0 %", "100 %") and share not in (0, 1) else text


def counted(n: int, what: str) -> str:
    """A number of things, of one or of many.

    Examples
    --------
    >>> from immigrate.interactions.words import counted
    >>> counted(1, "pair"), counted(1200, "pair")
    ('1 pair', '1,200 pairs')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def class_text(name: str) -> str:
    """A class within a sentence."""
    # A bare number or flag would read as something else than a class.
    is_word = name[:1].isalpha() and name not in FLAGS
    return name if is_word else f"class {name}"


@dataclass(frozen=True)
class OutcomeWords:
    """How sentences speak of what is explained.

    Attributes
    ----------
    shown : tuple of str
        What effects are about, one for each logit: the second of two classes, all of more, or the
        number.
    subjects : tuple of str
        First words of a sentence about a positive effect on each: what is more likely, or higher.
    scale : str
        What effects are added to.
    null, regression : str
        What the null model says is a sum, and how it was fitted.
    variances : str
        Where variances come from, if they are not known from the mean.
    """

    shown: tuple[str, ...]
    subjects: tuple[str, ...]
    scale: str
    null: str
    regression: str
    variances: str = ""


def outcome_words(labels: Labels) -> OutcomeWords:
    """The words for classes, or for a number."""
    if labels.numbers is not None:
        name = labels.name or "the outcome"
        return OutcomeWords(
            (name,),
            (f"{name} is higher",),
            scale=name,
            null="the mean of the outcome is",
            regression="linear",
            variances=", with variances estimated from the residuals",
        )
    classes = tuple(map(str, labels.classes))
    shown = classes[1:] if len(classes) == 2 else classes
    return OutcomeWords(
        shown,
        tuple(f"{class_text(one)} is more likely" for one in shown),
        scale="the log-odds",
        null="the log-odds of the classes are",
        regression="logistic" if len(classes) == 2 else "multinomial logistic",
    )


@dataclass(frozen=True)
class Side:
    """One feature of an effect, as words need it.

    Attributes
    ----------
    name : str
    levels : Levels
    level_name : callable
        Text of a level from its place in `levels`.
    kind : Kind
        What its values mean.
    """

    name: str
    levels: Levels
    level_name: Callable[[int], str]
    kind: Kind = field(default_factory=Number)

    @property
    def has_levels(self) -> bool:
        """Whether words name levels rather than high and low."""
        return self.levels.is_nominal or self.levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS

    @property
    def is_circle(self) -> bool:
        """Whether words name a direction."""
        return self.kind.period < np.inf and not self.has_levels

    def patterns(self) -> Array:
        """+1 where the value is high, and where it is far from the middle; else -1: (2, n).

        Of a circle cosine and sine.
        """
        if self.is_circle:
            angle = 2 * np.pi / self.kind.period * self.levels.value
            per_level = np.column_stack([np.cos(angle), np.sin(angle)])
        else:
            u = mid_ranks(self.levels.share)
            # Beyond the quartiles: half of the samples are far, half are near.
            far = np.abs(u - 0.5)
            per_level = np.column_stack([np.sign(u - 0.5), np.sign(far - 0.25)])
        # A missing value has the code -1, which is the last row: zeros.
        return np.vstack([per_level, np.zeros((1, 2))])[self.levels.code].T

    def spread(self, f: Array, weight: Array) -> float:
        """How closely values f (n,) follow the levels, or the patterns."""
        if not self.has_levels:
            match = self.patterns() @ (weight * f)
            return float(np.hypot(*match) if self.is_circle else np.abs(match).max())
        return float(np.abs(_level_sums(weight * f, self.levels.code, self.levels.n_levels)).sum())

    def text(self, level: int) -> str:
        """The feature is at this level."""
        return f"{self.name} is {self.level_name(level)}"

    def direction(self, wave: Array) -> str:
        """The feature is where cosine and sine are in this proportion."""
        turns = np.arctan2(wave[1], wave[0]) / (2 * np.pi)
        return f"{self.name} is around {self.kind.text(float(turns % 1 * self.kind.period))}"


def feature_direction(f: Array, weight: Array, side: Side) -> str:
    """Where a feature's own effect f (n,) is positive; "" where it is nowhere."""
    if not np.any(f):
        return ""
    if side.has_levels:
        best = _best_levels(f, weight, side.levels)[:MOST_CELLS]
        # Two levels say one thing: the second would be where it is less likely.
        most = max(1, side.levels.n_levels // 2)
        return "where " + " or ".join(side.text(k) for k in best[:most])
    match = side.patterns() @ (weight * f)
    if side.is_circle:
        return "where " + side.direction(match)
    which = int(np.argmax(np.abs(match)))
    words = PATTERNS[which]
    return f"where {side.name} is {words[0] if match[which] > 0 else words[1]}"


def pair_direction(f: Array, weight: Array, a: Side, b: Side) -> str:
    """Where the joint effect f (n,) of two features is positive."""
    if not np.any(f):
        return ""
    if a.is_circle or b.is_circle:
        return _of_directions(f, weight, *((a, b) if a.is_circle else (b, a)))
    if a.has_levels and b.has_levels:
        return _of_cells(f, weight, a, b)
    if a.has_levels or b.has_levels:
        return _of_slopes(f, weight, *((a, b) if a.has_levels else (b, a)))
    return _of_numbers(f, weight, a, b)


def _of_numbers(f: Array, weight: Array, a: Side, b: Side) -> str:
    match = np.einsum("in,jn,n->ij", a.patterns(), b.patterns(), weight * f)
    i, j = np.unravel_index(np.argmax(np.abs(match)), match.shape)
    is_positive = match[i, j] > 0
    if i == j == 0:
        if is_positive:
            return f"where {a.name} and {b.name} are both high or both low"
        return f"where {a.name} is high and {b.name} low, or the reverse"
    if i == j == 1:
        if is_positive:
            return f"where {a.name} and {b.name} are both far from their middle or both near it"
        return f"where one of {a.name} and {b.name} is far from its middle and the other near it"
    one, other = (a, b) if i == 0 else (b, a)
    first, second = ("far from", "near") if is_positive else ("near", "far from")
    return (
        f"where {one.name} is high and {other.name} {first} its middle, "
        f"or {one.name} low and {other.name} {second} it"
    )


def _of_directions(f: Array, weight: Array, circle: Side, other: Side) -> str:
    """A circle beside anything: in which direction one end of the other helps, and the other."""
    waves = circle.patterns()
    if other.has_levels:
        code, n_levels = other.levels.code, other.levels.n_levels
        sums = np.array([_level_sums(weight * f * row, code, n_levels) for row in waves])
        up = int(np.argmax(np.hypot(*sums)))
        down = int(np.argmin(sums[:, up] @ sums))
        ends = [(other.text(up), sums[:, up]), (other.text(down), sums[:, down])]
    elif other.is_circle:
        # The two directions that together follow the effect most closely, and their opposites.
        u, _, v = np.linalg.svd(np.einsum("in,jn,n->ij", waves, other.patterns(), weight * f))
        ends = [(other.direction(sign * v[0]), sign * u[:, 0]) for sign in (1, -1)]
    else:
        match = np.einsum("in,jn,n->ij", waves, other.patterns(), weight * f)
        which = int(np.argmax(np.hypot(*match)))
        wave, (first, second) = match[:, which], PATTERNS[which]
        ends = [(f"{other.name} is {first}", wave), (f"{other.name} is {second}", -wave)]
    return "where " + ", or ".join(f"{text} and {circle.direction(w)}" for text, w in ends)


def _of_slopes(f: Array, weight: Array, levels: Side, number: Side) -> str:
    """Levels beside a number: at which level a high number helps, at which a low one."""
    code, n_levels = levels.levels.code, levels.levels.n_levels
    sums = np.array(
        [_level_sums(weight * f * row, code, n_levels) for row in number.patterns()]
    )  # (2, n_levels)
    which = int(np.argmax(np.abs(sums).sum(axis=1)))
    up, down = int(np.argmax(sums[which])), int(np.argmin(sums[which]))
    high, low = (("high", "low"), ("far from its middle", "near it"))[which]
    return (
        f"where {number.name} is {high} and {levels.text(up)}, "
        f"or {number.name} is {low} and {levels.text(down)}"
    )


def _of_cells(f: Array, weight: Array, a: Side, b: Side) -> str:
    """The cells of two features with levels to which the effect adds most."""
    n_b = b.levels.n_levels
    is_known: Mask = (a.levels.code >= 0) & (b.levels.code >= 0)
    cell = np.where(is_known, a.levels.code * n_b + b.levels.code, -1)
    total = _level_sums(weight * f, cell, a.levels.n_levels * n_b)
    best = [int(k) for k in np.argsort(-total, kind="stable")[:MOST_CELLS] if total[k] > 0]
    return "where " + ", or ".join(f"{a.text(k // n_b)} and {b.text(k % n_b)}" for k in best)


def _level_sums(values: Array, code: Codes, n_levels: int) -> Array:
    is_known = code >= 0
    return np.bincount(code[is_known], values[is_known], minlength=n_levels).astype(np.float64)


def _best_levels(f: Array, weight: Array, levels: Levels) -> list[int]:
    """Levels where f is positive, the highest mean first.

    A level with fewer samples than the test tells apart is not named beside others: of many rare
    ones some have the highest mean by chance. Where only such levels are left, those come first
    to which the effect adds most.
    """
    total = _level_sums(weight * f, levels.code, levels.n_levels)
    count = _level_sums(weight, levels.code, levels.n_levels)
    is_named = (total > 0) & (count >= FEWEST_SAMPLES_PER_GROUP)
    mean = total / np.where(count > 0, count, 1.0)
    key = np.where(is_named, mean, 0.0) if is_named.any() else total
    return [int(k) for k in np.argsort(-key) if key[k] > 0]


def of_the_null_model(model: AdditiveModel) -> str:
    """One sentence about the additive model."""
    return (
        f"Main effects of {counted(len(model.features), 'feature')} explain "
        f"{percent(model.deviance_explained)} of the deviance on held-out samples"
    )


def cannot_be_tested(kind: str, names: Sequence[str], n_all: int) -> str:
    """What was left out of the tests, and why.

    Examples
    --------
    >>> from immigrate.interactions.words import cannot_be_tested
    >>> print(cannot_be_tested("pair", ["site × batch"], 3))
    1 of 3 pairs could not be tested (site × batch): the samples leave nothing to tell its effect \
from that of other columns, or to estimate its variance from
    """
    listed = ", ".join(names[:MOST_UNTESTED])
    more = f" and {len(names) - MOST_UNTESTED} more" if len(names) > MOST_UNTESTED else ""
    its = "its" if len(names) == 1 else "their"
    return (
        f"{len(names)} of {counted(n_all, kind)} could not be tested ({listed}{more}): the "
        f"samples leave nothing to tell {its} effect from that of other columns, or to estimate "
        f"{its} variance from"
    )


def far_away(value: float, n_deviations: float) -> str:
    """A number that counts as another one."""
    return (
        f"One value of the target, {value:g}, lies {n_deviations:,.0f} standard deviations from "
        "what the features say, and no other is near it. It counts as 2; if it is a typing error, "
        "correct it"
    )


def other_scale(scale: str, name: str) -> str:
    """Which function of a number to test.

    Examples
    --------
    >>> from immigrate.interactions.words import other_scale
    >>> print(other_scale("log", "price"))
    On the log scale of price the features add up more evenly than on the one given: test \
numpy.log(y), where effects are ratios
    """
    function = {"root": "numpy.sqrt(y)", "log": "numpy.log(y), where effects are ratios"}[scale]
    return (
        f"On {SCALE_NAMES[scale]} of {name or 'the outcome'} the features add up more evenly than "
        f"on the one given: test {function}"
    )


def of_power(detectable_size: float) -> str:
    """Which effect would have been found where none was."""
    return (
        f"Between two numeric columns without gaps, a product of size {detectable_size:.2g} would "
        "have been found with a probability of 80 %."
    )


def of_adjustment(adjustment: Adjustment) -> str:
    """What was done to p-values and what it controls, as a paper says it."""
    controlled = f", which controls the {adjustment.error}" if adjustment.error else ""
    return adjustment.method + controlled


def of_level(adjustment: Adjustment, alpha: float) -> str:
    """At which level something was found."""
    if not adjustment.error:
        return f"at p up to {alpha:g}, not adjusted for the number of tests"
    return f"at a {adjustment.error} of {alpha:g}"


def plain_summary(found: Findings) -> str:
    """The answer: which features, which terms, how sure, how large and which way."""
    notes = [f"{note}." for note in found.notes]
    return "\n".join([*_of_features(found), *_of_terms(found), *notes, *_of_the_measures(found)])


def _of_features(found: Findings) -> Iterator[str]:
    # As it was fitted: parameters may have been set since.
    alpha, features = found.parameters["alpha"], found.features
    shown, n = features[features["p_adjusted"] <= alpha], len(features)
    if not len(shown):
        yield f"Which features matter: none detected among {n}."
        return
    each = "" if len(shown) == 1 else ", each on its own"
    yield f"Which features matter: {len(shown)} of {n} detected{each}."
    for _, row in shown.head(MOST_NAMED).iterrows():
        # The size given the others, where there is an effect to speak of.
        size = f", size {size_text(row)}" if row["p_given_others"] <= alpha else ""
        yield (
            f"  {row['feature']}: adjusted p {p_text(row['p_adjusted'])}; {row['direction']}; "
            f"given the others p {p_text(row['p_given_others'])}{size}"
        )
    if len(shown) > MOST_NAMED:
        yield f"  and {len(shown) - MOST_NAMED} more, in the table of features"


def _of_terms(found: Findings) -> Iterator[str]:
    order, selected = found.parameters["order"], found.selected
    tested = f"{found.n_tests} {ORDER_NAMES[order]}{'s' * (found.n_tests != 1)}"
    if not len(selected):
        nothing = found.n_tests or not len(found.table)
        answer = f"none detected among {tested}" if nothing else "none could be tested"
        yield f"Which act together: {answer}."
        if order == 2 and found.n_tests:
            yield f"  {of_power(found.detectable_size)}"
        return
    yield (
        f"Which act together: {len(selected)} of {tested} detected, beyond the "
        "features' own effects."
    )
    for _, row in selected.head(MOST_NAMED).iterrows():
        names = " × ".join(str(row[f"feature_{i}"]) for i in range(1, order + 1))
        size = direction = ""
        if "size" in row.index and not isnan(row["size"]):
            size = f", size {size_text(row)}"
            direction = f"; {row['direction']}" if row["direction"] else ""
        gone = f"; gone on {SCALE_NAMES[row['gone_on']]}" if row.get("gone_on") else ""
        yield f"  {names}: adjusted p {p_text(row['p_adjusted'])}{size}{direction}{gone}"
    if len(selected) > MOST_NAMED:
        yield f"  and {len(selected) - MOST_NAMED} more, in the table of {ORDER_NAMES[order]}s"


def _of_the_measures(found: Findings) -> Iterator[str]:
    scale = outcome_words(found.effects.table.outcome).scale
    yield f"{of_the_null_model(found.additive_model)}."
    yield (
        f"Size: spread over the samples of what the effect adds to {scale}, with its 95 % "
        "interval."
    )
    if len(found.selected) and found.parameters["split"] is None:
        yield (
            "The samples that chose a pair also measured it, so that its size is rather too large "
            "than too small; a split of 0.5 measures it on others."
        )


def methods_paragraph(found: Findings) -> str:
    """What a paper has to say about the test."""
    fitted, model = found.parameters, found.additive_model
    name, words = ORDER_NAMES[fitted["order"]], outcome_words(found.effects.table.outcome)
    names, adjusted = found.effects.table.reader.names, found.effects.adjusted
    covariates = [] if adjusted is None else [str(names[j]) for j in np.flatnonzero(adjusted)]
    sentences = [
        f"We tested {found.n_tests} {name}s of features for a departure from additivity "
        f"(InteractionTest, immigrate {__version__}).",
        f"The null model states that {words.null} a sum of smooth functions of single features; "
        f"it was fitted by ridge-penalised {words.regression} regression with "
        f"{len(model.features)} features, "
        "the penalty chosen by 5-fold cross-validation, and explained "
        f"{percent(model.deviance_explained)} of the held-out deviance.",
        *([f"It was adjusted for {', '.join(covariates)}."] if covariates else []),
        "The statistic is a quadratic form of products of functions of the features with the "
        "residuals of the null model, combined from several forms by the Cauchy method"
        f"{words.variances}.",
        f"P-values were adjusted for {found.n_tests} tests by "
        f"{of_adjustment(adjustment_of(fitted['adjust']))} (alpha = {fitted['alpha']:g}).",
    ]
    if fitted["stepwise"]:
        sentences.append(
            "Terms were added to the null model one by one; "
            f"{counted(len(found.selected), name)} entered."
        )
    if fitted["split"] is not None:
        sentences.append(
            f"Effect sizes come from a share of {fitted['split']:g} of the samples, which took no "
            "part in the tests."
        )
    return " ".join([*sentences, f"Reference: {CITATION}."])
