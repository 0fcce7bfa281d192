"""IGT, IGT+, IGL: IMMIGRATE as the paper ran it, by this library's defaults, with a penalty."""

from __future__ import annotations

from paper.methods.method import Method, inner_folds


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
        from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
        from immigrate.options import Columns, FullSteps

        return ImmigrateClassifierCV(
            ImmigrateClassifier(solver=FullSteps(), columns=Columns(scale=None)),
            sigmas="paper",
            penalties=(None, "prune"),
            rules=("distance",),
            temperatures=(1.0,),
            scoring="accuracy",
            cv=inner_folds(random_state),
        )


class ImmigrateDefault(Method):
    """IMMIGRATE with this library's defaults: steps that descend, sigma by leave-one-out."""

    code, name = "IGT+", "IMMIGRATE, this library's defaults"

    def estimator(self, random_state):
        from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
        from immigrate.options import Columns, Descent

        base = ImmigrateClassifier(solver=Descent(), columns=Columns(scale=None))
        return ImmigrateClassifierCV(base)


class ImmigratePenalised(Method):
    """IMMIGRATE with the strength of an l1 penalty on the pairs chosen along a path.

    Of all strengths and sigmas within one standard error of the best leave-one-out log-loss, the
    one with the fewest weights is taken: a matrix that can be read, not the best predictions.
    """

    code, name = "IGL", "IMMIGRATE, l1 penalty on pairs"

    def estimator(self, random_state):
        from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
        from immigrate.options import Columns, Descent

        base = ImmigrateClassifier(
            solver=Descent(), constraint="nonnegative", columns=Columns(scale=None)
        )
        return ImmigrateClassifierCV(base, penalties="path", one_standard_error=True)
