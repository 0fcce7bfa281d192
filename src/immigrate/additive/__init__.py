"""Residuals of an additive model: what the interaction test takes for granted, and what is left.

Read the files in this order, beside ``docs/method/interaction-test.md``:

==============  ================================================================================
``rows``        columns of a long table, a block of rows at a time
``levels``      the distinct values of a feature, and the share of the weight on each
``basis``       the functions of these levels
``families``    classes or a number: means, deviance, covariance, draws
``design``      the user's table as columns of functions, and products of several
``ridge``       penalised regression by Newton steps, folds, the choice of its strength
``newton``      the inverse of its penalised information, and what a refit takes out of U
``residuals``   residuals of a null model, cleared of what a refit would explain: contrasts
``moments``     U and its covariance S, cleared of the main effects of a term's own features
``p_values``    four quadratic forms of U to p-values, and p-values to one p-value
``null_model``  the additive model: its features, strength and penalties
``sizes``       how large effects are, with intervals; to first order from U and S alone
``effects``     one model of all that was found
``surfaces``    the joint effect of a pair on a grid, or by levels
==============  ================================================================================

Letters: n samples, p features, w sample weights, u mid-ranks in (0, 1), phi centred functions
of one feature, Z the columns of the null model, mu its means, V their covariance,
r residuals, C the product columns of a term, G the main effects of its own features, U = C'r
cleared of G, S the null covariance of U.
"""
