"""Boltzmann factors between the two sweeps: kept where there is room, else computed again.

    tiles      0 1 2 3 4 5 | 6 7 8 9 ...                     n_places numbers are kept
               kept        | first sweep:  each overwrites the one before
                           | second sweep: a window of some tiles is filled again, then read

Filling again is the first sweep without its sums, so that the second sweep needs no distances of
its own, neither at run time nor when it is compiled.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.kernels.sweeps import Stretch

WINDOW = 2**18  # numbers that are computed again at a time, if a tile is not larger

# First and last of some consecutive tiles.
Part = tuple[int, int]


class Store:
    """Where the Boltzmann factors of every tile live.

    Parameters
    ----------
    first_pair : ndarray of shape (n_tiles + 1,)
        Place of the first pair of each tile, and the end.
    kept : ndarray of shape (n_problems, n_places)
        What can be kept: the first tiles, as many as fit.
    edges : list of int
        Where the tiles are cut into parts.
    n_stretch : int
        Pairs that are swept without a break, about.
    """

    def __init__(self, first_pair: Codes, kept: Array, edges: list[int], n_stretch: int) -> None:
        self.parts: list[Part] = list(itertools.pairwise(edges))
        self._first_pair, self._kept, self._n_stretch = first_pair, kept, n_stretch
        self._floor = np.empty((len(kept), len(first_pair)))
        # Tiles are kept whole; after t of them first_pair[t] places are taken.
        self._n_kept_tiles = int(np.searchsorted(first_pair, kept.shape[1], side="right")) - 1

    def for_first_sweep(self, part: Part) -> Iterator[Stretch]:
        """The tiles that are kept, then those that are not."""
        kept, others = self._kept_and_others(part)
        yield from kept
        if others[0] < others[1]:
            scratch = np.empty((len(self._kept), self._largest(others)))
            for first, last in self._cut(*others):
                yield Stretch(first, last, scratch, self._floor, 0, is_kept=False)

    def for_second_sweep(self, part: Part) -> Iterator[tuple[Stretch, bool]]:
        """The tiles that are kept, then windows; and whether they must be filled again."""
        kept, (first, last) = self._kept_and_others(part)
        yield from ((stretch, False) for stretch in kept)
        if first == last:
            return
        n_tiles = max(1, WINDOW // (len(self._kept) * self._largest((first, last))))
        window = np.empty((len(self._kept), n_tiles * self._largest((first, last))))
        for t in range(first, last, n_tiles):
            end, pair = min(t + n_tiles, last), int(self._first_pair[t])
            yield Stretch(t, end, window, self._floor, pair, is_kept=True), True

    def _kept_and_others(self, part: Part) -> tuple[list[Stretch], Part]:
        first, last = part
        middle = min(max(first, self._n_kept_tiles), last)
        kept = [
            Stretch(*tiles, self._kept, self._floor, 0, is_kept=True)
            for tiles in self._cut(first, middle)
        ]
        return kept, (middle, last)

    def _cut(self, first: int, last: int) -> Iterator[Part]:
        """Consecutive tiles in stretches of about `n_stretch` pairs, one tile at least."""
        while first < last:
            end = int(np.searchsorted(self._first_pair, self._first_pair[first] + self._n_stretch))
            end = min(max(end, first + 1), last)
            yield first, end
            first = end

    def _largest(self, part: Part) -> int:
        """Places of the largest tile of a part."""
        return int(np.diff(self._first_pair[part[0] : part[1] + 1]).max())
