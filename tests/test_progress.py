"""What a user hears while a fit takes long: nothing at first, then where it is."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV, InteractionTest, progress
from immigrate.progress import ProgressLine, progress_stage, report_progress, reporting_progress


@pytest.fixture(autouse=True)
def _two_seconds(monkeypatch):
    monkeypatch.setattr(progress, "SILENT_SECONDS", 2.0)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def beats(pulse, clock, times):
    for now in times:
        clock.now = now
        pulse.beat("step")


def test_a_log_has_lines_at_doubled_intervals(monkeypatch):
    stream, clock = io.StringIO(), Clock()
    monkeypatch.setattr(sys, "stderr", stream)
    beats(ProgressLine(clock=clock), clock, np.arange(0.5, 100, 0.5))
    said = [int(line.split()[1]) for line in stream.getvalue().splitlines()]
    assert said == [2, 4, 8, 16, 32, 64]


def test_a_terminal_has_one_line_that_is_written_over_and_wiped(monkeypatch):
    stream, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", stream)
    pulse = ProgressLine(clock=clock)
    beats(pulse, clock, np.arange(0.5, 11, 0.5))
    pulse.end()
    lines = stream.getvalue().split("\r")[1:]
    assert [int(line.split()[1]) for line in lines if line.strip()] == [2, 4, 6, 8, 10]
    assert lines[-2] == " " * len(lines[-3].rstrip())
    assert "\n" not in stream.getvalue()


def test_a_short_wait_says_nothing(capfd):
    pulse = ProgressLine()
    pulse.beat("step")
    pulse.end()
    assert capfd.readouterr() == ("", "")


def test_stages_come_first_and_only_the_outermost_line_reports():
    outer, inner = [], []
    clock = iter([0.0, 5.0, 50.0])
    with reporting_progress(ProgressLine(outer.append, clock=lambda: next(clock))):
        with (
            progress_stage("fold 1 of 2"),
            reporting_progress(ProgressLine(inner.append)),
            progress_stage("sigma 3 of 4"),
        ):
            report_progress("step 7")
        report_progress("end")
    report_progress("nobody hears this")
    assert [line.split(": ", 2)[2] for line in outer] == [
        "fold 1 of 2, sigma 3 of 4, step 7",
        "end",
    ]
    assert inner == []


def test_nobody_is_told_after_an_error(monkeypatch):
    monkeypatch.setattr(progress, "SILENT_SECONDS", -1.0)
    told = []

    def failing():
        with reporting_progress(ProgressLine(told.append)), progress_stage("stage"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    report_progress("nobody hears this")
    assert told == []


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (ImmigrateClassifier(), "0 of at most"),
        (ImmigrateClassifierCV(), "sigma 1 of "),
    ],
)
@pytest.mark.parametrize("verbose", [False, True])
def test_fits_say_where_they_are_unless_they_say_more(
    estimator, words, verbose, monkeypatch, capsys
):
    monkeypatch.setattr(progress, "SILENT_SECONDS", -1.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    estimator.set_params(verbose=verbose).fit(X, y)
    said = capsys.readouterr().err
    assert (words in said) == (not verbose)


def test_a_long_test_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SILENT_SECONDS", -1.0)
    rng = np.random.default_rng(0)
    InteractionTest().fit(rng.normal(size=(80, 4)), np.arange(80) % 2)
    assert "null model" in capsys.readouterr().err


def test_a_line_that_cannot_be_wiped_does_not_silence_the_next_one():
    class Broken(ProgressLine):
        def end(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reporting_progress(Broken()):
        pass
    said, clock = [], iter([0.0, 5.0])
    with reporting_progress(ProgressLine(said.append, clock=lambda: next(clock))):
        report_progress("step 1")
    assert said == ["immigrate: 5 s: step 1"]
