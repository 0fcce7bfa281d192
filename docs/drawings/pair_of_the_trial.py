"""How treatment and variant act together in the made-up trial.

``python docs/drawings/pair_of_the_trial.py docs/figures/found-pair.png`` draws it for the README.
"""

import sys

from matplotlib.figure import Figure

from immigrate import InteractionTest
from immigrate.datasets import make_trial
from immigrate.plotting import PairEffectDisplay


def draw() -> Figure:
    """The cells of two categories."""
    trial = make_trial(random_state=0).set_index("patient")
    test = InteractionTest().fit(trial.drop(columns="outcome"), trial["outcome"])
    return PairEffectDisplay.from_estimator(test, "treatment", "variant").figure_


if __name__ == "__main__":
    draw().savefig(sys.argv[1], dpi=120, bbox_inches="tight")
