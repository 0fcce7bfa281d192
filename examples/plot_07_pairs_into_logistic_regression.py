"""
Found pairs into logistic regression
====================================

Logistic regression is easy to read and cannot see a pair unless somebody gives it a column for
it. `ImmigrateSelector` finds the pairs and appends them as columns, inside a pipeline, so that
held-out rows never take part in the choice.
"""

# %%
# Two of ten features matter, only together: the sign of one decides what the other means.
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from immigrate import ImmigrateSelector
from immigrate.datasets import make_xor

X, y = make_xor(300, 10, noise=0.1, random_state=0)

selector = ImmigrateSelector(n_features_to_select=2, pairs=True, test=True)
print(selector.fit(X, y).get_feature_names_out())

# %%
# With the pair as a column, logistic regression does what it could not do before. Giving it all
# 45 products helps too, though less, and nobody would like to read them.
models = {
    "features alone": LogisticRegression(),
    "all 45 products": make_pipeline(
        PolynomialFeatures(interaction_only=True), LogisticRegression(max_iter=1000)
    ),
    "found pairs": make_pipeline(selector, StandardScaler(), LogisticRegression()),
}
accuracy = {name: cross_val_score(model, X, y, cv=5).mean() for name, model in models.items()}

figure, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
bars = ax.barh(list(accuracy), list(accuracy.values()), color="C0")
ax.bar_label(bars, fmt=lambda share: f"{100 * share:.0f} %", padding=4)
ax.axvline(0.5, color="0.4", linestyle=":", linewidth=1)
ax.set(xlim=(0, 1), xlabel="accuracy on held-out rows (dotted: guessing)")
ax.invert_yaxis()

# %%
# What it says can be read: one coefficient stands out, that of the pair.
fitted = models["found pairs"].fit(X, y)
for name, value in zip(selector.get_feature_names_out(), fitted[-1].coef_[0]):
    print(f"{name:>6}: {value:+.2f}")
