"""From a summary to HTML: one template, one style, one script, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from immigrate.report._answers import counted, p_text, percent

if TYPE_CHECKING:
    import jinja2

# In the order in which the browser reads them.
SCRIPTS = (
    "base.js",
    "tables.js",
    "pictures.js",
    "predictions.js",
    "frames.js",
    "pair.js",
    "main.js",
)
STYLES = ("page.css",)
MOST_IN_HEADLINE = 60
# What would end the element that holds the data, or begin a comment in it.
ESCAPED = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(summary: dict[str, Any]) -> str:
    """The report as one self-contained HTML document."""
    template = template_environment().from_string(_file("page.html.jinja"))
    # One function around all files: nothing of them is a name of the page.
    script = "(() => {\n" + "\n".join(_file(name) for name in SCRIPTS) + "\n})();"
    style = "\n".join(_file(name) for name in STYLES)
    text: str = template.render(
        **summary,
        style=style,
        script=script,
        style_hash=content_hash(style),
        script_hash=content_hash(script),
        carried=embedded_json(summary),
    )
    return text


def _file(name: str) -> str:
    return resources.files("immigrate.report").joinpath(name).read_text("utf-8")


def content_hash(text: str) -> str:
    """How a content security policy names a text.

    Examples
    --------
    >>> from immigrate.report._page import content_hash
    >>> content_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def as_json(summary: dict[str, Any], indent: int | None = None) -> str:
    """The summary as JSON: the same bytes for the same content.

    Examples
    --------
    >>> from immigrate.report._page import as_json
    >>> as_json({"name": "a", "p": [0.5, None]})
    '{"name":"a","p":[0.5,null]}'
    """
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(
        summary, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent
    )


def embedded_json(summary: dict[str, Any]) -> str:
    r"""JSON that no name in it can break out of.

    Examples
    --------
    >>> from immigrate.report._page import embedded_json
    >>> print(embedded_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = as_json(summary)
    # These signs stand in texts only; escaped, the JSON means the same.
    for sign, code in ESCAPED.items():
        text = text.replace(sign, code)
    return text


def template_environment() -> jinja2.Environment:
    """Jinja that escapes every name and fails on anything misspelt."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install 'immigrate[report]'") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(percent=whole_percent, p=p_text, measure=measure, whole=whole)
    environment.filters.update(brief=brief, counted=counted)
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
    >>> from immigrate.report._page import brief
    >>> brief("age"), len(brief("x" * 300))
    ('age', 60)
    """
    half = MOST_IN_HEADLINE // 2
    return name if len(name) <= MOST_IN_HEADLINE else f"{name[:half]}…{name[1 - half :]}"


def measure(found: dict[str, float], as_share: bool = True) -> str:
    """A measure with its interval."""
    form = "{:.1%}" if as_share else "{:.3f}"
    value, low, high = (form.format(found[name]) for name in ("value", "low", "high"))
    return whole(f"{value} ({low} to {high})".replace("%", " %"))
