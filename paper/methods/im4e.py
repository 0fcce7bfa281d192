"""IM4, EGT and B4G: IM4E alone, as a screen for IMMIGRATE, and as a screen for boosting."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV

from paper.methods.method import Method, inner_folds

# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_SIGMAS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Above 2 / p IM4E leaves up to some thousand genes; W has the square of that many weights.
MOST_SCREENED = 200


class IM4E(Method):
    """IM4E with lambda = 1 and sigma by 5-fold cross-validation over IMMIGRATE's grid.

    References
    ----------
    Y. Bei, P. Hong, Maximizing margin quality and quantity, IEEE MLSP 2015.
    doi:10.1109/MLSP.2015.7324375
    """

    code, name = "IM4", "IM4E"

    def estimator(self, random_state):
        from immigrate import IM4EClassifier
        from immigrate.options import Columns, FullSteps

        columns = Columns(scale=None)
        model = IM4EClassifier(solver=FullSteps(), rule="distance", columns=columns)
        return GridSearchCV(model, {"sigma": list(PAPER_SIGMAS)}, cv=inner_folds(random_state))


class ScreenedImmigrate(Method):
    """IM4E-IMMIGRATE (section 3.6): IMMIGRATE on the features that IM4E weighs above 2 / p.

    Sigma and pruning as for IMMIGRATE. Two things differ from the paper: at most the 200
    strongest features are kept, and the screen's own sigma is 0.125 and not tuned.
    """

    code, name = "EGT", "IM4E-IMMIGRATE"

    def estimator(self, random_state):
        from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
        from immigrate.options import Columns, FullSteps, Screen

        screen = Screen("im4e", max_features=MOST_SCREENED)
        return ImmigrateClassifierCV(
            ImmigrateClassifier(solver=FullSteps(), screen=screen, columns=Columns(scale=None)),
            sigmas="paper",
            penalties=(None, "prune"),
            rules=("distance",),
            temperatures=(1.0,),
            scoring="accuracy",
            cv=inner_folds(random_state),
        )


class BoostedScreened(Method):
    """Boosted IM4E-IMMIGRATE: Algorithm 3 on the features that IM4E keeps, as for EGT."""

    code, name = "B4G", "Boosted IM4E-IMMIGRATE"

    def estimator(self, random_state):
        from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier
        from immigrate.options import Columns, FullSteps, PaperBoosting, Screen

        screen = Screen("im4e", max_features=MOST_SCREENED)
        base = ImmigrateClassifier(
            solver=FullSteps(max_iter=5), screen=screen, columns=Columns(scale=None)
        )
        return BoostedImmigrateClassifier(base, variant=PaperBoosting())
