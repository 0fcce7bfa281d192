"""Compiled code is that of the sources, and its cache can fail without the library failing.

Each test runs processes on a small copy of the package: the module that compiles, and a function
in two files whose compilation takes a fraction of a second. Most are forks of one process that
has imported Numba.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kernels.fork_server import Fork, ForkServer

from immigrate.kernels import compiling

PART = "from immigrate.kernels.compiling import jit\n@jit\ndef part(x):\n    return x + {}\n"
WHOLE = """
from immigrate.kernels.compiling import jit_cached
from immigrate.kernels.part import part
@jit_cached
def whole(x):
    return 10.0 * part(x)
"""
CALL = """
print(whole(2.0))
for count in (whole.stats.cache_hits, whole.stats.cache_misses):
    print(sum(count.values()))
"""
IMPORT = "from immigrate.kernels.whole import whole\n"

COMPILED, LOADED = ["0", "1"], ["1", "0"]


class Copy:
    """A small copy of the package, with folders of its own for everything that is cached."""

    def __init__(self, folder: Path, server: ForkServer | None) -> None:
        self.folder, self.server = folder, server
        self.kernels = folder / "site" / "immigrate" / "kernels"
        self.in_tree, self.home = self.kernels / "__pycache__", folder / "home"
        self.kernels.mkdir(parents=True)
        for module in (self.kernels.parent, self.kernels):
            (module / "__init__.py").write_text("")
        shutil.copy(compiling.PACKAGE / "_version.py", self.kernels.parent)
        self.write_compiling("PATIENCE = 1000.0")
        self.write_part(1.0)
        (self.kernels / "whole.py").write_text(WHOLE)

    def write_compiling(self, patience: str) -> None:
        source = Path(compiling.__file__).read_text()
        assert source.count("PATIENCE = 1.5") == 1
        (self.kernels / "compiling.py").write_text(source.replace("PATIENCE = 1.5", patience))

    def write_part(self, constant: float) -> None:
        (self.kernels / "part.py").write_text(PART.format(constant))

    def start(self, script: str) -> subprocess.Popen | Fork:
        site = self.folder / "site"
        homes = {"XDG_CACHE_HOME": str(self.home), "HOME": str(self.home)}
        if self.server is not None:
            return self.server.start(script, self.folder, site, homes)
        names = {**homes, "NUMBA_CACHE_DIR": "", "PYTHONPATH": str(site)}
        return subprocess.Popen(
            # Warnings are errors there as well. Python's own cache of bytecode goes by the time
            # of a file in seconds, which is too coarse for what these tests do.
            [sys.executable, "-B", "-W", "error", "-c", script],
            env={**os.environ, **names},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, script: str = IMPORT + CALL) -> tuple[float, list[str], str]:
        """The function's value, cache hits and misses, and what was said on stderr."""
        return result_of(self.start(script))

    def entries(self) -> list[Path]:
        folders = [folder for folder in (self.in_tree, self.home) if folder.is_dir()]
        return [file for folder in folders for file in folder.rglob("*") if file.is_file()]


def result_of(process: subprocess.Popen | Fork) -> tuple[float, list[str], str]:
    out, said = process.communicate(timeout=100)
    assert process.returncode == 0, said
    value, *counts = out.split()
    return float(value), counts, said


@pytest.fixture(scope="module")
def server():
    if not hasattr(os, "fork"):
        yield None
        return
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def copy(tmp_path, server):
    return Copy(tmp_path, server)


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    """Of their own, not forks: machine code must not depend on where things lie in memory."""
    copy = Copy(tmp_path, server=None)
    assert copy.run() == (30.0, COMPILED, "")
    assert copy.run() == (30.0, LOADED, "")


def test_an_edit_in_a_file_that_is_compiled_into_another_changes_the_result(copy):
    assert copy.run() == (30.0, COMPILED, "")
    copy.write_part(5.0)
    assert copy.run() == (70.0, COMPILED, "")
    assert copy.run() == (70.0, LOADED, "")


def test_going_back_and_forth_between_versions_never_runs_the_other_one(copy):
    time = os.stat(copy.kernels / "part.py").st_mtime
    for constant, value in [(1.0, 30.0), (5.0, 70.0), (1.0, 30.0)]:
        copy.write_part(constant)
        os.utime(copy.kernels / "part.py", (time, time))  # a checkout may keep size and time
        assert copy.run()[0] == value


def test_edits_do_not_pile_up_entries(copy):
    for constant in (1.0, 2.0, 3.0):
        copy.write_part(constant)
        copy.run()
    assert len(copy.entries()) == 1


def test_a_module_with_a_new_name_is_compiled_anew(copy):
    copy.run()
    (copy.kernels / "part.py").rename(copy.kernels / "piece.py")
    source = (copy.kernels / "whole.py").read_text()
    (copy.kernels / "whole.py").write_text(source.replace("kernels.part", "kernels.piece"))
    assert copy.run() == (30.0, COMPILED, "")


def test_code_of_a_file_that_was_edited_after_its_import_is_not_kept(copy):
    edit = "from pathlib import Path\nimport immigrate.kernels.part as edited\n"
    edit += f"Path(edited.__file__).write_text({PART.format(5.0)!r})\n"
    assert copy.run(IMPORT + edit + CALL)[0] == 30.0
    assert not copy.entries()
    assert copy.run() == (70.0, COMPILED, "")


def test_other_settings_of_the_compiler_have_entries_of_their_own(copy):
    copy.run()
    assert copy.run("import numba\nnumba.config.BOUNDSCHECK = 1\n" + IMPORT + CALL)[1] == COMPILED


def test_a_damaged_entry_is_compiled_anew_and_mended(copy):
    copy.run()
    (entry,) = copy.entries()
    data = entry.read_bytes()
    one_bit = data[:100] + bytes([data[100] ^ 1]) + data[101:]
    for damaged in (b"", data[: len(data) // 2], b"garbage" * 1000, one_bit):
        entry.write_bytes(damaged)
        assert copy.run() == (30.0, COMPILED, "")
        assert entry.read_bytes() != damaged
    assert copy.run() == (30.0, LOADED, "")


def test_an_entry_that_cannot_be_unpickled_is_compiled_anew_and_mended(copy):
    copy.run()
    (entry,) = copy.entries()
    payload = b"cimmigrate.gone\nfunction\n."
    entry.write_bytes(hashlib.sha256(payload).digest() + payload)
    value, counts, said = copy.run()
    assert (value, counts) == (30.0, COMPILED)
    assert one_line(said, "cannot be read")
    assert copy.run() == (30.0, LOADED, "")


def one_line(said: str, words: str) -> bool:
    return said.count("\n") == 1 and said.startswith("immigrate: ") and words in said


def test_a_read_only_install_uses_the_folder_of_the_user(copy):
    copy.in_tree.write_text("a file where a folder should be")
    assert copy.run() == (30.0, COMPILED, "")
    assert copy.run() == (30.0, LOADED, "")
    assert all(copy.home in entry.parents for entry in copy.entries())


def test_where_nothing_can_be_written_each_process_compiles_and_says_so_once(copy):
    for folder in (copy.in_tree, copy.home):
        folder.write_text("a file where a folder should be")
    again = "from immigrate.kernels.compiling import jit_cached\n"
    again += "jit_cached(lambda x: x)(1.0)\n"
    for _ in range(2):
        value, counts, said = copy.run(IMPORT + CALL + again)
        assert (value, counts) == (30.0, COMPILED)
        assert one_line(said, "cannot be kept")


def test_what_was_compiled_is_read_where_it_can_no_longer_be_written(copy):
    copy.run()
    no_writing = "import os, pathlib\ndef refused(*args):\n    raise PermissionError(13, 'no')\n"
    no_writing += "os.replace = pathlib.Path.mkdir = pathlib.Path.write_bytes = refused\n"
    assert copy.run(no_writing + IMPORT + CALL) == (30.0, LOADED, "")


def test_a_full_disk_costs_one_line(copy):
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    value, counts, said = copy.run(full + IMPORT + CALL)
    assert (value, counts) == (30.0, COMPILED)
    assert one_line(said, "cannot be kept")
    assert not copy.entries()  # nor half of one
    assert copy.run() == (30.0, COMPILED, "")


LOCKED = """
import os
def refused(source, target):
    {first}
    raise PermissionError(13, "The process cannot access the file")
os.replace = refused
"""


def test_a_file_that_another_process_holds_open_costs_one_line(copy):
    value, counts, said = copy.run(LOCKED.format(first="pass") + IMPORT + CALL)
    assert (value, counts) == (30.0, COMPILED)
    assert one_line(said, "cannot be kept")
    assert not copy.entries()


def test_an_entry_that_another_process_wrote_meanwhile_is_as_good(copy):
    locked = LOCKED.format(first="import shutil; shutil.copy(source, target)")
    assert copy.run(locked + IMPORT + CALL) == (30.0, COMPILED, "")
    assert copy.run() == (30.0, LOADED, "")


def test_four_processes_may_start_on_an_empty_cache(copy):
    processes = [copy.start(IMPORT + CALL) for _ in range(4)]
    for process in processes:
        value, _, said = result_of(process)
        assert (value, said) == (30.0, "")
    assert len(copy.entries()) == 1
    assert copy.run() == (30.0, LOADED, "")


def test_compiling_says_so_once_and_loading_says_nothing(copy):
    copy.write_compiling("PATIENCE = 0.0")
    again = "whole(2)\n"  # another variant
    value, _, said = copy.run(IMPORT + CALL + again)
    assert value == 30.0
    assert one_line(said, "compiling for tables of this kind")
    assert copy.run(IMPORT + CALL + again) == (30.0, LOADED, "")


def test_an_inner_function_can_be_called_from_python_too(copy):
    script = "from immigrate.kernels.part import part\nprint(part(2.0), part(3.0))\n"
    script += "print(len(part.overloads))\n"
    assert copy.run(script)[:2] == (3.0, ["4.0", "0"])
    after = IMPORT + CALL + "from immigrate.kernels.part import part\nprint(part(2.0))\n"
    assert copy.run(after)[:2] == (30.0, [*COMPILED, "3.0"])


def test_a_literal_argument_needs_no_variant_of_its_own(copy):
    source = (copy.kernels / "whole.py").read_text()
    (copy.kernels / "whole.py").write_text(source.replace("part(x)", "(part(x) + part(0))"))
    script = (
        IMPORT + "from immigrate.kernels.part import part\nwhole(2)\nprint(len(part.overloads))"
    )
    assert copy.run(script)[0] == 1


def test_a_numba_without_the_names_of_inner_functions_compiles_as_usual(copy):
    gone = "import numba.core.codegen as codegen\ndel codegen.JITCodeLibrary\n"
    assert copy.run(gone + IMPORT + CALL) == (30.0, COMPILED, "")


@pytest.mark.parametrize("name", ["_reduce", "_rebuild", "codegen"])
def test_a_private_name_of_numba_that_is_gone_costs_one_line(copy, name):
    """`compiling` names its private parts of Numba; mend it there when this says they moved."""
    gone = "from numba.core.compiler import CompileResult\n"
    gone += f"assert hasattr(CompileResult, {name!r}), 'see the docstring of the test'\n"
    copy.run(gone + IMPORT + CALL)
    value, counts, said = copy.run(gone + f"del CompileResult.{name}\n" + IMPORT + CALL)
    assert (value, counts) == (30.0, COMPILED if name == "_rebuild" else LOADED)
    assert not said or one_line(said, "cannot be")
    for entry in copy.entries():
        entry.unlink()
    value, counts, said = copy.run(gone + f"del CompileResult.{name}\n" + IMPORT + CALL)
    assert (value, counts) == (30.0, COMPILED)
    assert one_line(said, "cannot be") == (name != "_rebuild")


def test_a_numba_whose_cache_cannot_be_replaced_compiles_in_memory(caplog):
    compiling.log_once.cache_clear()
    function = object()
    assert compiling.cached(function) is function
    assert "each process compiles for itself" in caplog.text


def test_garbage_is_not_collected_while_compiling_but_afterwards_also_after_an_error():
    assert gc.isenabled()
    assert not compiling.without_collection()(gc.isenabled)()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), compiling.without_collection():
        _ = 1 / 0
    assert gc.isenabled()


def test_collection_that_was_switched_off_stays_off():
    gc.disable()
    try:
        with compiling.without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
