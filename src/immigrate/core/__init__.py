"""The paper in small pure functions on arrays.

Read the files in this order, beside sections 2 and 3 of the paper:

===============  ==============================================================
``differences``  how far apart two samples are in each feature
``forms``        the distance q from differences and weights, Eqs. 1 and 3
``targets``      who is a hit, and who a miss, of whom
``couplings``    soft nearest hits and misses, the cost C, and Eq. 9
``cones``        the constraint sets of W and Theorem 3.1
``psd``          the positive part of a matrix, also of a large one
``penalties``    what weights may cost beside the margin; pruning
``splitting``    steps over positive semi-definite matrices with more conditions
===============  ==============================================================

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
