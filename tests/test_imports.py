"""Imports go one way, and `import immigrate` is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import immigrate

PACKAGE = Path(immigrate.__file__).parent
# Each layer may import those before it.
LAYERS = [
    "core",
    "columns",
    "kernels",
    "problems",
    "solvers",
    "inference",
    "estimators",
    "plotting",
    "report",
    "cli",
]


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "immigrate" and len(parts) > 1 and parts[1] in LAYERS:
                yield parts[1]


@pytest.mark.parametrize("layer", [name for name in LAYERS if (PACKAGE / name).is_dir()])
def test_layers_import_downwards_only(layer):
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    for path in (PACKAGE / layer).rglob("*.py"):
        assert set(imported_layers(path)) <= set(allowed), path


@pytest.mark.parametrize("statement", ["import immigrate", "from immigrate import *"])
def test_import_pulls_in_nothing_heavy(statement):
    code = (
        f"{statement}\nimport sys\n"
        "print(*{'matplotlib', 'plotly', 'dask', 'numba'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert found.strip() == ""
