"""Random forests of few trees, where a test asks for a report or a comparison and not for them.

A forest of a hundred trees takes a third of the time of the report of a small table. The number is
scikit-learn's and not ours; pages and the demo show reports with all of them.
"""

from __future__ import annotations

from functools import partial

import pytest
from sklearn.ensemble import RandomForestClassifier

from immigrate.report import folds


@pytest.fixture(scope="module", autouse=True)
def _small_forests():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "RandomForestClassifier", partial(RandomForestClassifier, 5))
        yield
