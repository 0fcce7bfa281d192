"""XGB: gradient-boosted trees."""

from __future__ import annotations

from types import MappingProxyType

from paper.methods.method import Method


class XGBoost(Method):
    """XGBoost: 100 rounds with its default learning rate (0.3) and depth (6).

    References
    ----------
    T. Chen, C. Guestrin, XGBoost: a scalable tree boosting system, KDD 2016.
    doi:10.1145/2939672.2939785
    """

    code, name = "XGB", "XGBoost"
    parameters = MappingProxyType(
        {"n_estimators": 100, "learning_rate": 0.3, "max_depth": 6, "n_jobs": 1}
    )

    def estimator(self, random_state):
        from xgboost import XGBClassifier

        return XGBClassifier(**self.parameters, random_state=random_state)

    def settings(self):
        """Only what is set: the class itself prints every parameter it has."""
        self.estimator(random_state=0)
        return f"XGBClassifier({', '.join(f'{k}={v}' for k, v in self.parameters.items())})"
