"""Names for the arrays that every layer passes around, and arrays without a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]


def unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array without its mask: what is masked is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.arrays import unmasked
    >>> unmasked(np.ma.masked_equal([1, 2, 9], 9))
    array([ 1.,  2., nan])
    """
    if not np.ma.is_masked(array) or array.dtype.kind in "mMcV":
        return np.asarray(array)
    if array.dtype.kind in "fiub":
        is_single = array.dtype == np.float32
        floats = array.astype(np.float32 if is_single else np.float64)
        return np.asarray(np.ma.filled(floats, np.nan))
    # Not by its `filled`, which takes None for the value that the array carries for that.
    objects: NDArray[Any] = array.data.astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects
