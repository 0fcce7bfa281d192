"""
Explaining one prediction
=========================

Why does the model say that this patient will relapse? The margin of a prediction is a sum: every
feature and every pair pulls the patient to one class or to the other, and `explain` says how
much.
"""

# %%
# A drug that helps carriers of a variant and harms everybody else.
import matplotlib.pyplot as plt
import numpy as np

from immigrate import ImmigrateClassifierCV
from immigrate.datasets import make_trial

table = make_trial(500, random_state=0)
X, y = table.drop(columns=["patient", "outcome"]), table["outcome"]
model = ImmigrateClassifierCV().fit(X[:400], y[:400])
patients = X[400:]
explanation = model.explain(patients)

# %%
# The patient about whom the model is surest, in words:
row = int(explanation.margin.argmax())
print(patients.iloc[row].to_string(), "\n")
print(explanation.summary(row=row))

# %%
# The same as a picture: parts to the right pull to the predicted class, parts to the left away
# from it.
parts = explanation.parts.query("row == @row").head(12)[::-1]
names = [
    kind if first is None else first if second is None else f"{first} × {second}"
    for first, second, kind in zip(parts["feature_1"], parts["feature_2"], parts["kind"])
]
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.barh(names, parts["part"], color=np.where(parts["part"] > 0, "C0", "C3"))
ax.axvline(0, color="0.3", linewidth=0.8)
ax.set_xlabel(f"what the part adds to the margin of {explanation.margin[row]:+.3g}")
ax.set_title(f"Predicted: {explanation.predicted[row]}", loc="left", fontsize="medium")
