"""Docstrings of all public names are numpydoc, complete, and have an example."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from numpydoc.validate import ERROR_MSGS, Validator, validate
from sklearn.base import BaseEstimator

MODULES = (
    "immigrate",
    "immigrate.options",
    "immigrate.plotting",
    "immigrate.datasets",
    "immigrate.cluster",
)
# Everything that numpydoc checks, but for these.
LEFT_OUT = {
    "ES01": "a good first line often says it all",
    "SA01": "not every name has a neighbour that a reader should know",
    "SS05": "summaries name what is returned, and plural nouns look like verbs to the check",
}
# Of methods, moreover:
LEFT_OUT_OF_METHODS = {
    "EX01": "the class has an example",
    "PR07": "a type such as 'array-like of shape (n_samples, n_features)' says it all",
    "RT03": "the same",
}
# The library makes these and users read them: they have attributes in place of parameters.
RESULTS = ("immigrate.estimators.Explanation", "immigrate.estimators.PairEffect")


def public_names() -> Iterator[str]:
    """Classes and functions in `__all__` of the public modules."""
    for module in MODULES:
        for name in import_module(module).__all__:
            is_module = inspect.ismodule(getattr(import_module(module), name))
            if not is_module and not name.startswith("__"):
                yield f"{module}.{name}"
    yield from RESULTS


def named(name: str) -> Any:
    module, _, short = name.rpartition(".")
    return getattr(import_module(module), short)


def methods() -> Iterator[str]:
    """Methods that this library documents, of all classes but options, whose callers it is."""
    for name in public_names():
        cls = named(name)
        if not inspect.isclass(cls) or is_option(cls):
            continue
        for attribute in dir(cls):
            member = inspect.getattr_static(cls, attribute)
            function = getattr(member, "__func__", member)
            module = getattr(function, "__module__", None) or ""
            is_ours = module.startswith("immigrate.") and callable(function)
            if is_ours and not attribute.startswith("_"):
                yield f"{name}.{attribute}"


def is_option(cls: type) -> bool:
    return issubclass(cls, BaseEstimator) and not hasattr(cls, "fit")


def faults(name: str, left_out: set[str]) -> list[tuple[str, str]]:
    return [(code, says) for code, says in validate(name)["errors"] if code not in left_out]


@pytest.fixture(autouse=True)
def _no_search_for_the_line(monkeypatch):
    """The line of a definition is only for comments that switch checks off, which we have none of.

    numpydoc looks for it in the file of the module and does not find a decorated function.
    """
    monkeypatch.setattr(Validator, "source_file_def_line", None)


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_the_docstring_of_a_name_is_complete(name):
    left_out = set(LEFT_OUT) | ({"PR01"} if name in RESULTS else set())
    assert faults(name, left_out) == []


@pytest.mark.parametrize("name", sorted(set(methods())))
def test_the_docstring_of_a_method_is_complete(name):
    assert faults(name, {*LEFT_OUT, *LEFT_OUT_OF_METHODS}) == []


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_a_name_has_an_example_that_runs(name):
    """The doctests run with the tests; here they must be there."""
    assert ">>>" in (inspect.getdoc(named(name)) or "")


def test_names_and_checks_are_not_empty():
    assert len(list(public_names())) > 35
    assert len(list(methods())) > 60
    assert set(LEFT_OUT) | set(LEFT_OUT_OF_METHODS) < set(ERROR_MSGS)


def estimators() -> list[str]:
    return [name for name in public_names() if hasattr(named(name), "fit")]


@pytest.mark.parametrize("name", estimators())
def test_an_estimator_links_to_its_page(name):
    assert named(name)()._get_doc_link().endswith(f"/reference/{name}.html")
