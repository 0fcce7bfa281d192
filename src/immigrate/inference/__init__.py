"""Which features matter and which act together: evidence and effects, in small pure functions.

Read the files in this order, beside ``docs/method/interaction-test.md``:

=======================  ========================================================================
``term_sets``            which terms are tested: all, groups against groups, or a list
``term_statistics``      all of that for chosen features, pairs or triples, block by block
``term_screen``          an approximate statistic for all terms as blocks of a matrix product
``adjustment``           many p-values at once: Holm, Benjamini-Hochberg, Westfall-Young
``search``               all of it: every pair, the strongest ones exactly
``stepwise``             true pairs one by one, so that their shadows vanish
``feature_evidence``     every feature on its own, and given the others
``directions``           which way an effect goes, in words
``power``                the smallest effect that a table could have shown
``duration``             how long a test will take
``kernels.threads``         one thread of BLAS while all of this runs
=======================  ========================================================================

Letters: n samples, p features, w sample weights, u mid-ranks in (0, 1), phi centred functions
of one feature, Z the columns of the null model, mu its means, V their covariance,
r residuals, C the product columns of a term, G the main effects of its own features, U = C'r
cleared of G, S the null covariance of U.
"""
