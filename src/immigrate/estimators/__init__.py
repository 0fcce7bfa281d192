"""scikit-learn estimators: thin shells that validate, assemble a problem and call a solver."""
