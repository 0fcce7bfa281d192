"""From summary and pictures to HTML."""

from __future__ import annotations

import base64
import warnings
from importlib import resources
from io import StringIO
from math import isnan

from immigrate.plotting._interaction_network import InteractionNetworkDisplay
from immigrate.plotting._sigma_path import SigmaPathDisplay
from immigrate.plotting._style import require_matplotlib
from immigrate.plotting._weight_matrix import WeightMatrixDisplay

MOST_IN_HEAT_MAP = 25


def page(summary, model):
    """The report as one self-contained HTML document."""
    environment = template_environment()
    template = environment.from_string(
        resources.files("immigrate.report").joinpath("page.html.jinja").read_text("utf-8")
    )
    return template.render(
        **summary,
        pictures=pictures(summary, model),
        file=as_data_address(summary["table"]),
    )


def check_can_be_drawn():
    """Raise an error that says what to install, before any work is done."""
    template_environment()
    require_matplotlib("The report")


def template_environment():
    """Jinja that escapes every name and fails on anything misspelt."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("The report needs jinja2: pip install immigrate[report]") from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(percent=percent, number=number, p=p_text)
    return environment


def p_text(p):
    """A p-value as people write it; a dash where there is none."""
    return "< 0.0001" if p < 1e-4 else _or_dash(p, ".2g")


def percent(share):
    """A share in percent; a dash where there is none."""
    return _or_dash(share, ".1%")


def number(value):
    """A weight; a dash where there is none, as for features that were screened out."""
    return _or_dash(value, "z.3f")


def _or_dash(value, form):
    return "–" if isnan(value) else format(value, form)


def pictures(summary, model):
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


def drawn_table(summary):
    """The table of weights, without the columns of a test that was not made."""
    table = summary["table"]
    return table.drop(columns="is_found") if summary["test"]["why_untested"] else table


def _matrix_size(n_features):
    side = 3.5 + 0.25 * min(n_features, MOST_IN_HEAT_MAP)
    return side + 1, side


def _draw_path(figure, model):
    axes = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 3])
    SigmaPathDisplay.from_estimator(model, axes=axes)


def svg(size, draw):
    """What `draw` puts on a figure, as an SVG element that is the same for the same content."""
    require_matplotlib("The report")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    page = StringIO()
    # The page is white whatever style the user draws in, and the browser sets the text.
    style = ["default", {"svg.hashsalt": "immigrate", "svg.fonttype": "none"}]
    with mpl.style.context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(page, format="svg", metadata={"Date": None}, bbox_inches="tight")
    text = page.getvalue()
    return text[text.index("<svg") :]


def as_data_address(table):
    """The table as a CSV file inside a link."""
    content = base64.b64encode(table.to_csv(index=False).encode()).decode()
    return f"data:text/csv;base64,{content}"
