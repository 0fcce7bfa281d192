"""One thread of BLAS where matrices are small.

The test and the solvers multiply thousands of matrices of a few dozen rows. At that size a second
thread of BLAS costs more in waking and waiting than it computes, and on a busy machine many times
more. Cores are better used by threads that each take their own share of the work (`n_jobs`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from threading import Lock

# The controller sees the libraries that are loaded when it is made: those of NumPy and SciPy.
import numpy  # noqa: F401
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

# Rows from which on a second thread makes an eigenvalue decomposition faster.
WIDE = 384

# BLAS has one number of threads per process. Of blocks that overlap in several threads of Python
# the first one sets the limit, and the last one takes it away.
_lock, _blocks = Lock(), list[ExitStack]()


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
    >>> from immigrate.kernels.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    with _lock:
        block = ExitStack()
        if not _blocks:
            block.enter_context(_controller().limit(limits=1, user_api="blas"))
        _blocks.append(block)
    try:
        yield
    finally:
        with _lock:
            # The first block has the limit and is taken off last, whoever leaves last.
            _blocks.pop().close()


def blas_threads_for(n_rows: int) -> AbstractContextManager[None]:
    """As many threads of BLAS as are of use for square matrices of so many rows."""
    return one_blas_thread() if n_rows < WIDE else contextlib.nullcontext()
