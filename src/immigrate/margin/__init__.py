"""The margin methods without scikit-learn: what a fit is made of, and what it leaves behind.

===============  ====================================================================
``options``      what the parameters of an estimator stand for
``path``         the road of a fit, at one sigma or along sigma and strength
``encoding``     from columns as read to columns with weights; the samples in these
``screen``       which features enter the weight matrix
``problem``      what a solver is given: samples, start, set of weights
``penalties``    what weights cost beside the margin, or which are cut
``growing``      samples of a large table, and fits on larger and larger ones
``choice``       choosing sigma, penalty and rule along a path
``model``        what a fit leaves behind, and how it scores new samples
``prototypes``   centres in their place
``explanation``  the same in names and words
``triples``      weights of three features at once: which, and where they live
===============  ====================================================================
"""
