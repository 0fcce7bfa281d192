"""One thread of BLAS while the test runs.

The test multiplies thousands of matrices of a few dozen rows. At that size a second thread of
BLAS costs more in waking and waiting than it computes, and on a busy machine many times more.
Cores are better used by threads that each take their own share of the pairs (`n_jobs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

# The controller sees the libraries that are loaded when it is made: those of NumPy and SciPy.
import numpy  # noqa: F401
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Made at the first use and kept: looking through the loaded libraries takes milliseconds.

    A forked child can go on using it, because its libraries are where its parent's were.
    """
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread inside the block, or inside a function that this decorates.

    Threads that are started inside are limited as well: BLAS has one pool per process.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.inference.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
