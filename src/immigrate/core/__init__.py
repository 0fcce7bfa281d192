"""The paper in small pure functions on arrays.

Read the files in this order, beside sections 2 and 3 of the paper:

=================  ============================================================
``distances``      the quadratic-Manhattan measurement q
``differences``    what the Relief family adds up: mixed types, missing values
``couplings``      soft nearest hits and misses, alpha and beta
``objective``      the cost C, and its closed form in W alone
``cones``          the constraint sets of W and Theorem 3.1
``spectrum``       the positive part of a symmetric matrix, and its derivative
``penalties``      what weights may cost beside the margin
``splitting``      steps over positive semi-definite matrices with a penalty
``pruning``        small weights set to zero
``scores``         from distances to classes to probabilities
``margin_parts``   what each feature and pair adds to the margin of a sample
=================  ============================================================

Equations are cited by the names this library uses throughout:

=========  ====================================================================
Eq. 1      Relief's cost and its closed-form minimiser (section 2)
Eq. 3      q = |x_i - x_j|' W |x_i - x_j| (section 3.3)
Eq. 4      the couplings alpha and beta (step 1 of section 3.4)
Eq. 9      the prediction rule (section 3.4.4)
Eq. 10     the cost with anchor weights D (section 3.5)
Eq. 11     the cost (section 3.4)
=========  ====================================================================
"""
