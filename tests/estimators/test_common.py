"""scikit-learn's own checks over every public estimator, no skips."""

from __future__ import annotations

import inspect
import re

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import immigrate

ESTIMATORS = [
    obj
    for name in immigrate.__all__
    if inspect.isclass(obj := getattr(immigrate, name))
    and issubclass(obj, BaseEstimator)
    and hasattr(obj, "fit")
]

WEIGHTS_ARE_NOT_REPEATS = (
    "sample_weight weighs a sample as an anchor (D in Eq. 10), not as a neighbour of others; "
    "a repeated row is its own hit at distance 0, and a row of weight 0 is still a neighbour"
)
ANCHOR_WEIGHT_CHECKS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    WEIGHTS_ARE_NOT_REPEATS,
)


def expected_failures(estimator):
    """The one place that names checks which cannot hold, with the reason."""
    # The test's weights are counts. Simba's feature weights are all above 0, so it keeps every
    # feature and the check cannot see them.
    holds = (immigrate.InteractionTest, immigrate.Simba)
    return {} if isinstance(estimator, holds) else ANCHOR_WEIGHT_CHECKS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:No feature's screening weight")
@pytest.mark.filterwarnings("ignore:.*reads weights as counts")
@pytest.mark.filterwarnings("ignore:The stepwise search ended")
@parametrize_with_checks(
    [
        *(cls() for cls in ESTIMATORS),
        immigrate.ImmigrateClassifier(screen="im4e"),
        immigrate.ImmigrateSelector(pairs=True, test=True),
    ],
    expected_failed_checks=expected_failures,
)
def test_sklearn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_only_the_first_parameter_is_positional(cls):
    parameters = list(inspect.signature(cls.__init__).parameters.values())[2:]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_docstring_names_every_parameter_and_has_an_example(cls):
    """numpydoc: parameter names stand four columns in, several of a kind on one line."""
    section = cls.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    heads = re.findall(r"^    (\w[\w, ]*?)(?: : .*)?$", section, flags=re.MULTILINE)
    documented = {name for head in heads for name in head.split(", ")}
    assert set(cls().get_params(deep=False)) <= documented
    assert ">>> " in cls.__doc__
