"""What a column is: how its values are read as numbers, and what they are called.

===============  ===============================================================================
``column``       one column of any container, and what every kind of column does
``number``       numbers, flags and ordered categories, which are numbers with names
``nominal``      levels without an order
``circular``     numbers that come round: hours, weekdays, months, angles
===============  ===============================================================================
"""

from __future__ import annotations

from immigrate.kinds.circular import Circular
from immigrate.kinds.column import Column, Content, Kind, dates_refused
from immigrate.kinds.nominal import Nominal
from immigrate.kinds.number import Flag, Number, Ordered

__all__ = ["KINDS", "Circular", "Flag", "Kind", "Nominal", "Number", "Ordered", "fitted_kind"]

# The first that takes a column has it; the last takes what is left, or refuses it.
BY_TYPE: tuple[type[Kind], ...] = (Nominal, Ordered, Flag, Number)
KINDS: tuple[type[Kind], ...] = (Circular, *BY_TYPE)


def fitted_kind(column: Column, is_listed: bool | None, period: float | None = None) -> Kind:
    """What a column is to a model, with its levels or its period.

    Parameters
    ----------
    column : Column
    is_listed : bool or None
        Whether `categorical_features` lists the column; None where its type decides.
    period : float, optional
        Its period in `circular_features`.
    """
    if column.content is Content.DATES:
        raise dates_refused(column)
    if period is not None:
        return Circular.of_period(column, is_listed, period)
    return next(filter(None, (kind.fit(column, is_listed) for kind in BY_TYPE)))
