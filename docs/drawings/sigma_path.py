"""What happens along the path of sigma on the wine table."""

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from immigrate import ImmigrateClassifierCV
from immigrate.plotting import SigmaPathDisplay


def draw() -> Figure:
    """The display of the library."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return SigmaPathDisplay.from_estimator(ImmigrateClassifierCV().fit(X, y)).figure_
