"""
Paths of σ and of a penalty
===========================

σ is the width of the neighbourhood: with a small one, only the nearest samples count, with a large
one all of them. A penalty puts a price on weights, so that few of them are left to read.
`ImmigrateClassifierCV` fits whole paths, each fit starting where the one before ended, and takes
the one whose leave-one-out predictions are best.
"""

# %%
# MONK-1: a robot belongs to class 1 if head and body have one shape, or if its jacket is red.
import numpy as np
from sklearn.datasets import load_wine

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_monk1
from immigrate.plotting import PenaltyPathDisplay, SigmaPathDisplay

X, y = make_monk1()
model = ImmigrateClassifierCV().fit(X, y)
print(f"chosen: sigma = {model.sigma_:.3g}, rule = {model.rule_}")

# %%
# The picture shows the path of σ: what is chosen, by what score, and how the strongest weights
# change along it. The score by which σ is chosen is no estimate of performance; put
# `cross_val_score` around the estimator for that.
SigmaPathDisplay.from_estimator(model)

# %%
# The path of a penalty, on three cultivars of wine: at each σ the price of pairs falls from one at
# which no pair is left to nothing. With weights that are not negative a price sets most of them to
# exactly 0. `one_standard_error=True` takes the fewest weights that are about as good as the best:
# here none of the pairs, since the features tell the cultivars by themselves.
wine, cultivar = load_wine(return_X_y=True, as_frame=True)
priced = ImmigrateClassifierCV(
    ImmigrateClassifier(constraint="nonnegative"),
    sigmas=[4.0, 1.0],
    penalties="path",
    one_standard_error=True,
).fit(wine, cultivar)
is_pair = np.triu(priced.weight_matrix_, k=1) > 0
print(f"chosen: {priced.penalty_}; {is_pair.sum()} of 78 pairs are left")

# %%
# From left to right the price falls, and one pair after the other is worth it to the model.
PenaltyPathDisplay.from_estimator(priced)
