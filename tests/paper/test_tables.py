import numpy as np
import pandas as pd
import pytest

from paper.cli import RESULTS
from paper.comparison import counts, long_table, verdicts
from paper.store import read_tracked
from paper.tables import markdown_page, write


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    rows = []
    for method, n_correct in (("IGT", 95), ("1NN", 80), ("IGT+", 95)):
        for repeat in range(2):
            for fold in range(10):
                right = n_correct + int(rng.integers(-2, 3))
                cell = ("GLA", method, repeat, fold, 10)
                rows.append((*cell, "ok", right, 100, 0.1, "", "", "s", "0"))
    rows.append(("GLA", "LFE", 0, 0, 10, "error", None, None, 0.1, "E: no | luck", "", "s", "0"))
    columns = "data method repeat fold n_folds status n_correct n_tested seconds error note"
    return pd.DataFrame(rows, columns=[*columns.split(), "settings", "version"])


def test_difference_is_ours_minus_the_papers(frame):
    row = long_table(frame, 2).set_index(["data", "method"]).loc[("GLA", "1NN")]
    ours = frame.query("method == '1NN'")["n_correct"].astype(float).mean()
    assert row["ours"] == pytest.approx(ours)
    assert row["paper"] == 81.1
    assert row["difference"] == pytest.approx(ours - 81.1)
    assert row["n_trials"] == 20


def test_wins_are_counted_under_both_tests(frame):
    assert counts(verdicts(frame, "IGT", "1NN")) == "1,0,0"
    assert counts(verdicts(frame, "1NN", "IGT", corrected=True)) == "0,0,1"
    assert counts(verdicts(frame, "IGT", "nothing")) == ""
    assert counts(verdicts(frame, "IGT", "1NN", data=["HMS"])) == ""


def printed_mean(page, method):
    """The mean column of the first block of table 2."""
    lines = page[page.index("## Table 2") :].splitlines()
    head = next(line for line in lines if line.startswith("|")).split("|")
    row = next(line for line in lines if line.startswith(f"| **{method}**")).split("|")
    return row[[cell.strip() for cell in head].index("mean")].strip()


def test_means_are_over_the_data_sets_that_every_method_has(frame):
    only_here = frame[frame["method"] == "1NN"].assign(data="WIN", n_correct=0)
    more = markdown_page(pd.concat([frame, only_here]))
    assert printed_mean(more, "1NN") == printed_mean(markdown_page(frame), "1NN") != ""


def test_a_method_of_some_data_sets_has_a_row_and_does_not_change_the_means(frame):
    elsewhere = frame[frame["method"] == "1NN"].assign(data="WIN")
    penalised = frame[frame["method"] == "1NN"].assign(method="IGL")
    page = markdown_page(pd.concat([frame, elsewhere]))
    assert "| **IGL** |" not in page
    more = markdown_page(pd.concat([frame, elsewhere, penalised]))
    assert "| **IGL** |" in more
    for method in ("1NN", "IGT"):
        assert printed_mean(more, method) == printed_mean(page, method)


def test_every_method_has_its_row_and_a_failed_one_its_error(frame):
    page = markdown_page(frame)
    table = page[page.index("## Table 2") : page.index("## Table 3")]
    for method in ("SV1", "LFE", "HIN", "IGT", "IGT+", "MAJ"):
        assert f"\n| **{method}** |" in table
    assert "error: E: no / luck" in table
    assert "## Failed cells" in page


def test_all_formats_are_written(frame, tmp_path):
    paths = write(frame, tmp_path)
    assert {path.suffix for path in paths} == {".md", ".csv", ".tex"}
    latex = (tmp_path / "table2.tex").read_text()
    assert latex.count(r"\\") == 1 + 20
    back = pd.read_csv(tmp_path / "table3.csv")
    assert back.query("data == 'GLA' and method == 'BIM'")["paper"].item() == 86.8


def test_no_results_still_give_the_papers_side(frame, tmp_path):
    assert "87.5" in markdown_page(frame.iloc[:0])


def test_the_tracked_tables_are_those_of_the_tracked_results():
    page = markdown_page(read_tracked(RESULTS))
    assert page == (RESULTS / "tables.md").read_text(), "run `python -m paper tables`"
