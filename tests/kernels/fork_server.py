"""Processes that begin where the imports of Numba end: forks of one that has made them.

A process of its own for each script would spend nine tenths of its time on those imports. What a
script imports of the library is imported in the fork. Machine code that holds an address of the
process that compiled it would work in a fork too: tests of that need processes of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SERVER = """
import gc, json, os, signal, sys, threading, traceback
import numba

# The first compilation of a process loads the compiler.
numba.njit(lambda x: x + 1.0)(1.0)
# Forks share these pages for as long as nobody counts what is in them.
gc.freeze()
for line in sys.stdin:
    request = json.loads(line)
    if "pid" in request:
        _, status = os.waitpid(request["pid"], 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        continue
    child = os.fork()
    if child == 0:
        break
    print(child, flush=True)
else:
    raise SystemExit
for stream, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), stream)
os.environ.update(request["environment"])
os.chdir(request["folder"])
sys.path.insert(0, request["site"])
signal.alarm(100)
code = 1
try:
    exec(request["script"], {"__name__": "__main__"})
    code = 0
except BaseException:
    traceback.print_exc()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
sys.stdout.flush()
sys.stderr.flush()
# Not the long way, which takes all modules apart.
os._exit(code)
"""


class ForkServer:
    """A process with Numba in it, and the forks that run scripts."""

    def __init__(self) -> None:
        names = {"NUMBA_CACHE_DIR": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            # Warnings are errors there as well. Python's own cache of bytecode goes by the time
            # of a file in seconds, which is too coarse for sources that are written twice.
            [sys.executable, "-B", "-W", "error", "-c", SERVER],
            env={**os.environ, **names},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: object) -> int:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the server has ended"
        return int(answer)

    def start(self, script: str, folder: Path, site: Path, environment: dict[str, str]) -> Fork:
        outputs = folder / "outputs"
        outputs.mkdir(exist_ok=True)
        number = len(list(outputs.iterdir()))
        out, err = (outputs / f"{number}.{name}" for name in ("out", "err"))
        # There before the next one is counted.
        out.touch()
        pid = self.ask(
            script=script,
            folder=str(folder),
            site=str(site),
            environment=environment,
            out=str(out),
            err=str(err),
        )
        return Fork(self, pid, out, err)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Fork:
    """A fork that runs a script: as much of a `Popen` as is needed."""

    def __init__(self, server: ForkServer, pid: int, out: Path, err: Path) -> None:
        self.server, self.pid, self.out, self.err = server, pid, out, err
        self.returncode: int | None = None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What was written, at the end; an alarm ends a fork that hangs."""
        self.returncode = self.server.ask(pid=self.pid)
        return self.out.read_text(), self.err.read_text()
