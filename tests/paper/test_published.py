import pytest

from paper.datasets import DATASETS, GENE, LARGE, SMALL
from paper.methods import METHODS
from paper.published import accuracies, table_datasets, table_methods, win_tie_loss


@pytest.mark.parametrize(
    ("table", "data", "method", "value"),
    [
        (1, "COL", "IM4", 84.3),
        (1, "PRO", "RF", 91.8),
        (2, "BCW", "SV1", 61.4),
        (2, "GLA", "IGT", 87.5),
        (2, "MON", "HIN", 97.2),
        (2, "WAV", "IGT", 92.4),
        (3, "WIN", "ADB", 97.5),
        (3, "WAV", "BIM", 93.3),
    ],
)
def test_values_are_the_printed_ones(table, data, method, value):
    row = accuracies().query("table == @table and data == @data and method == @method")
    assert row["accuracy"].tolist() == [value]


def test_every_printed_row_and_column_is_known_here():
    assert table_datasets(1) == list(GENE)
    assert table_datasets(2) == table_datasets(3) == [*SMALL, *LARGE]
    for table in (1, 2, 3):
        assert set(table_methods(table)) <= set(METHODS)
        assert set(table_datasets(table)) <= set(DATASETS)


def test_tables_are_complete():
    sizes = accuracies().groupby("table").size()
    assert sizes.to_dict() == {1: 5 * 13, 2: 20 * 18, 3: 20 * 4}


def test_wins_ties_and_losses_add_up_to_the_data_sets():
    counts = win_tie_loss()
    total = counts[["wins", "ties", "losses"]].sum(axis=1)
    assert (total == counts["table"].map({1: 5, 2: 20, 3: 20})).all()
    assert counts.query("table == 2 and method == 'HIN'").iloc[0, 2:].tolist() == [12, 7, 1]
