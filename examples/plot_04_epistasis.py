"""
Epistasis: two variants that matter only together
=================================================

In genetics *epistasis* means that the effect of one variant depends on another. In its pure form
neither variant changes the risk on its own, and methods that look at one variant at a time find
nothing.
"""

# %%
# Genotypes are 0, 1 or 2 copies of the rarer allele. Here the disease is likelier when exactly
# one of two variants is heterozygous; at these frequencies neither has an effect of its own.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from immigrate import InteractionTest, ReliefF
from immigrate.plotting import PairEffectDisplay

rng = np.random.default_rng(0)
n, n_variants = 800, 20
names = [f"rs{number}" for number in rng.choice(np.arange(1000, 9999), n_variants, replace=False)]
genotypes = pd.DataFrame(rng.binomial(2, 0.5, (n, n_variants)), columns=names)
first, second = names[4], names[13]
is_odd = (genotypes[first] == 1) != (genotypes[second] == 1)
ill = np.where(rng.random(n) < np.where(is_odd, 0.65, 0.35), "ill", "healthy")

# %%
# One variant at a time there is nothing to see; among the 190 pairs one stands out.
test = InteractionTest(categorical_features=names).fit(genotypes, ill)
print(f"The two variants are {first} and {second}.")
print(test.features_[["feature", "p_adjusted"]].head(3).to_string(index=False))
print(test.selected_[["feature_1", "feature_2", "p_adjusted"]].to_string(index=False))

# %%
# ReliefF compares each sample with its neighbours in all variants, so that it sees pairs as well.
# It ranks the variants, and does not say which of them act together.
scores = ReliefF(n_neighbors=50, categorical_features=names).fit(genotypes, ill)
order = np.argsort(scores.feature_importances_)[::-1]
is_true = np.isin(np.array(names)[order], [first, second])
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar(range(n_variants), scores.feature_importances_[order], color=np.where(is_true, "C1", "C7"))
ax.set(xlabel="variants, the best first", ylabel="ReliefF score", xticks=[])
ax.set_title("Orange: the two variants that matter, together only", loc="left", fontsize="medium")

# %%
# The joint effect by genotype, with its intervals and the number of samples.
PairEffectDisplay.from_estimator(test, first, second, classes=["ill"])
