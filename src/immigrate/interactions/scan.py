"""An approximate statistic for all pairs or triples, as blocks of a matrix product.

U of every pair of two blocks of features is a product (phi_a r)(phi_b)' for each two functions.
Cost for p features: 21 n p^2 operations, nearly all in matrix products; memory: one tile per
thread and the list of the strongest. P-values are computed only for terms that could get into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np
from joblib import Parallel, delayed

from immigrate.additive.basis import N_SINGLE, N_SMOOTH
from immigrate.additive.design import Design
from immigrate.additive.moments import Contrast
from immigrate.additive.p_values import combined_log_p
from immigrate.arrays import Array, Codes, Mask
from immigrate.interactions.question import TermSet, all_terms
from immigrate.interactions.scan_tiles import (
    TINY,
    Side,
    Tile,
    TileForms,
    TileNull,
    block_products,
    marginal,
    side_of,
)
from immigrate.progress import ALONE, Run

TILE_BYTES = 2.2e6
LARGEST_TILE_SIDE = 512
# Bytes of the columns of one side of a tile; of more samples a block of rows at a time.
SIDE_BYTES = 64e6
# With this many times more terms than places in the list, terms below NOTABLE times the mean
# of every form cannot get in.
SELECTIVE_FROM = 20
NOTABLE, NOTABLE_SINGLE = 2.0, 4.0
# Sides of tiles that are kept for the next tile.
SIDES_KEPT = 4
# P-value of the weakest in the list below which limits are worth their while.
LIMITS_FROM = 0.15
FEWEST_ROWS = 256


@dataclass(frozen=True)
class ScreenedTerms:
    """Terms with their approximate evidence."""

    terms: Codes  # (t, order)
    statistic: Array
    log_p: Array

    def strongest(self, count: int) -> ScreenedTerms:
        """The `count` terms of smallest p, in order; of equal ones the first features."""
        kept = self
        if len(self.log_p) > count:
            # Partitioned before it is sorted: of millions only the list itself is put in order.
            kept = self._taken(
                np.flatnonzero(self.log_p <= np.partition(self.log_p, count)[count])
            )
        return kept._taken(np.lexsort((*kept.terms.T[::-1], kept.log_p))[:count])

    def joined(self, *others: ScreenedTerms) -> ScreenedTerms:
        """These terms and the others."""
        every = (self, *others)
        return ScreenedTerms(
            np.concatenate([one.terms for one in every]),
            np.concatenate([one.statistic for one in every]),
            np.concatenate([one.log_p for one in every]),
        )

    def _taken(self, index: Codes) -> ScreenedTerms:
        return ScreenedTerms(self.terms[index], self.statistic[index], self.log_p[index])


class Leaders:
    """The strongest terms so far, which all threads add to.

    Which terms of a tile get a p-value depends on the tiles before it. The list at the end does
    not: a term that is left out is weaker than all terms of the list.
    """

    def __init__(self, count: int, order: int) -> None:
        self._count, self._lock, self._n_new = count, Lock(), 0
        self._best = ScreenedTerms(np.empty((0, order), int), np.empty(0), np.empty(0))
        self._new: list[ScreenedTerms] = []
        self.log_limit = 0.0

    def add(self, terms: ScreenedTerms) -> None:
        """Terms of a tile; now and then the weakest are forgotten."""
        with self._lock:
            self._new.append(terms)
            self._n_new += len(terms.log_p)
            # Sorted only once there are as many new terms as places: so the list costs little per
            # term.
            if self._n_new > self._count:
                self._sort()

    def strongest(self) -> ScreenedTerms:
        """The list, in order."""
        with self._lock:
            self._sort()
            return self._best

    def _sort(self) -> None:
        self._best = self._best.joined(*self._new).strongest(self._count)
        self._new, self._n_new = [], 0
        if len(self._best.log_p) == self._count:
            self.log_limit = float(self._best.log_p[-1])


@dataclass(frozen=True)
class Scan:
    """What all tiles share.

    Attributes
    ----------
    design : Design
    k : int
        Functions of a feature in the products.
    """

    design: Design
    contrasts: Sequence[Contrast]
    among: TermSet
    k: int

    def row_blocks(self, n_terms: int, n_columns: int) -> list[slice]:
        """All rows, or blocks of them whose columns of one side fit in memory."""
        n = len(self.design.weight)
        size = max(int(SIDE_BYTES / (8 * n_terms * n_columns)), FEWEST_ROWS)
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def tile(self, lefts: Codes, rights: Codes, sides: Sides) -> Tile:
        """The products of two strips."""
        n_columns = self.k ** lefts.shape[1] + N_SINGLE
        blocks = self.row_blocks(max(len(lefts), len(rights)), n_columns)
        totals: list[list[Array]] = [[] for _ in self.contrasts]
        squares: list[Array] = []
        for rows in blocks:
            left, right = (
                sides(lefts, rows, len(blocks) == 1),
                sides(rights, rows, len(blocks) == 1),
            )
            _add(squares, [left.squares, right.squares])
            for total, contrast in zip(totals, self.contrasts):
                _add(total, block_products(left, right, contrast, rows))
        weight = self.design.n
        null = TileNull(*(marginal(s, q, weight) for s, q in zip((left, right), squares)))
        n = len(left.columns) * len(right.columns)
        return Tile(
            left,
            right,
            null,
            [total[:n] for total in totals],
            [total[n] for total in totals],
            [list(zip(total[n + 1 :: 2], total[n + 2 :: 2])) for total in totals],
        )

    def screened(self, tile: Tile, log_limit: float, is_selective: bool) -> ScreenedTerms:
        """Terms of a tile whose right feature comes after those on the left.

        Those whose p cannot be below the limit are left out, and by a selective scan those whose
        forms are below twice their mean, p > .1 or so: most of the time goes into p-values.
        """
        null, left, right = tile.null, tile.left, tile.right
        forms = [tile.forms(c, contrast) for c, contrast in enumerate(self.contrasts)]
        # Every term once: features in it rise.
        is_kept = right.terms[:, 0] > left.terms[:, -1:]
        if not self.among.is_everything:
            pairs = np.stack(np.broadcast_arrays(left.terms, right.terms[:, 0]), axis=-1)
            is_kept &= self.among.holds(pairs)
        mean = np.maximum(np.outer(null.left.powers[0], null.right.powers[0]), TINY)
        # Further up the limits leave out too few terms to pay for themselves.
        if log_limit < np.log(LIMITS_FROM):
            is_kept &= np.any([null.could_pass(own, log_limit) for own in forms], axis=0)
        elif is_selective:
            is_kept &= np.any([_is_notable(own, mean, null) for own in forms], axis=0)
        index = np.nonzero(is_kept)
        order = self.among.order
        return ScreenedTerms(
            terms=np.column_stack([left.terms[index[0]], right.terms[index[1]]]),
            statistic=np.mean([form.kernel[index] / mean[index] for form in forms], axis=0),
            # What cannot be tested comes last; its exact p-value says so.
            log_p=np.nan_to_num(
                combined_log_p([null.results(form, index, order) for form in forms])
            ),
        )


def _is_notable(forms: TileForms, mean: Array, null: TileNull) -> Mask:
    """Terms of which one form is well above its mean."""
    df = np.outer(null.left.n_low, null.right.n_low)
    is_notable = (forms.kernel > NOTABLE * mean) | (forms.score > NOTABLE * df)
    for single in forms.single:
        is_notable |= single > NOTABLE_SINGLE
    return is_notable


def _add(totals: list[Array], parts: list[Array]) -> None:
    """Add parts to totals in place; the first ones are the totals."""
    if not totals:
        totals.extend(parts)
        return
    for total, part in zip(totals, parts):
        total += part


class Sides:
    """Sides of tiles; the last ones are kept, since a strip has many tiles."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._kept = lru_cache(SIDES_KEPT)(self._made)

    def __call__(self, terms: Codes, rows: slice, is_whole: bool) -> Side:
        """The side of some terms on some rows."""
        # Blocks of rows would push each other out of the few places.
        if not is_whole:
            scan = self._scan
            return side_of(scan.design, terms, rows, scan.k)
        return self._kept(terms.tobytes(), terms.shape[1])

    def _made(self, terms: bytes, n_features: int) -> Side:
        own = np.frombuffer(terms, dtype=np.intp).reshape(-1, n_features)
        scan = self._scan
        return side_of(scan.design, own, slice(0, len(scan.design.weight)), scan.k)


def _strips(terms: Codes, n_columns: int) -> list[Codes]:
    """Terms in strips such that the products of two strips fit in memory."""
    # Two sides of about 512 terms make products of 2 MB each; sides whose terms have more columns
    # are shorter, in proportion.
    side = int(np.clip(np.sqrt(TILE_BYTES / 8) * 4 / n_columns, 1, LARGEST_TILE_SIDE))
    return [terms[start : start + side] for start in range(0, len(terms), side)]


def _tiles(lefts: list[Codes], rights: list[Codes]) -> Iterator[tuple[Codes, Codes]]:
    """Pairs of strips that hold at least one term."""
    for left in lefts:
        for right in rights:
            if right[-1, 0] > left[:, -1].min():
                yield left, right


def strongest_terms(
    data: Design,
    contrasts: Sequence[Contrast],
    among: TermSet,
    count: int,
    run: Run = ALONE,
) -> ScreenedTerms:
    """The `count` terms with the smallest approximate p-values, out of all of them."""
    first = among.features[:-1]
    k = data.is_low.shape[1]
    if among.order == 3:
        lefts, k = first[all_terms(len(first), 2)], min(N_SMOOTH, k)
    else:
        lefts = first[:, None]
    n_columns = k ** (among.order - 1)
    scan = Scan(data, contrasts, among, k)
    leaders, sides = Leaders(count, among.order), Sides(scan)
    is_selective = among.n_terms > SELECTIVE_FROM * count
    tiles = list(_tiles(_strips(lefts, n_columns), _strips(among.features[:, None], k)))

    def screen(left: Codes, right: Codes) -> None:
        tile = scan.tile(left, right, sides)
        leaders.add(scan.screened(tile, leaders.log_limit, is_selective))

    run.stage = f"screen of {among.n_terms:,} terms"
    threads = Parallel(n_jobs=run.n_jobs, require="sharedmem", return_as="generator_unordered")
    for done, _ in enumerate(threads(delayed(screen)(*tile) for tile in tiles), 1):
        run.tick(done, len(tiles))
    return leaders.strongest()
