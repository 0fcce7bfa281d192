"""The reference: a page for every public name, written from `immigrate.__all__`.

A name that is added to the library has its page without a change here. Groups follow from what
a name is; only the order of the groups and their titles are written down.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any

from docstrings import literal
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sphinx.application import Sphinx

# Modules whose names are public; `immigrate` itself comes first.
MODULES = (
    "immigrate",
    "immigrate.options",
    "immigrate.plotting",
    "immigrate.datasets",
    "immigrate.cluster",
)
# What estimators give back.
RESULTS = ("immigrate.estimators.Explanation", "immigrate.estimators.PairEffect")
WARNINGS = ("immigrate.table.ColumnWarning", "immigrate.estimators.OtherVersionWarning")

GROUPS = {
    "classifiers": ("Classifiers", "They learn a distance and predict by it."),
    "evidence": ("Evidence", "Which features matter and which act together, with error rates."),
    "selectors": ("Selectors and the Relief family", "They weigh, choose or combine features."),
    "options": ("Options", "Choices that belong together, given to an estimator as one value."),
    "results": ("Results and reports", "What estimators give back, and pages about a table."),
    "plotting": ("Pictures", "Displays in the manner of scikit-learn; they need matplotlib."),
    "functions": ("Functions", ""),
    "datasets": ("Data sets", "Tables with known truth, made or stored: no download."),
    "cluster": ("Clusters", "Fits on a Dask cluster."),
    "warnings": ("Warnings", ""),
}


def public_names() -> Iterator[tuple[str, str]]:
    """Full name and group of everything public."""
    for module in MODULES:
        for name in sorted(import_module(module).__all__, key=str.lower):
            thing = getattr(import_module(module), name)
            if not inspect.ismodule(thing) and not name.startswith("__"):
                yield f"{module}.{name}", group_of(module, name, thing)
    yield from ((name, "results") for name in RESULTS)
    yield from ((name, "warnings") for name in WARNINGS)


def group_of(module: str, name: str, thing: Any) -> str:
    """Where the overview lists a name."""
    if module != "immigrate":
        return module.rpartition(".")[2]
    if not inspect.isclass(thing):
        return "functions"
    if issubclass(thing, ClassifierMixin):
        return "classifiers"
    if issubclass(thing, TransformerMixin):
        return "selectors"
    if issubclass(thing, BaseEstimator) and hasattr(thing, "fit"):
        return "evidence"
    return "results"


def write_pages(app: Sphinx) -> None:
    """Write the overview and the pages; pages that would not change are left alone."""
    folder = Path(app.srcdir) / "reference"
    names = list(public_names())
    pages = {f"{name}.rst": page(name, group) for name, group in names} | {
        "index.rst": overview(names)
    }
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for file, content in pages.items():
        write(folder / file, content)
    # Names that no example of the gallery uses have no list of examples yet.
    (folder / "used").mkdir(exist_ok=True)
    for name, _ in names:
        (folder / "used" / f"{name}.examples").touch()


def write(path: Path, content: str) -> None:
    """Write a file unless it holds this already, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text() != content:
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)


def page(name: str, group: str) -> str:
    """The page of a class or a function, with the examples that use it."""
    module, _, short = name.rpartition(".")
    thing = getattr(import_module(module), short)
    kind = "class" if inspect.isclass(thing) else "function"
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        kind = "exception"
    # Options are given to an estimator; their methods are there for it and not for users.
    members = "   :no-members:\n" if group == "options" else ""
    return (
        f"{short}\n{'=' * len(short)}\n\n"
        f".. currentmodule:: {module}\n\n"
        f".. auto{kind}:: {name}\n{members}\n"
        f".. include:: used/{name}.examples\n"
    )


def overview(names: list[tuple[str, str]]) -> str:
    """All names by group, each with the first sentence of its docstring."""
    parts = ["Reference\n=========\n\nEvery public name of the library.\n"]
    for group, (title, sentence) in GROUPS.items():
        members = [name for name, its_group in names if its_group == group]
        if members:
            parts.append(f"{title}\n{'-' * len(title)}\n\n{sentence}\n")
            parts.append(table(members))
    toctree = "\n".join(f"   {name}" for name, _ in names)
    parts.append(f".. toctree::\n   :hidden:\n\n{toctree}\n")
    return "\n".join(parts)


def table(names: list[str]) -> str:
    """Names and what they are."""
    lines = [".. list-table::", "   :widths: 35 65", "   :class: names", ""]
    for name in names:
        module, _, short = name.rpartition(".")
        shown = name if module in MODULES[1:] else short
        role = "obj" if not name.endswith("Warning") else "exc"
        lines.append(f"   * - :py:{role}:`{shown} <{name}>`")
        lines.append(f"     - {first_sentence(getattr(import_module(module), short))}")
    return "\n".join(lines) + "\n"


def first_sentence(thing: Any) -> str:
    """The first paragraph of a docstring on one line."""
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return literal(" ".join(re.sub(r"\s*\[\d+\]_", "", paragraph).split()))


def is_foreign(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> Any:
    """Leave out what scikit-learn or Python documents: `get_params`, `with_traceback` and such."""
    module = getattr(member, "__module__", None) or ""
    is_known = name in ("args", "add_note", "with_traceback")
    return True if is_known or module.startswith("sklearn") else None


def forget_examples(app: Sphinx) -> None:
    """Lists of examples are made anew by sphinx-gallery, so that no removed example stays."""
    rmtree(Path(app.srcdir) / "reference" / "used", ignore_errors=True)


def linked(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """The link of a public name that a docstring in another public module mentions by itself."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"]
    full = next((one for one, _ in public_names() if one.endswith(f".{name.split('.')[0]}")), None)
    if full is None or name.startswith("immigrate."):
        return None
    target = full + name[len(name.split(".")[0]) :]
    domain, page_of = env.get_domain("py"), node["refdoc"]
    return domain.resolve_xref(env, page_of, app.builder, node["reftype"], target, node, content)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the first one is read."""
    app.connect("builder-inited", forget_examples, priority=100)
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("missing-reference", linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
