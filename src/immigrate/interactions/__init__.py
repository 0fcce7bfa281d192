"""The interaction test, on top of `immigrate.additive`: which features, which terms, how sure.

In the order of a test (``estimators/interaction_test.py``), to be read beside
``docs/method/interaction-test.md``:

===============  ================================================================
``question``     which terms are tested, adjusted for what, with which samples
``search``       every term against the null model, then true ones one by one
``scan``         an approximate statistic for all terms, where they are too many
``scan_tiles``   one tile of it: blocks of a matrix product, and their p-values
``statistics``   the exact statistics of chosen terms
``adjustments``  many p-values at once
``features``     every feature on its own, and given the others
``findings``     sizes and directions of what was found, as tables
``words``        numbers and sentences: the summary, and the methods of a paper
``pair_effect``  the joint effect of two features, as numbers that can be drawn
===============  ================================================================

Letters: n samples, p features, w sample weights, phi centred functions of one feature, mu the
means of the null model, V their covariance, r residuals, C the product columns of a term, U = C'r
cleared of main effects, S the null covariance of U.
"""
