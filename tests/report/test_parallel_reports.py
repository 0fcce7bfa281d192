"""Reports that are made at the same time say what their own fits said."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from immigrate.outcomes import read_classes
from immigrate.progress import collected_warnings, warn_user
from immigrate.report.input import ReportInput, fitted_clone
from immigrate.table import ColumnWarning

N_THREADS = 8
GIVEN = ReportInput(np.zeros((2, 1)), read_classes([0, 1], least_per_class=1))


class Meeting(BaseEstimator):
    """Warns of its own name while all the others are in the middle of a fit too."""

    barrier = Barrier(N_THREADS, timeout=30)

    def __init__(self, name=""):
        self.name = name

    def fit(self, X, y):
        self.barrier.wait()
        warn_user(f"about {self.name}", RuntimeWarning)
        warn_user("about a column", ColumnWarning)
        self.barrier.wait()
        return self


@pytest.mark.filterwarnings("ignore:about [0-9]")
def test_each_report_has_the_warnings_of_its_own_fit():
    names = [str(i) for i in range(N_THREADS)]
    filters = list(warnings.filters)
    with ThreadPoolExecutor(N_THREADS) as pool:
        warned = list(pool.map(lambda name: fitted_clone(Meeting(name), GIVEN)[1], names))
    assert warned == [[f"about {name}"] for name in names]
    assert warnings.filters == filters


def test_what_is_heard_reaches_the_user_too_unless_it_ends_there():
    def outer():
        with collected_warnings(ColumnWarning) as heard:
            inner = nested()
            warn_user("silent", ColumnWarning)
            warn_user("louder", RuntimeWarning)
        return heard, inner

    def nested():
        with collected_warnings(UserWarning) as heard:
            warn_user("loud", RuntimeWarning)
            warn_user("quiet", UserWarning)
        return heard

    with pytest.warns(RuntimeWarning, match="loud") as caught:
        heard = outer()
    assert heard == (["loud", "louder"], ["loud"])
    assert [str(warning.message) for warning in caught] == ["loud", "louder"]
