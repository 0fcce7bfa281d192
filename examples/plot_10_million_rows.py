"""
A million rows
==============

A pass over all pairs of a million rows would be 500,000 million pairs. Nothing has to be said to
avoid that: large tables are fitted on a sample of rows that grows until the weights are known
well enough, and new rows are compared with some thousand centres, each of which counts for the
rows around it.

The code is the same for any size. So that this page is built in seconds, `N_ROWS` is 20,000 here;
set it to 1,000,000 for the real thing. `Descent(n_anchors=2000, n_references=2000)` says how
large the sample is; without it the sample grows until the standard error of all weights together
is at most 0.1.
"""

# %%
# Twenty columns, of which two act together and two matter on their own; a tenth of the labels is
# wrong.
import time

import matplotlib.pyplot as plt
import numpy as np

from immigrate import ImmigrateClassifier
from immigrate.options import Descent
from immigrate.plotting import WeightMatrixDisplay

N_ROWS, N_TEST = 20_000, 2_000
rng = np.random.default_rng(0)
X = rng.standard_normal((N_ROWS + N_TEST, 20))
score = 2 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2] - X[:, 3]
y = (score > 0) ^ (rng.random(score.size) < 0.1)

# %%
# One fit. `references=300` says that new rows are compared with 300 centres; a thousand or more
# are better.
start = time.perf_counter()
solver = Descent(n_anchors=2000, n_references=2000)
model = ImmigrateClassifier(solver=solver, references=300, n_jobs=-1, random_state=0)
model.fit(X[:N_ROWS], y[:N_ROWS])
print(f"{N_ROWS:,} rows fitted in {time.perf_counter() - start:.0f} seconds")
print(f"The solver looked at {model.n_anchors_:,} rows.")

# %%
# How far may the weights be from those of all rows? The model says so for every weight.
print(f"largest standard error of a weight: {model.weight_error_.max():.3f}")
accuracy = model.score(X[N_ROWS:], y[N_ROWS:])
print(f"{100 * accuracy:.1f} % of other rows are predicted correctly; 90 % is the most possible.")

# %%
# The four columns that matter, and the pair.
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
WeightMatrixDisplay.from_estimator(model, top=10, ax=ax)
