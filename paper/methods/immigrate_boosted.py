"""BIM and BIM+: boosted IMMIGRATE as the paper ran it, and with this library's defaults."""

from __future__ import annotations

from paper.methods.method import Method


class BoostedPaper(Method):
    """Algorithm 3: 100 rounds, sigma falling from 4 to 0.2 (section 4.2).

    A round takes at most five full steps from the identity; the paper does not say how many.

    References
    ----------
    R. Zhao, P. Hong, J. Liu, IMMIGRATE: a margin-based feature selection method with
    interaction terms, Entropy 22, 2020. doi:10.3390/e22030291
    """

    code, name = "BIM", "Boosted IMMIGRATE, the paper's settings"

    def estimator(self, random_state):
        from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier
        from immigrate.options import Columns, FullSteps, PaperBoosting

        base = ImmigrateClassifier(solver=FullSteps(max_iter=5), columns=Columns(scale=None))
        return BoostedImmigrateClassifier(base, variant=PaperBoosting())


class BoostedDefault(Method):
    """Boosted IMMIGRATE with this library's defaults."""

    code, name = "BIM+", "Boosted IMMIGRATE, this library's defaults"

    def estimator(self, random_state):
        from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier
        from immigrate.options import Columns, Descent

        base = ImmigrateClassifier(solver=Descent(max_iter=5), columns=Columns(scale=None))
        return BoostedImmigrateClassifier(base)
