"""What is computed a block at a time: every row and term once, and no more memory than allowed."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from additive.problems import additive_problem, encoded, mixed_problem

from immigrate.additive.null_model import null_model
from immigrate.additive.residuals import Draws
from immigrate.additive.rows import (
    LazyColumns,
    Run,
    kept_numbers,
    mapped_rows,
    row_slices,
    row_sum,
)
from immigrate.interactions import scan, statistics
from immigrate.interactions.question import all_terms, every_term
from immigrate.interactions.scan import Scan
from immigrate.interactions.statistics import (
    _blocks_of_a_kind,
    _row_sums,
    blocks,
    sums_per_term,
)

MEGABYTE = 2**20


@pytest.mark.parametrize("memory", [1, 64, 1024])
def test_an_eighth_of_the_memory_may_be_kept(memory):
    with sklearn.config_context(working_memory=memory):
        assert kept_numbers() == memory * MEGABYTE / 64
        n = memory * MEGABYTE // 64 // 4
        assert 4 * n <= kept_numbers() < 4 * (n + 1)


@pytest.mark.parametrize("memory", [1, 64])
@pytest.mark.parametrize("n_columns", [0, 1, 7, 1000])
def test_blocks_of_rows_take_a_sixty_fourth_of_the_memory(memory, n_columns):
    n = 100_000
    with sklearn.config_context(working_memory=memory):
        slices = row_slices(n, n_columns)
    rows = np.arange(n)
    np.testing.assert_array_equal(np.concatenate([rows[one] for one in slices]), rows)
    size = slices[0].stop - slices[0].start
    wanted = memory * MEGABYTE // 64 // (8 * max(n_columns, 1))
    assert size == min(max(wanted, 64), n)
    visited: list[slice] = []
    with sklearn.config_context(working_memory=10_000):
        row_sum(lambda rows: visited.append(rows) or (), n, n_columns)
    assert visited == [slice(0, n)]


@pytest.mark.parametrize(
    ("n_terms", "size", "most"), [(10, 8.0, 24.0), (7, 100.0, 50.0), (0, 1, 1)]
)
def test_blocks_of_terms_fit_and_could_not_be_larger(n_terms, size, most):
    found = list(blocks(n_terms, size, most))
    assert [i for one in found for i in range(n_terms)[one]] == list(range(n_terms))
    for one in found[:-1]:
        assert len(range(n_terms)[one]) == max(1, int(most // size))
    own = list(blocks(10**6, 1e3))
    assert own[0] == slice(0, int(statistics.BLOCK_BYTES / 1e3))


def wide_and_narrow():
    """Numbers, and one nominal feature of many levels."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), np.arange(300) % 40])
    return encoded(X, np.arange(300) % 2, nominal=[3])


@pytest.mark.parametrize("problem", [additive_problem, mixed_problem, wide_and_narrow])
@pytest.mark.parametrize(("order", "n"), [(2, None), (2, 50), (3, None)])
def test_terms_of_a_block_are_of_one_kind_and_fit_in_memory(problem, order, n, monkeypatch):
    """Every term once, wide ones apart; padded to the widest they fit, and one more would not."""
    data = problem()
    p, k = data.is_low.shape
    n_rows = len(data.weight) if n is None else n
    own = np.array([data.main_effect(a).of(slice(None)).shape[0] for a in range(p)])
    is_wide = (data.n_own > 4) | (own > 31)
    terms = np.tile(all_terms(p, order), (60, 1))
    bytes_of_one = 8 * (k**2 + 2 + order * own.max()) * (n_rows + 5)
    # So many that one number more or less per term makes another block.
    most = 100.5 * bytes_of_one
    monkeypatch.setattr(statistics, "BLOCK_BYTES", most)
    found = list(_blocks_of_a_kind(data, terms, n_rows, 5))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(terms)))
    kinds = [set(is_wide[terms[one]].any(axis=1).tolist()) for one in found]
    assert all(len(kind) == 1 for kind in kinds)
    for kind in (False, True):
        mine = [one for one, its in zip(found, kinds) if its == {kind}]
        if mine:
            widest = own[terms[np.concatenate(mine)]].max()
            each = 8 * (k**2 + 2 + order * widest) * (n_rows + 5)
            assert all(len(one) == int(most // each) for one in mine[:-1])
            assert len(mine[-1]) <= int(most // each)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("problem", ["even", "mixed"])
def test_sums_of_a_term_take_as_much_memory_as_foretold(n_classes, order, problem):
    """Counted, of the widest terms: never more than foretold, and not by half less."""
    data = additive_problem(n_classes=n_classes) if problem == "even" else mixed_problem()
    model = null_model(data)
    data = model.design
    contrasts = model.contrasts(Draws(7, 0))
    terms = all_terms(len(data.levels), order) if order > 1 else np.arange(4)[:, None]
    foretold = sums_per_term(data, terms, contrasts)
    _, *sums = _row_sums(data, terms, contrasts, slice(0, len(data.weight)))
    held = sum(one.size for one in sums) / len(terms)
    assert held <= foretold
    if order == 2 and problem == "even":
        assert held > 0.5 * foretold


@pytest.mark.parametrize(("n_terms", "n_columns"), [(4, 18), (100, 18), (3, 1)])
def test_blocks_of_a_scan_hold_one_side_in_memory(n_terms, n_columns, monkeypatch):
    model = null_model(additive_problem(n=3000))
    data = model.design
    one = Scan(data, model.contrasts(), every_term(5, 2), 4)
    monkeypatch.setattr(scan, "SIDE_BYTES", 4e5)
    found = one.row_blocks(n_terms, n_columns)
    assert np.concatenate([np.arange(3000)[one] for one in found]).tolist() == list(range(3000))
    size = max(int(4e5 / (8 * n_terms * n_columns)), 256)
    assert len(found) == int(np.ceil(3000 / size))
    assert found[0].stop == min(size, 3000)


def counted_columns():
    asked = []

    def part(rows):
        asked.append(rows)
        return np.arange(20.0).reshape(2, 10)[:, rows]

    return LazyColumns((part,), (10, 2)), asked


def test_rows_that_are_asked_for_again_are_not_made_again():
    Z, asked = counted_columns()
    for _ in range(3):
        np.testing.assert_array_equal(Z[slice(2, 5)], [[2, 12], [3, 13], [4, 14]])
    assert asked == [slice(2, 5)]
    assert Z[slice(0, 2)].shape == (2, 2)
    assert len(asked) == 2


@pytest.mark.parametrize("rows", [slice(None), np.array([3, 1])])
def test_all_rows_and_chosen_ones_are_not_kept(rows):
    """A whole matrix would stay in memory for as long as its columns are known."""
    Z, asked = counted_columns()
    for _ in range(2):
        np.testing.assert_array_equal(Z[rows], np.arange(20.0).reshape(2, 10)[:, rows].T)
    assert len(asked) == 2
    assert not hasattr(Z._last, "rows")


def test_progress_is_told_for_each_of_several_blocks():
    lines = []

    class Told(Run):
        def tick(self, done, total):
            lines.append((done, total))

    slices = [slice(0, 2), slice(2, 4), slice(4, 5)]
    for count, expected in [(1, []), (2, [(1, 2), (2, 2)]), (3, [(1, 3), (2, 3), (3, 3)])]:
        lines.clear()
        found = list(mapped_rows(lambda rows: rows.stop, slices[:count], Told(1)))
        assert found == [2, 4, 5][:count]
        assert lines == expected


def test_progress_is_told_every_three_seconds(monkeypatch):
    now, lines = [100.0], []
    monkeypatch.setattr("immigrate.progress.time.monotonic", lambda: now[0])
    run = Run(write=lines.append)
    run.stage = "screen"
    for second in (1.0, 2.9, 3.0, 5.9, 6.0, 8.9):
        now[0] = 100.0 + second
        run.tick(int(10 * second), 100)
    assert lines == ["screen, 30 %", "screen, 60 %"]


@pytest.mark.parametrize("n_columns", [1, 4, 10**9])
def test_strips_hold_every_term_once_and_at_least_one(n_columns):
    """However wide the terms are; two strips of the largest size fit in a tile."""
    terms = np.arange(900)[:, None]
    strips = scan._strips(terms, n_columns)
    np.testing.assert_array_equal(np.concatenate(strips), terms)
    sizes = {len(strip) for strip in strips[:-1]} or {len(strips[0])}
    assert sizes == {1} if n_columns == 10**9 else min(sizes) > 1
    assert max(sizes) <= scan.LARGEST_TILE_SIDE
