"""scikit-learn's own checks over every public estimator, no skips."""

from __future__ import annotations

import inspect
import re

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import immigrate
from immigrate.persistence import public_estimators

ESTIMATORS = list(public_estimators().values())

# A hundred halves in every check would take minutes.

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
) | {
    "check_class_weight_classifiers": "class_weight weighs the margins of anchors, as "
    "sample_weight does; a class of weight 0 is still predicted where its samples are near"
}
# These make labels of the first column. The tables of estimators that take categories are rounded
# before, which leaves a class with a single sample; such estimators take numbers as well.
LABELS_OF_THE_TABLE = {
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}


# A check that is expected to fail and passes is an error; scikit-learn can say so from 1.9 on.
STRICT = (
    {"xfail_strict": True}
    if "xfail_strict" in inspect.signature(parametrize_with_checks).parameters
    else {}
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
@pytest.mark.filterwarnings("ignore:All 1 learners were discarded")
# The classes of these tables lie far apart, so that MultiSURF finds no miss near; see its notes.
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [
        *(cls() for cls in ESTIMATORS),
        immigrate.ImmigrateClassifier(screen="im4e"),
        immigrate.ImmigrateSelector(pairs=True, test=True),
    ],
    expected_failed_checks=expected_failures,
    **STRICT,
)
def test_sklearn_conventions(estimator, check, monkeypatch):
    if check.func.__name__ in LABELS_OF_THE_TABLE:
        monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", lambda _, X: X)
    check(estimator)


@pytest.mark.parametrize(
    "cls",
    [
        immigrate.ImmigrateClassifier,
        immigrate.ImmigrateClassifierCV,
        immigrate.BoostedImmigrateClassifier,
        immigrate.CubicImmigrateClassifier,
        immigrate.IM4EClassifier,
    ],
)
def test_classifiers_say_that_they_take_categories_and_missing_values(cls):
    tags = cls().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_only_the_first_parameter_is_positional(cls):
    parameters = list(inspect.signature(cls.__init__).parameters.values())[2:]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_docstring_names_every_parameter_and_has_an_example(cls):
    """numpydoc: parameter names stand at the margin, several of a kind on one line."""
    # Cleaned, because Python 3.13 takes the margin away and earlier ones do not.
    section = inspect.getdoc(cls).split("Parameters\n")[1].split("Attributes\n")[0]
    heads = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", section, flags=re.MULTILINE)
    documented = {name for head in heads for name in head.split(", ")}
    assert set(cls().get_params(deep=False)) <= documented
    assert ">>> " in cls.__doc__
