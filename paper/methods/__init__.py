"""The rows of the paper's tables, in its order, and the rows this library adds."""

from paper.methods.adaboost import AdaBoost
from paper.methods.discriminant import LinearDiscriminant
from paper.methods.ebm import ExplainableBoosting
from paper.methods.hiernet import HierNet
from paper.methods.im4e import IM4E, BoostedScreened, ScreenedImmigrate
from paper.methods.immigrate_boosted import BoostedDefault, BoostedPaper
from paper.methods.immigrate_single import (
    ImmigrateDefault,
    ImmigratePaper,
    ImmigratePenalised,
)
from paper.methods.lasso import Lasso
from paper.methods.lmnn import LargeMarginNeighbors
from paper.methods.majority import Majority
from paper.methods.method import Method
from paper.methods.naive_bayes import NaiveBayes
from paper.methods.neighbors import OneNearestNeighbor, ThreeNearestNeighbors
from paper.methods.random_forest import RandomForest
from paper.methods.rbf_network import RbfNetwork
from paper.methods.relief import (
    LocalFeatureExtraction,
    ReliefFNeighbors,
    ReliefNeighbor,
    SimbaNeighbor,
)
from paper.methods.soda import Soda
from paper.methods.svm import RbfSVM, SigmoidSVM
from paper.methods.tree import DecisionTree
from paper.methods.xgboost import XGBoost

METHODS: dict[str, Method] = {
    method.code: method
    for method in (
        SigmoidSVM(),
        RbfSVM(),
        Lasso(),
        DecisionTree(),
        NaiveBayes(),
        RbfNetwork(),
        OneNearestNeighbor(),
        ThreeNearestNeighbors(),
        LargeMarginNeighbors(),
        ReliefNeighbor(),
        ReliefFNeighbors(),
        SimbaNeighbor(),
        LocalFeatureExtraction(),
        LinearDiscriminant(),
        Soda(),
        HierNet(),
        IM4E(),
        ImmigratePaper(),
        ImmigrateDefault(),
        ImmigratePenalised(),
        AdaBoost(),
        RandomForest(),
        XGBoost(),
        ExplainableBoosting(),
        BoostedPaper(),
        BoostedDefault(),
        ScreenedImmigrate(),
        BoostedScreened(),
        Majority(),
    )
}

__all__ = ["METHODS", "Method"]
