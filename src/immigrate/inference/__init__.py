"""Which features matter and which act together: evidence and effects, in small pure functions.

Read the files in this order, beside ``docs/method/interaction-test.md``:

=======================  ========================================================================
``rows``                 columns of a long table, a block of rows at a time
``levels``               the distinct values of a feature, their shares and mid-ranks
``main_effect_columns``  the columns of a feature in the additive model: smooth, or rough
``encoding``             all features, and the functions phi that products are made of
``folds``                cross-validation folds that depend on the data alone
``links``                how a linear predictor and an outcome belong together
``outcomes``             classes or a number, in the form that the additive model takes
``ridge``                penalised regression by Newton steps
``additive``             the null model: strength of the penalty by cross-validation, screening
``explained``            what a refit takes out of U, with or without its matrix F
``newton_inverse``       the inverse of its penalised information, for few and for many classes
``residuals``            residuals of the null model, cleared of what a refit would explain
``null_distributions``   quadratic forms to p-values, and p-values to one p-value
``term_sets``            which terms are tested: all, groups against groups, or a list
``term_columns``         the columns of features, pairs or triples, and their own main effects
``term_moments``         U and its covariance S, cleared of these main effects
``term_forms``           four quadratic forms of U, each with its p-value
``first_order``          how large effects are, to first order
``term_statistics``      all of that for chosen features, pairs or triples, block by block
``term_screen``          an approximate statistic for all terms as blocks of a matrix product
``adjustment``           many p-values at once: Holm, Benjamini-Hochberg, Westfall-Young
``search``               all of it: every pair, the strongest ones exactly
``stepwise``             true pairs one by one, so that their shadows vanish
``feature_evidence``     every feature on its own, and given the others
``effects``              one model of all that was found: sizes and intervals
``surfaces``             the joint effect of a pair on a grid, or by levels
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
