"""Private names of other libraries: each in one place, and what to do when it is gone."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import immigrate

PACKAGE = Path(immigrate.__file__).parent
# Where a private name of a library may be imported.
HOMES = {"sklearn": "scikit_learn.py", "numba": "kernels/compiling.py"}

OF_SCIKIT_LEARN = {
    "sklearn.utils.validation._check_sample_weight": "`check_array` on a column of weights, then "
    "refuse negative ones",
    "sklearn.utils.validation._check_feature_names_in": "compare with `feature_names_in_`, or "
    "count and make x0, x1, ...",
    "sklearn.utils._set_output._get_output_config": "`sklearn.get_config()['transform_output']` "
    "and what `set_output` left on the estimator",
    "sklearn.utils._safe_indexing": "`X.iloc[rows]` for pandas, `X[rows]` for the others",
}
COMPILED_AS_USUAL = "nothing at once: inner functions are compiled as Numba does, a third slower"
NOT_KEPT = "nothing at once: every process compiles for itself; find how Numba stores code now"
LOADED_SLOWLY = "nothing at once: a first fit takes a tenth of a second longer"
OF_NUMBA = {
    "numba.core.codegen.JITCodeLibrary._finalize_final_module": COMPILED_AS_USUAL,
    "numba.core.codegen.JITCodeLibrary._finalize_dynamic_globals": COMPILED_AS_USUAL,
    "numba.core.codegen.JITCodeLibrary._ensure_finalized": COMPILED_AS_USUAL,
    "numba.core.codegen.JITCodeLibrary.codegen": COMPILED_AS_USUAL,
    "numba.core.codegen.CPUCodegen": COMPILED_AS_USUAL,
    "numba.core.compiler.Compiler.compile_extra": COMPILED_AS_USUAL,
    "numba.core.compiler.CompileResult._reduce": NOT_KEPT,
    "numba.core.compiler.CompileResult._rebuild": NOT_KEPT,
    "numba.core.compiler.CompileResult._find_referenced_environments": NOT_KEPT,
    "numba.core.serialize.dumps": NOT_KEPT,
    "numba.core.runtime.nrt.rtsys.initialize": LOADED_SLOWLY,
    "numba.core.registry.CPUDispatcher._compile_for_args": COMPILED_AS_USUAL,
    "numba.core.registry.CPUDispatcher._insert": COMPILED_AS_USUAL,
    "numba.core.registry.CPUDispatcher.get_call_template": COMPILED_AS_USUAL,
}


def found(dotted: str) -> bool:
    """Whether a module, or something in one, has this name."""
    parts = dotted.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            thing = import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


@pytest.mark.parametrize(
    ("library", "name", "instead"),
    [
        *(("sklearn", name, instead) for name, instead in OF_SCIKIT_LEARN.items()),
        *(("numba", name, instead) for name, instead in OF_NUMBA.items()),
    ],
)
def test_a_private_name_is_still_there(library, name, instead):
    assert found(name), f"{name} is gone. In immigrate/{HOMES[library]}: {instead}."


def test_a_name_that_is_gone_is_seen():
    assert not found("sklearn.utils.validation._never_there")
    assert not found("sklearn._never_there.at_all")


def private_imports(file: Path) -> list[str]:
    """Private names of the libraries above that a file imports."""
    return [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if node.module.split(".")[0] in HOMES
        and ("core" in node.module.split(".") or "._" in f"{node.module}.{alias.name}")
    ]


def test_private_names_are_imported_in_one_module_per_library():
    files = {
        (file.relative_to(PACKAGE).as_posix(), name.split(".")[0])
        for file in PACKAGE.rglob("*.py")
        for name in private_imports(file)
    }
    assert files == {(file, library) for library, file in HOMES.items()}


def test_every_imported_private_name_is_explained():
    imported = {name for file in HOMES.values() for name in private_imports(PACKAGE / file)}
    known = [*OF_SCIKIT_LEARN, *OF_NUMBA]
    assert [name for name in imported if not any(one.startswith(name) for one in known)] == []
