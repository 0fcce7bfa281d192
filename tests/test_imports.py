"""Imports go one way, private modules stay private, and `import immigrate` is cheap."""

from __future__ import annotations

import ast
import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import immigrate

PACKAGE = Path(immigrate.__file__).parent
# Each layer may import those before it.
LAYERS = [
    "kinds",
    "outcomes",
    "table",
    "core",
    "kernels",
    "cluster",
    "solvers",
    "additive",
    "interactions",
    "margin",
    "estimators",
    "relief",
    "options",
    "persistence",
    "plotting",
    "report",
    "demo",
    "cli",
    "__main__",
]
# Every layer may import these; they import only each other.
LEAVES = [
    "arrays",
    "_version",
    "checks",
    "durations",
    "files",
    "progress",
    "scikit_learn",
    "datasets",
]


class Import(NamedTuple):
    """One imported name, wherever in the file it stands: "immigrate.core.cones.unit"."""

    file: Path  # within the package
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file.as_posix()}:{self.line} imports {self.name}"


def imports_of(file: Path, package: Path) -> Iterator[Import]:
    """Every import of this package in a file, on top of it, in a function or by a call."""
    yield from imports_in(file.read_text(), file.relative_to(package))


@functools.cache
def imports_in(text: str, file: Path) -> list[Import]:
    """Those of a file with this text."""
    tree = ast.parse(text)
    return [
        Import(file, node.lineno, name)  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        for name in imported_names(node, file, literal_maps(tree))
        if name.split(".")[0] in ("immigrate", "?")
    ]


def literal_maps(tree: ast.Module) -> dict[str, list[str]]:
    """The texts in maps that stand on top of a file: {"_HOMES": ["immigrate.relief", ...]}."""
    return {
        target.id: [value.value for value in node.value.values if isinstance(value, ast.Constant)]
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
        # A value that is no text could be any module.
        and all(isinstance(value, ast.Constant) for value in node.value.values)
    }


def imported_names(node: ast.AST, file: Path, maps: dict[str, list[str]]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parts = ["immigrate", *file.parts[:-1]]
        above = ".".join(parts[: len(parts) + 1 - node.level]) if node.level else None
        module = ".".join(part for part in (above, node.module) if part)
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and called_name(node) in ("import_module", "__import__"):
        argument = node.args[0] if node.args else None
        if isinstance(argument, ast.Subscript) and isinstance(argument.value, ast.Name):
            # Any module of a map that stands in the same file.
            return maps.get(argument.value.id, ["?"])
        # A name that is put together at run time cannot be judged, so it is not allowed.
        return [str(argument.value) if isinstance(argument, ast.Constant) else "?"]
    return []


def called_name(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def homes(package: Path) -> dict[str, str]:
    """Where the names of the package root come from, by what the root itself imports."""
    root = ast.parse((package / "__init__.py").read_text())
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(root)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def sources(package: Path) -> Iterator[Path]:
    """Every file but the package root, which may import everything."""
    return (file for file in sorted(package.rglob("*.py")) if file != package / "__init__.py")


def layer_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def wrong_ways(package: Path) -> list[str]:
    """Imports that do not go down, each with its file and line."""
    root_names = homes(package)
    found = (one for file in sources(package) for one in imports_of(file, package))
    return [f"{one}{reason}" for one in found for reason in objections(one, root_names)]


def objections(one: Import, root_names: dict[str, str]) -> Iterator[str]:
    target = one.name.split(".")[1] if "." in one.name else "*"
    if target not in LAYERS + LEAVES:  # a name of the package root
        home = root_names.get(target)
        if home is None or home.count(".") < 1:
            yield ": it is not known where that lives"
            return
        target = home.split(".")[1]
    layer = layer_of(one.file)
    if target == layer or target in LEAVES:
        return
    if layer in LEAVES or LAYERS.index(target) > LAYERS.index(layer):
        yield f": {layer} must not know {target}"


def private_imports(package: Path) -> set[tuple[str, str]]:
    """(file, private module) for every import of a private module of another package."""
    return {
        (one.file.as_posix(), ".".join(parts[: k + 1]))
        for file in sources(package)
        # It names the classes that files of models may hold, wherever they stand.
        if layer_of(file.relative_to(package)) != "persistence"
        for one in imports_of(file, package)
        for parts in [one.name.split(".")]
        for k, part in enumerate(parts)
        # A module of the folder a.b, say a.b._c, is there for what stands in that folder.
        if part.startswith("_")
        and part not in ("__version__", "_version")
        and is_module(package, parts[1 : k + 1])
        and one.file.parts[: k - 1] != tuple(parts[1:k])
    }


def is_module(package: Path, parts: list[str]) -> bool:
    place = package.joinpath(*parts)
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_every_module_has_a_layer():
    known = [*LAYERS, *LEAVES]
    assert {layer_of(file.relative_to(PACKAGE)) for file in sources(PACKAGE)} <= set(known)


def test_layers_import_downwards_only():
    assert wrong_ways(PACKAGE) == []


def test_compiled_code_is_keyed_on_every_file_that_it_takes_constants_from():
    from immigrate.kernels.compiling import SOURCES

    constants = {
        f"{'/'.join(one.name.split('.')[1:-1])}.py"
        for file in (PACKAGE / "kernels").rglob("*.py")
        for one in imports_of(file, PACKAGE)
        if one.name.rsplit(".", 1)[1].isupper() and not one.name.startswith("immigrate.kernels")
    }
    assert {*constants, "kernels"} == set(SOURCES)


def test_compiled_functions_stand_in_the_files_that_key_them():
    compiled = {
        file.relative_to(PACKAGE).parts[0]
        for file in sources(PACKAGE)
        if re.search(r"^@(?:jit\w*|njit|intrinsic)\b", file.read_text(), flags=re.MULTILINE)
    }
    assert compiled == {"kernels"}


def test_private_modules_are_imported_by_their_own_package_only():
    assert private_imports(PACKAGE) == set()


@pytest.fixture
def planted(tmp_path):
    """A copy of the package into which lines can be planted."""
    package = tmp_path / "immigrate"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def plant(file, lines):
        before = (package / file).read_text().rstrip()
        (package / file).write_text(f"{before}\n{lines}\n")
        return len(before.splitlines()) + 1

    return package, plant


@pytest.mark.parametrize(
    ("file", "lines", "name"),
    [
        ("core/cones.py", "import immigrate.solvers.descent", "immigrate.solvers.descent"),
        ("core/cones.py", "from immigrate.solvers import descent", "immigrate.solvers.descent"),
        ("core/cones.py", "from ..solvers import descent", "immigrate.solvers.descent"),
        ("solvers/descent.py", "from immigrate import Relief", "immigrate.Relief"),
        ("solvers/descent.py", "from immigrate import *", "immigrate.*"),
        ("solvers/descent.py", "import immigrate", "immigrate"),
        (
            "kernels/layout.py",
            "def f():\n    from immigrate.report import R",
            "immigrate.report.R",
        ),
        ("kernels/layout.py", "import_module('immigrate.report')", "immigrate.report"),
        ("kernels/layout.py", "import_module(name)", "?"),
        (
            "kernels/layout.py",
            "M = {'R': 'immigrate.report'}; import_module(M[n])",
            "immigrate.report",
        ),
        ("kernels/layout.py", "M = {'R': f()}; import_module(M[name])", "?"),
        ("kernels/layout.py", "import_module(UNKNOWN[name])", "?"),
        ("datasets/__init__.py", "from immigrate.core import cones", "immigrate.core.cones"),
        ("report/__init__.py", "from immigrate import demo", "immigrate.demo"),
    ],
)
def test_a_forbidden_import_is_named(planted, file, lines, name):
    package, plant = planted
    line = plant(file, lines) + lines.count("\n")
    (objection,) = wrong_ways(package)
    assert objection.startswith(f"{file}:{line} imports {name}: ")


def test_three_forbidden_imports_of_different_kinds_are_named_together(planted):
    package, plant = planted
    plant("core/cones.py", "from immigrate.estimators import relief")
    plant("kernels/layout.py", "from immigrate import InteractionTest")
    plant("solvers/descent.py", "def lazily():\n    import immigrate.plotting")
    files = [objection.split(":")[0] for objection in wrong_ways(package)]
    assert files == ["core/cones.py", "kernels/layout.py", "solvers/descent.py"]


@pytest.mark.parametrize(
    "line",
    [
        "from immigrate.datasets import _tables",
        "from immigrate.datasets._tables import load_tables",
    ],
)
def test_a_private_module_of_another_package_is_named(planted, line):
    package, plant = planted
    (package / "datasets" / "_tables.py").touch()
    plant("plotting/__init__.py", line)
    new = private_imports(package) - private_imports(PACKAGE)
    assert new == {("plotting/__init__.py", "immigrate.datasets._tables")}


# Packages, of ours and of others, that only some calls need. What `sklearn.base` brings by itself,
# such as pandas and scipy.stats, is no choice of this library.
HEAVY = {
    *("dask", "distributed", "jinja2", "matplotlib", "numba", "pandas", "plotly", "polars"),
    *("pyarrow", "rich", "scipy.stats", "scipy.optimize", "typer"),
    *(f"sklearn.{part}" for part in ("cluster", "compose", "ensemble", "feature_selection")),
    *(f"sklearn.{part}" for part in ("impute", "linear_model", "metrics", "model_selection")),
    *(f"sklearn.{part}" for part in ("neighbors", "pipeline", "preprocessing", "svm", "tree")),
    *(f"immigrate.{part}" for part in ("additive", "cli", "cluster", "datasets")),
    *(f"immigrate.{part}" for part in ("interactions", "plotting", "relief", "report")),
    "immigrate.margin.explanation",
}
FIRST_FIT = """
from immigrate import ImmigrateClassifier
ImmigrateClassifier().fit([[0.0, 1.0], [0.1, 0.0], [1.0, 0.2], [1.1, 0.9]], [0, 0, 1, 1])
"""


def imported_by(code, before=""):
    """Modules that a new process imports for this code, those of another piece left out."""
    script = (
        f"{before}\nimport sys\nold = {{*sys.modules}}\n{code}\nprint(*sys.modules.keys() - old)"
    )
    run = [sys.executable, "-c", script]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def test_the_package_imports_nothing_heavy():
    assert imported_by("import immigrate") & (HEAVY | {"numpy", "sklearn"}) == set()


def test_all_names_import_nothing_that_draws_compiles_or_spreads_work():
    few = {"matplotlib", "plotly", "dask", "distributed", "numba"}
    assert imported_by("from immigrate import *") & few == set()


def test_a_fit_of_an_array_imports_numba_and_nothing_else_heavy():
    """Not when its class is imported either: the test above has all of them without Numba."""
    assert imported_by(FIRST_FIT, before="import sklearn.base") & HEAVY == {"numba"}
