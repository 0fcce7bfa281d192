"""IGT and IGT+: IMMIGRATE as the paper ran it, and with this library's defaults."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV

from paper.methods.method import Method, inner_folds

# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_SIGMAS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)


class ImmigratePaper(Method):
    """IMMIGRATE with the settings of section 4.2.

    Full steps, at most 10 of them; sigma from 4 halved until not larger than 0.2, and weights
    pruned below 1 / p or not, both by cross-validation inside the training set. The number of
    inner folds is not given: 5.

    References
    ----------
    R. Zhao, P. Hong, J. Liu, IMMIGRATE: a margin-based feature selection method with
    interaction terms, Entropy 22, 2020. doi:10.3390/e22030291
    """

    code, name = "IGT", "IMMIGRATE, the paper's settings"

    def estimator(self, random_state):
        from immigrate import ImmigrateClassifier

        model = ImmigrateClassifier(solver="paper", max_iter=10, random_state=random_state)
        grid = {"sigma": list(PAPER_SIGMAS), "prune": [None, "auto"]}
        return GridSearchCV(model, grid, cv=inner_folds(random_state))


class ImmigrateDefault(Method):
    """IMMIGRATE with this library's defaults: steps that descend, sigma by leave-one-out."""

    code, name = "IGT+", "IMMIGRATE, this library's defaults"

    def estimator(self, random_state):
        from immigrate import ImmigrateClassifierCV

        return ImmigrateClassifierCV(random_state=random_state)
