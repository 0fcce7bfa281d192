"""From summary and pictures to HTML."""

from __future__ import annotations

import base64
import threading
import warnings
from collections.abc import Callable
from importlib import resources
from io import StringIO
from math import isnan
from typing import TYPE_CHECKING, Any

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

MOST_IN_HEAT_MAP = 25
_drawing = threading.Lock()


def page(summary: dict[str, Any], model: Any) -> str:
    """The report as one self-contained HTML document."""
    environment = template_environment()
    template = environment.from_string(
        resources.files("immigrate.report").joinpath("page.html.jinja").read_text("utf-8")
    )
    text: str = template.render(
        **summary,
        pictures=pictures(summary, model),
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
    environment.filters.update(percent=percent, number=number, p=p_text, auc=auc)
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


def auc(area: float) -> str:
    """An area under the ROC curve."""
    return f"{area:.3f}"


def _or_dash(value: float, form: str) -> str:
    return "–" if isnan(value) else format(value, form)


def pictures(summary: dict[str, Any], model: Any) -> dict[str, str]:
    """SVG by name."""
    drawn = {
        "network": svg(
            (8, 5.6),
            lambda figure: InteractionNetworkDisplay(table=drawn_table(summary)).plot(
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


def drawn_table(summary: dict[str, Any]) -> pd.DataFrame:
    """The table of weights, without the columns of a test that was not made."""
    table: pd.DataFrame = summary["table"]
    return table.drop(columns="is_found") if summary["test"]["why_untested"] else table


def _matrix_size(n_features: int) -> tuple[float, float]:
    side = 3.5 + 0.25 * min(n_features, MOST_IN_HEAT_MAP)
    return side + 1, side


def _draw_path(figure: Figure, model: Any) -> None:
    axes = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 3])
    SigmaPathDisplay.from_estimator(model, axes=axes)


def svg(size: tuple[float, float], draw: Callable[[Figure], Any]) -> str:
    """What `draw` puts on a figure, as an SVG element that is the same for the same content."""
    require_matplotlib("The report")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    page = StringIO()
    # The page is white whatever style the user draws in, and the browser sets the text.
    style: list[str | dict[str, Any]] = [
        "default",
        {"svg.hashsalt": "immigrate", "svg.fonttype": "none"},
    ]
    # Styles and filters of warnings are those of the process: one thread at a time.
    with _drawing, mpl.style.context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(page, format="svg", metadata={"Date": None}, bbox_inches="tight")
    text = page.getvalue()
    return text[text.index("<svg") :]


def as_data_address(table: pd.DataFrame) -> str:
    """The table as a CSV file inside a link."""
    content = base64.b64encode(spreadsheet_csv(table).encode()).decode()
    return f"data:text/csv;base64,{content}"
