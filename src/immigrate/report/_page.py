"""From summary and pictures to HTML."""

from __future__ import annotations

import base64
import threading
import warnings
from collections.abc import Callable
from functools import partial
from importlib import resources
from io import StringIO
from math import isnan
from typing import TYPE_CHECKING, Any

from immigrate import plotting
from immigrate.files import spreadsheet_csv
from immigrate.plotting import (
    InteractionNetworkDisplay,
    SigmaPathDisplay,
    WeightMatrixDisplay,
    require_matplotlib,
)

if TYPE_CHECKING:
    import jinja2
    import pandas as pd
    from matplotlib.figure import Figure

    from immigrate.estimators import InteractionTest

MOST_IN_HEAT_MAP = 25
_drawing = threading.Lock()
MOST_PAIR_PICTURES = 6


def page(summary: dict[str, Any], model: Any, test: InteractionTest | None) -> str:
    """The report as one self-contained HTML document."""
    environment = template_environment()
    template = environment.from_string(
        resources.files("immigrate.report").joinpath("page.html.jinja").read_text("utf-8")
    )
    text: str = template.render(
        **summary,
        pictures=pictures(summary, model),
        pair_pictures=[] if test is None else pair_pictures(test),
        file=as_data_address(summary["table"]),
    )
    return text


def check_can_be_drawn() -> None:
    """Raise an error that says what to install, before any work is done."""
    template_environment()
    require_matplotlib("The report")


def template_environment() -> jinja2.Environment:
    """Jinja that escapes every name and fails on anything misspelt."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install immigrate[report]") from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(
        percent=percent, number=number, p=p_text, auc=auc, size=size_text, sentence=sentence
    )
    return environment


def p_text(p: float) -> str:
    """A p-value as people write it; a dash where there is none."""
    return "< 0.0001" if p < 1e-4 else _or_dash(p, ".2g")


def percent(share: float) -> str:
    """A share in percent; a dash where there is none."""
    return _or_dash(share, ".1%")


def number(value: float) -> str:
    """A weight; a dash where there is none, as for features that were screened out."""
    return _or_dash(value, "z.3f")


def size_text(row: dict[str, Any]) -> str:
    """The size of an effect with its interval; a dash where it has none.

    Examples
    --------
    >>> from immigrate.report._page import size_text
    >>> size_text({"size": 1.234, "size_low": 0.5, "size_high": 2.0})
    '1.23 (0.50 to 2.00)'
    """
    if isnan(row["size"]):
        return "–"
    return "{size:.2f} ({size_low:.2f} to {size_high:.2f})".format_map(row)


def sentence(words: str) -> str:
    """Words with a full stop and a large first letter, or nothing where there are none."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


def auc(area: float) -> str:
    """An area under the ROC curve."""
    return f"{area:.3f}"


def _or_dash(value: float, form: str) -> str:
    return "–" if isnan(value) else format(value, form)


def pictures(summary: dict[str, Any], model: Any) -> dict[str, str]:
    """SVG of what the model uses, by name."""
    drawn = {
        "network": svg(
            (6.8, 5),
            lambda figure: InteractionNetworkDisplay(table=summary["network"]).plot(
                ax=figure.add_subplot()
            ),
        ),
        "matrix": svg(
            _matrix_size(len(model.weight_matrix_)),
            lambda figure: WeightMatrixDisplay(
                weights=model.weight_matrix_, feature_names=model.get_feature_names_out()
            ).plot(top=MOST_IN_HEAT_MAP, ax=figure.add_subplot()),
        ),
    }
    if hasattr(model, "weights_path_"):
        drawn["path"] = svg((9, 9), lambda figure: _draw_path(figure, model))
    return drawn


def pair_pictures(test: InteractionTest) -> list[dict[str, str]]:
    """SVG of the joint effect of each of the first pairs found, with the name of the pair."""
    display = getattr(plotting, "PairEffectDisplay", None)
    if display is None:
        return []
    pairs = test.selected_[["feature_1", "feature_2"]].head(MOST_PAIR_PICTURES).to_numpy()
    return [
        {"name": f"{a} × {b}", "svg": svg_of(partial(_effect_figure, display, test, a, b))}
        for a, b in pairs
    ]


def _effect_figure(display: Any, test: InteractionTest, a: Any, b: Any) -> Any:
    import matplotlib.pyplot as plt

    # The display knows how large its panels have to be; pyplot would keep its figure.
    figure = display.from_estimator(test, a, b).figure_
    plt.close(figure)
    return figure


def _matrix_size(n_features: int) -> tuple[float, float]:
    side = 3.5 + 0.25 * min(n_features, MOST_IN_HEAT_MAP)
    return side + 1, side


def _draw_path(figure: Figure, model: Any) -> None:
    axes = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 3])
    SigmaPathDisplay.from_estimator(model, axes=axes)


def svg(size: tuple[float, float], draw: Callable[[Figure], Any]) -> str:
    """What `draw` puts on a figure of this size, as an SVG element."""

    def drawn() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        return figure

    return svg_of(drawn)


def svg_of(drawn: Callable[[], Figure]) -> str:
    """A figure as an SVG element that is the same for the same content."""
    require_matplotlib("The report")
    import matplotlib as mpl

    page = StringIO()
    # The page is white whatever style the user draws in, and the browser sets the text.
    style: list[str | dict[str, Any]] = [
        "default",
        {"svg.hashsalt": "immigrate", "svg.fonttype": "none"},
    ]
    # Styles and filters of warnings are those of the process: one thread at a time.
    with _drawing, mpl.style.context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        drawn().savefig(page, format="svg", metadata={"Date": None}, bbox_inches="tight")
    text = page.getvalue()
    return text[text.index("<svg") :]


def as_data_address(table: pd.DataFrame) -> str:
    """The table as a CSV file inside a link."""
    content = base64.b64encode(spreadsheet_csv(table).encode()).decode()
    return f"data:text/csv;base64,{content}"
