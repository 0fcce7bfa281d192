"""
Boosting
========

Boosting fits a model again and again, each time with more attention to the samples that the
earlier ones got wrong, and lets all of them vote. IMMIGRATE is no weak learner: where one model
with a well-chosen σ is right nearly everywhere, boosting stops after a few rounds and adds
little.
"""

# %%
# Three cultivars of wine by thirteen measurements, and the trial of a drug, where much is chance.
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_trial

trial = make_trial(300, random_state=1).drop(columns="patient")
tables = {
    "wine": load_wine(return_X_y=True, as_frame=True),
    "trial": (trial.drop(columns="outcome"), trial["outcome"]),
}
models = {
    "one model": ImmigrateClassifier(),
    "σ chosen on a path": ImmigrateClassifierCV(),
    "boosted": BoostedImmigrateClassifier(),
}
accuracy = pd.DataFrame(
    {
        table: {name: cross_val_score(model, X, y, cv=5).mean() for name, model in models.items()}
        for table, (X, y) in tables.items()
    }
)
print(accuracy.round(3))

# %%
# How many rounds it took, and what each learner got wrong (by leave-one-out, with the weights of
# its round) and how much its vote counts:
boosted = BoostedImmigrateClassifier().fit(*tables["trial"])
errors = [learner.error for learner in boosted.estimators_]
votes = [learner.vote for learner in boosted.estimators_]

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
rounds = range(1, len(errors) + 1)
ax.plot(rounds, errors, marker="o", label="error of the learner, samples weighed")
ax.plot(rounds, votes, marker="s", label="its vote")
ax.set(xlabel="round", xticks=list(rounds), ylim=(0, None))
ax.legend(frameon=False)
