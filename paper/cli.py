"""The command line of the experiments."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from paper.cells import planned_cells
from paper.datasets import DATASETS, GENE, LARGE, SMALL, load
from paper.methods import METHODS
from paper.published import table_methods

RESULTS = Path(__file__).parent / "results"
GROUPS = {"small": SMALL, "large": LARGE, "gene": GENE}


def main(arguments: list[str] | None = None) -> None:
    """Parse the command line and do what it says."""
    options = parser().parse_args(arguments)
    options.command(options)


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="data|run|tables|figures|export")
    data = commands.add_parser("data", help="list the data sets, where they come from, shapes")
    data.set_defaults(command=list_data)
    run = commands.add_parser("run", help="run the cells that have no result yet")
    run.set_defaults(command=run_cells)
    tables = commands.add_parser("tables", help="write tables 1-3 as Markdown, LaTeX and CSV")
    tables.set_defaults(command=write_tables)
    figures = commands.add_parser("figures", help="draw the figures")
    figures.set_defaults(command=draw_figures)
    export = commands.add_parser("export", help="write the tracked CSV files")
    export.set_defaults(command=export_results)
    export.add_argument(
        "--merge", type=Path, metavar="FOLDER", help="first take over the tracked files there"
    )

    for command in (data, run, figures):
        command.add_argument("--data", metavar="FOLDER", help="tables (or set IMMIGRATE_DATA)")
    for command in (run, tables, figures, export):
        command.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    data.add_argument("--download", action="store_true", help="also ask OpenML")
    run.add_argument(
        "--sets", nargs="+", default=["small"], help="small, large, gene, or codes such as GLA"
    )
    run.add_argument("--methods", nargs="+", help="codes; all that the paper ran on the sets")
    run.add_argument("--repeats", type=int, default=10)
    run.add_argument("--folds", type=int, default=10)
    run.add_argument("--jobs", type=int, default=1)
    run.add_argument("--time-limit", type=float, default=600, metavar="SECONDS")
    run.add_argument("--retry", action="store_true", help="run failed cells again")
    figures.add_argument("--seeds", type=int, default=20, help="of the robustness figure")
    return top


def list_data(options) -> None:
    """Print one line for each data set, with its shape against the paper's."""
    for code, dataset in DATASETS.items():
        try:
            table = load(code, options.data, options.download)
            shape, source = table.X.shape, table.source
        except (FileNotFoundError, OSError) as error:
            shape, source = None, str(error) if options.download else "not found"
        match = "missing" if shape is None else "same" if shape == dataset.shape else "differs"
        expected = f"{dataset.n_samples} x {dataset.n_features}"
        print(f"{code}  {dataset.name:28} {expected:>13}  {match:8} {source}")
        if dataset.note:
            print(f"     {dataset.note}")


def run_cells(options) -> None:
    """Run what is missing, then bring the tracked files up to date."""
    from paper.runner import run

    cells = []
    for code in _codes(options.sets):
        methods = options.methods or paper_methods(code)
        cells += planned_cells([code], methods, options.repeats, options.folds)
    cells.sort(key=lambda cell: cell.repeat)
    n_run = run(
        cells,
        options.results / "results.sqlite",
        folder=options.data,
        tracked=options.results,
        n_jobs=options.jobs,
        time_limit=options.time_limit,
        retry=options.retry,
    )
    print(f"\n{n_run} cells run, {len(cells) - n_run} already known.")
    export_results(options)


def paper_methods(code: str) -> list[str]:
    """Methods that the paper ran on a data set and that this library adds there."""
    if code not in GENE:
        return [method for method in METHODS if method not in ("EGT", "B4G")]
    return [method for method in METHODS if method in (*table_methods(1), "MAJ")]


def export_results(options) -> None:
    """Write the tracked CSV files from the database, joined with those of another folder."""
    from paper.store import Store, read_tracked, results, write_tracked

    database = options.results / "results.sqlite"
    if getattr(options, "merge", None):
        with closing(Store(database)) as store:
            store.fill(read_tracked(options.merge))
    frame = results(database, options.results)
    if len(frame):
        write_tracked(frame, options.results)


def write_tables(options) -> None:
    """Write all tables and say where."""
    from paper.store import results
    from paper.tables import write

    frame = results(options.results / "results.sqlite", options.results)
    for path in write(frame, options.results):
        print(path)


def draw_figures(options) -> None:
    """Draw all figures and say where, or why one could not be drawn."""
    from paper.figures import draw_all
    from paper.store import results

    frame = results(options.results / "results.sqlite", options.results)
    for line in draw_all(frame, options.results, options.data, options.seeds):
        print(line)


def _codes(names: list[str]) -> list[str]:
    codes = [code for name in names for code in GROUPS.get(name, (name,))]
    unknown = [code for code in codes if code not in DATASETS]
    if unknown:
        raise SystemExit(
            f"Unknown data set {unknown}; choose from {list(GROUPS)} or {[*DATASETS]}."
        )
    return codes
