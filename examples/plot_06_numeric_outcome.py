"""
A numeric outcome with covariates
=================================

The outcome may be a number. Columns that matter and are not the question, such as the farm and
the year of a harvest, are *covariates*: the test takes their effects out and looks for pairs
among the others.
"""

# %%
# The embedded, made-up table of harvests has ten farms and six years.
from immigrate import InteractionTest
from immigrate.datasets import load_harvest
from immigrate.plotting import PairEffectDisplay

harvest = load_harvest()
X, y = harvest.data.drop(columns="field"), harvest.target

test = InteractionTest(outcome="number", adjust_for=["farm", "year"]).fit(X, y)
print(test.summary())

# %%
# Both pairs are those that were put in. Sizes are in the unit of the outcome, tonnes per hectare.
print(harvest.truth["pairs"])
PairEffectDisplay.from_estimator(test, "nitrogen", "rain")

# %%
# Without the covariates the differences between farms and years are noise, and the weaker pair is
# harder to see: its p-value is many times as large.
plain = InteractionTest(outcome="number").fit(X.drop(columns=["farm", "year"]), y)
for name, one in {"adjusted": test, "not adjusted": plain}.items():
    row = one.table_.query("feature_1 == 'soil' and feature_2 == 'variety'").iloc[0]
    print(f"soil × variety, {name}: p = {row['p_value']:.2g}")

# %%
# Variety and soil: Aurora does best on sand, the others elsewhere.
PairEffectDisplay.from_estimator(test, "variety", "soil")
