import pandas as pd

from paper import figures, robustness
from paper.figures import heat_maps, synthetic_scatter, win_tie_loss_bars
from paper.robustness import PUBLISHED_P_VALUES, interaction_p_values, interaction_weights


def test_scatter_shows_every_sample():
    axes = synthetic_scatter(noise=0.1).axes[0]
    assert sum(len(c.get_offsets()) for c in axes.collections) == 220


def test_bars_of_the_paper_add_up_without_results():
    empty = pd.DataFrame(columns=["data", "method", "repeat", "fold", "n_folds", "status"])
    gene, uci = win_tie_loss_bars(empty.assign(n_correct=[], n_tested=[])).axes
    assert sum(bar.get_height() for bar in uci.patches) == 20 * 20
    assert sum(bar.get_height() for bar in gene.patches) == 5 * 11


def test_robustness_curves_show_both_methods_at_every_noise_level(monkeypatch):
    monkeypatch.setattr(robustness, "NOISE_LEVELS", (0.05, 0.5))
    weights = interaction_weights(n_seeds=2)
    assert len(weights) == 2 * 2 * 2
    assert weights["weight"].between(0, 1 / 2**0.5).all()
    curves, p_values = figures.robustness(n_seeds=2).axes
    assert [text.get_text() for text in curves.get_legend().get_texts()] == ["IGT", "LFE"]
    assert p_values.get_yscale() == "log"


def test_heat_maps_are_square_and_named(monkeypatch):
    monkeypatch.setattr(figures, "HEAT_MAPS", ("WIN",))
    axes = heat_maps().axes[0]
    assert axes.get_title() == "WIN: Wine"
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["alcohol", "malic acid"]
    assert axes.images[0].get_array().shape == (13, 13)
    assert (axes.images[0].get_array() >= 0).all()


def test_p_values_are_near_the_published_ones():
    p = interaction_p_values(n_seeds=10).groupby("noise")["alone"]
    for noise in (0.0, 0.1):
        low, high = p.min()[noise], p.max()[noise]
        assert low / 10 < PUBLISHED_P_VALUES[noise] < high * 10
