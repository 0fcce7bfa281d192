"""
Gene expression with a screen
=============================

With hundreds or thousands of genes a weight for every pair is too many. A *screen* first gives
every gene a weight of its own (IM4E) and lets the best of them into the matrix of pairs.
"""

# %%
# An embedded, made-up table: 240 biopsies, 150 genes, and the plate on which each was measured.
# Two genes matter on their own, and two others only together; `truth` says which.

from immigrate import ImmigrateClassifier, InteractionTest
from immigrate.datasets import load_expression
from immigrate.options import Screen
from immigrate.plotting import PairEffectDisplay, WeightMatrixDisplay

genes = load_expression()
print(genes.data.shape, genes.truth)

# %%
# The screen keeps at most 12 genes. Genes rise and fall in modules, so that some of those that
# pass are only relatives of the ones that matter.
screen = Screen("im4e", threshold=0, max_features=12)
model = ImmigrateClassifier(screen=screen).fit(genes.data, genes.target)
WeightMatrixDisplay.from_estimator(model, top=12)

# %%
# A weight is what the model uses, and no evidence: which genes act together beyond what each does
# on its own is for the test, which looks at all 11,325 pairs of the whole table.
test = InteractionTest().fit(genes.data, genes.target)
print(test.summary())

# %%
# The pair that it names is the true one. Neither gene shows on its own.
PairEffectDisplay.from_estimator(test, "G1651", "G5400", classes=["response"])
