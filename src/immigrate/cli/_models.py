"""Models on disk, as skops files: no code in them is run, and unknown types are refused.

What is stored beside the estimator is what predicting needs. The same model gives the same bytes:
skops names parts after addresses in memory and notes the time; both are replaced.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skops.io

from immigrate._version import __version__
from immigrate.cli._errors import CommandError, listed
from immigrate.cli._outputs import writing
from immigrate.estimators.every import every_class
from immigrate.files import whole_file

FORMAT = "immigrate model 1"
# What models hold beside public estimators and options. Anything else was not written by us.
PARTS = (
    "immigrate.table.table.Reader",
    "immigrate.core.forms.Cubic",
    "immigrate.core.forms.Linear",
    "immigrate.core.forms.Quadratic",
    "immigrate.estimators._choice.Choices",
    "immigrate.estimators._choice.Selection",
    "immigrate.estimators._encoding.Encoding",
    "immigrate.estimators._pair_columns.PairColumns",
    "immigrate.estimators._variants.Samme",
    "immigrate.estimators.measured_effects.Subject",
    "immigrate.estimators.relief._margin_knn.WeightedFeatures",
    "immigrate.estimators.tested_terms.EffectSource",
    "immigrate.inference.additive.AdditiveModel",
    "immigrate.inference.links.IdentityLink",
    "immigrate.inference.links.LogitLink",
    "immigrate.kernels.ClassScores",
    "immigrate.margin.model.MarginModel",
    "immigrate.margin.model.Member",
    "immigrate.margin.model.Point",
    "immigrate.margin.references.References",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
)
NO_MODEL = (
    "{} is no model that immigrate fit wrote. The model comes first, then the table: "
    "immigrate predict MODEL TABLE"
)
SCHEMA = "schema.json"
ADDRESS = re.compile(r'("__id__": |"file": ")(\d+)')
# The first day that a zip archive can name.
NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class StoredModel:
    """A fitted estimator, and the name of its target."""

    estimator: Any
    target: str


def save_model(model: StoredModel, path: Path) -> None:
    """Write a model, all of it or nothing."""
    stored = {
        "format": FORMAT,
        "library": __version__,
        "target": model.target,
        "estimator": model.estimator,
    }
    content = _reproducible(skops.io.dumps(stored))
    with writing(path), whole_file(path) as place:
        place.write_bytes(content)


def load_model(path: Path) -> StoredModel:
    """A model that `save_model` wrote; nothing else is loaded."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CommandError(f"there is no file {path}.") from None
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}.") from None
    _check_is_archive(content, path)
    try:
        trusted = trusted_types()
        unknown = sorted(set(skops.io.get_untrusted_types(data=content)) - set(trusted))
        if unknown:
            raise CommandError(
                f"{path} holds what no model of this library holds ({listed(unknown)}); it was "
                "not loaded."
            )
        stored = skops.io.loads(content, trusted=trusted)
    except (CommandError, MemoryError):
        raise
    except Exception as error:  # whatever its parts raise when they do not fit
        raise CommandError(f"{path} is damaged ({type(error).__name__}: {error}).") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise CommandError(NO_MODEL.format(path))
    return StoredModel(stored["estimator"], stored["target"])


def trusted_types() -> list[str]:
    """Names of what a model may consist of: parts, and every public estimator and option."""
    return [*PARTS, *(f"{one.__module__}.{one.__qualname__}" for one in every_class().values())]


def _check_is_archive(content: bytes, path: Path) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names, damaged = archive.namelist(), archive.testzip()
    except Exception as error:  # a zip that is cut fails in many ways
        if content.startswith(b"PK"):
            # Every zip archive begins with these letters.
            raise CommandError(f"{path} is damaged: its end or a part is missing.") from error
        raise CommandError(NO_MODEL.format(path)) from None
    if damaged is not None:
        raise CommandError(f"{path} is damaged: {damaged} is not what was written.")
    if SCHEMA not in names:
        raise CommandError(NO_MODEL.format(path))


def _reproducible(content: bytes) -> bytes:
    """The same archive with numbers for addresses, in the order in which they occur, and no time.

    Arrays are in files that are named after addresses too.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return match[1] + numbers.setdefault(match[2], str(len(numbers) + 1))

    # First, because it gives the addresses their numbers; files are renamed by these below.
    schema = ADDRESS.sub(numbered, parts.pop(SCHEMA).decode())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in sorted((_renamed(one, numbers), part) for one, part in parts.items()):
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), part, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo(SCHEMA, NO_TIME), schema, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _renamed(name: str, numbers: dict[str, str]) -> str:
    address, dot, ending = name.partition(".")
    return f"{numbers.get(address, address)}{dot}{ending}"
