"""Pages that follow the data of one call in at most a dozen stops, made from the code.

    python -m harness.stops   # writes docs/contributing/road-fit.md and its siblings

A stop is a function; the page shows the summary of its docstring and the type that it returns.
``tests/test_stops.py`` fails if the call does not visit the stops in this order, or if a page is
not what the code says now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.house import Function
from harness.roads import PACKAGE

PAGES = Path(__file__).parents[1] / "docs" / "contributing"
MOST_STOPS = 12


@dataclass(frozen=True)
class Page:
    """One road: its title, the call, what is worth knowing before, and its stops."""

    title: str
    call: str
    before: str
    stops: tuple[str, ...]


ROAD_PAGES = {
    "fit": Page(
        "The road of a fit",
        "ImmigrateClassifier().fit(X, y)",
        "Each stop returns a value that a later one takes. Nothing is written on the estimator "
        "before the last stop, so that an error or Ctrl-C leaves the model of the last fit as it "
        "was. `ImmigrateClassifierCV` takes the same road, with many fits along a path of "
        "sigmas and penalties (`margin/path.py`) and a choice among them (`margin/choice.py`).",
        (
            "margin/options.py::FitOptions.of",
            "table/read.py::read_weighted_table",
            "outcomes/classes.py::read_classes",
            "table/table.py::first_reading",
            "margin/path.py::fitted",
            "margin/encoding.py::Encoding.of",
            "margin/options.py::FitOptions.task",
            "kernels/layout.py::layout_of",
            "solvers/descent.py::spectral_descent",
            "kernels/passes.py::CompiledPass.margins",
            "margin/model.py::MarginModel.of",
            "table/table.py::Table.keep_on",
        ),
    ),
    "predict": Page(
        "The road of a prediction",
        "model.predict(X)",
        "New rows are compared with the references of the model, which are training samples or "
        "prototypes; the class with the smallest score wins.",
        (
            "table/read.py::read_table",
            "table/table.py::Reader.values_of",
            "margin/model.py::MarginModel.scores",
            "margin/encoding.py::References.encoded",
            "margin/problem.py::MarginProblem.class_scores_many",
            "kernels/passes.py::CompiledPass.scores_many",
            "kernels/layout.py::Layout.new_rows",
            "kernels/passes.py::class_scores",
        ),
    ),
    "test": Page(
        "The road of a test",
        "InteractionTest().fit(X, y)",
        "The test fits a model of single features, takes its residuals, and asks of every pair "
        "whether products of functions of its two features explain them "
        "([theory](../method/interaction-test.md)).",
        (
            "table/read.py::read_training_table",
            "table/weights.py::sample_counts",
            "interactions/question.py::question_of",
            "additive/design.py::table_design",
            "additive/null_model.py::null_model",
            "additive/ridge.py::chosen_strength",
            "interactions/search.py::tested_terms",
            "additive/residuals.py::contrasts_of",
            "interactions/statistics.py::term_results",
            "interactions/search.py::one_by_one",
            "interactions/features.py::feature_evidence",
            "interactions/findings.py::findings_of",
        ),
    ),
    "report": Page(
        "The road of a report",
        "Report.of(X, y)",
        "A report fits a model, tests the table, and asks every panel for its part of a summary "
        "of plain values, from which the page is drawn when it is saved. The fit and the test "
        "have pages of their own.",
        (
            "report/input.py::ReportInput.of",
            "estimators/immigrate_cv.py::default_model",
            "report/input.py::fitted_clone",
            "estimators/interaction_test.py::fitted_on_table",
            "report/page.py::summarised",
            "report/evidence.py::summary",
            "report/performance.py::summary",
            "report/folds.py::predicted_folds",
            "report/model.py::summary",
            "report/answers.py::summary",
        ),
    ),
}


def text_of(name: str, page: Page) -> str:
    """The page of one road, in Markdown."""
    lines = [
        f"# {page.title}",
        "",
        "% Written by `python -m harness.stops`, from the code.",
        "",
        f"`{page.call}`, in {len(page.stops)} stops. {page.before}",
        "",
    ]
    for number, stop in enumerate(page.stops, 1):
        summary, returned = described(stop)
        file, function = stop.split("::")
        arrow = f" → `{returned}`" if returned else ""
        item = f"{number}. "
        lines += [f"{item}`{file}`: **`{function}`**{arrow}\\", f"{'':{len(item)}}{summary}"]
    lines += [
        "",
        f"Every function of this road, below its caller: `python -m harness.roads --tree {name}`.",
        "",
    ]
    return "\n".join(lines)


def described(stop: str) -> tuple[str, str]:
    """Summary of a function's docstring, and the type that it returns."""
    file, name = stop.split("::")
    node: ast.AST = ast.parse((PACKAGE / file).read_text())
    for part in name.split("."):
        node = next(one for one in named_nodes(node) if one.name == part)
    assert isinstance(node, Function)
    summary = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    returned = ast.unparse(node.returns) if node.returns is not None else ""
    if returned == "Self":
        returned = name.split(".")[0]
    return summary.replace("``", "`"), "" if returned == "None" else returned


def named_nodes(node: ast.AST) -> Iterator[ast.ClassDef | Function]:
    """Functions and classes directly below."""
    return (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.ClassDef | Function))


def main() -> None:
    """Write the pages."""
    for name, page in ROAD_PAGES.items():
        (PAGES / f"road-{name}.md").write_text(text_of(name, page))


if __name__ == "__main__":
    main()
