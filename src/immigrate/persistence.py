"""Models on disk: a file holds numbers, texts and names of types, and no code.

A file is a zip archive. ``model.json`` names the format, the version of the library and the model;
arrays stand beside it as ``0.npy``, ``1.npy``, ... In the JSON a number, a text, a list, true,
false and null stand for themselves, and everything else is an object with one key, which says what
it is::

    {"array": 3}                        the array in 3.npy
    {"tuple": [...]}, {"dict": {...}}   plain values of Python
    {"ImmigrateClassifier": {...}}      one of our types, and its state

Types have the names of `stored_types`, not their places in the library, so that a class can move
without harm to files. Whoever changes the state of one of them raises `FORMAT`. The same model
gives the same bytes.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator

from immigrate._version import __version__
from immigrate.checks import InputError
from immigrate.files import whole_file

FORMAT = 2
"""Format 1 was that of immigrate 0.1.0: skops files, with the places of our classes in them."""

CONTENT = "model.json"
# The first day that a zip archive can name: the same model is to give the same bytes.
NO_TIME = (1980, 1, 1, 0, 0, 0)
# How the files begin that hold code: pickles, and those of joblib that are compressed.
PICKLE, ZLIB = b"\x80", b"x"
# Bytes of such a file in which the name of this library is looked for.
MOST_LOOKED_AT = 10**6


class StoredModel(NamedTuple):
    """A fitted estimator, and the name of its target where it is known."""

    estimator: Any
    target: str = ""


# Types that a file may hold beside the public ones: their names never change, their homes may.
_HOMES = {
    "AdditiveModel": "immigrate.additive.null_model",
    "Choices": "immigrate.margin.choice",
    "ClassScores": "immigrate.kernels",
    "Cubic": "immigrate.core.forms",
    "EffectSource": "immigrate.interactions.findings",
    "Encoding": "immigrate.margin.encoding",
    "Labels": "immigrate.outcomes.classes",
    "Linear": "immigrate.core.forms",
    "MarginModel": "immigrate.margin.model",
    "Member": "immigrate.margin.model",
    "PairColumns": "immigrate.estimators.selector",
    "Point": "immigrate.margin.model",
    "Quadratic": "immigrate.core.forms",
    "Reader": "immigrate.table.table",
    "References": "immigrate.margin.encoding",
    "Samme": "immigrate.solvers.boosting",
    "SampleWeight": "immigrate.table.weights",
    "Selection": "immigrate.margin.choice",
    "Table": "immigrate.table.table",
}


def stored_types() -> dict[str, type]:
    """What a file may hold, by the names that stand in files and never change."""
    ours = {name: getattr(importlib.import_module(_HOMES[name]), name) for name in _HOMES}
    return ours | public_classes()


def public_classes() -> dict[str, type[BaseEstimator]]:
    """Public estimators and the options that they take as values, by their names.

    Examples
    --------
    >>> from immigrate.persistence import public_classes
    >>> sorted(public_classes())[:3]
    ['BoostedImmigrateClassifier', 'ClassCentres', 'Columns']
    """
    from immigrate import estimators, options, relief

    public = (
        getattr(home, name) for home in (estimators, options, relief) for name in home.__all__
    )
    return {
        one.__name__: one
        for one in public
        if isinstance(one, type)
        and issubclass(one, BaseEstimator)
        # Bases of other classes are abstract.
        and not getattr(one, "__abstractmethods__", None)
    }


def public_estimators() -> dict[str, type[BaseEstimator]]:
    """Public classes with a `fit`, by their names.

    Examples
    --------
    >>> from immigrate.persistence import public_estimators
    >>> "Relief" in public_estimators(), "Columns" in public_estimators()
    (True, False)
    """
    return {name: cls for name, cls in public_classes().items() if hasattr(cls, "fit")}


def save_model(model: Any, path: str | os.PathLike[str], *, target: str = "") -> None:
    """Store a fitted estimator of this library, all of it or nothing.

    Parameters
    ----------
    model : estimator
        One of this library, fitted.
    path : str or path-like
        Folders on the way are made.
    target : str, optional
        Name of the column that the model predicts, for whoever reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from immigrate import ReliefF, load_model, save_model
    >>> model = ReliefF().fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "relief.model")
    ...     load_model(Path(folder) / "relief.model").feature_importances_
    array([0.81818182])
    """
    if type(model) not in public_estimators().values():
        raise InputError(
            f"{type(model).__name__} is no estimator of immigrate; store it with joblib.dump."
        )
    parts = packed({"format": FORMAT, "library": __version__, "target": target, "model": model})
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), part, zipfile.ZIP_DEFLATED)
    with whole_file(path) as place:
        place.write_bytes(content.getvalue())


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator in a file of `save_model`; no code in the file is run.

    Parameters
    ----------
    path : str or path-like
        What `save_model` wrote.

    Returns
    -------
    estimator
        It answers as the one that was stored.

    Raises
    ------
    ValueError
        If the file is damaged, was written by something else, or by a version whose models have
        other parts.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from immigrate import ReliefF, load_model, save_model
    >>> model = ReliefF().fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "relief.model")
    ...     load_model(Path(folder) / "relief.model")
    ReliefF()
    """
    return read_model(path).estimator


def read_model(path: str | os.PathLike[str]) -> StoredModel:
    """The estimator in a file of `save_model`, and the name of its target."""
    path = Path(path)
    parts = _parts(path.read_bytes(), path)
    try:
        head = json.loads(parts[CONTENT])["dict"]
        written_by, file_format = head["library"], head["format"]
        if file_format != FORMAT:
            raise OtherStateError
        stored = unpacked(parts)
    except (InputError, MemoryError):
        raise
    except UnknownTypeError as error:
        raise InputError(
            f"{path} holds what no model of this library holds ({error}); it was not loaded."
        ) from None
    except OtherStateError:
        raise _not_read(f"{path} was written by immigrate {written_by}") from None
    except Exception as error:  # whatever its parts raise when they do not fit
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error}).") from error
    return StoredModel(stored["model"], stored["target"])


def _parts(content: bytes, path: Path) -> dict[str, bytes]:
    """What the archive holds, by the names of the files in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            damaged = archive.testzip()
            parts = {} if damaged else {name: archive.read(name) for name in archive.namelist()}
    except Exception as error:  # a zip that is cut fails in many ways
        if content.startswith(b"PK"):
            # Every zip archive begins with these letters.
            raise InputError(f"{path} is damaged: its end or a part is missing.") from error
        raise _no_model(content, path) from None
    if damaged is not None:
        raise InputError(f"{path} is damaged: {damaged} is not what was written.")
    if CONTENT not in parts:
        if b"immigrate." in parts.get("schema.json", b""):
            raise _not_read(f"{path} was written by immigrate 0.1.0")
        raise _no_model(content, path)
    return parts


def _no_model(content: bytes, path: Path) -> InputError:
    """The refusal of a file that `save_model` did not write; it is looked at and never run."""
    if content.startswith(ZLIB):
        try:
            content = PICKLE + zlib.decompressobj().decompress(content, MOST_LOOKED_AT)
        except zlib.error:
            content = b""
    if content.startswith(PICKLE) and b"immigrate." in content:
        return _not_read(f"{path} was written by pickle or joblib, or by immigrate 0.1.0")
    return InputError(
        f"{path} is no model that immigrate.persistence.save_model wrote.",
        shell=f"{path} is no model that immigrate fit wrote. The model comes first, then the "
        "table: immigrate predict MODEL TABLE",
    )


def _not_read(what: str) -> InputError:
    said = f"{what}, whose files are not read any more; fit the model again"
    return InputError(
        f"{said} and store it with immigrate.persistence.save_model.",
        shell=f"{said} with immigrate fit.",
    )


class UnknownTypeError(Exception):
    """A file holds a type that no model holds."""


class OtherStateError(Exception):
    """A type in a file has other parts than it has here."""


def packed(stored: Any) -> dict[str, bytes]:
    """A value as the files of an archive: one of JSON, and one for each array.

    Numbers, texts, arrays, data frames and objects of `stored_types`, in lists, tuples and
    dictionaries.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.persistence import packed, unpacked
    >>> list(packed({"weights": np.ones(2), "sigma": 1.0}))
    ['model.json', '0.npy']
    >>> unpacked(packed(("a", 1)))
    ('a', 1)
    """
    packing = _Packing()
    content = json.dumps(packing.as_json(stored, "model"), ensure_ascii=False, indent=0)
    parts = {CONTENT: content.encode()}
    for number, array in enumerate(packing.arrays):
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        parts[f"{number}.npy"] = file.getvalue()
    return parts


class _Packing:
    """Turns values into those of JSON, and keeps the arrays that stand beside it."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._names = {cls: name for name, cls in stored_types().items()}
        # By its place in memory: an array that two parts of a model share is stored once.
        self._numbers: dict[int, int] = {}

    def as_json(self, one: Any, place: str) -> Any:
        """`one`, which stands in attribute `place`, as a value of JSON."""
        if type(one) in self._names:
            # What makes it: the fields of a value, else what it stores by pickle as well.
            fields = _fields(type(one))
            state = {name: getattr(one, name) for name in fields} if fields else one.__getstate__()
            return {self._names[type(one)]: self._named(state or {})}
        match one:
            case None | bool() | int() | float() | str():
                return one
            case np.generic():
                return self.as_json(one.item(), place)
            case np.ndarray():
                return self._array(one, place)
            case list():
                return self._all(one, place)
            case tuple():
                return {"tuple": self._all(one, place)}
            case dict() if all(isinstance(key, str) for key in one):
                return {"dict": self._named(one)}
            case dict():
                return {"pairs": [self._all(pair, place) for pair in one.items()]}
            case pd.DataFrame():
                columns = {
                    name: values.to_numpy() if is_numeric_dtype(values) else values.tolist()
                    for name, values in one.items()
                }
                return {"frame": self._named({"index": one.index.tolist(), "columns": columns})}
        raise InputError(
            f"{place} is a {type(one).__name__}, which a file of save_model cannot hold. Give a "
            "number, a text or an option of immigrate and fit again, or use joblib.dump."
        )

    def _named(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: self.as_json(part, name) for name, part in state.items()}

    def _all(self, parts: Iterable[Any], place: str) -> list[Any]:
        return [self.as_json(part, place) for part in parts]

    def _array(self, array: np.ndarray, place: str) -> Any:
        if array.dtype.hasobject:
            return {"objects": [[*array.shape], self._all(array.ravel().tolist(), place)]}
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self._numbers[id(array)]}


def unpacked(parts: dict[str, bytes]) -> Any:
    """The value that `packed` turned into these files."""
    return _Unpacking(parts).value(json.loads(parts[CONTENT]))


class _Unpacking:
    """Turns values of JSON back into what they were."""

    def __init__(self, parts: dict[str, bytes]) -> None:
        self._parts, self._types = parts, stored_types()
        self._arrays: dict[int, np.ndarray] = {}

    def value(self, one: Any) -> Any:
        """What `one`, a value of JSON, stands for."""
        if isinstance(one, list):
            return [self.value(part) for part in one]
        if not isinstance(one, dict):
            return one
        ((what, content),) = one.items()
        match what:
            case "array":
                return self._array(content)
            case "objects":
                shape, values = content
                array = np.empty(math.prod(shape), dtype=object)
                array[:] = self.value(values)
                return array.reshape(shape)
            case "tuple":
                return tuple(self.value(content))
            case "pairs":
                return dict(self.value(content))
            case "dict":
                return self._named(content)
            case "frame":
                stored = self._named(content)
                frame, index = pd.DataFrame(stored["columns"]), stored["index"]
                # A range, as most tables have it, need not become a list of numbers.
                return frame if index == list(range(len(index))) else frame.set_axis(index)
        if what not in self._types:
            raise UnknownTypeError(what)
        return _restored(self._types[what], self._named(content))

    def _named(self, content: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(part) for name, part in content.items()}

    def _array(self, number: int) -> np.ndarray:
        if number not in self._arrays:
            file = io.BytesIO(self._parts[f"{number}.npy"])
            self._arrays[number] = np.load(file, allow_pickle=False)
        return self._arrays[number]


def _fields(cls: type) -> list[str]:
    """The fields of a value that has no way of its own to be stored; empty for any other class."""
    if not dataclasses.is_dataclass(cls) or "__getstate__" in vars(cls):
        return []
    return [field.name for field in dataclasses.fields(cls)]


def _restored(cls: Any, state: dict[str, Any]) -> Any:
    """An object of this type and state, made without its constructor."""
    one = cls.__new__(cls)
    expected = _fields(cls)
    if issubclass(cls, BaseEstimator):
        expected = cls._get_param_names()
    if not set(expected) <= state.keys():
        raise OtherStateError(cls.__name__)
    if not hasattr(one, "__setstate__"):
        for name, value in state.items():
            # Frozen for all other code.
            object.__setattr__(one, name, value)
        return one
    try:
        one.__setstate__(state)
    except KeyError as error:
        raise OtherStateError(cls.__name__) from error
    return one
