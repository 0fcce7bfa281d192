"""The command line of the experiments."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from paper.cells import current_settings, error_text, planned_cells
from paper.datasets import DATASETS, GENE, LARGE, SMALL, download, load
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
    data.add_argument(
        "--download", action="store_true", help="fetch what is missing from OpenML into the folder"
    )
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
            shape, source = _found(code, options)
        except FileNotFoundError:
            shape, source = None, "not found"
        except (OSError, ValueError) as error:
            shape, source = None, error_text(error)
        match = "missing" if shape is None else "same" if shape == dataset.shape else "differs"
        expected = f"{dataset.n_samples} x {dataset.n_features}"
        print(f"{code}  {dataset.name:28} {expected:>13}  {match:8} {source}")
        if dataset.note:
            print(f"     {dataset.note}")


def _found(code: str, options):
    """Shape and source of a table, fetched first where that is asked for and needed."""
    try:
        table = load(code, options.data)
    except FileNotFoundError:
        if not options.download or download(code, options.data) is None:
            raise
        table = load(code, options.data)
    return table.X.shape, table.source


def run_cells(options) -> None:
    """Run what is missing, then bring the tracked files up to date."""
    from paper.runner import run

    _check_known("method", options.methods or [], METHODS)
    cells = []
    for code in _available(_codes(options.sets), options):
        methods = options.methods or paper_methods(code)
        cells += planned_cells([code], methods, options.repeats, options.folds)
    cells.sort(key=lambda cell: cell.repeat)
    tally = run(
        cells,
        options.results,
        data=options.data,
        n_jobs=options.jobs,
        time_limit=options.time_limit,
        retry=options.retry,
    )
    print(
        f"\n{tally.n_run} cells run, {tally.n_failed} of them failed; "
        f"{len(cells) - tally.n_run} already known."
    )
    export_results(options)


def _available(codes: list[str], options) -> list[str]:
    """The data sets that can be loaded; says which cannot, and stops where none can."""
    found = []
    for code in codes:
        try:
            load(code, options.data)
        except (OSError, ValueError) as error:
            print(f"{code} is left out. {error}", file=sys.stderr)
        else:
            found.append(code)
    if not found:
        raise SystemExit("No data set to run.")
    return found


def paper_methods(code: str) -> list[str]:
    """Methods that the paper ran on a data set and that this library adds there."""
    if code not in GENE:
        return [method for method in METHODS if method not in ("EGT", "B4G")]
    return [method for method in METHODS if method in (*table_methods(1), "MAJ")]


def export_results(options) -> None:
    """Write the tracked CSV files: what the database, they and another folder's files know."""
    from paper.store import joined_store, write_tracked

    others = [options.merge] if getattr(options, "merge", None) else []
    joined = closing(joined_store(options.results, current_settings(), *others))
    # Two runs may end at the same moment, and there are two files.
    with joined as store, store.exclusively():
        frame = store.frame()
        if len(frame):
            write_tracked(frame, options.results)


def write_tables(options) -> None:
    """Write all tables and say where."""
    from paper.tables import write

    for path in write(_current_results(options), options.results):
        print(path)


def draw_figures(options) -> None:
    """Draw all figures and say where, or why one could not be drawn."""
    from paper.figures import draw_all

    frame = _current_results(options)
    for line in draw_all(frame, options.results, options.data, options.seeds):
        print(line)


def _current_results(options):
    """Tracked results of the methods as they are now; says how many are of other settings."""
    from paper.store import tracked_results, with_settings

    export_results(options)
    frame = tracked_results(options.results)
    current = with_settings(frame, current_settings())
    if len(current) < len(frame):
        print(f"{len(frame) - len(current)} cells of other settings are left out.")
    return current


def _codes(names: list[str]) -> list[str]:
    codes = [code for name in names for code in GROUPS.get(name, (name,))]
    _check_known("data set", codes, [*GROUPS, *DATASETS])
    return codes


def _check_known(kind: str, names, known) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"Unknown {kind} {', '.join(unknown)}; choose from {', '.join(known)}.")
