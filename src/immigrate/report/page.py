"""From panels to a summary, and from a summary to HTML, with nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

from immigrate._version import __version__
from immigrate.files import json_text
from immigrate.interactions.words import counted, percent
from immigrate.report import answers, evidence, model, performance
from immigrate.report.input import Context

if TYPE_CHECKING:
    import jinja2

PANELS = {
    "evidence": evidence,
    "performance": performance,
    "model": model,
    # Made of what the others found, and first on the page.
    "answers": answers,
}
"""Each has a template, and a script where it draws, of its name.

They work in this order, and may use what those before found (`Context.found`).
"""

FOLDER = resources.files("immigrate.report")
FORMAT = 1
"""Of the summary. A name that goes or changes its meaning makes it one more."""

# Enough for every picture and table, and a third of the characters.
DIGITS = 4
# What the scripts of the panels draw with, in the order in which the browser reads them.
TOOLS = ("base.js", "tables.js", "frames.js", "pictures.js", "pair.js", "page.js")
MOST_IN_HEADLINE = 60
# What would end the element that holds the data, or begin a comment in it.
ESCAPED = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def summarised(context: Context, title: str) -> dict[str, Any]:
    """The contents of the page, panel by panel, as plain values that JSON can hold."""
    # So that a page can be made again byte by byte.
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    day = datetime.fromtimestamp(int(epoch), UTC).date() if epoch.isdigit() else date.today()
    head = {
        "format": FORMAT,
        "title": title,
        "target": context.given.outcome.name,
        "date": day.isoformat(),
        "version": __version__,
    }
    found: dict[str, Any] = plain(head)
    for panel in PANELS.values():
        # Panels see what the page shows: cards and tables must not differ in a last digit.
        found |= plain(panel.summary(replace(context, found=found)))
    return found


def plain(value: Any, digits: int = DIGITS) -> Any:
    """A value as JSON can hold it; numbers to so many digits, None for what is not a number.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report.page import plain
    >>> plain({"p": np.array([0.123456, np.nan]), "n": np.int64(3), "of": ("a", True)})
    {'p': [0.1235, None], 'n': 3, 'of': ['a', True]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(one, digits) for key, one in value.items()}
    # Of NumPy or pandas.
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(one, digits) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value if isinstance(value, bool | int | None) else str(value)


def html(summary: dict[str, Any]) -> str:
    """The report as one self-contained HTML document."""
    shown = [name for name in PANELS if name != "answers"]
    # One function around all files: nothing of them is a name of the page.
    # A panel without anything to draw has no script.
    scripts = [f"{name}.js" for name in shown if FOLDER.joinpath(f"{name}.js").is_file()]
    files = [_file(name) for name in (*TOOLS, *scripts)]
    script = "(() => {\n" + "\n".join(files) + "\n})();"
    style = _file("page.css")
    return (
        template_environment()
        .get_template("page.html.jinja")
        .render(
            **summary,
            panels=shown,
            sections=[one for name in shown for one in PANELS[name].SECTIONS.items()],
            style=style,
            script=script,
            style_hash=content_hash(style),
            script_hash=content_hash(script),
            carried=embedded_json(summary),
        )
    )


def _file(name: str) -> str:
    return FOLDER.joinpath(name).read_text("utf-8")


def content_hash(text: str) -> str:
    """How a content security policy names a text.

    Examples
    --------
    >>> from immigrate.report.page import content_hash
    >>> content_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def embedded_json(summary: dict[str, Any]) -> str:
    r"""JSON that no name in it can break out of.

    Examples
    --------
    >>> from immigrate.report.page import embedded_json
    >>> print(embedded_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json_text(summary)
    # These signs stand in texts only; escaped, the JSON means the same.
    for sign, code in ESCAPED.items():
        text = text.replace(sign, code)
    return text


def template_environment() -> jinja2.Environment:
    """Jinja that escapes every name and fails on anything misspelt."""
    # The summary can be made, and saved as JSON, without it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=whole_percent, measure=measure, whole=whole)
    environment.filters.update(brief=brief, counted=counted, number=number_text)
    return environment


def whole(text: str) -> str:
    """A text in which no line ends between a number and the sign that belongs to it."""
    return text.replace(" %", "\u00a0%").replace("p < ", "p\u00a0<\u00a0")


def whole_percent(share: float) -> str:
    """A share in percent that no line ends in."""
    return whole(percent(share))


def brief(name: str) -> str:
    """A name for a headline; a very long one with an ellipsis in its middle.

    Examples
    --------
    >>> from immigrate.report.page import brief
    >>> brief("age"), len(brief("x" * 300))
    ('age', 60)
    """
    half = MOST_IN_HEADLINE // 2
    return name if len(name) <= MOST_IN_HEADLINE else f"{name[:half]}…{name[1 - half :]}"


def number_text(number: float) -> str:
    """A number with four digits and a true minus.

    Examples
    --------
    >>> from immigrate.report.page import number_text
    >>> number_text(12345.0), number_text(-0.5)
    ('12,345', '−0.5')
    """
    text = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    return text.replace("-", "−")


def measure(found: dict[str, float], as_share: bool = True) -> str:
    """A measure with its interval."""
    form = "{:.1%}" if as_share else "{:.3f}"
    value, low, high = (form.format(found[name]) for name in ("value", "low", "high"))
    return whole(f"{value} ({low} to {high})".replace("%", " %"))
