"""Tracked results cannot vanish without a word."""

from __future__ import annotations

import pytest

from paper.cells import Cell, Outcome
from paper.store import SETTINGS, TRACKED, Store, read_tracked, write_tracked


@pytest.fixture
def tracked(tmp_path):
    """A folder of tracked results: two methods, three repeats of two folds."""
    store = Store(tmp_path / "results.sqlite")
    for method in ("1NN", "IGT"):
        for repeat in range(3):
            for fold in range(2):
                outcome = Outcome("ok", n_correct=5, n_tested=6, seconds=0.1)
                store.add(Cell("MON", method, repeat, fold, 2), outcome, f"{method}()", "0.1")
    write_tracked(store.frame(), tmp_path / "tracked")
    store.close()
    return tmp_path / "tracked"


def test_what_was_written_is_read(tracked):
    assert len(read_tracked(tracked)) == 12


@pytest.mark.parametrize("name", [TRACKED, SETTINGS])
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_file_that_was_cut_at_the_end_of_a_line_is_refused(tracked, name, share):
    lines = (tracked / name).read_text().splitlines(keepends=True)
    (tracked / name).write_text("".join(lines[: 1 + int(share * (len(lines) - 1))]))
    with pytest.raises(ValueError, match=r"damaged: .* Restore both from version control"):
        read_tracked(tracked)


@pytest.mark.parametrize("n_bytes", [0, 10, 90])
def test_a_file_that_was_cut_anywhere_is_refused(tracked, n_bytes):
    (tracked / TRACKED).write_bytes((tracked / TRACKED).read_bytes()[:n_bytes])
    with pytest.raises(ValueError, match="are damaged"):
        read_tracked(tracked)


def test_a_write_that_fails_leaves_the_old_files(tracked, monkeypatch):
    before = {name: (tracked / name).read_bytes() for name in (TRACKED, SETTINGS)}
    frame = read_tracked(tracked).head(4)

    def full_disk(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pandas.DataFrame.to_csv", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_tracked(frame, tracked)
    assert {name: (tracked / name).read_bytes() for name in before} == before
