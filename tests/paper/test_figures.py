import pandas as pd

from paper.figures import synthetic_scatter, win_tie_loss_bars
from paper.robustness import PUBLISHED_P_VALUES, interaction_p_values


def test_scatter_shows_every_sample():
    axes = synthetic_scatter(noise=0.1).axes[0]
    assert sum(len(c.get_offsets()) for c in axes.collections) == 220


def test_bars_of_the_paper_add_up_without_results():
    empty = pd.DataFrame(columns=["data", "method", "repeat", "fold", "n_folds", "status"])
    gene, uci = win_tie_loss_bars(empty.assign(n_correct=[], n_tested=[])).axes
    assert sum(bar.get_height() for bar in uci.patches) == 20 * 20
    assert sum(bar.get_height() for bar in gene.patches) == 5 * 11


def test_p_values_are_near_the_published_ones():
    p = interaction_p_values(n_seeds=10).groupby("noise")["alone"]
    for noise in (0.0, 0.1):
        low, high = p.min()[noise], p.max()[noise]
        assert low / 10 < PUBLISHED_P_VALUES[noise] < high * 10
