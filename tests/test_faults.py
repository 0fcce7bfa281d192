"""A few faults of the kinds that `make faults` injects by the hundred."""

from __future__ import annotations

import subprocess
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("needs the limits of Linux", allow_module_level=True)

import resource

from harness.faults import COUNTS, Tally, injected, main, summary
from harness.victims import Hit, limit


@pytest.mark.parametrize(("kind", "count"), [("full disk", 6), ("memory", 2), ("interrupt", 3)])
def test_a_few_faults_lose_nothing(kind, count):
    tally = injected(kind, count, seed=1)
    assert (tally.losses, tally.n_hangs) == ([], 0)
    assert tally.n_faults >= count
    # NumPy may end the process where memory is short; not every time.
    assert tally.outcomes["died"] < count


def test_a_victim_that_never_works_is_an_error_and_no_fault(monkeypatch):
    monkeypatch.setattr("harness.faults.started", failing)
    with pytest.raises(RuntimeError, match="before any fault"):
        injected("interrupt", 2, seed=1)


def failing(*arguments):
    """A process that ends at once, whatever it is asked to do."""
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_full_run_injects_at_least_two_hundred_faults():
    assert sum(COUNTS.values()) >= 200


def test_losses_are_counted_and_told(monkeypatch, capsys):
    lossy = Tally()
    lossy.add(Hit("report", "OSError", "half a page"), 0.1)
    lossy.add(Hit("report", "hang"), 200.0)
    assert "| kill | 2 | 1 | 1 | OSError 1, hang 1 |" in summary({"kill": lossy})
    monkeypatch.setattr("harness.faults.injected", lambda kind, count, seed: lossy)
    assert main(["--kinds", "kill"]) == 1
    assert "- kill: report: half a page (OSError)" in capsys.readouterr().out


def test_a_limit_ends_with_its_block(tmp_path):
    with pytest.raises(OSError), limit(resource.RLIMIT_FSIZE, 100):
        (tmp_path / "file").write_bytes(bytes(1000))
    (tmp_path / "file").write_bytes(bytes(1000))
