"""
The path of σ
=============

σ is the width of the neighbourhood: with a small one, only the nearest samples count, with a
large one all of them. `ImmigrateClassifierCV` fits a path from wide to narrow, each fit starting
where the one before ended, and takes the σ whose leave-one-out predictions are best.
"""

# %%
# MONK-1: a robot belongs to class 1 if head and body have one shape, or if its jacket is red.
from immigrate import ImmigrateClassifierCV, SigmaPathDisplay
from immigrate.datasets import make_monk1

X, y = make_monk1()
model = ImmigrateClassifierCV().fit(X, y)
print(f"chosen: sigma = {model.sigma_:.3g}, rule = {model.rule_}")

# %%
# The picture shows the path: what is chosen, by what score, and how the strongest weights change
# along it. The score by which σ is chosen is no estimate of performance; put `cross_val_score`
# around the estimator for that.
SigmaPathDisplay.from_estimator(model)
