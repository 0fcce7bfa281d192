"""How functions are compiled, and where the machine code is kept between processes.

A cache of compiled code must not lie and must not matter: what it holds is used only if it was
made from exactly the sources that this process runs, and whatever goes wrong with it costs time
and one line in the log, never an answer.

- Numba's own cache compares the file of the function that Python calls; an edit of any other
  file that was compiled into it runs stale machine code. Here the name of an entry begins with
  a fingerprint of every file that compiled code can be made from (`FINGERPRINT`).
- An entry begins with the digest of its content, so that a cut or damaged file is not read.
- Entries appear whole or not at all (written beside and renamed), so any number of processes may
  start on an empty cache.
- What cannot be read is compiled; what cannot be written in one folder is written in the next
  one, and nowhere if there is none.

Functions that only compiled functions call have no machine code of their own (`_InnerLibrary`),
which takes about a third off the time of the first call. It also makes a process that compiles
and one that loads agree to the last bit: linked into one process, the calls of a sweep may
otherwise end in the machine code that a function got when it was compiled alone, and its sums are
in another order.

This is the one module that uses private names of Numba. When they go, nothing here raises: code is
not kept (`_payload`, `_rebuilt`, `_entry_name`, `cached`) or compiled the long way (`_inner`).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import hashlib
import logging
import os
import pickle
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import njit, types

from immigrate._version import __version__

try:
    from numba.core.codegen import CPUCodegen, JITCodeLibrary
    from numba.core.compiler import Compiler
except ImportError:  # moved: see `_inner`
    CPUCodegen = JITCodeLibrary = Compiler = object  # type: ignore[assignment, misc]

# Sums may be reordered, which is what vector lanes do; infinities keep their meaning. No function
# here allocates, so none counts references: threads would fight over the counters of the table.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

PACKAGE = Path(__file__).parents[1]
# Compiled code inlines functions and constants of these only: a test reads off which other files
# `kernels` takes constants from. An edit of the rest of the library leaves compiled code valid.
SOURCES = ("core/forms.py", "core/targets.py", "kernels")
# Settings of Numba that change machine code and are not part of its description of the processor.
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
SUFFIX = f".py{sys.version_info.major}{sys.version_info.minor}.compiled"
N_DIGEST = hashlib.sha256().digest_size

# A logger and not `warnings.warn`: where warnings are errors, a full disk would stop a fit. With
# no logging set up, Python prints messages of this level as plain lines on stderr.
logger = logging.getLogger("immigrate")


def source_files() -> list[Path]:
    """Every file that compiled code can be made from."""
    places = [PACKAGE / name for name in SOURCES]
    return sorted(
        file for place in places for file in ([place] if place.suffix else place.rglob("*.py"))
    )


def fingerprint() -> str:
    """Digest of the sources, the versions and the settings that compiled code depends on."""
    versions = (__version__, numba.__version__, llvmlite.__version__, sys.version)
    settings = [getattr(numba.config, name, None) for name in SETTINGS]
    digest = hashlib.sha256(repr((versions, settings)).encode())
    for file in source_files():
        with contextlib.suppress(OSError):  # a missing file is not compiled either
            content = file.read_bytes()
            digest.update(f"\n{file.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


# Taken with the import of the sources: what is compiled later is made from these, not from files
# that were edited meanwhile.
FINGERPRINT = fingerprint()


def cache_folders() -> list[Path]:
    """Where compiled code is looked for, and kept in the first that can be written.

    In the folder that ``NUMBA_CACHE_DIR`` names, if it is set; otherwise beside the sources, or
    in the user's cache folder. Folders outside the package have a subfolder for each place where
    the package is installed, so that two versions do not clear away each other's entries.
    """
    place = "immigrate_" + hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:16]
    chosen = getattr(numba.config, "CACHE_DIR", "")
    if chosen:
        return [Path(chosen) / place]
    return [PACKAGE / "kernels" / "__pycache__", _user_cache_folder() / place]


def _user_cache_folder() -> Path:
    # Not Path.expanduser, which raises for a user without a home.
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Without a home "~" stays: no folder of that name is to appear where the user happens to be.
    return Path(base if os.path.isabs(base) else os.devnull) / "immigrate"


# Seconds of compiling that need no explanation.
PATIENCE = 1.5


@functools.cache
def log_once(message: str) -> None:
    """Say something on stderr, or wherever the application's log goes, once per process."""
    logger.warning(message)


class KernelCache:
    """Compiled variants of one function on disk; what Numba expects of a cache.

    Methods never raise: without a usable entry `load_overload` gives None and Numba compiles.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self.cache_path: str | None = None  # where the last entry was read or written
        self._notice = threading.Timer(0, log_once)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled variant for this signature, or None."""
        with _misfortunes_logged("read"):
            name = _entry_name(self._name, signature, target_context.codegen())
            for folder in cache_folders():
                payload = _content(folder / name)
                if payload is not None:
                    self.cache_path = str(folder)
                    return _rebuilt(target_context, payload)
        self._notice = _notice()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled variant for later processes, if it can be kept."""
        self._notice.cancel()
        with _misfortunes_logged("kept"):
            _set_environments(compiled)
            # Files that changed since they were imported must not lend their name to old code.
            if compiled.library.has_dynamic_globals or fingerprint() != FINGERPRINT:
                return
            name = _entry_name(self._name, signature, compiled.codegen)
            self.cache_path = _kept_in(cache_folders(), name, _payload(compiled))

    def enable(self) -> None:
        """Nothing: this cache is always enabled."""

    def disable(self) -> None:
        """Nothing: this cache is always enabled."""

    def flush(self) -> None:
        """Nothing: entries that are not of these sources are never read."""


def _notice() -> threading.Timer:
    """One line while the user waits, not when it is over; cancelled if it is over soon."""
    line = "immigrate: compiling for tables of this kind, once on this machine; 10 to 20 seconds."
    timer = threading.Timer(PATIENCE, log_once, [line])
    timer.daemon = True
    timer.start()
    return timer


@contextlib.contextmanager
def _misfortunes_logged(done: str) -> Iterator[None]:
    """Turn any error into one line in the log: a cache may only cost time."""
    try:
        yield
    except Exception as error:  # damaged pickles can raise anything
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        log_once(f"immigrate: compiled code cannot be {done}, compiling in memory ({reason}).")


def _content(file: Path) -> bytes | None:
    """What an entry holds; None if there is no such entry or it is damaged."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    payload = data[N_DIGEST:]
    return payload if data[:N_DIGEST] == hashlib.sha256(payload).digest() else None


def _kept_in(folders: list[Path], name: str, payload: bytes) -> str:
    """Write an entry to the first folder that takes it; the name of that folder."""
    for folder in folders[:-1]:
        with contextlib.suppress(OSError):
            return _written_to(folder, name, payload)
    return _written_to(folders[-1], name, payload)


def _written_to(folder: Path, name: str, payload: bytes) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    # Another process may be writing the same entry: each has a file of its own, the last one wins.
    temporary = folder / f"{name}.{uuid.uuid4().hex[:8]}"
    try:
        temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, folder / name)
    except PermissionError:  # Windows: another process has just written it and is reading it
        if _content(folder / name) is None:
            raise
    finally:
        temporary.unlink(missing_ok=True)
    _clear_other_sources(folder)
    return str(folder)


def _clear_other_sources(folder: Path) -> None:
    """Delete entries of other states of the sources, or every edit would leave a megabyte."""
    for file in folder.glob(f"*{SUFFIX}*"):
        if not file.name.startswith(FINGERPRINT):
            with contextlib.suppress(OSError):
                file.unlink()


def _entry_name(function: str, signature: Any, codegen: Any) -> str:
    """Name of the file for one variant of a function on one kind of processor."""
    variant = repr((str(signature), codegen.magic_tuple()))
    return f"{FINGERPRINT}-{function}-{hashlib.sha256(variant.encode()).hexdigest()[:16]}{SUFFIX}"


def _set_environments(compiled: Any) -> None:
    """Give the functions inside their Python objects, as Numba does with code that it loads."""
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)


def _payload(compiled: Any) -> bytes:
    """A result of Numba's compiler as bytes."""
    from numba.core.serialize import dumps

    return bytes(dumps(compiled._reduce()))


def _rebuilt(target_context: Any, payload: bytes) -> Any:
    """A result of Numba's compiler from its bytes."""
    from numba.core.compiler import CompileResult

    try:
        from numba.core.runtime.nrt import rtsys

        # What machine code calls. To refresh the context would also load all that the compiler
        # knows of Python and NumPy, which takes twice as long as the rest of a first fit.
        rtsys.initialize(target_context)
        return CompileResult._rebuild(target_context, *pickle.loads(payload))
    except Exception:
        target_context.refresh()
        return CompileResult._rebuild(target_context, *pickle.loads(payload))


def cached(dispatcher: Any) -> Any:
    """A compiled function whose machine code is kept between processes, if that is possible."""
    if not hasattr(dispatcher, "_cache"):
        log_once(
            "immigrate: this version of Numba has no cache that can be replaced; "
            "each process compiles for itself."
        )
        return dispatcher
    dispatcher._cache = KernelCache(dispatcher.py_func)
    dispatcher.compile = without_collection()(dispatcher.compile)
    return dispatcher


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """No search for garbage: the compiler leaves little of it among much that stays.

    The collector would take about a fifteenth of the time, and more in a large application.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that other compiled functions call: no machine code of its own.

    Numba translates every function to machine code, with all that it calls inside, at each level
    of the tree of calls. Only what stands in the function that Python calls is ever run. They are
    still optimised one by one, because without that, sums come out in another order and differ in
    their last bit; but once each, where Numba goes over a function three times, most of all to
    find counts of references that cancel: hardly any function here counts references.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        if not _has_pass_builder():
            super()._optimize_functions(ll_module)

    def _optimize_final_module(self) -> None:
        if not _has_pass_builder():
            super()._optimize_final_module()
            return
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """An address that Numba asks for and nobody calls, see `_inner`; it would raise."""
        self._ensure_finalized()
        return ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value or 0

    @property
    def codegen(self) -> Any:
        """The object whose `set_env` Numba calls."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: there is no machine code to tell; `_set_environments` tells the caller's."""


class _InnerCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with another library."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = _InnerLibrary(codegen, function.__qualname__)
        return super().compile_extra(function)


def _has_pass_builder() -> bool:
    """Whether Numba runs the passes of LLVM in the way that it does since version 0.62."""
    return hasattr(CPUCodegen, "_pass_builder") and hasattr(CPUCodegen, "_module_pass_manager")


def _is_numba_known() -> bool:
    optimising = ("_optimize_functions", "_optimize_final_module", "_finalize_final_module")
    names = (*optimising, "_finalize_dynamic_globals", "_ensure_finalized", "codegen")
    is_library_known = all(hasattr(JITCodeLibrary, name) for name in names)
    return is_library_known and hasattr(Compiler, "compile_extra")


def _inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for functions that compiled functions call, with these options of `njit`."""
    if not _is_numba_known():
        return njit(**options)
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}

    def decorated(function: Callable[..., Any]) -> Any:
        dispatcher: Any = njit(pipeline_class=_InnerCompiler, **bare)(function)
        # Where Python calls it, as tests do, a twin takes the call that is compiled as usual.
        twin = functools.cache(lambda: njit(**options)(function))
        dispatcher._insert = lambda *args: None
        dispatcher._compile_for_args = lambda *args, **kwargs: twin()
        # Numba compiles f(x, 0) and f(x, i) one by one, with the same result.
        template = dispatcher.get_call_template
        dispatcher.get_call_template = lambda args, kwargs: template(
            tuple(types.unliteral(arg) for arg in args), kwargs
        )
        return dispatcher

    return decorated


jit = _inner(fastmath=REORDER, **OPTIONS)
# A function that returns a part of an array, or that one place calls with many arrays: written
# into its caller, because to pass a dozen arrays takes longer to compile than to use them.
jit_inlined = njit(inline="always", **OPTIONS)
# The exponential rounds by adding and taking away a large number: no reordering there.
jit_in_order = _inner(fastmath={"contract"}, **OPTIONS)
# For functions that allocate; division by zero raises.
jit_allocating = _inner(nogil=True)
jit_allocating_reordered = _inner(nogil=True, fastmath={"reassoc"})


def jit_cached(function: Callable[..., Any]) -> Any:
    """`jit` for what Python calls: compiled once for all processes, if a folder can be written."""
    options = OPTIONS | {"no_cfunc_wrapper": True}  # nobody calls it from C
    return cached(njit(fastmath=REORDER, **options)(function))


def jit_allocating_cached(function: Callable[..., Any]) -> Any:
    """`jit_allocating` for what Python calls."""
    return cached(njit(nogil=True)(function))
