"""LAS: logistic regression with the lasso penalty."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegressionCV

from paper.methods.method import Method, inner_folds


class Lasso(Method):
    """L1-penalised logistic regression, penalty by 5-fold cross-validated deviance.

    The paper does not state how the penalty is chosen; deviance is glmnet's default.

    References
    ----------
    R. Tibshirani, Regression shrinkage and selection via the lasso, J. R. Stat. Soc. B 58,
    1996. doi:10.1111/j.2517-6161.1996.tb02080.x
    """

    code, name = "LAS", "Lasso"

    def estimator(self, random_state):
        return LogisticRegressionCV(
            Cs=15,
            cv=inner_folds(random_state),
            l1_ratios=(1.0,),
            solver="liblinear",
            scoring="neg_log_loss",
            max_iter=1000,
            use_legacy_attributes=False,
            random_state=random_state,
        )
