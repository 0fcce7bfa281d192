"""Injects faults into everything that works or writes, and counts what is lost.

    python -m harness.faults --share 1 --seed 0

==============  =================================================================================
full disk       files may grow to a random size only: report, model, tracked results, database
memory          the process may not take up more memory: fits of every estimator
interrupt       Ctrl-C at a random moment of fits and reports
damaged cache   compiled code that is cut, flipped, empty, unreadable, or cannot be written
kill            SIGKILL at a random moment of fitting, reporting and saving
stopped runner  SIGKILL or Ctrl-C of one of two runs of the experiments that share a folder
command line    SIGKILL or Ctrl-C at a random moment of `immigrate report` and `immigrate fit`
==============  =================================================================================

A loss is a model that is neither the old nor the new one, a file that is not whole, a result that
was there and is not, an answer that differs. A hang is work that does not end. A fault counts when
it struck: work that was done before is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

from harness.victims import MISSED, MODEL, REPORT, Hit, answers, contents, report_of, table

ROOT = Path(__file__).parents[1]
# Seconds after which work that gives no sign has hung.
PATIENCE = 180.0
COUNTS = {
    "full disk": 70,
    "memory": 30,
    "interrupt": 60,
    "damaged cache": 30,
    "kill": 20,
    "stopped runner": 14,
    "command line": 16,
}
RUN = ["-m", "paper", "run", "--sets", "SYN", "WIN", "--methods", "1NN", "LDA", "NBC"]
RUN += ["--repeats", "2", "--folds", "3", "--results"]
N_CELLS = 36


@dataclass
class Tally:
    """How the faults of one kind ended."""

    outcomes: Counter = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)
    n_hangs: int = 0
    slowest: float = 0.0

    def add(self, hit: Hit, seconds: float) -> None:
        """Count one more fault."""
        self.outcomes[hit.outcome] += 1
        self.n_hangs += hit.outcome == "hang"
        self.slowest = max(self.slowest, seconds)
        if hit.loss:
            self.losses.append(f"{hit.what}: {hit.loss} ({hit.outcome})")

    @property
    def n_faults(self) -> int:
        """How many struck."""
        return sum(self.outcomes.values())


def started(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A Python process in the root of the repository."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # A shell starts what runs in its background deaf to Ctrl-C, and its children with it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """What a process prints, until it ends or says nothing for too long and is killed."""
    while True:
        alarm = Timer(PATIENCE, process.kill)
        alarm.start()
        line = process.stdout.readline() if process.stdout else ""
        hung = not alarm.is_alive()
        alarm.cancel()
        if not line:
            process.wait()
            if hung:
                yield json.dumps({"what": "no sign of life", "outcome": "hang"})
            return
        yield line


def batch(kind: str, count: int, rng: random.Random, folder: Path) -> Iterator[Hit]:
    """Faults inside processes that go on afterwards; one that dies is replaced."""
    while count > 0:
        process = started(
            "-m", "harness.victims", kind, str(rng.randrange(10**6)), str(count), str(folder)
        )
        before, hung, is_ready = {}, False, False
        for line in lines_of(process):
            if line.startswith("{"):
                hit = Hit(**json.loads(line))
                count -= hit.outcome != MISSED
                hung = hit.outcome == "hang"
                yield hit
            else:
                before, is_ready = contents(folder), True
        if process.stdout:
            process.stdout.close()
        if not is_ready and not hung:
            # What was never struck has survived nothing.
            raise RuntimeError(
                f"A victim of {kind!r} ended with {process.returncode} before any fault; run "
                f"`python -m harness.victims {kind!r} 0 1 FOLDER` to see why."
            )
        if process.returncode and count > 0 and not hung:
            count -= 1
            is_same = contents(folder) == before
            yield Hit("process", "died", "" if is_same else "files are others than before")
        elif not process.returncode:
            return


def kills(count: int, rng: random.Random, folder: Path) -> Iterator[Hit]:
    """SIGKILL while a process fits, reports and saves; what lies there must be whole."""
    import immigrate as im

    models = {answers(im.ReliefF().fit(*table(seed))) for seed in (1, 2)}
    pages = {report_of(seed).html() for seed in (1, 2)}
    for _ in range(count):
        process = started("-m", "harness.victims", "kill", "0", "0", str(folder))
        next(lines_of(process))
        time.sleep(rng.uniform(0, 4))
        _killed(process)
        loss = ""
        if (folder / MODEL).exists():
            model = pickle.loads((folder / MODEL).read_bytes())
            loss = "" if answers(model) in models else "another model"
        if (folder / REPORT).exists() and (folder / REPORT).read_text() not in pages:
            loss = "half a page"
        yield Hit("fit, report, save", "killed", loss)


def _killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def stopped_runners(count: int, rng: random.Random, folder: Path) -> Iterator[Hit]:
    """Two runs share a folder, one is stopped: the other must end with every cell."""
    n_struck = 0
    while n_struck < count:
        results = Path(tempfile.mkdtemp(dir=folder))
        one, two = (started(*RUN, str(results)) for _ in range(2))
        time.sleep(rng.uniform(1, 6))
        by = rng.choice([signal.SIGKILL, signal.SIGINT])
        outcome = by.name if one.poll() is None else MISSED
        n_struck += outcome != MISSED
        one.send_signal(by)
        for process in (one, two):
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                outcome = "hang"
            _killed(process)
        yield Hit("runner", outcome, _lost_cells(results))


def stopped_commands(count: int, rng: random.Random, folder: Path) -> Iterator[Hit]:
    """Ctrl-C or SIGKILL of a command that writes over an older file; Ctrl-C is answered."""
    from immigrate.files import spreadsheet_csv

    for seed in (1, 2):
        X, y = table(seed, n=60, p=4)
        (folder / f"{seed}.csv").write_text(spreadsheet_csv(X.assign(outcome=y)))
    commands = {"report": "page.html", "fit": "model.model"}
    whole, seconds = {}, {}
    for command, out in commands.items():
        whole[command] = [_written(command, seed, folder / out) for seed in (2, 1)]
        start = time.monotonic()
        _written(command, 1, folder / out)
        seconds[command] = time.monotonic() - start
    n_struck = 0
    while n_struck < count:
        command, by = rng.choice(list(commands)), rng.choice([signal.SIGKILL, signal.SIGINT])
        process = _command(command, 2, folder / commands[command])
        time.sleep(rng.uniform(0.2, 1.1) * seconds[command])
        outcome = by.name if process.poll() is None else MISSED
        n_struck += outcome != MISSED
        process.send_signal(by)
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            outcome = "hang"
        _killed(process)
        left = (folder / commands[command]).read_bytes()
        loss = "" if left in whole[command] else "half a file"
        # Python itself ends by the signal if it has not come to the command yet.
        if outcome == "SIGINT" and process.returncode not in (0, 1, -signal.SIGINT):
            loss = f"exit code {process.returncode}"
        yield Hit(f"immigrate {command}", outcome, loss)


def _command(command: str, seed: int, out: Path) -> subprocess.Popen[str]:
    given = [str(out.with_name(f"{seed}.csv")), "--target", "outcome", "--out", str(out)]
    return started("-m", "immigrate", command, *given, SOURCE_DATE_EPOCH="0")


def _written(command: str, seed: int, out: Path) -> bytes:
    """What a command writes if it is left alone."""
    process = _command(command, seed, out)
    process.communicate(timeout=PATIENCE)
    return out.read_bytes()


def _lost_cells(results: Path) -> str:
    from paper.store import read_tracked

    try:
        n_right = int((read_tracked(results)["status"] == "ok").sum())
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "" if n_right == N_CELLS else f"{n_right} of {N_CELLS} cells"


# Kept as the passes of the library are, which take ten times as long to compile.
CALL = """
import numpy as np
from harness.small_kernel import sum_of_squares
print(repr(sum_of_squares(np.linspace(0, 1, 1001))))
"""


def damaged_caches(count: int, rng: random.Random, folder: Path) -> Iterator[Hit]:
    """A call that finds its compiled code damaged, or cannot keep it."""
    good, bad = folder / "good", folder / "bad"
    expected = _printed(good)
    for _ in range(count):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(good, bad)
        entries = sorted(path for path in bad.rglob("*.compiled*") if path.is_file())
        damage = rng.choice(DAMAGES)
        place = damage(rng.choice(entries), rng) or bad
        said = _printed(place)
        outcome = "hang" if said is None else "answered" if said else "died"
        yield Hit(damage.__name__, outcome, "" if said == expected else "another answer")


def _printed(cache: Path) -> str | None:
    """What the call answers with this cache; None if it does not end."""
    process = started("-c", CALL, NUMBA_CACHE_DIR=str(cache))
    try:
        return process.communicate(timeout=PATIENCE)[0].strip()
    except subprocess.TimeoutExpired:
        _killed(process)
        return None


def cut(entry: Path, rng: random.Random) -> None:
    """The end is missing, as after a full disk."""
    entry.write_bytes(entry.read_bytes()[: rng.randrange(entry.stat().st_size)])


def flipped(entry: Path, rng: random.Random) -> None:
    """One byte is another one."""
    content = bytearray(entry.read_bytes())
    content[rng.randrange(len(content))] ^= 1 + rng.randrange(255)
    entry.write_bytes(content)


def replaced_by_a_folder(entry: Path, rng: random.Random) -> None:
    """What cannot be opened as a file."""
    entry.unlink()
    entry.mkdir()


def not_a_folder(entry: Path, rng: random.Random) -> Path:
    """The cache lies where no folder can be made; root may write everywhere else."""
    entry.write_bytes(b"")
    return entry / "below a file"


DAMAGES = (cut, flipped, replaced_by_a_folder, not_a_folder)
Injector = Callable[[int, random.Random, Path], Iterator[Hit]]
INJECTORS: dict[str, Injector] = {
    "damaged cache": damaged_caches,
    "kill": kills,
    "stopped runner": stopped_runners,
    "command line": stopped_commands,
}


def injected(kind: str, count: int, seed: int) -> Tally:
    """So many faults of one kind."""
    tally, rng = Tally(), random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        if kind in INJECTORS:
            hits = INJECTORS[kind](count, rng, Path(folder))
        else:
            hits = batch(kind, count, rng, Path(folder))
        start = time.monotonic()
        for hit in hits:
            if hit.outcome != MISSED:
                tally.add(hit, time.monotonic() - start)
            start = time.monotonic()
    return tally


def summary(tallies: dict[str, Tally]) -> str:
    """A table in Markdown, and what was lost."""
    lines = ["| fault | injected | losses | hangs | how the work ended |", "|---|---|---|---|---|"]
    for kind, tally in tallies.items():
        ends = ", ".join(f"{name} {n}" for name, n in tally.outcomes.most_common())
        counts = f"{tally.n_faults} | {len(tally.losses)} | {tally.n_hangs}"
        lines.append(f"| {kind} | {counts} | {ends} |")
    all_of = list(tallies.values())
    totals = [sum(t.n_faults for t in all_of), sum(len(t.losses) for t in all_of)]
    totals.append(sum(t.n_hangs for t in all_of))
    lines.append(f"| **all** | {' | '.join(map(str, totals))} | |")
    lost = [f"- {kind}: {loss}" for kind, tally in tallies.items() for loss in tally.losses]
    return "\n".join([*lines, *lost])


def main(arguments: list[str] | None = None) -> int:
    """Inject, print the summary; the exit code says whether something was lost or hung."""
    parser = argparse.ArgumentParser(prog="python -m harness.faults")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=COUNTS, default=list(COUNTS))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    tallies = {}
    for kind in options.kinds:
        start = time.monotonic()
        count = max(1, round(options.share * COUNTS[kind]))
        tallies[kind] = injected(kind, count, options.seed)
        seconds = time.monotonic() - start
        row = summary({kind: tallies[kind]}).splitlines()[2]
        print(f"{row} {seconds:.0f} s", file=sys.stderr, flush=True)
    print(summary(tallies))
    return int(any(tally.losses or tally.n_hangs for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
