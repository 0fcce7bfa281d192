"""Which pairs of samples a pass visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Codes


@dataclass(frozen=True)
class Pairs:
    """Every anchor with every reference.

    Attributes
    ----------
    anchors, references : ndarray of int
        Rows of one table. An anchor's margin counts; references are its possible neighbours. A
        sample can be both, as all samples are in the paper.
    """

    anchors: Codes
    references: Codes

    @classmethod
    def all(cls, n_samples: int) -> Pairs:
        """Every sample with every sample."""
        everybody = np.arange(n_samples)
        return cls(everybody, everybody)

    def tiles(self, n_rows: int = 64, n_columns: int = 512) -> Iterator[tuple[Codes, Codes]]:
        """Blocks of anchors against blocks of references; together they hold every pair once."""
        for rows in _blocks(self.anchors, n_rows):
            for columns in _blocks(self.references, n_columns):
                yield rows, columns


def _blocks(samples: Codes, size: int) -> Iterator[Codes]:
    return (samples[i : i + size] for i in range(0, len(samples), size))
