"""Which way an effect goes, in words.

What an effect adds to the log-odds is compared with a few patterns that have words: high or low,
far from the middle or near it, one level or another. The pattern that it follows most closely
gives the sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from immigrate.additive.basis import (
    FEWEST_SAMPLES_PER_GROUP,
    MOST_LEVELS_AS_EIGENVECTORS,
    Levels,
    mid_ranks,
)
from immigrate.arrays import Array, Codes, Mask

MOST_CELLS = 3
"""Levels, or pairs of levels, that a sentence names."""


@dataclass(frozen=True)
class Side:
    """One feature of an effect, as words need it.

    Attributes
    ----------
    name : str
    levels : Levels
    level_name : callable
        Text of a level from its place in `levels`.
    """

    name: str
    levels: Levels
    level_name: Callable[[int], str]

    @property
    def has_levels(self) -> bool:
        """Whether words name levels rather than high and low."""
        return self.levels.is_nominal or self.levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS

    def patterns(self) -> Array:
        """+1 where the value is high, and where it is far from the middle; else -1: (2, n)."""
        u = mid_ranks(self.levels.share)
        # Beyond the quartiles: half of the samples are far, half are near.
        far = np.abs(u - 0.5)
        per_level = np.column_stack([np.sign(u - 0.5), np.sign(far - 0.25)])
        return self.levels.per_sample(per_level)

    def spread(self, f: Array, weight: Array) -> float:
        """How closely values f (n,) follow the levels, or the patterns."""
        if not self.has_levels:
            return float(np.abs(self.patterns() @ (weight * f)).max())
        return float(np.abs(_level_sums(weight * f, self.levels.code, self.levels.n_levels)).sum())

    def text(self, level: int) -> str:
        """The feature is at this level."""
        return f"{self.name} is {self.level_name(level)}"


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
    which = int(np.argmax(np.abs(match)))
    words = (("high", "low"), ("far from its middle", "near its middle"))[which]
    return f"where {side.name} is {words[0] if match[which] > 0 else words[1]}"


def pair_direction(f: Array, weight: Array, a: Side, b: Side) -> str:
    """Where the joint effect f (n,) of two features is positive."""
    if not np.any(f):
        return ""
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
    cell, n_cells = _cells(a.levels, b.levels)
    total = _level_sums(weight * f, cell, n_cells)
    best = [k for k in np.argsort(-total, kind="stable")[:MOST_CELLS] if total[k] > 0]
    texts = [_cell_text(a, b, *divmod(int(k), b.levels.n_levels)) for k in best]
    return "where " + ", or ".join(texts)


def _cell_text(a: Side, b: Side, i: int, j: int) -> str:
    return f"{a.text(i)} and {b.text(j)}"


def _cells(a: Levels, b: Levels) -> tuple[Codes, int]:
    is_known: Mask = (a.code >= 0) & (b.code >= 0)
    return np.where(is_known, a.code * b.n_levels + b.code, -1), a.n_levels * b.n_levels


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
