"""The estimators written for the experiments behave as scikit-learn's do."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper.methods.hiernet import HierNetClassifierCV
from paper.methods.lmnn import LMNN
from paper.methods.rbf_network import RbfNetworkClassifier
from paper.methods.soda import SodaClassifier

SMALL = [
    HierNetClassifierCV(n_lambdas=3, cv=2, random_state=0),
    LMNN(n_neighbors=1),
    RbfNetworkClassifier(random_state=0),
    SodaClassifier(),
]


@pytest.mark.filterwarnings("ignore:Stopped after max_iter")
@parametrize_with_checks(SMALL)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
