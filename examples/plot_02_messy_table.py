"""
Your own messy table
====================

Tables of real life have an identifier, text, flags, gaps, dates, and a column that is the same
everywhere. This example makes such a table and asks which columns matter. Nothing has to be
encoded, filled in or scaled before.
"""

# %%
# A workshop keeps a list of its machines. A machine wears out early if it runs hot with the cheap
# oil, or cold with the good one; the supplier of the bearings matters on its own.
import warnings

import numpy as np
import pandas as pd

from immigrate import ImmigrateClassifierCV, InteractionTest
from immigrate.plotting import PairEffectDisplay

rng = np.random.default_rng(3)
n = 500
heat = rng.normal(size=n)
machines = pd.DataFrame(
    {
        "serial": [f"M-{i:05d}" for i in range(n)],
        "temperature": (61 + 7 * heat).round(1),
        "oil": rng.choice(["cheap", "good"], n),
        "bearings": pd.Categorical(rng.choice(["Kern", "Lutz", "Maro"], n)),
        "night shift": rng.choice([True, False], n),
        "hall": rng.choice(["A", "B", "C", "D"], n),
        "delivered": pd.Timestamp(2019, 1, 1) + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
        "currency": "EUR",
    }
)
log_odds = 1.3 * heat * np.where(machines["oil"] == "cheap", 1, -1)
log_odds += np.where(machines["bearings"] == "Maro", 1.2, -0.6)
state = np.where(rng.logistic(size=n) < log_odds, "worn out", "sound")
machines["delivered"] = machines["delivered"].dt.strftime("%Y-%m-%d")
machines.loc[rng.random(n) < 0.1, "temperature"] = np.nan
machines.loc[rng.random(n) < 0.1, "oil"] = None
print(machines.head())

# %%
# Columns that are no features are left out, each with a warning that names it, the reason, and
# what to do about it.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    test = InteractionTest().fit(machines, state)
for warning in said:
    print(f"* {warning.message}\n")

# %%
# With that settled, the answer in words:
machines["days in use"] = (
    pd.Timestamp(2026, 1, 1) - pd.to_datetime(machines["delivered"])
).dt.days
machines = machines.drop(columns=["serial", "currency", "delivered"])
test = InteractionTest().fit(machines, state)
print(test.summary())

# %%
# Gaps may be in the rows that are to be predicted as well.
model = ImmigrateClassifierCV().fit(machines[:400], state[:400])
accuracy = model.score(machines[400:], state[400:])
print(f"{100 * accuracy:.0f} % of 100 other machines are predicted correctly.")

# %%
# How the pair acts: with cheap oil hot machines wear out, with good oil cold ones.
PairEffectDisplay.from_estimator(test, "temperature", "oil", classes=["worn out"])
