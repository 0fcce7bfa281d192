"""The short form of ``make fuzz``: drawn problems end in an answer or in a clear refusal."""

import pytest

from harness.fuzz import ANSWERED, REFUSED, outcome_of, outcomes, summary
from harness.problems import ESTIMATORS, drawn_problem

# `make fuzz` draws thousands.
SEED, N_PROBLEMS, N_PARTS = 20, 100, 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("part", range(N_PARTS))
def test_no_drawn_problem_ends_in_a_crash_a_nan_or_an_unmeant_warning(part):
    found = outcomes(SEED, range(part, N_PROBLEMS, N_PARTS))
    assert not any(outcome.is_failure for outcome in found), summary(found)
    assert sum(outcome.kind == ANSWERED for outcome in found) > 0.7 * len(found)


def test_problems_are_those_of_their_seed_and_number():
    one, again, other = drawn_problem(3, 7), drawn_problem(3, 7), drawn_problem(4, 7)
    assert one.described == again.described != other.described
    assert repr(one.estimator) == repr(again.estimator)
    assert {drawn_problem(0, number).name for number in range(len(ESTIMATORS))} == set(ESTIMATORS)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("raise ValueError('mine')", "ValueError of others"),
        ("raise RuntimeError('mine')", "RuntimeError"),
        ("warnings.warn('surprise')", "warning"),
        ("self.feature_importances_ = np.array([np.nan])", "NaN"),
        ("check_array(None)", REFUSED),
        ("pass", ANSWERED),
    ],
)
def test_the_harness_tells_failures_from_refusals(body, kind, monkeypatch):
    """A harness that finds nothing must be one that could."""
    scope = {}
    exec(
        "import warnings\nimport numpy as np\nfrom sklearn.utils import check_array\n"
        f"class Fake:\n    def fit(self, X, y, sample_weight=None):\n        {body}\n",
        scope,
    )
    monkeypatch.setattr("harness.problems.ESTIMATORS", {"Fake": lambda rng: scope["Fake"]()})
    assert outcome_of(0, 0).kind == kind
