"""Text that is no name: dates and numbers which were read as text.

Recognition is conservative. A column counts as dates only if all of its values have one of the
usual forms and are possible, and as numbers only if nearly all are, one of them with decimals:
whole numbers as text may well be names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from numbers import Number
from typing import Any

TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?"
ZONE = r"( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"
    r"oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
DAYS = (
    # 2021-01-03 and 2021/01/03
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<first>\d{1,2})(?P=sep)(?P<second>\d{1,2})",
    # 03.01.2021, 1/3/2021 and 03-01-2021, the month first or second
    r"(?P<first>\d{1,2})(?P<sep>[-/.])(?P<second>\d{1,2})(?P=sep)(?P<year>\d{4})",
    # 03.01.21; a version such as 3.2.1 has shorter parts
    r"(?P<first>\d{2})(?P<sep>[-/.])(?P<second>\d{2})(?P=sep)\d{2}",
    # 3 Jan 2021, 03-Jan-2021, 3. January 2021, Jan 3, 2021
    rf"(?P<day>\d{{1,2}})(\.? |-){MONTH}( |-)(?P<year>\d{{4}})",
    rf"{MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
)
DATE_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (*(rf"{day}([T ,]+{TIME}{ZONE})?" for day in DAYS), TIME)
)
NUMBER_FORM = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
DECIMALS = re.compile(r"[.,]\d")
LEAST_SHARE_OF_NUMBERS = 0.9


def are_dates(texts: Sequence[Any]) -> bool:
    """Whether all of these are dates or times of the day written out.

    Examples
    --------
    >>> from immigrate.columns.text_forms import are_dates
    >>> are_dates(["03.01.2021", "28.02.2021"]), are_dates(["3.2.1", "3.2.2"])
    (True, False)
    """
    return len(texts) > 0 and all(isinstance(text, str) and _is_date(text) for text in texts)


def number_like(levels: Sequence[Any]) -> str:
    """An example of what shows that these are numbers written as text; empty if they are not.

    Examples
    --------
    >>> from immigrate.columns.text_forms import number_like
    >>> number_like(["52,9", "66,1"]), number_like(["101", "102"])
    ("such as '52,9'", '')
    """
    others = [level for level in levels if not _is_number(level)]
    # A few words such as "n.d." may stand among numbers.
    is_mostly = len(others) <= (1 - LEAST_SHARE_OF_NUMBERS) * len(levels)
    decimal = next(_with_decimals(levels), None)
    if not is_mostly or decimal is None:
        return ""
    return f"{others[0]!r} among numbers" if others else f"such as {decimal!r}"


def _is_number(level: Any) -> bool:
    if isinstance(level, str):
        return NUMBER_FORM.fullmatch(level.strip()) is not None
    return isinstance(level, Number)


def _with_decimals(levels: Sequence[Any]) -> Iterator[Any]:
    return (level for level in levels if _is_number(level) and DECIMALS.search(str(level)))


def _is_date(text: str) -> bool:
    match = next(filter(None, (form.fullmatch(text.strip()) for form in DATE_FORMS)), None)
    return match is not None and _is_possible(match.groupdict())


def _is_possible(parts: dict[str, str | None]) -> bool:
    numbers = {key: int(part) for key, part in parts.items() if part and part.isdigit()}
    # A year that stands in front is followed by the month; else either may be the month.
    days = sorted(numbers[key] for key in ("first", "second", "day") if key in numbers)
    is_day = all(1 <= day <= 31 for day in days) and (len(days) < 2 or days[0] <= 12)
    is_time = numbers.get("hour", 0) <= 24 and numbers.get("minute", 0) < 60
    return is_day and is_time and 1800 <= numbers.get("year", 2000) <= 2200
