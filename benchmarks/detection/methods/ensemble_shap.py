"""SHAP interaction values of tree ensembles (packages xgboost, shap): a ranking, no p-values."""

from __future__ import annotations

import numpy as np

from methods import Evidence, ranked_pairs

MOST_EXPLAINED_SAMPLES = 200


def xgboost(problem, rng):
    import xgboost as xgb

    data = xgb.DMatrix(problem.X, label=problem.y)
    options = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.1, "nthread": 1}
    model = xgb.train(options, data, num_boost_round=100)
    values = model.predict(data, pred_interactions=True)[:, :-1, :-1]
    return Evidence(ranked_pairs(np.abs(values).mean(axis=0)))


def random_forest(problem, rng):
    import shap
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, max_depth=6, random_state=int(rng.integers(2**31)))
    forest.fit(problem.X, problem.y)
    chosen = rng.permutation(len(problem.y))[:MOST_EXPLAINED_SAMPLES]
    values = shap.TreeExplainer(forest).shap_interaction_values(problem.X[chosen])
    strength = np.abs(values[..., 1]).mean(axis=0)
    return Evidence(ranked_pairs(strength))
