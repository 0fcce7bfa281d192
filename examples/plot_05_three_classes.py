"""
Three classes
=============

Everything works with any number of classes: a pair may matter for one class and not for another.
The embedded table of loans has three outcomes: repaid, late, and not repaid at all ("default").
"""

# %%
# What was put into the table is known: two pairs, each of which matters for one outcome.
import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict

from immigrate import ImmigrateClassifierCV, InteractionTest
from immigrate.datasets import load_loans
from immigrate.plotting import PairEffectDisplay

loans = load_loans()
X, y = loans.data.drop(columns="application"), loans.target
print(loans.truth["pairs"])

# %%
# The test names both pairs, and the class for which each of them matters most.
test = InteractionTest().fit(X, y)
for pair in test.selected_.itertuples():
    print(f"{pair.feature_1} × {pair.feature_2}: adjusted p = {pair.p_adjusted:.1g}")
    print(f"    {pair.direction}")

# %%
# The picture has one panel per class. Income and instalment act together on loans that are late,
# and hardly on the others.
PairEffectDisplay.from_estimator(test, "income", "instalment")

# %%
# Purpose and employment act together on loans that are not repaid.
PairEffectDisplay.from_estimator(test, "purpose", "employment", classes=["default"])

# %%
# How well can it be predicted? Much of the outcome is chance, as in life; held-out predictions
# say how much is not.
predicted = cross_val_predict(ImmigrateClassifierCV(), X, y, cv=3)
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ConfusionMatrixDisplay.from_predictions(
    y, predicted, normalize="true", values_format=".0%", cmap="Blues", colorbar=False, ax=ax
)
ax.set_title("Held-out predictions, as shares of the true class", loc="left", fontsize="medium")
