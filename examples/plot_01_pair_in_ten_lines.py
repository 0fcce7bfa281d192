"""
A pair in ten lines
===================

A drug helps carriers of a gene variant and harms everybody else. On average it does nothing, and
neither does the variant, so a table of single features shows neither of them. The question is
which features matter *together*.
"""

# %%
# The table is made up and comes as a hospital would hand it over: numbers, text, flags, gaps, and
# an identifier, which we drop.
from immigrate import InteractionTest
from immigrate.datasets import make_trial
from immigrate.plotting import PairEffectDisplay

table = make_trial(400, random_state=0).drop(columns="patient")
y = table.pop("outcome")

test = InteractionTest().fit(table, y)
print(test.summary())

# %%
# The test names the two features that raise the chance of a relapse on their own, and the one
# pair that acts together. The picture shows how: for carriers the drug lowers the chance of a
# relapse, for others it raises it.
PairEffectDisplay.from_estimator(test, "treatment", "variant", classes=["relapse"])
