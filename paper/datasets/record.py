"""What is known of a data set before it is read, and what reading it gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """A row of the paper's Appendix A, with the two classes that its shape implies."""

    code: str
    name: str
    n_features: int
    n_samples: int
    target: str
    classes: tuple[str, str]
    note: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, features) as the paper states them."""
        return self.n_samples, self.n_features


@dataclass(frozen=True)
class Table:
    """A binary classification table and the place it came from."""

    X: np.ndarray  # (n, p), may hold NaN
    y: np.ndarray  # (n,), 0 or 1 in the sorted order of `classes`
    feature_names: list[str]
    classes: tuple[str, ...]
    source: str
