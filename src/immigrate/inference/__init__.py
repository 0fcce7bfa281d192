"""Which features act together: a calibrated test, in small pure functions on arrays.

Read the files in this order, beside ``docs/interaction-test.md``:

=======================  ========================================================================
``levels``               the distinct values of a feature, their shares and mid-ranks
``main_effect_columns``  the columns of a feature in the additive model: smooth, or rough
``encoding``             all features, and the functions phi that products are made of
``folds``                cross-validation folds that depend on the data alone
``ridge``                penalised logistic and multinomial regression by Newton steps
``additive``             the null model: strength of the penalty by cross-validation, screening
``newton_inverse``       the inverse of its penalised information, for few and for many classes
``residuals``            residuals of the null model, cleared of what a refit would explain
``null_distributions``   quadratic forms to p-values, and p-values to one p-value
``term_columns``         the product columns of pairs or triples, and their own main effects
``term_moments``         U and its covariance S, cleared of these main effects
``term_forms``           four quadratic forms of U, each with its p-value
``term_statistics``      all of that for chosen pairs or triples, block by block
``term_screen``          an approximate statistic for all terms as blocks of a matrix product
``adjustment``           many p-values at once: Holm, Benjamini-Hochberg, Westfall-Young
``search``               all of it: every pair, the strongest ones exactly
``stepwise``             true pairs one by one, so that their shadows vanish
``blas``                 one thread of BLAS while all of this runs
=======================  ========================================================================

Letters: n samples, p features, w sample weights, u mid-ranks in (0, 1), phi centred functions
of one feature, Z the columns of the null model, mu its probabilities, V their covariance,
r residuals, C the product columns of a term, G the main effects of its own features, U = C'r
cleared of G, S the null covariance of U.
"""
