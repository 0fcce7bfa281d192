"""The margin methods without scikit-learn: what a fit is made of, and what it leaves behind."""
