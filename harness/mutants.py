"""Plants small errors in the library and counts those that no test notices.

    python -m harness.mutants --most 400 --seed 0

A mutant is one change of one file (see ``mutations``). It lives in the memory of a child process
that imports the changed text instead of the file: nothing is ever written into the sources. The
child runs the tests that reach the changed function, the quickest of the mirrored folder first,
and ends at the first that fails. ``--number`` plants some mutants again, ``--files`` takes files
whose path begins so. Mutants that change nothing are listed in ``equivalent_mutants.toml`` with
the reason, and do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

# Read when SciPy is imported, as tests/conftest.py says.
os.environ["SCIPY_ARRAY_API"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

# Everything that is slow to import and not mutated: children share it. Not the library itself.
import numba  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401
import sklearn.datasets
import sklearn.ensemble
import sklearn.model_selection
import sklearn.utils.estimator_checks  # noqa: F401

from harness.mutations import Mutant, numbered
from harness.reach import PACKAGE, QUIET, TUNED, Heard, functions_of, reach, silence, users_of

# Compiled functions are loaded as the sources on disk have them, whatever is planted in them.
COMPILED = ("compiling", "microkernels", "neighbours", "sweeps", "tile_energies", "tile_scatter")
EQUIVALENT = Path(__file__).parent / "equivalent_mutants.toml"
# Seconds of tests, as they were heard, that a mutant has to survive; and how much longer than
# that they may take before they count as hanging.
ENOUGH, GRACE = 8.0, 40.0
# How much longer than its limit of processor time a child may live.
ASLEEP = 10
# Exit codes of pytest: an error while it collects the tests, and of a child that has run none.
INTERRUPTED, NO_TESTS = 2, 5
CAUGHT = ("caught", "import", "hang", "died")
# Tests that need all that is compiled.
WARMING = [f"tests/kernels/test_{name}.py" for name in ("pieces", "passes", "neighbours")]
# Errors that were planted by hand before there was a harness, and that the tests did not notice.
BY_HAND = (
    ("margin/sigma.py", "AUTO_MULTIPLE = 0.125", "AUTO_MULTIPLE = 0.25"),
    ("margin/sigma.py", "AUTO_MULTIPLE = 0.125", "AUTO_MULTIPLE = 0.1"),
    (
        "core/cones.py",
        "is_positive = eigenvalues > 0",
        "is_positive = eigenvalues > 1e-3 * eigenvalues.max()",
    ),
    (
        "core/splitting.py",
        'self.eigenvalues.searchsorted(0.0, side="right")',
        'self.eigenvalues.searchsorted(1e-3 * self.eigenvalues.max(), side="right")',
    ),
)


@dataclass(frozen=True)
class Fate:
    """How a mutant ended: caught by a test, at import, hanging, dead, or alive."""

    number: int
    mutant: Mutant
    outcome: str
    by: str = ""
    seconds: float = 0.0
    reason: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether a test noticed."""
        return self.outcome in CAUGHT


def mutated_files() -> dict[str, bytes]:
    """The files that mutants are planted in, by their path in the package: all but a few."""
    left_out = {PACKAGE / "kernels" / f"{name}.py" for name in COMPILED}
    left_out.add(PACKAGE / "_version.py")
    paths = sorted(set(PACKAGE.rglob("*.py")) - left_out)
    return {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in paths}


def counts(files: dict[str, bytes]) -> str:
    """A line with the number of mutants of each package, and of the files beside them."""
    found = Counter(m.file.split("/")[0].removesuffix(".py") for _, m in numbered(files))
    return ", ".join(f"{package} {count}" for package, count in sorted(found.items()))


def by_hand(files: dict[str, bytes]) -> list[Mutant]:
    """The mutants that were made by hand, as far as their lines are still there."""
    found = []
    for file, before, after in BY_HAND:
        start = files[file].find(before.encode())
        function = {
            "core/cones.py": "psd_part_by_all",
            "core/splitting.py": "Spectrum.positive_part",
        }
        if start >= 0:
            line = files[file][:start].count(b"\n") + 1
            place = (line, "by hand", start, start + len(before), after, before, after)
            found.append(Mutant(file, function.get(file, ""), *place))
    return found


class Planted(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports one module from changed text; everything else comes from where it lies."""

    def __init__(self, mutant: Mutant, source: bytes) -> None:
        stem = mutant.file.removesuffix(".py").removesuffix("/__init__")
        self.is_folder = mutant.file.endswith("__init__.py")
        super().__init__("immigrate." + stem.replace("/", "."), str(PACKAGE / mutant.file))
        self.text = mutant.planted(source)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Itself for the one module, nobody for others."""
        if name != self.name:
            return None
        places = [str(Path(self.path).parent)] if self.is_folder else None
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=places
        )

    def get_code(self, name: str) -> CodeType:
        """The changed text, compiled; no file of byte code is read or written."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Chosen:
    """A plugin of pytest that keeps some tests, in this order, and says which one failed."""

    def __init__(self, tests: Sequence[Heard], pipe: int) -> None:
        self.places = {test.name: place for place, test in enumerate(tests)}
        self.pipe = pipe

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen ones."""
        kept = [item for item in items if item.nodeid in self.places]
        items[:] = sorted(kept, key=lambda item: self.places[item.nodeid])

    def pytest_sessionstart(self) -> None:
        """Machine code that was compiled with a mutant in sight must not be kept for others."""
        # Where the mutant breaks this import, it breaks those of the tests.
        with contextlib.suppress(Exception):
            from immigrate.kernels import compiling

            compiling._written_to = lambda *arguments: ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell the parent."""
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())


def watching(
    mutant: Mutant, files: dict[str, bytes], tests: Iterable[Heard], enough: float = ENOUGH
) -> list[list[Heard]]:
    """The tests that reach a mutant: recorded answers, the mirrored folder, then the others."""
    if mutant.function:
        places = {f"{mutant.file}:{mutant.function}"}
    else:
        places = users_of(mutant.before, files)
    if places:
        near = [test for test in tests if places & test.reached]
    else:
        # What else runs at import can matter to anybody who calls anything of the file.
        # A file of classes without functions is used by those that import it.
        has_functions = any(functions_of(files[mutant.file].decode()))
        users = {mutant.file} if has_functions else _importers(mutant.file, files)
        near = _callers(users, tests)
    if not mutant.function:
        near += [test for test in tests if test.file == TUNED and test not in near]
    near.sort(key=lambda test: test.seconds)
    package = mutant.file.split("/")[0].removesuffix(".py")
    mirrors = (f"tests/{package}/", f"tests/test_{package}.py")
    stages: list[list[Heard]] = [[], [], []]
    for test in near:
        # Recorded answers hold the most numbers, so that they are the likeliest to notice.
        is_recorded = Path(test.file).name.startswith("test_same")
        stages[0 if is_recorded else 1 if test.file.startswith(mirrors) else 2].append(test)
    return [kept for stage in stages if (kept := _quickest(stage, enough))]


def _callers(files: set[str], tests: Iterable[Heard]) -> list[Heard]:
    """The tests that call anything of these files."""
    return [test for test in tests if any(at.split(":")[0] in files for at in test.reached)]


def _importers(file: str, files: dict[str, bytes]) -> set[str]:
    """The mutated files that import from this one."""
    module = "immigrate." + file.removesuffix(".py").replace("/", ".")
    return {name for name, text in files.items() if f"from {module} import".encode() in text}


def _quickest(tests: list[Heard], enough: float) -> list[Heard]:
    total, kept = 0.0, []
    for test in tests:
        total += test.seconds
        if total > enough and kept:
            break
        kept.append(test)
    return kept


def fate_of(number: int, mutant: Mutant, source: bytes, stages: list[list[Heard]]) -> Fate:
    """Plant a mutant in a child and wait for what the tests say, stage by stage."""
    if not stages:
        return Fate(number, mutant, "not reached")
    start = time.perf_counter()
    reading, writing = os.pipe()
    # Of processor time, because a busy machine must not make a mutant look caught.
    limit = int(GRACE + 2 * sum(test.seconds for stage in stages for test in stage))
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        _child(Planted(mutant, source), stages, writing)
    os.close(writing)
    code = _waited(child, start + ASLEEP * limit)
    with os.fdopen(reading) as pipe:
        by = pipe.read()
    if code is not None and code > INTERRUPTED:
        raise RuntimeError(f"pytest ended with {code} instead of running the tests of {mutant}.")
    endings = {0: "survived", 1: "caught", INTERRUPTED: "import", None: "hang"}
    endings |= {-signal.SIGXCPU: "hang", -signal.SIGKILL: "hang"}
    outcome = endings.get(code, "died")
    return Fate(number, mutant, outcome, by, time.perf_counter() - start)


def _child(planted: Planted, stages: list[list[Heard]], pipe: int) -> None:
    """Run the tests on the mutant, and end this process: 0 if nobody noticed."""
    code = NO_TESTS
    try:
        os.setpgid(0, 0)
        silence()
        assert not any(name.split(".")[0] == "immigrate" for name in sys.modules)
        sys.meta_path.insert(0, planted)
        for stage in stages:
            files = sorted({test.file for test in stage})
            code = int(pytest.main([*files, "-x", *QUIET], plugins=[Chosen(stage, pipe)]))
            if code != 0:
                break
    finally:
        os._exit(code)


def _waited(child: int, until: float) -> int | None:
    """The exit code of a child; None if it had to be ended, negative if it died."""
    while time.perf_counter() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def equivalents() -> dict[tuple[str, str, str], str]:
    """Reasons of the mutants that change nothing, by file, line before and line after."""
    listed = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    return {(one["file"], one["before"], one["after"]): one["reason"] for one in listed}


def drawn(mutants: list[tuple[int, Mutant]], most: int, seed: int) -> list[tuple[int, Mutant]]:
    """A sample in which every file has its share, and at least two mutants of a large one."""
    rng = random.Random(seed)
    groups: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
    for number, mutant in mutants:
        groups[mutant.file].append((number, mutant))
    if most < 2 * len(groups):
        return rng.sample(mutants, min(most, len(mutants)))
    kept = []
    for group in groups.values():
        share = max(2, round(most * len(group) / len(mutants)))
        kept += rng.sample(group, min(share, len(group)))
    # In any order, so that a run that is stopped has seen all folders.
    rng.shuffle(kept)
    return kept


def fates(
    chosen: Sequence[tuple[int, Mutant]],
    files: dict[str, bytes],
    tests: list[Heard],
    enough: float = ENOUGH,
) -> Iterator[Fate]:
    """What becomes of each mutant; survivors are told at once."""
    known = equivalents()
    for count, (number, mutant) in enumerate(chosen, 1):
        reason = known.get((mutant.file, mutant.before, mutant.after), "")
        if reason:
            fate = Fate(number, mutant, "equivalent", reason=reason)
        else:
            stages = watching(mutant, files, tests, enough)
            fate = fate_of(number, mutant, files[mutant.file], stages)
        yield fate
        if not fate.is_caught:
            print(f"{number} {fate.outcome} ({fate.seconds:.0f} s): {mutant}", flush=True)
        if count % 10 == 0:
            print(f"{count} of {len(chosen)}", flush=True)


def summary(found: Sequence[Fate]) -> str:
    """A table of counts per folder, the score, and the survivors."""
    lines = ["| folder | mutants | equivalent | caught | survived |", "|---|---|---|---|---|"]
    folders = sorted({fate.mutant.file.split("/")[0] for fate in found})
    for folder in [*folders, ""]:
        own = [fate for fate in found if fate.mutant.file.startswith(folder)]
        n_equivalent = sum(fate.outcome == "equivalent" for fate in own)
        n_caught = sum(fate.is_caught for fate in own)
        cells = (len(own), n_equivalent, n_caught, len(own) - n_equivalent - n_caught)
        lines.append(f"| {folder or '**all**'} | {' | '.join(map(str, cells))} |")
    lines += ["", f"Score: {100 * score(found):.1f} % of the mutants that change something."]
    endings = Counter(fate.outcome for fate in found)
    lines.append(", ".join(f"{kind} {count}" for kind, count in endings.most_common()))
    lines += [f"- {f.number} {f.outcome}: {f.mutant}" for f in found if is_alive(f)]
    return "\n".join(lines)


def is_alive(fate: Fate) -> bool:
    """Whether a mutant changes something and nobody noticed."""
    return not fate.is_caught and fate.outcome != "equivalent"


def score(found: Sequence[Fate]) -> float:
    """Share of those caught among the mutants that change something."""
    n_caught = sum(fate.is_caught for fate in found)
    return n_caught / max(1, n_caught + sum(map(is_alive, found)))


def warm_up() -> None:
    """Compile the kernels of the unchanged library, which children load and never keep."""
    child = os.fork()
    if child == 0:
        try:
            silence()
            pytest.main([*WARMING, *QUIET])
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the harness; the exit code is 1 if the score is below nine tenths."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=400, help="mutants in the sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=[""], help="beginnings of paths")
    parser.add_argument("--number", type=int, nargs="*", help="plant these alone")
    parser.add_argument("--seconds", type=float, default=ENOUGH, help="of tests in each stage")
    options = parser.parse_args(arguments)
    files = mutated_files()
    tests = reach(files)
    wanted = {name: text for name, text in files.items() if name.startswith(tuple(options.files))}
    everything = list(numbered(files))
    if options.number:
        chosen = [everything[number] for number in options.number]
    else:
        hand = [(-1 - i, m) for i, m in enumerate(by_hand(files)) if m.file in wanted]
        own = [(number, m) for number, m in everything if m.file in wanted]
        chosen = drawn(own, options.most, options.seed) + hand
    warm_up()
    print(f"{len(chosen)} of {len(everything)} mutants, {len(tests)} tests", flush=True)
    print(counts(files), flush=True)
    planted = {(mutant.file, mutant.before, mutant.after) for _, mutant in everything}
    for file, before, _ in equivalents().keys() - planted:
        print(f"{EQUIVALENT.name} lists a line that is gone: {file}: {before}", flush=True)
    found: list[Fate] = []
    # Ctrl-C ends a run early, and what was seen is told.
    with contextlib.suppress(KeyboardInterrupt):
        found.extend(fates(chosen, files, tests, options.seconds))
    print(summary(found))
    return int(score(found) < 0.9)


if __name__ == "__main__":
    raise SystemExit(main())
